"""The pilot of an assisted task in files: a task of its own, and totals that the design of the next task reads."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import naming, report, write_text
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.tasks.assisted import PilotTotals

__all__ = ["check_pilot_options", "read_totals", "write_pilot"]


def write_pilot(arguments: argparse.Namespace, X: Any, y: Any, n_holders: int, options: dict[str, Any]) -> int:
    """Design the pilot's task, write it, and say how many holders to ask."""
    from hedgerow.local.assisted import design_pilot
    from hedgerow.local.assisted.pilot import pilot_size

    task = design_pilot(X, y, **options)
    write_text(arguments.output, task.to_json() + "\n")
    n = pilot_size("auto", n_holders, task.epsilon)
    summary = {
        "output": arguments.output,
        "task": task.id,
        "epsilon": task.to_dict()["epsilon"],
        "public_model_bytes": task.public_model.n_bytes,
        "edges": list(task.edges),
        "n_pilot": n,
        "report_bytes": 18 + task.encoding.width,
        "guarantee": task.guarantee.to_dict(),
    }
    ask = f"ask {n:,} of {n_holders:,} holders, drawn at random, and do not ask them the task after it"
    nobody = f"5 % of {n_holders:,} holders could not tell at this epsilon: go without a pilot"
    report(arguments, summary, [f"{task} -> {arguments.output}", ask if n else nobody, str(task.guarantee)])
    return 0


def read_totals(path: str | None) -> PilotTotals | None:
    """Return the totals in a file."""
    if path is None:
        return None
    from hedgerow.tasks.assisted import PilotTotals

    with open(path, "rb") as file, naming(path):
        return PilotTotals.from_json(file.read())


def check_pilot_options(arguments: argparse.Namespace) -> None:
    """Refuse options of the pilot without an assisted task, or both at once."""
    given = [o for o, v in (("--pilot", arguments.pilot), ("--pilot-totals", arguments.pilot_totals)) if v]
    if given and not arguments.assisted:
        raise HedgerowError(f"{given[0]} is for assisted tasks; add --assisted, or leave it out.")
    if len(given) > 1:
        raise HedgerowError("--pilot makes the pilot's task, --pilot-totals the one after it; give one of them.")
