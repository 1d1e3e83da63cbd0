"""Tasks of one and two rounds of the shared vectors: every mask, with and without a public model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.mechanisms.level import LaplaceNoise, LevelMechanism
from hedgerow.mechanisms.unbiased import k_ary_levels
from hedgerow.partition.tree import Partition
from hedgerow.portable import Trees
from hedgerow.randomness import Randomness, SeededRandomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.partly_public import CellTask, ResidualTask, SemiTask
from hedgerow.tasks.partly_public.assist import Assist
from hedgerow.tasks.partly_public.symbols import k_ary_symbols
from hedgerow.tasks.records import one
from vectors.assisted import BOUNDS, RESIDUALS, SPACE, ModelCase, make_base
from vectors.case import Case

__all__ = ["RoundCase", "make_first", "make_residual", "make_symbols", "model_tree", "round_cases"]


class RoundCase(ModelCase):
    """A round with a public model: what is reported is the error of its prediction."""

    task: SemiTask | ResidualTask

    @property
    def assist(self) -> Assist:
        """The public model."""
        assert self.task.assist is not None
        return self.task.assist

    def _label_range(self) -> tuple[float, float]:
        return self.assist.label_bounds

    def _trees(self) -> list[Trees]:
        return [part for part in self.assist.public_model.parts if isinstance(part, Trees)]

    def place(self, record: dict[str, Any], source: Randomness) -> dict[str, Any]:
        """Return what the device works out: the prediction, and the level that ``source`` rounds its error to."""
        z = self.task.space.encode_record(record)[None, :]
        error = self.assist.errors(z, self.task.labels(one(record.get(self.task.target))))
        level = self.task.grid.levels(error, source)
        return {"prediction": float(self.assist.predict(z)[0]), "level": int(level[0])}


def make_first(epsilon: float, kinds: str, radius: float, steps: int, seed: int, masks: str = "personal") -> SemiTask:
    """Return a made-up first round with a public model; ``kinds`` are its parts, by their first letters.

    >>> make_first(1.0, "t", 8.0, 16, 0).assist.radius
    8.0
    """
    assist = Assist(make_base(kinds, SeededRandomness(seed)), BOUNDS, radius, RESIDUALS)
    private = ("home",) if masks == "policy" else ()
    return SemiTask(epsilon, LabelGrid(-radius, radius, steps), SPACE, 0.5, masks, private, "rent", "", assist)


def make_residual(
    mechanism: LevelMechanism, kinds: str, radius: float, seed: int, masks: str, private: tuple[str, ...] = ("home",)
) -> ResidualTask:
    """Return a made-up task of one round; ``kinds`` are the parts of its public model, by their first letters."""
    assist = Assist(make_base(kinds, SeededRandomness(seed)), BOUNDS, radius, RESIDUALS)
    hidden = private if masks == "policy" else ()
    return ResidualTask(mechanism.epsilon, SPACE, assist, mechanism, masks, hidden, "rent")


def make_symbols(epsilon: float, n_levels: int, kinds: str, radius: float, seed: int, masks: str) -> ResidualTask:
    """Return the same with groups of private values that are told with the error."""
    made = make_residual(k_ary_levels(epsilon, n_levels), kinds, radius, seed, masks, ("age", "home"))
    cells = model_tree()
    return replace(made, cells=cells, mechanism=k_ary_symbols(epsilon, cells.n_leaves, n_levels))


def _one_round() -> Iterator[Case]:
    chosen: list[tuple[LevelMechanism, str, float, str]] = [
        (k_ary_levels(1.0, 2), "", 8.0, "policy"),
        (k_ary_levels(2.5, 5), "td", 11.25, "personal"),
        (LaplaceNoise(0.5, 16), "tdlk", 30.5, "policy"),
        (IntervalResponse(4.0, 40, low=5, high=30, radius=3), "lk", 0.75, "personal"),
    ]
    for seed, (mechanism, kinds, radius, masks) in enumerate(chosen):
        task = make_residual(mechanism, kinds, radius, seed, masks)
        yield RoundCase(f"one round, {masks}, {mechanism.kind}, {kinds or 'constant'}", task, 12)
    yield RoundCase("one round, label only", make_residual(k_ary_levels(1.5, 4), "t", 9.0, 4, "policy", ()), 12)
    yield RoundCase("one round, symbols, policy", make_symbols(2.0, 3, "tl", 10.0, 5, "policy"), 24)
    yield RoundCase("one round, symbols, personal", make_symbols(0.5, 2, "d", 5.0, 6, "personal"), 12)


def _model_cases() -> Iterator[Case]:
    chosen = [(1.0, "", 8.0, 16, "policy"), (2.5, "td", 11.25, 40, "personal"), (0.5, "tdlk", 30.5, 8, "hidden")]
    chosen += [(4.0, "lm", 0.75, 64, "personal")]
    for seed, (epsilon, kinds, radius, steps, masks) in enumerate(chosen):
        first = make_first(epsilon, kinds, radius, steps, seed, masks)
        yield RoundCase(f"first round with a model, {masks}, {kinds or 'constant'}", first, 12)
        for response in ("k_ary", "bits"):
            yield Case(f"second round with a model, {masks}, {response}", CellTask(first, model_tree(), response), 6)


def model_tree() -> Partition:
    """Return a tree over the features of tasks with a public model."""
    feature = [0, 2, 1, -1, -1, -1, -1]
    threshold = [40.5, 1.25, 0.0, 0.0, 0.0, 0.0, 0.0]
    left = [1, 3, 5, 3, 4, 5, 6]
    offset = [-1, -1, 0, *[-1] * 4]
    return Partition(SPACE, feature, threshold, left, offset, [False, True, True])  # type: ignore[arg-type]


def _plain_cases() -> Iterator[Case]:
    age = NumericFeature("age", 0, 99, 7, indicator=True)
    space = FeatureSpace((age, NumericFeature("pay", -1, 9), CategoricalFeature("sex", ("F", "M"))))
    for name, options in {
        "policy": {"private_columns": ["age"]},
        "personal": {},
        "hidden": {"hide_mask": True},
        "nothing private": {"private_columns": []},
        "all for the label": {"label_share": 1.0, "private_columns": []},
    }.items():
        first = SemiTask.design(space, epsilon=1.5, label_bounds=(0, 10), **options)  # type: ignore[arg-type]
        yield Case(f"first round, {name}", first, 8)
        for response in ("k_ary", "bits"):
            yield Case(f"second round, {name}, {response}", CellTask(first, _tree(space), response), 6)


def _tree(space: FeatureSpace) -> Partition:
    """Return a tree that cuts every feature, and whether the first is missing."""
    feature = [1, 0, 2, -1, -1, 3, -1, -1, -1]
    threshold = [4.5, 50.0, *[0.0] * 7]
    left = [1, 3, 5, 3, 4, 7, 6, 7, 8]
    offset = [-1, -1, 0, -1, -1, 2, -1, -1, -1]
    return Partition(space, feature, threshold, left, offset, [True, False, True, False])  # type: ignore[arg-type]


def round_cases() -> Iterator[Case]:
    """Yield all cases: policy, personal and hidden masks; labels, and errors of a public model."""
    yield from _plain_cases()
    yield from _model_cases()
    yield from _one_round()
