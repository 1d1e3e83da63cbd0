"""The Criteo Sponsored Search Conversion Log, read where a user has it: it is too large, and too restricted, to fetch.

The public file has a click a line, 23 columns apart by tabs, no heading, and -1 where something is missing. Prepared as
the RPWithPrior paper says: clicks without a sale, and with one above 400 euro, are left out; ``Sale`` and
``click_timestamp`` are dropped; hashed values that occur rarely become one.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow_experiments.data.datasets import cache_folder

__all__ = ["COLUMNS", "HASHED", "MOST", "find_criteo", "load_criteo"]

HASHED = (
    "product_age_group", "device_type", "audience_id", "product_gender", "product_brand",
    *(f"product_category{i}" for i in range(1, 8)),
    "product_country", "product_id", "product_title", "partner_id", "user_id",
)  # fmt: skip
NUMBERS = ("time_delay_for_conversion", "nb_clicks_1week", "product_price")
COLUMNS = ("Sale", "SalesAmountInEuro", NUMBERS[0], "click_timestamp", *NUMBERS[1:], *HASHED)
"""In the order of the file."""
MOST = 400.0
"""Sales above are left out, as in the paper; it is the public bound of the label."""
RARE = 10
"""Hashed values with fewer clicks become one; the paper has a threshold, too, but does not print it."""
_PAGE = "https://ailab.criteo.com/criteo-sponsored-search-conversion-log-dataset/"
_PLACES = (
    "CriteoSearchData",
    "Criteo_Conversion_Search/CriteoSearchData",
    "CriteoSearchData.gz",
    "criteo-research-search-conversion.tar.gz",
    "Criteo_Conversion_Search.tar.gz",
)


def find_criteo(data_home: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the log's file on this machine: ``$HEDGEROW_CRITEO``, or under a known name in a folder of data sets."""
    named = os.environ.get("HEDGEROW_CRITEO")
    if named:
        return Path(named)
    folders = [Path(f) for f in (data_home, os.environ.get("HEDGEROW_DATA"), "../shared/data", cache_folder()) if f]
    found = (folder / place for folder in folders for place in _PLACES)
    return next((path for path in found if path.is_file()), None)


def load_criteo(path: str | os.PathLike[str] | None = None, *, rare: int = RARE, rows: int = 500_000) -> Any:
    """Return the sales as a data frame of numbers, the amount in euro last, as ``target``.

    Parameters
    ----------
    path : path, optional
        The log: plain, compressed, or in the archive that Criteo gives out; by default :func:`find_criteo`.
    rare : int
        Hashed values with fewer sales than this get the code 0; the others 1, 2, ... by falling count.
    rows : int
        So many lines are read at once: the log has 16 million, of which a tenth are sales.

    Raises
    ------
    HedgerowError
        If there is no such file, or it is another one.
    """
    where = find_criteo() if path is None else Path(path)
    if where is None or not where.is_file():
        said = "is not on this machine" if where is None else f"is not at {where}"
        raise HedgerowError(
            f"The Criteo Sponsored Search Conversion Log {said}. Get it from {_PAGE} (you must agree to its terms), "
            "and put it as CriteoSearchData into the folder HEDGEROW_DATA, or point HEDGEROW_CRITEO to the file. "
            "Flight delays stand in for it: hedgerow bench run label --datasets nyc."
        )
    import pandas as pd

    with _opened(where) as file:
        parts = [part[_sold(part)] for part in _chunks(file, where, rows)]
    frame = pd.concat(parts, ignore_index=True)
    if frame.empty:
        raise HedgerowError(f"{where} holds no sale of at most {MOST:g} euro: it is not the whole log.")
    target = frame["SalesAmountInEuro"].to_numpy(dtype=np.float64)
    columns = {name: frame[name].to_numpy(dtype=np.float64) for name in NUMBERS}
    columns |= {name: _codes(frame[name], rare) for name in HASHED}
    return pd.DataFrame({**columns, "target": target})


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open the log, whatever it is packed in."""
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and Path(member.name).name.startswith("CriteoSearchData"):
                    inner = archive.extractfile(member)
                    assert inner is not None
                    yield inner
                    return
        raise HedgerowError(f"{path} has no file CriteoSearchData in it: it is not Criteo's archive.")
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if packed:
        with gzip.open(path) as unpacked:
            yield io.BufferedReader(unpacked)
    else:
        with path.open("rb") as file:
            yield file


def _chunks(file: IO[bytes], path: Path, rows: int) -> Iterator[Any]:
    """Yield the lines as frames, hashed values as text; refuse what has other columns."""
    import pandas as pd

    first = file.readline()
    cells = first.rstrip(b"\r\n").split(b"\t")
    if len(cells) != len(COLUMNS):
        raise HedgerowError(
            f"{path} has {len(cells)} columns apart by tabs, not the {len(COLUMNS)} of the Criteo Sponsored Search "
            f"Conversion Log ({_PAGE}; Criteo has published other logs)."
        )
    kinds = {**dict.fromkeys(HASHED, "string"), **dict.fromkeys(NUMBERS, np.float64), "SalesAmountInEuro": np.float64}
    options: dict[str, Any] = {"sep": "\t", "header": None, "names": list(COLUMNS), "dtype": kinds}
    options |= {"usecols": [c for c in COLUMNS if c not in ("Sale", "click_timestamp")], "keep_default_na": False}
    try:
        if not cells[0].lstrip(b"<").startswith(b"Sale"):
            yield pd.read_csv(io.BytesIO(first), **options)
        yield from pd.read_csv(file, chunksize=rows, **options)
    except pd.errors.EmptyDataError:
        return
    except (ValueError, pd.errors.ParserError) as error:
        raise HedgerowError(f"{path} is not laid out as the Criteo Sponsored Search Conversion Log: {error}") from None


def _sold(part: Any) -> Any:
    """Return which clicks are sales of a plausible amount; -1 says that there was none."""
    return (part["SalesAmountInEuro"] >= 0) & (part["SalesAmountInEuro"] <= MOST)


def _codes(column: Any, rare: int) -> Any:
    """Return codes of hashed values by falling count, 0 for rare and missing ones.

    >>> import pandas as pd
    >>> _codes(pd.Series(["a", "b", "b", "-1", "b", "a"]), 2).tolist()
    [2.0, 1.0, 1.0, 0.0, 1.0, 2.0]
    """
    counts = Counter(column)
    counts.pop("-1", None)
    kept = sorted((value for value, n in counts.items() if n >= rare), key=lambda value: (-counts[value], value))
    code = {value: float(i) for i, value in enumerate(kept, 1)}
    return column.map(lambda value: code.get(value, 0.0)).to_numpy(dtype=np.float64)
