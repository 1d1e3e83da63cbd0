"""Assisted tasks and models in files: a public model travels in the task, and reports say where it is wrong."""

from __future__ import annotations

import argparse
from typing import Any

from hedgerow.commands.files import report, write_text
from hedgerow.errors import HedgerowError

__all__ = ["design_task"]


def design_task(arguments: argparse.Namespace) -> int:
    """Fit the public model, design the task (or its pilot), write it."""
    from hedgerow.commands.pilot_files import read_totals, write_pilot
    from hedgerow.commands.schema import read_public
    from hedgerow.local.assisted import design_assisted

    if arguments.label_bounds is None:
        raise HedgerowError("--assisted is for a numeric label: give its --label-bounds.")
    X, y, bounds = read_public(arguments)
    text = [name for name in X.columns if X[name].dtype == object]
    n_holders, pilot = arguments.n_holders or 10 * len(y), read_totals(arguments.pilot_totals)
    options: dict[str, Any] = {
        "epsilon": arguments.epsilon, "label_bounds": arguments.label_bounds, "public_model": arguments.assisted,
        "target": arguments.target, "feature_bounds": bounds, "categorical_features": text or None,
        "categories": dict(arguments.categories) or None,
    }  # fmt: skip
    if arguments.pilot:
        return write_pilot(arguments, X, y, n_holders, options)
    others = n_holders - (pilot.n_reports if pilot else 0)
    task = design_assisted(X, y, n_holders=max(1, others), pilot=pilot, **options)
    write_text(arguments.output, task.to_json() + "\n")
    summary = {
        "output": arguments.output,
        "task": task.id,
        "epsilon": task.to_dict()["epsilon"],
        "public_model_bytes": task.public_model.n_bytes,
        "n_trees": len(task.shares),
        "n_leaves": max(task.trees.n_leaves),
        "radius": task.radius,
        "public_mse": task.residuals.mean_square,
        "report_bytes": 18 + task.encoding.width,
        "guarantee": task.guarantee.to_dict(),
    }
    lines = [
        f"{task} -> {arguments.output}",
        f"the public model's squared error on public records it has not seen: {task.residuals.mean_square:.4g}",
        str(task.guarantee),
    ]
    report(arguments, summary, lines)
    return 0
