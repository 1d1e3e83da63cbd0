"""The tasks of a chain from public facts, as doors ask for them."""

from __future__ import annotations

from typing import Any

from hedgerow.aggregate.servers import Servers
from hedgerow.digits import plain
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.local.assisted.design import design_seed
from hedgerow.randomness import as_randomness
from hedgerow.sums.design import Chain
from hedgerow.tasks.designs import Facts
from hedgerow.tasks.models import About
from hedgerow.tasks.registry import read_model
from hedgerow.tasks.sums.model import SumsModel
from hedgerow.tasks.sums.task import SumsTask

__all__ = ["sums"]


def sums(
    facts: Facts,
    *,
    sums: bool = True,
    servers: str | None = None,
    after: str | None = None,
    delta: float = 1e-6,
    n_holders: int | None = None,
    seed: int | None = None,
    **options: Any,
) -> tuple[SumsTask, About]:
    """Design the task of the first group, or of the one after a model's; the facts of all groups must be the same."""
    chain = Chain.of(
        facts.X,
        facts.y,
        epsilon=facts.epsilon,
        delta=delta,
        label_bounds=facts.label_bounds,
        n_holders=n_holders or 10 * len(facts.y),
        random_state=0 if seed is None else design_seed(as_randomness(seed)),
        target=facts.target,
        servers=None if servers is None else _read(servers, Servers.from_json),
        feature_bounds=facts.feature_bounds,
        categorical_features=facts.categorical or None,
        categories=facts.categories or None,
        **options,
    )
    task = _next(chain, after).following(facts.schema)
    about = {
        "public_model_bytes": task.public_model.n_bytes,
        "group": task.group + 1,
        "groups": len(task.sizes),
        "n_group": task.sizes[task.group],
        "n_trees": task.weight,
        "noise": float(task.variance) ** 0.5,
    }
    line = f"group {about['group']} of {about['groups']}: ask {task.sizes[task.group]:,} holders who were not asked yet"
    noise = f"each server adds noise with a standard deviation of {plain(about['noise'])} to every sum"
    return task, About(str(task), about, (line, noise))


def _next(chain: Chain, after: str | None) -> SumsTask:
    if after is None:
        return chain.first()
    model = _read(after, read_model)
    if not isinstance(model, SumsModel):
        raise HedgerowError(f"{after} is not the model of a group; 'hedgerow collect sums' writes one.")
    before = model.task
    asked = (before.sizes, before.space, before.epsilon, before.delta, before.label_bounds)
    if asked != (chain.sizes, chain.space, chain.epsilon, chain.delta, chain.bounds):  # noise of all is read by one
        raise HedgerowError(f"{after} is the model of another chain: give the same facts as for its first group.")
    task = chain.after(model)
    if task is None:
        raise HedgerowError(f"{after} is the model of the last group: it is the result.")
    return task


def _read(path: str, read: Any) -> Any:
    with open(path, encoding="utf-8") as file:
        try:
            return read(file.read())
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from error
