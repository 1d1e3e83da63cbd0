"""The HistOfTree paper's tables and figure: ``python -m hedgerow.bench.histoftree --out docs/results/histoftree.md``.

Results are appended to ``histoftree.jsonl`` beside the table as they come; a run that is killed goes on where it
stopped. Repeats come first, so that all data sets advance together.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from hedgerow.bench.datasets import load_dataset
from hedgerow.bench.histoftree_methods import METHODS, make_trial
from hedgerow.bench.results import Results
from hedgerow.randomness import SeededRandomness

__all__ = ["DATASETS", "EPSILONS", "main", "run"]

DATASETS = ("ABA", "AQU", "BUI", "DAK", "FIS", "MUS", "POR", "PYR", "RED", "WHI")
EPSILONS = (2.0, 1.0, 4.0)


def jobs() -> Iterator[tuple[str, float, str]]:
    """Yield (preference, epsilon, method); what does not depend on a preference or epsilon is run once."""
    yield "both", 0.0, "DT"
    for epsilon in EPSILONS:
        for preference in ("aligned", "personal"):
            for method in METHODS:
                if method in ("DT", "Hist", "LabelDT") or (method.startswith("Ad") and preference == "aligned"):
                    continue
                yield preference, epsilon, method
        yield "both", epsilon, "Hist"
        yield "both", epsilon, "LabelDT"


def run(results: Results, codes: Sequence[str], repeats: int, *, start: int = 0, quiet: bool = False) -> None:
    """Compute what is missing."""
    for repeat in range(start, repeats):
        for code in codes:
            wanted = [job for job in jobs() if (code, repeat, *job) not in results]
            if not wanted:
                continue
            trial = make_trial(load_dataset(code), repeat)
            for preference, epsilon, method in wanted:
                # Seeded by what is computed, so that a resumed run gives the figures of an unbroken one.
                source = SeededRandomness(repeat, ("histoftree", code, preference, str(epsilon), method))
                errors = METHODS[method](trial, epsilon or float("inf"), preference == "aligned", source)
                results.add((code, repeat, preference, epsilon, method), errors)
            if not quiet:
                print(f"{code} split {repeat}: {len(wanted)} methods", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m hedgerow.bench.histoftree", description=__doc__)
    parser.add_argument("--out", default="docs/results/histoftree.md", help="the table to write")
    parser.add_argument("--repeats", type=int, default=20, help="splits of each data set; 0 only writes the table")
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), choices=DATASETS, metavar="CODE")
    parser.add_argument("--figures", type=int, default=0, metavar="REPEATS", help="repeats of figure 2's simulation")
    options = parser.parse_args(arguments)
    out = Path(options.out)
    results = Results(out.with_suffix(".jsonl"))
    run(results, options.datasets, options.repeats)
    from hedgerow.bench.histoftree_figures import simulate
    from hedgerow.bench.histoftree_table import markdown

    figures = Results(out.with_name(out.stem + "_figures.jsonl"))
    simulate(figures, options.figures)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(markdown(results, figures))
    print(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
