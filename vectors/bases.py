"""The valid tasks that refusal vectors are mutations of: small ones of every kind, with every part that there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.mechanisms.level import LaplaceNoise, LevelMechanism
from hedgerow.mechanisms.staircase import StaircaseNoise
from hedgerow.mechanisms.top import TopResponse
from hedgerow.mechanisms.unbiased import MatrixResponse, k_ary_levels
from hedgerow.partition import grow
from hedgerow.samplers import ONE
from hedgerow.schema import CategoryColumn, NumberColumn, Schema, WholeNumberColumn
from hedgerow.space import FeatureSpace
from hedgerow.tasks.announcement import task_text
from hedgerow.tasks.class_labels import class_grid
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.partly_public import CellTask, SemiTask
from hedgerow.tasks.tree.public import PublicLeaves
from hedgerow.tasks.tree.task import LocalTask
from vectors.assisted import make_task
from vectors.classes import make_class_task
from vectors.pilot import make_pilot
from vectors.rounds import make_first, make_residual, make_symbols, model_tree

__all__ = ["bases"]

_WORDS = Schema(
    (
        WholeNumberColumn("age", 0, 99, unit="years", question={"de": "Wie alt sind Sie?", "en": "How old are you?"}),
        CategoryColumn("sex", ("F", "M", "other"), question={"en": "Your sex"}),
    ),
    NumberColumn("hours", 0, 80, unit="h", question={"en-GB": "Hours at work"}),
)

_SPACE = FeatureSpace(
    (NumericFeature("age", 0, 99, 40, indicator=True), CategoricalFeature("sex", ("F", "M", "other"), "other", "F"))
)


def _local() -> Iterator[tuple[str, Any]]:
    tree = grow("max_edge", _SPACE, None, None, max_depth=2)
    k = tree.n_leaves
    means = PublicLeaves((3,) * k, (1.5,) * k, (0.5,) * k)
    bits = LocalTask(1.0, LabelGrid(0.0, 80.0, 16), tree, "bits", 0.5, means, "hours", "Hours")
    yield "tree, bits", bits.following(_WORDS)
    classes = ("no", "yes", "maybe")
    counts = PublicLeaves((3,) * k, (1.0,) * k, (0.5,) * k, ((1, 0, 2),) * k)
    grid = LabelGrid(0.0, 2.0, 2)
    for response in ("unary", "k_ary", "subset"):
        yield f"tree, {response}", LocalTask(1.5, grid, tree, response, 0.25, counts, "answer", "", classes)


def _labels() -> Iterator[tuple[str, Any]]:
    third = ONE // 3
    rest = ONE - ONE // 3
    mechanisms: list[LevelMechanism] = [
        LaplaceNoise(1.0, 16),
        StaircaseNoise(2.0, 10),
        GaussianNoise(1.0, 4, 1e-3),
        IntervalResponse(2.0, 100, low=10, high=60, radius=5),
        BinsResponse(2.0, 9, starts=(0, 4, 7), values=(1.5, 5.0, 8.0)),
        MatrixResponse(1.0, ((rest, third), (ONE // 2, ONE // 2), (third, rest)), (-0.5, 2.5)),
    ]
    for m in mechanisms:
        yield f"label, {m.kind}", LabelTask(LabelGrid(-5.0, 95.0, m.n_steps), m, target="wait")
    names = ("no", "yes", "maybe")
    yield "label, classes", LabelTask(class_grid(names), TopResponse(1.5, 2, (0, 2)), "answer", classes=names)


def _rounds() -> Iterator[tuple[str, Any]]:
    tree = grow("max_edge", _SPACE, None, None, max_depth=2)
    options: dict[str, dict[str, Any]] = {
        "policy": {"private_columns": ["sex"]},
        "personal": {},
        "hidden": {"hide_mask": True},
    }
    words = _WORDS.with_label(bounds=(0, 10), missing=7)
    for name, option in options.items():
        first = SemiTask.design(_SPACE, epsilon=1.5, label_bounds=(0, 10), **option).following(words)
        yield f"first round, {name}", first
        if name != "hidden":
            yield f"second round, {name}", CellTask(first, tree, "bits" if name == "policy" else "k_ary")
    with_model = make_first(2.0, "tl", 8.0, 16, 0)
    yield "first round with a model", with_model
    yield "second round with a model", CellTask(with_model, model_tree())
    yield "one round, policy", make_residual(k_ary_levels(2.0, 3), "tl", 8.0, 0, "policy")
    yield "one round, personal", make_residual(LaplaceNoise(1.0, 16), "d", 3.0, 1, "personal")
    yield "one round, symbols", make_symbols(2.0, 2, "t", 8.0, 2, "policy")


def bases() -> Iterator[tuple[str, str]]:
    """Yield name and text of each task, in a fixed order."""
    models = [
        ("assisted, subset", make_task(2.0, (3, 2), "subset", 2, "tm", 9.0, 3)),
        ("assisted, levels", make_task(3.0, (2, 2), "levels", 3, "lk", 9.0, 4)),
        ("pilot", make_pilot(1.0, (-4.0, 0.0, 4.0), "td", 0)),
        ("assisted, two classes", make_class_task(2.0, [((2, 3), "subset", 1, "l")], 5)),
        ("assisted, three classes", make_class_task(2.0, [((2,), "levels", 3, ""), *[((3,), "subset", 1, "")] * 2], 6)),
    ]
    for name, task in (*_local(), *_labels(), *_rounds(), *models):
        yield name, task_text(task)
