"""Running the checks of a fault, and telling a catch from an accident."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from mutants.fault import Fault, MutantError

__all__ = ["Outcome", "build", "run_check"]

TIMEOUT = 300.0
"""Seconds for one check; a check that takes longer says nothing. (They should take less than 20.)"""

# A program that does not even load has no privacy claim: these are accidents, not catches.
_ACCIDENTS = ("ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError", "NameError", "UnboundLocalError")
_SAMPLES = "40000"


@dataclass(frozen=True)
class Outcome:
    """What a check said: the tests or audits that failed, and how long it took."""

    failed: tuple[str, ...]
    seconds: float


def run_check(fault: Fault, root: Path) -> Outcome:
    """Run a fault's check in a tree; raise :class:`MutantError` if it could not be run as meant."""
    start = time.perf_counter()
    failed = _audit(fault, root) if fault.is_audit else _pytest(fault, root)
    return Outcome(failed, time.perf_counter() - start)


def build(root: Path) -> None:
    """Compile the kernels of a tree, as setup.py says (apart from pyproject.toml, which old setuptools cannot read)."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(root / "setup.py", folder)
        shutil.copytree(root / "csrc", Path(folder, "csrc"))
        done = _run([sys.executable, "setup.py", "-q", "build_ext", "--build-lib", "."], Path(folder), "auto")
        built = list(Path(folder, "hedgerow").glob("_kernels*"))
        if done.returncode or len(built) != 1:
            raise MutantError(f"the mutated kernels do not compile: {_tail(done)}")
        shutil.copy(built[0], root / "src" / "hedgerow")


def _environment(root: Path, kernels: str) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(root / "src"),
        "HEDGEROW_KERNELS": kernels,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        # Plugins of pytest that no check needs take seconds to load, each time.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def _run(command: list[str], root: Path, kernels: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, cwd=root, env=_environment(root, kernels), capture_output=True, text=True, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        raise MutantError(f"took longer than {TIMEOUT:.0f} s") from None


def _tail(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stdout + done.stderr).strip().splitlines()
    return " | ".join(lines[-3:])[:400]


def _audit(fault: Fault, root: Path) -> tuple[str, ...]:
    command = [sys.executable, "-m", "hedgerow.cli", "audit", fault.caught_by[1], "--json", "--samples", _SAMPLES]
    done = _run(command, root, fault.kernels)
    try:
        results = json.loads(done.stdout)
    except ValueError:  # a crash also ends with 1
        raise MutantError(f"the audit did not end with a verdict: {_tail(done)}") from None
    if not results:
        raise MutantError(f"no audit is called {fault.caught_by[1]!r}")
    return tuple(f"{r['mechanism']} ({r['tier']})" for r in results if r["verdict"] != "holds")


def _pytest(fault: Fault, root: Path) -> tuple[str, ...]:
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        done = _run([*command, f"--junitxml={report.name}", *fault.caught_by], root, fault.kernels)
        if done.returncode not in (0, 1):
            raise MutantError(f"pytest did not run the checks: {_tail(done)}")
        cases = list(ElementTree.parse(report.name).iter("testcase"))
    return _verdict(cases, _tail(done))


def _verdict(cases: list[ElementTree.Element], tail: str) -> tuple[str, ...]:
    failures = [(case.get("name", "?"), found) for case in cases for found in case.findall("failure")]
    for name, found in failures:
        message = found.get("message") or ""
        if message.startswith(_ACCIDENTS):
            raise MutantError(f"{name} did not fail by what it asserts but by {message.splitlines()[0]}")
    if failures:
        return tuple(name for name, _ in failures)
    if any(case.find("error") is not None for case in cases):
        raise MutantError(f"an error outside of any test: {tail}")
    if all(case.find("skipped") is not None for case in cases):
        raise MutantError("every test was skipped")
    return ()
