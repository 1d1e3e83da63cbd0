"""The papers' data sets: from a local folder, else from their public origin.

:mod:`~hedgerow_experiments.data.public_facts` declares what is public about each,
:mod:`~hedgerow_experiments.data.sources` where it comes from and how it is prepared,
:mod:`~hedgerow_experiments.data.checksums` what the prepared table must be.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow_experiments.data.checksums import CHECKSUMS
from hedgerow_experiments.data.download import DownloadError, download
from hedgerow_experiments.data.public_facts import FACTS, Facts
from hedgerow_experiments.data.sources import SOURCES

__all__ = [
    "TARGETS",
    "Dataset",
    "cache_folder",
    "checksum",
    "data_folder",
    "fetch_dataset",
    "find_dataset",
    "load_dataset",
]

TARGETS = {code: facts.target for code, facts in FACTS.items()}
"""What is predicted in each data set, by code (files hold it as the column ``target``)."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set: records as a data frame, labels as an array, and what is public about it."""

    code: str
    X: Any
    y: npt.NDArray[Any]
    target: str

    @property
    def facts(self) -> Facts | None:
        """What was declared public, if anything was."""
        return FACTS.get(self.code)

    @property
    def label_bounds(self) -> tuple[float, float] | None:
        """The declared range of the label."""
        return self.facts.label_bounds if self.facts else None

    @property
    def categories(self) -> Mapping[str, tuple[str, ...]]:
        """The declared values of the columns that hold names."""
        return self.facts.categories if self.facts else {}

    def __repr__(self) -> str:
        return f"Dataset({self.code}: {len(self.y)} records, {self.X.shape[1]} features, target {self.target!r})"


def cache_folder() -> Path:
    """Return where downloads are kept: ``$XDG_CACHE_HOME/hedgerow``, by default ``~/.cache/hedgerow``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hedgerow"


def _folders(data_home: str | os.PathLike[str] | None) -> list[Path]:
    """Return the folders to look in, in order; downloads go to the first that was asked for, or to the cache."""
    given = [data_home, os.environ.get("HEDGEROW_DATA"), "../shared/data", cache_folder()]
    return [Path(folder) for folder in given if folder]


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the first folder that exists: ``data_home``, ``$HEDGEROW_DATA``, ``../shared/data``."""
    return next((folder for folder in _folders(data_home)[:-1] if folder.is_dir()), None)


def load_dataset(code: str, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a data set by its code, such as ``"ABA"``.

    ``CODE.csv.gz`` is looked for in ``data_home``, ``$HEDGEROW_DATA``, ``../shared/data`` and the user's cache. A file
    found there is read as it is. Otherwise the set is fetched from its public origin, prepared and compared with its
    checksum; what does not match is refused.

    Parameters
    ----------
    code : str
        One of :data:`TARGETS`.
    data_home : path, optional
        The first folder to look in, and where a download goes.

    Examples
    --------
    >>> load_dataset("DIA")  # comes with scikit-learn
    Dataset(DIA: 442 records, 10 features, target 'progression')
    """
    _check(code)
    import pandas as pd

    if code == "DIA":
        frame = _prepare(code, [])
    else:
        path = find_dataset(code, data_home) or fetch_dataset(code, data_home)
        # "None" is a value of MET's holiday column, not a missing one.
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    y = frame.pop("target")
    return Dataset(code, frame, np.asarray(y), TARGETS[code])


def find_dataset(code: str, data_home: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the file of a data set that is on this machine, or None."""
    _check(code)
    found = (folder / f"{code}.csv.gz" for folder in _folders(data_home))
    return next((path for path in found if path.exists()), None)


def fetch_dataset(code: str, data_home: str | os.PathLike[str] | None = None) -> Path:
    """Download, prepare and check a data set; return the file ``CODE.csv.gz``, written whole or not at all."""
    _check(code)
    folder = Path(data_home or os.environ.get("HEDGEROW_DATA") or cache_folder())
    path = folder / f"{code}.csv.gz"
    source = SOURCES[code]
    raw = [folder / f".{code}.raw{i}" for i in range(len(source.files))]
    try:
        for url, file in zip(source.files, raw, strict=True):
            download(url, file)
        frame = _prepare(code, [file.read_bytes() for file in raw])
    except Exception as error:  # whatever goes wrong, the remedy is the same: get the file by hand
        if not isinstance(error, DownloadError):
            _remove(raw)
        raise _by_hand(code, path, f"{type(error).__name__}: {error}" if str(error) else repr(error)) from error
    _remove(raw)
    found = checksum(frame)
    if found != CHECKSUMS[code]:
        reason = f"the prepared table has SHA-256 {found}, not {CHECKSUMS[code]}: the file at the origin has changed"
        raise _by_hand(code, path, reason)
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_bytes(gzip.compress(frame.to_csv(index=False).encode(), mtime=0))
    os.replace(partial, path)
    return path


def checksum(frame: Any) -> str:
    """Return the SHA-256 of a prepared table's content: numbers to 9 digits, rows in any order.

    >>> import pandas as pd
    >>> one = pd.DataFrame({"a": [1, 2], "target": [0.1, 0.2]})
    >>> checksum(one) == checksum(one.astype(float)[::-1]) != checksum(one * 2)
    True
    """
    head, *rows = frame.to_csv(index=False, float_format="%.9g").splitlines()
    return hashlib.sha256("\n".join([head, *sorted(rows)]).encode()).hexdigest()


def _check(code: str) -> None:
    if code not in TARGETS:
        raise HedgerowError(f"The 'code' parameter must be one of {sorted(TARGETS)}. Got {code!r} instead.")


def _prepare(code: str, raw: list[bytes]) -> Any:
    prepare = SOURCES[code].prepare
    if prepare is None:
        raise HedgerowError("its origin has no file that could be fetched")
    return prepare(raw)


def _remove(files: list[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)
        file.with_name(file.name + ".part").unlink(missing_ok=True)


def _by_hand(code: str, path: Path, reason: str) -> HedgerowError:
    source = SOURCES[code]
    facts = FACTS[code]
    where = " and ".join(source.files) or source.page
    return HedgerowError(
        f"data set {code} ({facts.name}) could not be fetched ({reason}). Get it from {where} (about it: "
        f"{source.page}), prepare it ({source.steps}; the label {facts.target!r} as the last column, named "
        f"'target') and put it at {path}, or point HEDGEROW_DATA to a folder that holds {code}.csv.gz."
    )
