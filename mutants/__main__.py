"""``python -m mutants [PATTERN ...]``: plant every fault and print what catches it; 1 if one survives."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from mutants.fault import Fault
from mutants.faults import all_faults
from mutants.run import Row, check_clean, plant_all
from mutants.tree import ROOT, copy_tree


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.add_argument("patterns", nargs="*", help="only faults whose name or path holds one of these texts")
    parser.add_argument("--jobs", type=int, default=2, help="checks at a time (default: 2)")
    parser.add_argument("--list", action="store_true", help="list the faults and exit")
    given = parser.parse_args(arguments)
    faults = [f for f in all_faults() if _selected(f, given.patterns)]
    if given.list:
        print("\n".join(f"{f.name}  ({f.path})" for f in faults))
        return 0
    problems = [problem for fault in faults for problem in fault.problems(ROOT)]
    if problems or not faults:
        print("\n".join(map(str, problems)) or "no fault has such a name")
        return 1
    with tempfile.TemporaryDirectory(prefix="hedgerow_mutants_") as folder:
        return _run(faults, copy_tree(ROOT, Path(folder) / "clean"), given.jobs)


def _selected(fault: Fault, patterns: list[str]) -> bool:
    text = f"{fault.name} {fault.path}".lower()
    return not patterns or any(pattern.lower() in text for pattern in patterns)


def _run(faults: list[Fault], clean: Path, jobs: int) -> int:
    start = time.perf_counter()
    problems = check_clean(faults, clean, jobs)
    if problems:
        print("\n".join(map(str, problems)))
        return 1
    print(f"every check passes on the tree as it is ({time.perf_counter() - start:.0f} s)", flush=True)
    width = max(len(fault.name) for fault in faults)
    print(f"{'fault':<{width}} | seconds | caught by", flush=True)
    missed = 0
    for row in plant_all(faults, clean, jobs):
        print(f"{row.name:<{width}} | {row.seconds:7.1f} | {_verdict(row)}", flush=True)
        missed += not row.caught
    caught = len(faults) - missed
    print(f"{caught} of {len(faults)} faults caught, {missed} not, in {time.perf_counter() - start:.0f} s")
    return 1 if missed else 0


def _verdict(row: Row) -> str:
    if row.error:
        return f"ERROR, not caught: {row.error}"
    return row.caught_by or "SURVIVED"


if __name__ == "__main__":
    sys.exit(main())
