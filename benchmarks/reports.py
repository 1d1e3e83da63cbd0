"""Decoding reports, looking for copies and adding them up."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.timing import Row, interleave
from hedgerow import LocalTask, privatize_many
from hedgerow.collect import files, memory
from hedgerow.kernels import native, reference
from hedgerow.tasks.reports import Reports


def run(quick: bool) -> list[Row]:
    """Measure reports of 1,024 leaves: as bytes in memory, in a file, in Parquet."""
    n, rounds = (10**5, 3) if quick else (10**6, 5)
    task = LocalTask.design(
        epsilon=2.0,
        label_bounds=(0, 1),
        features=10,
        feature_bounds=(0, 1),
        max_depth=10,
        response="bits",
        cell_share=0.5,
    )
    batch = _reports(task, n)
    data = batch.to_bytes()
    with tempfile.TemporaryDirectory() as folder:
        binary, parquet = str(Path(folder) / "r.bin"), str(Path(folder) / "r.parquet")
        Path(binary).write_bytes(data)
        batch.to_parquet(parquet)
        few = Reports(task, batch.tokens[: n // 10], batch.payloads[: n // 10], True).to_bytes()

        def plain() -> None:
            with reference():
                memory.aggregate(task, [Reports.from_bytes(task, few)])

        functions = {"numpy": plain}
        if native() is not None:
            functions |= {
                "memory": lambda: memory.aggregate(task, [Reports.from_bytes(task, data)]),
                "binary": lambda: files.aggregate(task, [binary]),
                "parquet": lambda: files.aggregate(task, [parquet]),
            }
        median = interleave(functions, rounds)
    title = "decode, dedupe and add reports of 1,024 leaves"
    rows = [Row(f"{title}, NumPy", n / 10 / median["numpy"] / 1e6, "M/s", 0.25, at_least=True)]
    if native() is not None:
        rows.append(Row(f"{title}, compiled", n / median["memory"] / 1e6, "M/s", 5, at_least=True))
        rows.append(Row("  from a file of bytes", n / median["binary"] / 1e6, "M/s"))
        rows.append(Row("  from Parquet", n / median["parquet"] / 1e6, "M/s"))
    return rows


def _reports(task: LocalTask, n: int) -> Reports:
    """Return reports with different ids; messages are real, and repeat after 20,000."""
    rng = np.random.default_rng(0)
    X = rng.random((min(n, 20_000), 10))
    some = privatize_many(task, X, X[:, 0], randomness=1)
    tokens = rng.integers(0, 256, (n, 12), dtype=np.uint8)
    return Reports(task, tokens, np.resize(some.payloads, (n, some.payloads.shape[1])), True)
