"""A fit of Parquet files larger than memory: time of each part, memory of the process, disk.

``python -m benchmarks.larger --rows 1e8 --folder /big/disk`` writes the files if they are not there (8 bytes a value),
fits them in a process of its own, and prints one line of JSON. ``--rounds`` ends each descent after so many rounds, and
gives the time of one round: rounds are alike. Memory is what the process holds beyond the page cache (RssAnon), at its
highest, looked at ten times a second. ``--dask 2`` fits on a cluster of so many processes instead, and ``--check``
compares with a fit in memory.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

_ROWS = 1_000_000  # of a file


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
        X = rng.random((columns, n))
        y = np.sin(6 * X[0]) + 2 * X[1] * X[2] + X[3:8].sum(axis=0) / 2 + rng.normal(0, 0.3, n)
        table = pa.table({**{f"x{j}": X[j] for j in range(columns)}, "y": y})
        part = path.with_suffix(".part")
        pq.write_table(table, part, use_dictionary=False, compression="none", row_group_size=1 << 17)
        part.rename(path)
    return paths


class Memory(threading.Thread):
    """The most memory of this process beyond the page cache, and the most with it, in megabytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.anonymous = 0.0
        self.start()

    def run(self) -> None:
        while True:
            lines = Path("/proc/self/status").read_text().splitlines()
            found = next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
            self.anonymous = max(self.anonymous, found / 1024)
            time.sleep(0.1)


class Marks:
    """When reads and rounds were."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.reads: list[tuple[int, float]] = []
        self.turns: list[tuple[int, float]] = []
        self.planned: list[int] = []

    def read(self, done: int, share: float | None) -> None:
        self.reads.append((done, time.perf_counter()))

    def begin(self, rounds: int) -> None:
        self.planned.append(rounds)

    def __call__(self, t: int) -> bool:
        self.turns.append((t, time.perf_counter()))
        return False

    def summary(self, start: float, end: float) -> dict[str, Any]:
        again = next((i for i in range(1, len(self.reads)) if self.reads[i][0] <= self.reads[i - 1][0]), None)
        stages = [i for i, (t, _) in enumerate(self.turns) if t == 0] + [len(self.turns)]
        spans = [(b - a, self.turns[b - 1][1] - self.turns[a][1]) for a, b in itertools.pairwise(stages)]
        out: dict[str, Any] = {"seconds": round(end - start, 1), "rounds": self.planned}
        if again is not None:
            out["first read"] = round(self.reads[again - 1][1] - start, 1)
            out["second read"] = round(self.reads[-1][1] - self.reads[again - 1][1], 1)
        out["seconds a round"] = [round(span / (n - 1), 4) for n, span in spans if n > 1]
        return out


def measure(folder: Path, rows: int, columns: int, rounds: int, dask: int, check: bool) -> dict[str, Any]:
    """Fit in this process."""
    from hedgerow import PrivateAnovaRegressor
    from hedgerow.central.anova import recipe
    from hedgerow.sources.files import FileSource

    if rounds:
        recipe._FEWEST = min(recipe._FEWEST, rounds)
        recipe._MOST = min(recipe._MOST, rounds)
    paths = write_files(folder, rows, columns)
    marks = Marks(rounds)
    known: dict[str, Any] = {"label_bounds": (-3, 8), "feature_bounds": (0, 1), "random_state": 0}
    source = FileSource(paths, "y", progress=marks.read)
    estimator = PrivateAnovaRegressor(1.0, callback=marks, **known)
    memory = Memory()
    before = memory.anonymous
    start = time.perf_counter()
    if dask:
        from hedgerow.collect.dask import connect, fit

        with connect(workers=dask) as client:
            model = fit(estimator, source, "y", client=client)
    else:
        model = estimator.fit(source, "y")
    end = time.perf_counter()
    out = {"rows": rows, "columns": columns, **marks.summary(start, end)}
    out["MB beyond the page cache"] = round(memory.anonymous)
    out["of these before the fit"] = round(before)
    out["model"] = hashlib.sha256(model.model_.to_json().encode()).hexdigest()[:16]
    if check:
        batches = list(FileSource(paths, "y").batches())
        X = np.concatenate([np.column_stack([batch.X[f"x{j}"] for j in range(columns)]) for batch in batches])
        y = np.concatenate([batch.labels[0] for batch in batches])
        held = PrivateAnovaRegressor(1.0, **known).fit(X, y)
        out["as in memory"] = held.model_.to_json() == model.model_.to_json()
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--dask", type=int, default=0)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        rows = int(arguments.rows)
        found = measure(arguments.folder, rows, arguments.columns, arguments.rounds, arguments.dask, arguments.check)
        print(json.dumps(found), flush=True)
        return
    write_files(arguments.folder, int(arguments.rows), arguments.columns)
    subprocess.run([sys.executable, "-m", "benchmarks.larger", *sys.argv[1:], "--here"], check=True)


if __name__ == "__main__":
    main()
