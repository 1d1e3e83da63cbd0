"""Print saved results as a Markdown table: ``python -m benchmarks.table [FILE]``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.timing import Row

REFERENCE = Path(__file__).parent / "results" / "reference.json"


def table(path: Path) -> list[str]:
    """Return the lines: what was measured, its value, what was promised, and whether it was kept."""
    saved = json.loads(path.read_text())
    machine = saved["machine"]
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load']:.1f} at the start, {machine['date'][:10]}; "
        f"Python {machine['python']}, NumPy {machine['numpy']}, scikit-learn {machine['scikit-learn']}; "
        f"{machine['kernels']}.",
        "",
        "| what | measured | goal | |",
        "|---|---|---|---|",
    ]
    for entry in saved["rows"]:
        row = Row(**{key: value for key, value in entry.items() if key != "met"})
        goal = "" if row.limit is None else f"{'≥' if row.at_least else '≤'} {row.limit:g}"
        verdict = {None: "", True: "met", False: "**missed**"}[row.met]
        lines.append(f"| {row.name.strip()} | {row.value:.3g} {row.unit} | {goal} | {verdict} |")
    return lines


if __name__ == "__main__":
    print("\n".join(table(Path(sys.argv[1]) if len(sys.argv) > 1 else REFERENCE)))
