"""The guide against simulation: ``python -m hedgerow_experiments.frontier.advise --out experiments/results/advise.md``.

Simulated errors are kept beside the page in a ``.jsonl`` file; forecasts are made again every time, from measurements
on public records that are kept in the folder HEDGEROW_BENCH_CACHE, if there is one (remove ``advise-*.json`` to repeat
them). Both are written to ``data/advise.csv.gz``, a line for each split.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.local.advise import PublicFacts, advise_from, measure_public
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.splits import split
from hedgerow_experiments.export import committed, write_rows
from hedgerow_experiments.frontier.advise_page import DATASETS, EPSILONS, SIMULATED, Cells, PublicRow, page
from hedgerow_experiments.frontier.advise_simulate import frontier_row, private_half, simulate_missing, simulate_split
from hedgerow_experiments.frontier.models import FOLDER, fitted_model
from hedgerow_experiments.results import Results
from hedgerow_experiments.tidy import Row

__all__ = ["DATASETS", "EPSILONS", "gather", "main", "simulate_missing", "simulate_split"]


def public_facts(code: str, repeat: int) -> tuple[PublicFacts, float]:
    """Return what is measured on the public records of one split, and the stack's own out-of-fold error."""
    folder = os.environ.get(FOLDER)
    path = Path(folder) / f"advise-{code}-{repeat}.json" if folder else None
    if path is not None and path.exists():
        kept = json.loads(path.read_text())
        return PublicFacts.from_dict(kept["facts"]), float(kept["own"])
    s = split(load_dataset(code), repeat)
    base, _ = fitted_model(s.public.X, s.public.y, repeat, s.categories or None)
    names = private_half([str(c) for c in s.public.X.columns])
    facts, own = (
        measure_public(base, s.public.X, s.public.y, s.label_bounds, names, 0),
        float(np.mean(base.residuals_**2)),
    )
    if path is not None:
        path.write_text(json.dumps({"facts": facts.to_dict(), "own": own}))
    return facts, own


def gather(
    simulated: Results, frontier: Results | None, codes: Sequence[str]
) -> tuple[Cells, dict[str, list[PublicRow]], list[Row]]:
    """Return (forecast, simulated) of each split by cell, what was known and true of public models, and rows to keep.

    Local errors are means over the draws of the frontier where it has the split.
    """
    cells: Cells = defaultdict(list)
    public: dict[str, list[PublicRow]] = defaultdict(list)
    rows: list[Row] = []
    for code, repeat in sorted((str(c), int(r)) for (c, r), _ in simulated if c in codes):
        (facts, own), holders = public_facts(code, repeat), _holders(code)
        row, found = frontier_row(frontier, code, repeat), simulated[code, repeat]["mse"]
        for epsilon, errors in found.items():
            advice = advise_from(facts, float(epsilon), holders)
            if row is not None:
                errors = {**errors, "local": float(np.mean(row["assisted"][epsilon]))}
            for setting, mse in errors.items():
                pair = advice.expected(setting, holders), mse
                cells[code, epsilon, setting].append(pair)
                for what, value in zip(("forecast", "simulated"), pair, strict=True):
                    rows.append(Row("advise", code, setting, what, float(epsilon), None, "", repeat, "mse", value))
        fresh = float(np.mean(facts.residuals**2))
        test = found["2"]["public only"]
        public[code].append(PublicRow(len(facts.residuals), own, fresh, advice.mean_square, test))
    return cells, public, rows


def _holders(code: str) -> int:
    n = len(load_dataset(code).y)
    return n - round(0.1 * n) - round(0.2 * n)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate what is missing, forecast, write the page."""
    parser = argparse.ArgumentParser(prog="python -m hedgerow_experiments.frontier.advise", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="page to write, such as experiments/results/advise.md")
    parser.add_argument("--datasets", default=",".join(DATASETS), help="codes, separated by commas")
    parser.add_argument(
        "--repeats", type=int, default=3, help="splits to simulate of each data set; others that the file has count too"
    )
    parser.add_argument("--again", default="", help="settings to simulate again, separated by commas, such as local")
    parser.add_argument("--settings", default=",".join(SIMULATED), help="settings to simulate where they are missing")
    options = parser.parse_args(arguments)
    path, codes = options.out.with_suffix(".jsonl"), options.datasets.split(",")
    kept = options.out.parent / "frontier.jsonl"
    frontier = Results(kept) if kept.exists() else None
    again, settings = ([name for name in text.split(",") if name] for text in (options.again, options.settings))
    try:
        if unknown := {*again, *settings} - set(SIMULATED):
            raise HedgerowError(f"Settings must be of {list(SIMULATED)}. Got {sorted(unknown)} instead.")
        had = [(str(k[0]), int(k[1])) for k, _ in Results(path)]
        wanted = [(code, repeat) for repeat in range(options.repeats) for code in codes]
        simulate_missing(path, frontier, dict.fromkeys(wanted + [k for k in had if k[0] in codes]), again, settings)
        cells, public, rows = gather(Results(path), frontier, codes)
    except HedgerowError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    write_rows(rows, committed("advise", options.out.parent))
    notes = options.out.with_suffix(".notes.md")  # what no figure can say, such as why a cell is missed
    options.out.write_text(page(cells, public) + (f"\n## Notes\n\n{notes.read_text()}" if notes.exists() else ""))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
