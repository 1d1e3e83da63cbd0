"""How cost grows: the exponent of time in holders, and in leaves times label values; memory against reports."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.timing import Row, fresh, interleave
from hedgerow import LocalTask, simulate_aggregate
from hedgerow.randomness import SecureRandomness
from hedgerow.tasks.reports import Reports

_MEMORY = "import sys; from benchmarks.scaling import memory_child; memory_child(*sys.argv[1:])"


def run(quick: bool) -> list[Row]:
    """Fit exponents of ``time = a * size ** b`` by least squares on logarithms."""
    rounds = 3 if quick else 5
    return [
        Row("exponent of a simulated fit in holders", _holders(quick, rounds), "", 1.1),
        Row("exponent of the draws in leaves x label values", _cells(rounds), "", 1.1),
        *_memory(),
    ]


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of log(seconds) in log(size)."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _holders(quick: bool, rounds: int) -> float:
    task = LocalTask.design(
        epsilon=2.0,
        label_bounds=(0, 1),
        features=10,
        feature_bounds=(0, 1),
        max_depth=6,
        response="bits",
        cell_share=0.5,
    )
    sizes = [250_000, 500_000, 10**6, 2 * 10**6] if quick else [10**6, 2 * 10**6, 4 * 10**6, 8 * 10**6]
    X = np.random.default_rng(0).random((sizes[-1], 10), dtype=np.float32)
    y = X[:, 0].astype(np.float64)
    simulate_aggregate(task, X, y)
    median = interleave({str(n): lambda n=n: simulate_aggregate(task, X[:n], y[:n]) for n in sizes}, rounds)
    return exponent(sizes, list(median.values()))


def _cells(rounds: int) -> float:
    """Ten holders in every cell; leaves and label values both grow."""
    source, functions, sizes = SecureRandomness(), {}, []
    for depth, values in ((9, 256), (10, 256), (10, 512), (11, 512), (11, 1024)):
        task = LocalTask.design(
            epsilon=2.0,
            label_bounds=(0, 1),
            features=10,
            feature_bounds=(0, 1),
            max_depth=depth,
            response="bits",
            cell_share=0.5,
        )
        counts = np.zeros((task.encoding.n_columns, task.n_leaves), dtype=np.int64)
        counts[:values] = 10
        encoding, table = task.encoding, counts.T
        encoding.simulate(table, source)
        sizes.append(values * task.n_leaves)
        functions[f"{depth}, {values}"] = lambda encoding=encoding, table=table: encoding.simulate(table, source)
    return exponent(sizes, list(interleave(functions, 2 * rounds).values()))


def _memory() -> list[Row]:
    """Return the peak of ``hedgerow aggregate`` for files of reports, in new processes."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in (10**6, 10**7):
            peak = float(fresh(_MEMORY, folder, str(n))) * 1024 / 1e6
            rows.append(Row(f"peak memory of 'hedgerow aggregate', {n:,} reports", peak, "MB", 1000))
    return rows


def memory_child(folder: str, size: str) -> None:
    """Write reports block by block, add them with the command in another process, and print its peak."""
    n, task_path, path = int(size), Path(folder) / "task.json", Path(folder) / "reports.bin"
    task = LocalTask.design(
        epsilon=1.0,
        label_bounds=(0, 1),
        features=2,
        feature_bounds=(0, 1),
        max_depth=4,
        response="bits",
        cell_share=0.5,
    )
    task_path.write_text(task.to_json())
    write_reports(task, path, n)
    command = ["aggregate", str(task_path), str(path), "-o", str(Path(folder) / "model.json")]
    code = f"from hedgerow import cli; cli.main({command!r})"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def write_reports(task: LocalTask, path: Path, n: int) -> None:
    """Write ``n`` reports with different ids and payloads of no holder's (all labels 0, no bits)."""
    empty = np.empty((0, 12), dtype=np.uint8), np.empty((0, task.encoding.width), dtype=np.uint8)
    head, rng = bytearray(Reports(task, *empty, True).to_bytes()), np.random.default_rng(0)
    head[-8:] = n.to_bytes(8, "little")
    with open(path, "wb") as file:
        file.write(head)
        for start in range(0, n, 10**5):
            file.write(rng.bytes(12 * min(10**5, n - start)))
        for start in range(0, n, 10**5):
            file.write(bytes(task.encoding.width * min(10**5, n - start)))
