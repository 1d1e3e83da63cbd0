"""A plan on paper for very many holders: ``python -m benchmarks.plan --holders 1e9 --cores 64``.

Everything follows from measured rates (``make bench``, and what a task costs Dask's scheduler), the sizes of the
formats, and three stated assumptions: the price of a core, the read bandwidth of a core's share of storage, and the
price of keeping bytes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from hedgerow import LocalTask
from hedgerow.collect.dask import BRANCHES, BUCKET_ROWS, GROUPS, PIECES
from hedgerow.tasks.reports import TOKEN_BYTES
from hedgerow.tasks.totals import Aggregate

REFERENCE = Path(__file__).parent / "results" / "reference.json"
TASK_SECONDS = 2.2e-3  # CPU time of scheduler and client for a task: 4,000 tasks of a local cluster, distributed 2026.8
TOKEN_MESSAGE = TOKEN_BYTES + 8  # an id and its number travel to the worker that compares


def find(rows: list[dict[str, object]], *words: str) -> float:
    """Return the value of the row whose name holds these words."""
    return float(next(str(row["value"]) for row in rows if all(word in str(row["name"]) for word in words)))


def plan(holders: float, cores: int, price: float, megabytes: float, kept: float, path: Path) -> list[str]:
    """Return the plan as lines of Markdown, with the arithmetic."""
    rows = json.loads(path.read_text())["rows"]
    task = LocalTask.design(
        epsilon=2.0,
        label_bounds=(0, 1),
        features=10,
        feature_bounds=(0, 1),
        max_depth=10,
        response="bits",
        cell_share=0.5,
    )
    rate = find(rows, "from a file of bytes") * 1e6
    size, total = task.encoding.width + TOKEN_BYTES, len(Aggregate(task).to_bytes())
    read, shuffled = holders * size, holders * TOKEN_MESSAGE
    tasks = holders / (PIECES * 65536)
    merged = tasks * total * (1 + 1 / (BRANCHES - 1))
    compute, reading = holders / rate, (read + holders * TOKEN_BYTES) / (megabytes * 1e6)
    parts = min(256, 1 << int(holders // BUCKET_ROWS).bit_length())
    merges, spreading = tasks / (BRANCHES - 1), min(GROUPS, tasks)
    scheduled = tasks + merges + spreading * (1 + parts) + parts
    serial = scheduled * TASK_SECONDS
    seconds = (compute + reading) / cores + serial
    money, storage = seconds * (cores + 1) / 3600 * price, read / 1e9 * kept
    part = find(rows, "simulated fit of", "compiled") * find(rows, ": P") / 1e7 * holders
    return [
        "| what | arithmetic | result |",
        "|---|---|---|",
        f"| a report | {task.encoding.width} bytes of message + {TOKEN_BYTES} of id | {size} bytes |",
        f"| stored and read | {holders:.0e} x {size} bytes | {read / 1e9:,.0f} GB |",
        f"| moved to find copies | {holders:.0e} x {TOKEN_MESSAGE} bytes | {shuffled / 1e9:,.0f} GB |",
        f"| pieces | {holders:.0e} / ({PIECES} x 65,536) | {tasks:,.0f} tasks |",
        f"| moved to add totals up | {tasks:,.0f} x {total:,} bytes x {BRANCHES}/{BRANCHES - 1} "
        f"| {merged / 1e9:.2f} GB |",
        f"| computing | {holders:.0e} / {rate / 1e6:.2f} M/s a core (measured) | {compute:,.0f} core-seconds |",
        f"| reading | {(read + holders * TOKEN_BYTES) / 1e9:,.0f} GB / {megabytes:g} MB/s a core (assumed) "
        f"| {reading:,.0f} core-seconds |",
        f"| the scheduler | {tasks:,.0f} + {merges:,.0f} to add, {spreading:,.0f} x (1 + {parts}) + {parts} to compare "
        f"ids; x {TASK_SECONDS * 1e3:g} ms (measured) | {serial:,.0f} s, one after another |",
        f"| on {cores} cores | ({compute:,.0f} + {reading:,.0f}) / {cores} + {serial:,.0f} | {seconds:,.0f} s |",
        f"| computing costs | {seconds:,.0f} s x {cores + 1} cores x ${price:g} an hour (assumed) | ${money:.2f} |",
        f"| keeping the reports costs | {read / 1e9:,.0f} GB x ${kept:g} a month (assumed) | ${storage:.2f} a month |",
        f"| simulating them instead | {part / holders * 1e9:.0f} ns a holder (measured) | {part:,.0f} core-seconds |",
    ]


def main() -> None:
    """Print the plan."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plan", description=__doc__)
    parser.add_argument("--holders", type=float, default=1e9)
    parser.add_argument("--cores", type=int, default=64)
    parser.add_argument("--price", type=float, default=0.05, help="dollars a core-hour")
    parser.add_argument("--megabytes", type=float, default=100.0, help="read a second by one core")
    parser.add_argument("--kept", type=float, default=0.023, help="dollars a gigabyte and month")
    parser.add_argument("--results", type=Path, default=REFERENCE)
    options = parser.parse_args()
    lines = plan(options.holders, options.cores, options.price, options.megabytes, options.kept, options.results)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
