"""The task of one round from public facts, as doors ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hedgerow.digits import plain
from hedgerow.errors import HedgerowError
from hedgerow.public.given import fit_public_model
from hedgerow.randomness import as_randomness
from hedgerow.semi.design import design_residual
from hedgerow.tasks.designs import Facts
from hedgerow.tasks.models import About
from hedgerow.tasks.partly_public.residual import ResidualTask

__all__ = ["residual"]


def residual(
    facts: Facts,
    *,
    private_columns: Sequence[str] | None = None,
    personal: bool = False,
    label_only: bool = False,
    public_model: Any = "auto",
    n_holders: int | None = None,
    seed: int | None = None,
    title: str = "",
) -> tuple[ResidualTask, About]:
    """Fit the public model, and design the task."""
    if (private_columns is not None) + personal + label_only != 1:
        raise HedgerowError("--private-columns, --personal and --label-only exclude each other; give one of them.")
    if label_only:
        private_columns = ()
    model = fit_public_model(
        public_model,
        facts.X,
        facts.y,
        random_state=_seed(seed),
        feature_bounds=facts.feature_bounds,
        categorical_features=facts.categorical or None,
        categories=facts.categories or None,
    )
    task = design_residual(
        model,
        epsilon=facts.epsilon,
        label_bounds=facts.label_bounds,
        private_columns=private_columns,
        n_holders=n_holders or 10 * len(facts.y),
        X_public=facts.X,
        y_public=facts.y,
        target=facts.target,
        title=title,
    ).following(facts.schema)
    return task, _about(task)


def _seed(seed: int | None) -> int:
    """Return the seed of the public model: without one the same every time."""
    if seed is None:
        return 0
    return int(as_randomness(seed).child("design").integers(2**31 - 1, 1)[0])


def _about(task: ResidualTask) -> About:
    error = task.assist.residuals.mean_square
    who = f"private for everybody: {', '.join(task.private)}"
    if not task.private:
        who = "all features are public, and sent in clear: only the label is private"
    if task.masks == "personal":
        who = "each holder chooses what is private, and says so: 'hedgerow privatize' needs --mask"
    facts = {
        "public_model_bytes": task.assist.public_model.n_bytes,
        "radius": task.assist.radius,
        "public_mse": error,
        "masks": task.masks,
        "private": list(task.private),
    }
    lines = (who, f"the public model's squared error on public records it has not seen: {plain(error)}")
    return About(f"task {task.id[:12]}, one round about the error of a public model", facts, lines)
