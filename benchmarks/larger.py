"""A fit of Parquet files larger than memory: time of each part, memory of the process, disk.

``python -m benchmarks.larger --rows 1e8 --folder /big/disk`` writes the files if they are not there (4 bytes a value),
fits them in a process of its own, prints one line of JSON, and keeps it in ``benchmarks/results/larger.json`` (``-o``).
``--rounds`` ends each descent after so many rounds: rounds are alike. Memory is what the process holds beyond the page
cache (RssAnon), at its highest, looked at ten times a second. ``--dask 2`` fits on a cluster of so many processes
instead, and ``--check`` compares with a fit in memory. ``--table`` prints what is kept, for docs/performance.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.watch import Marks, Memory

RESULTS = Path(__file__).parent / "results" / "larger.json"
_ROWS = 1_000_000  # of a file
_LIMIT = 1000.0  # megabytes beyond the page cache
_TESTED = 100_000  # records whose error is measured, of the first file


def write_files(folder: Path, rows: int, columns: int) -> list[Path]:
    """Write made-up records, a million a file, unless they are there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for i, start in enumerate(range(0, rows, _ROWS)):
        n = min(_ROWS, rows - start)
        path = folder / f"{columns}-{i:05}-{n}.parquet"
        paths.append(path)
        if path.exists():
            continue
        rng = np.random.default_rng(i)
        X = rng.random((columns, n), dtype=np.float32)
        noise = rng.normal(0, 0.3, n)
        y = (np.sin(6 * X[0]) + 2 * X[1] * X[2] + X[3:8].sum(axis=0) / 2 + noise).astype(np.float32)
        table = pa.table({**{f"x{j}": X[j] for j in range(columns)}, "y": y})
        part = path.with_suffix(".part")
        pq.write_table(table, part, use_dictionary=False, compression="none", row_group_size=1 << 17)
        part.rename(path)
    return paths


def _table(paths: list[Path], columns: int) -> tuple[Any, Any]:
    """Return all records of some files in memory."""
    import pandas as pd

    frame = pd.concat([pd.read_parquet(path) for path in paths])
    return frame[[f"x{j}" for j in range(columns)]], frame["y"]


def measure(folder: Path, rows: int, columns: int, rounds: int, dask: int, check: bool) -> dict[str, Any]:
    """Fit in this process."""
    from hedgerow import PrivateAnovaRegressor
    from hedgerow.central.anova import recipe
    from hedgerow.sources.files import FileSource

    if rounds:
        recipe._MOST = rounds
    paths = write_files(folder, rows, columns)
    marks = Marks()
    known: dict[str, Any] = {"label_bounds": (-3, 8), "feature_bounds": (0, 1), "random_state": 0}
    source = FileSource(paths, "y", progress=marks.read)
    estimator = PrivateAnovaRegressor(1.0, callback=marks, **known)
    load = os.getloadavg()[0]
    memory = Memory()
    start = time.perf_counter()
    cpu = time.process_time()
    if dask:
        from hedgerow.collect.dask import connect, fit

        with connect(workers=dask) as client:
            model = fit(estimator, source, "y", client=client)
    else:
        model = estimator.fit(source, "y")
    out: dict[str, Any] = {"rows": rows, "columns": columns, "ended after": rounds, "workers": dask}
    out["seconds"] = round(time.perf_counter() - start, 1)
    out["CPU seconds"] = round(time.process_time() - cpu, 1)
    out |= marks.summary(start)
    out["MB beyond the page cache"] = round(memory.most)
    out["of these before the fit"] = round(memory.before)
    out["MB on disk"] = round(rows * (columns + 4) / 1e6)  # a byte a value, and four of the label
    out["load"] = [round(load, 1), round(os.getloadavg()[0], 1)]
    out["date"] = time.strftime("%Y-%m-%d")
    out["model"] = hashlib.sha256(model.model_.to_json().encode()).hexdigest()[:16]
    X, y = _table(paths[:1], columns)
    out["error"] = round(float(np.mean((model.predict(X[:_TESTED]) - y[:_TESTED]) ** 2)), 5)
    if check:
        held = PrivateAnovaRegressor(1.0, **known).fit(*_table(paths, columns))
        out["as in memory"] = held.model_.to_json() == model.model_.to_json()
    return out


def keep(found: dict[str, Any], path: Path) -> None:
    """Put a row in the place of the one of the same sizes."""
    same = ("rows", "columns", "ended after", "workers")
    kept = json.loads(path.read_text()) if path.exists() else []
    kept = [row for row in kept if any(row[name] != found[name] for name in same)]
    kept.append(found)
    kept.sort(key=lambda row: [row[name] for name in same])
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in kept) + "\n]\n")


def table(path: Path) -> list[str]:
    """Return the lines of what is kept."""
    lines = [
        "| records | rounds | both reads | a round | in all | CPU | memory before | most | on disk | error | load |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in json.loads(path.read_text()):
        each = max(row["seconds a round"])
        reads = row["first read"] + row["second read"]
        verdict = "" if row["MB beyond the page cache"] <= _LIMIT else " (**missed**)"
        lines.append(
            f"| {row['rows']:,} | {sum(row['rounds'])} | {reads:,.0f} s | {each:.3g} s | {row['seconds']:,.0f} s | "
            f"{row['CPU seconds']:,.0f} s | {row['of these before the fit']} MB | "
            f"{row['MB beyond the page cache']} MB{verdict} | {row['MB on disk']:,} MB | {row['error']:.4f} | "
            f"{row['load'][0]:g} to {row['load'][1]:g} |"
        )
    return lines


def main() -> None:
    """Write, fit, print and keep; or print what is kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--dask", type=int, default=0)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.table:
        print("\n".join(table(arguments.output)))
        return
    if arguments.folder is None:
        parser.error("name a directory for the files by --folder")
    if arguments.here:
        rows = int(arguments.rows)
        found = measure(arguments.folder, rows, arguments.columns, arguments.rounds, arguments.dask, arguments.check)
        print(json.dumps(found), flush=True)
        keep(found, arguments.output)
        return
    write_files(arguments.folder, int(arguments.rows), arguments.columns)
    subprocess.run([sys.executable, "-m", "benchmarks.larger", *sys.argv[1:], "--here"], check=True)


if __name__ == "__main__":
    main()
