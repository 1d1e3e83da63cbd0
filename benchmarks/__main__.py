"""Run the benchmarks: ``python -m benchmarks [--quick] [--only NAME ...]``."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import sklearn

from benchmarks import anova, apply, fit, grow, leafwise, noise, reports, scaling, startup, sums
from benchmarks.timing import Row
from hedgerow import __version__
from hedgerow.kernels import note

FAMILIES: dict[str, Callable[[bool], list[Row]]] = {
    "startup": startup.run,
    "noise": noise.run,
    "leafwise": leafwise.run,
    "fit": fit.run,
    "apply": apply.run,
    "grow": grow.run,
    "reports": reports.run,
    "scaling": scaling.run,
    "sums": sums.run,
}
ON_REQUEST: dict[str, Callable[[bool], list[Row]]] = {"anova": anova.run}  # too long to run each time
RESULTS = Path(__file__).parent / "results" / "latest.json"


def machine() -> dict[str, object]:
    """Describe what the figures were measured on."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "hedgerow": __version__,
        "kernels": note(),
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _save(path: Path, results: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")


def main() -> None:
    """Run, print and save."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed of Hedgerow, as ratios.")
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer rounds")
    choices = {**FAMILIES, **ON_REQUEST}
    parser.add_argument("--only", nargs="+", choices=choices, default=list(FAMILIES), help="families to run")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS, help="where to write JSON")
    options = parser.parse_args()
    about, saved = machine(), []
    print(f"{about['cpu']}, {about['cores']} cores, {note()}; CPU time, medians of interleaved rounds\n")
    for name in options.only:
        for row in choices[name](options.quick):
            print(row, flush=True)
            saved.append(asdict(row) | {"met": row.met})
        print()
        _save(options.output, {"machine": about, "quick": options.quick, "rows": saved})
    missed = sum(row["met"] is False for row in saved)
    print(f"{missed} of {sum(row['met'] is not None for row in saved)} promises missed; saved to {options.output}")


if __name__ == "__main__":
    main()
