"""The papers' data sets, from a local folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError

__all__ = ["TARGETS", "Dataset", "data_folder", "load_dataset"]

TARGETS = {
    "ABA": "Rings", "AIR": "Pressure", "ALG": "Classes", "APP": "Appliances", "AQU": "LC50", "BAN": "cls",
    "BUI": "V-9", "CAL": "MedHouseVal", "CBM": "decay_compressor", "CCP": "PE", "CON": "strength", "CPU": "usr",
    "CRE": "default.payment.next.month", "CRM": "ViolentCrimesPerPop", "DAK": "ISE_USD", "FIS": "LC50",
    "FLI": "ArrDelay", "GAS": "TEY", "HAR": "class", "HIG": "response", "HOU": "MEDV", "MET": "traffic_volume",
    "MUS": "latitude", "NYC": "arr_delay", "PAR": "total_UPDRS", "POR": "annual_return", "PYR": "y",
    "RED": "quality", "ROB": "move", "TAX": "fare", "TAX13": "fare", "WHI": "quality",
}  # fmt: skip
"""What is predicted in each data set, by code (files hold it as the column ``target``)."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set: records as a data frame, labels as an array."""

    code: str
    X: Any
    y: npt.NDArray[Any]
    target: str

    def __repr__(self) -> str:
        return f"Dataset({self.code}: {len(self.y)} records, {self.X.shape[1]} features, target {self.target!r})"


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the first folder that exists: ``data_home``, ``$HEDGEROW_DATA``, ``../shared/data``."""
    candidates = [data_home, os.environ.get("HEDGEROW_DATA"), "../shared/data"]
    return next((Path(c) for c in candidates if c and Path(c).is_dir()), None)


def load_dataset(code: str, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a data set by its code, such as ``"ABA"``.

    Parameters
    ----------
    code : str
        One of :data:`TARGETS`.
    data_home : path, optional
        Folder with ``CODE.csv.gz`` files; by default ``$HEDGEROW_DATA``.
    """
    if code not in TARGETS:
        raise HedgerowError(f"The 'code' parameter must be one of {sorted(TARGETS)}. Got {code!r} instead.")
    folder = data_folder(data_home)
    path = None if folder is None else folder / f"{code}.csv.gz"
    if path is None or not path.exists():
        raise HedgerowError(
            f"data set {code} was not found: put {code}.csv.gz in a folder and point HEDGEROW_DATA to it."
        )
    import pandas as pd

    # "None" is a value of MET's holiday column, not a missing one.
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    y = frame.pop("target")
    return Dataset(code, frame, np.asarray(y), TARGETS[code])
