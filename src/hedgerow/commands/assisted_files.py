"""Assisted tasks and models in files: a public model travels in the task, and reports say where it is wrong."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING, Any, cast

from hedgerow.commands.files import Progress, counted, naming, output, report, warn, write_text
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.commands.tables import Block, Table
    from hedgerow.tasks.assisted import AssistedModel, AssistedTask, PilotTask

__all__ = ["design_task", "predict_assisted", "privatize_assisted", "read_assisted", "read_model"]

TASK, MODEL, PILOT = "hedgerow/assisted-task", "hedgerow/assisted-model", "hedgerow/pilot-task"


def _content(path: str, kind: str) -> Any:
    """Return the JSON object in a file if it is of this kind, else None: whoever reads it next says what is wrong."""
    with open(path, "rb") as file:
        data = file.read()
    if kind.encode() not in data:
        return None
    try:
        content = json.loads(data)
    except ValueError:
        return None
    return content if isinstance(content, dict) and content.get("format") == kind else None


def read_assisted(path: str) -> AssistedTask | PilotTask | None:
    """Return the assisted task, or its pilot, in a file; None if the file holds something else."""
    content, pilot = _content(path, TASK), _content(path, PILOT)
    if content is None and pilot is None:
        return None
    from hedgerow.tasks.assisted import AssistedTask, PilotTask

    with naming(path):
        return PilotTask.from_dict(pilot) if pilot is not None else AssistedTask.from_dict(content)


def read_model(path: str) -> AssistedModel | None:
    """Return the assisted model in a file, or None if the file holds something else."""
    if (content := _content(path, MODEL)) is None:
        return None
    from hedgerow.tasks.assisted import AssistedModel

    with naming(path):
        return AssistedModel.from_dict(content)


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
        "epsilon": arguments.epsilon, "label_bounds": arguments.label_bounds, "base": arguments.assisted,
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
        "public_model_bytes": task.base.n_bytes,
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


def privatize_assisted(arguments: argparse.Namespace, task: AssistedTask | PilotTask) -> int:
    """Privatise in blocks of rows."""
    from dataclasses import replace

    from hedgerow.commands.batches import PARQUET, BytesBatch, ParquetBatch
    from hedgerow.commands.tables import Table
    from hedgerow.randomness import as_randomness
    from hedgerow.tasks.holder import privatize_many

    _refuse(arguments, {"secrets": None, "mask": None, "resume": False, "again": False})
    table, source = Table(arguments.private), as_randomness(arguments.seed)
    table.offer([*task.space.names, task.target], arguments)
    if source.simulation:
        warn(arguments, "--seed is for simulation: whoever knows the seed can take the noise away; nobody is protected")
    if math.isinf(task.epsilon):
        warn(arguments, "the task's epsilon is infinite: reports hold the truth; nobody is protected")
    kind: Any = ParquetBatch if arguments.output.lower().endswith(PARQUET) else BytesBatch
    with (
        output(arguments.output) as file,
        kind(file, cast("Any", task), source.simulation) as batch,
        Progress("privatising") as progress,
    ):
        for block in table.blocks():
            X, y = block.private(task)
            with naming(arguments.private):
                batch.add(privatize_many(task, X, y, source))
            progress.update(batch.n, table.share)
        batch.finish()
    guarantee = replace(task.guarantee, simulation=source.simulation)
    summary = {
        "output": arguments.output,
        "task": task.id,
        "n_reports": batch.n,
        "report_bytes": 18 + task.encoding.width,
        "simulation": source.simulation,
        "guarantee": guarantee.to_dict(),
    }
    report(
        arguments,
        summary,
        [f"{counted(batch.n, 'report')} to task {task.id[:12]} -> {arguments.output}", str(guarantee)],
    )
    return 0


def predict_assisted(arguments: argparse.Namespace, model: AssistedModel, table: Table, new: list[str]) -> int:
    """Predict in blocks of rows."""
    from hedgerow.commands.predictions import Predictions

    def predicted(block: Block) -> list[Any]:
        frame = block.frame(model.task.space)
        ends = [] if arguments.interval is None else [*model.predict_interval(frame, arguments.interval)]
        return [*ends, model.predict(frame)]

    writing = Predictions(arguments.output, table, model.task.space, new, predicted)
    n = writing.run(arguments, {"task": model.task.id, "interval": arguments.interval})
    summary = {
        "output": arguments.output,
        "task": model.task.id,
        "n_rows": n,
        "columns": [*table.names, *new],
        "interval": arguments.interval,
        "simulation": model.simulation,
    }
    report(arguments, summary, [f"{counted(n, 'prediction')} -> {arguments.output}"])
    return 0


def _refuse(arguments: argparse.Namespace, options: dict[str, Any]) -> None:
    for option, default in options.items():
        if getattr(arguments, option, default) != default:
            raise HedgerowError(f"--{option} is not for assisted tasks; leave it out.")
