"""All faults, two at a time: first the checks on the tree as it is, then each fault on its own copy."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from mutants.check import build, run_check
from mutants.fault import Fault, MutantError, Problem
from mutants.tree import copy_tree

__all__ = ["Row", "check_clean", "plant_all"]


@dataclass(frozen=True)
class Row:
    """One line of the table; ``caught_by`` is empty for a survivor, ``error`` for a fault that was not tried."""

    name: str
    caught_by: str
    seconds: float
    error: str = ""

    @property
    def caught(self) -> bool:
        """Whether a check failed as it must."""
        return bool(self.caught_by)


def check_clean(faults: Sequence[Fault], clean: Path, jobs: int) -> list[Problem]:
    """Run every check on the tree as it is; return those that do not pass there."""
    checks = {(fault.caught_by, fault.kernels): fault for fault in faults}

    def check(fault: Fault) -> list[Problem]:
        try:
            outcome = run_check(fault, clean)
        except MutantError as error:
            return [Problem(fault.name, f"its check says nothing on the tree as it is: {error}")]
        return [Problem(fault.name, f"{name} fails on the tree as it is") for name in outcome.failed]

    with ThreadPoolExecutor(jobs) as pool:
        return [problem for found in pool.map(check, checks.values()) for problem in found]


def plant_all(faults: Sequence[Fault], clean: Path, jobs: int) -> Iterator[Row]:
    """Yield a row for each fault, as they come."""
    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(_plant, fault, clean, i) for i, fault in enumerate(faults)]):
            yield done.result()


def _plant(fault: Fault, clean: Path, number: int) -> Row:
    start = time.perf_counter()
    copy = copy_tree(clean, clean.parent / f"mutant{number}")
    try:
        fault.plant(copy)
        if fault.path.startswith("csrc/"):
            build(copy)
        failed = run_check(fault, copy).failed
        return Row(fault.name, ", ".join(dict.fromkeys(failed)), time.perf_counter() - start)
    except MutantError as error:
        return Row(fault.name, "", time.perf_counter() - start, str(error))
    finally:
        shutil.rmtree(copy, ignore_errors=True)
