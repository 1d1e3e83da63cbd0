"""The LPDT paper's experiments: ``python -m hedgerow.bench.lpdt table`` and ``... figures``."""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hedgerow.bench.datasets import load_dataset
from hedgerow.bench.lpdt_methods import GROUPS, Stream
from hedgerow.bench.lpdt_table import markdown, summarise
from hedgerow.bench.results import Results
from hedgerow.bench.splits import split
from hedgerow.errors import HedgerowError

__all__ = ["DATASETS", "main", "run"]

DATASETS = ("ABA", "AIR", "ALG", "AQU", "BUI", "CBM", "CCP", "CON", "CPU", "FIS", "HOU", "MUS", "RED", "WHI")


def run(results: Results, codes: Sequence[str], repeats: int, groups: Sequence[str], *, quiet: bool = False) -> None:
    """Compute what is missing, repeat by repeat, so that all data sets advance together."""
    for repeat in range(repeats):
        for code in codes:
            wanted = [g for g in groups if (code, repeat, g) not in results]
            if not wanted:
                continue
            data = split(load_dataset(code), repeat)
            for group in wanted:
                # Seeded by what is computed, so that a resumed run gives the figures of an unbroken one.
                source = Stream(repeat, ("bench", "lpdt", code, group))
                results.add((code, repeat, group), GROUPS[group](data, source))
                if not quiet:
                    print(f"{code} split {repeat}: {group}", file=sys.stderr, flush=True)


def write_summary(results: Results, path: Path) -> None:
    """Write one line for each data set, method and epsilon: the best parameter, its mean and standard error."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["dataset", "method", "epsilon", "mse", "standard_error", "parameter", "repeats"])
        for (code, method, epsilon), cell in sorted(summarise(results).items()):
            parameter = " ".join(map(str, cell.parameter)) if isinstance(cell.parameter, tuple) else cell.parameter
            rows.writerow([code, method, epsilon, f"{cell.mean:.5g}", f"{cell.se:.3g}", parameter, cell.repeats])


def replace_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(text)
    os.replace(partial, path)


def table(options: argparse.Namespace) -> None:
    """Run what is missing and write the table, its summary and its raw results side by side."""
    out = Path(options.out)
    results = Results(out.with_suffix(".jsonl"))
    if options.repeats:
        run(results, options.datasets, options.repeats, options.methods)
    if options.write:
        notes = out.with_suffix(".notes.md")
        results = Results(out.with_suffix(".jsonl"))
        replace_text(out, markdown(results, notes.read_text() if notes.exists() else ""))
        write_summary(results, out.with_suffix(".csv"))


def figures(options: argparse.Namespace) -> None:
    """Draw the figures."""
    from hedgerow.bench.lpdt_figures import draw

    for path in draw(Path(options.out), options.only, repeats=options.repeats):
        print(path)


def _choices(allowed: Sequence[str]) -> dict[str, object]:
    return {"nargs": "+", "default": list(allowed), "choices": list(allowed), "metavar": "NAME"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; return an exit code."""
    parser = argparse.ArgumentParser(prog="python -m hedgerow.bench.lpdt", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("table", help="tables 2 and 5, resumable")
    one.add_argument("--repeats", type=int, default=20, help="splits of each data set; 0 only writes")
    one.add_argument("--datasets", **_choices(DATASETS))  # type: ignore[arg-type]
    one.add_argument("--methods", **_choices(tuple(GROUPS)))  # type: ignore[arg-type]
    one.add_argument("--out", default="docs/results/lpdt.md")
    one.add_argument("--no-write", dest="write", action="store_false", help="compute only")
    two = commands.add_parser("figures", help="figures 1, 2(a-c), 3 and 5")
    two.add_argument("--out", default="docs/results")
    two.add_argument("--only", **_choices(("1", "2a", "2b", "2c", "3", "5")))  # type: ignore[arg-type]
    two.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args(arguments)
    try:
        {"table": table, "figures": figures}[options.command](options)
    except HedgerowError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
