"""Assisted tasks and their pilots from public facts, as doors ask for them."""

from __future__ import annotations

from typing import Any

from hedgerow.digits import plain
from hedgerow.errors import FormatError
from hedgerow.local.assisted.class_design import design_assisted_classes
from hedgerow.local.assisted.design import design_assisted, design_seed
from hedgerow.local.assisted.pilot import design_pilot, pilot_size
from hedgerow.randomness import as_randomness
from hedgerow.tasks.assisted import AssistedClassTask, AssistedTask, PilotTask, PilotTotals
from hedgerow.tasks.designs import Facts
from hedgerow.tasks.models import About

__all__ = ["assisted", "assisted_classes", "pilot"]


def assisted(
    facts: Facts, *, n_holders: int | None = None, pilot_totals: str | None = None, **options: Any
) -> tuple[AssistedTask, About]:
    """Design the task; ``n_holders`` counts those of the pilot, too, whose totals are in a file."""
    before = None if pilot_totals is None else _read_totals(pilot_totals)
    asked = 0 if before is None else before.n_reports
    others = max(1, (n_holders or 10 * len(facts.y)) - asked)
    task = design_assisted(facts.X, facts.y, n_holders=others, pilot=before, **_options(facts, **options))
    task = task.following(facts.schema)
    about = {
        "public_model_bytes": task.public_model.n_bytes,
        "n_trees": len(task.shares),
        "n_leaves": max(task.trees.n_leaves),
        "radius": task.radius,
        "public_mse": task.residuals.mean_square,
    }
    error = f"the public model's squared error on public records it has not seen: {plain(task.residuals.mean_square)}"
    return task, About(str(task), about, (error,))


def assisted_classes(facts: Facts, *, n_holders: int | None = None, **options: Any) -> tuple[AssistedClassTask, About]:
    """Design the task of a label that is a class."""
    given = _options(facts, **options)
    del given["label_bounds"]
    n = n_holders or 10 * len(facts.y)
    task = design_assisted_classes(facts.X, facts.y, n_holders=n, classes=facts.classes, **given)
    task = task.following(facts.schema)
    errors = [part.residuals.mean_square for part in task.parts]
    about = {
        "public_model_bytes": sum(part.public_model.n_bytes for part in task.parts),
        "n_trees": max(len(part.trees.sizes) for part in task.parts),
        "n_leaves": max(max(part.trees.n_leaves) for part in task.parts),
        "public_mse": sum(errors) / len(errors),
    }
    error = f"the public model's squared error on public records it has not seen, by class: {_by_class(task, errors)}"
    return task, About(str(task), about, (error,))


def _by_class(task: AssistedClassTask, errors: list[float]) -> str:
    return ", ".join(f"{name} {plain(error)}" for name, error in zip(task.asked, errors, strict=True))


def pilot(facts: Facts, *, pilot: bool = True, n_holders: int | None = None, **options: Any) -> tuple[PilotTask, About]:
    """Design the pilot's task, and say how many holders to ask."""
    n_holders = n_holders or 10 * len(facts.y)
    task = design_pilot(facts.X, facts.y, **_options(facts, **options)).following(facts.schema)
    n = pilot_size("auto", n_holders, task.epsilon)
    line = f"ask {n:,} of {n_holders:,} holders, drawn at random, and do not ask them the task after it"
    if not n:
        line = f"5 % of {n_holders:,} holders could not tell at this epsilon: go without a pilot"
    about = {"public_model_bytes": task.public_model.n_bytes, "edges": list(task.edges), "n_pilot": n}
    return task, About(str(task), about, (line,))


def _read_totals(path: str) -> PilotTotals:
    with open(path, "rb") as file:
        try:
            return PilotTotals.from_json(file.read())
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from error


def _options(facts: Facts, *, public_model: Any = "auto", seed: int | None = None, **more: Any) -> dict[str, Any]:
    # Without a seed the same every time: the pilot's public model has to be that of the task after it.
    return {
        "epsilon": facts.epsilon,
        "label_bounds": facts.label_bounds,
        "target": facts.target,
        "feature_bounds": facts.feature_bounds,
        "categorical_features": facts.categorical or None,
        "categories": facts.categories or None,
        "public_model": public_model,
        "random_state": 0 if seed is None else design_seed(as_randomness(seed)),
        **more,
    }
