"""Small tasks of one and two rounds: a feature to hide and one in the open, every mask, with and without a model."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.unbiased import k_ary_levels
from hedgerow.partition import grow
from hedgerow.space import FeatureSpace
from hedgerow.tasks.assisted.examples import RADIUS, RESIDUALS
from hedgerow.tasks.examples import Example, Record, public_model
from hedgerow.tasks.partly_public.assist import Assist
from hedgerow.tasks.partly_public.cells import CellTask
from hedgerow.tasks.partly_public.histogram import histogram_below
from hedgerow.tasks.partly_public.residual import ResidualTask
from hedgerow.tasks.partly_public.symbols import k_ary_symbols
from hedgerow.tasks.partly_public.task import SemiTask

__all__ = ["EXAMPLES"]

_SPACE = FeatureSpace.from_bounds((0, 1), ["hidden", "open"])
_HIDES = (True, False)


def _records(*hidden_and_label: tuple[object, object]) -> tuple[Record, ...]:
    """Return records whose open feature, which is sent in clear, is the same."""
    return tuple({"open": 0.3, "hidden": hidden, "y": y} for hidden, y in hidden_and_label)


_PLAIN = _records((0.2, 0.0), (None, 1.0), (0.8, 1.0))
# The public model is wrong by as much as it can be, either way.
_WRONG = _records((0.8, 0.0), (0.8, 1.0), (0.2, 1.0))
_OPEN = _records((0.2, 0.0), (0.2, 0.4), (0.2, ""), (0.2, 1.0))
_HALF = _records((0.5, 0.0), (0.5, 0.4), (0.5, ""), (0.5, 1.0))  # its errors reach both ends of the radius


def _first(masks: str, *, assisted: bool = False) -> Callable[[float], SemiTask]:
    private = ("hidden",) if masks == "policy" else ()
    assist = Assist(public_model(2), (0.0, 1.0), RADIUS, RESIDUALS) if assisted else None
    bounds = (-RADIUS, RADIUS) if assisted else (0.0, 1.0)
    grid = LabelGrid(*bounds, 1)
    return lambda epsilon: SemiTask(epsilon, grid, _SPACE, 0.5, masks, private, assist=assist)


def _second(masks: str, response: str, *, column: int = 0, assisted: bool = False) -> Callable[[float], CellTask]:
    first = _first(masks, assisted=assisted)
    cells = histogram_below(grow("max_edge", _SPACE, None, None, max_depth=0), [column], 2)
    return lambda epsilon: CellTask(first(epsilon), cells, response)


def _residual(masks: str, levels: int, private: tuple[str, ...] = ()) -> Callable[[float], ResidualTask]:
    """Return a task of one round, whose errors are told by k-ary response among levels."""
    assist = Assist(public_model(2), (0.0, 1.0), RADIUS, RESIDUALS)

    def build(epsilon: float) -> ResidualTask:
        return ResidualTask(epsilon, _SPACE, assist, k_ary_levels(epsilon, levels), masks, private)

    return build


def _symbols(masks: str, private: tuple[str, ...] = ()) -> Callable[[float], ResidualTask]:
    """Return a task of one round that tells in which half the hidden value is, with the error, as one symbol."""
    assist = Assist(public_model(2), (0.0, 1.0), RADIUS, RESIDUALS)
    cells = histogram_below(grow("max_edge", _SPACE, None, None, max_depth=0), [0], 2)

    def build(epsilon: float) -> ResidualTask:
        return ResidualTask(epsilon, _SPACE, assist, k_ary_symbols(epsilon, 2, 2), masks, private, cells=cells)

    return build


def _label_share(task: SemiTask) -> float:
    """Return what the first round alone may cost a holder with something to hide: the label's share."""
    return task.epsilons[0]


def _both(
    name: str,
    build: Callable[[float], CellTask],
    records: tuple[Record, ...],
    mask: tuple[bool, ...] | None = None,
    quick_from: float = math.inf,
) -> Example:
    # A pair of noisy labels and a cell have many paths.
    fewer = Fraction(1, 1 << 20)
    return Example(f"partly public, both rounds, {name}", build, records, mask, left_out=fewer, quick_from=quick_from)


EXAMPLES = (
    Example("partly public, first round", _first("policy"), _PLAIN, claim=_label_share),
    Example("partly public, first round, own mask", _first("personal"), _PLAIN, _HIDES, _label_share),
    Example("partly public, first round, label only", _first("personal"), _OPEN, (False, False)),
    Example("partly public, first round, hidden mask", _first("hidden"), _PLAIN, claim=_label_share),
    Example("partly public, first round, public model", _first("policy", assisted=True), _WRONG, claim=_label_share),
    Example("partly public, one round", _residual("policy", 2, ("hidden",)), _WRONG),
    Example("partly public, one round, all features public", _residual("policy", 2), _HALF),
    Example("partly public, one round, symbols", _symbols("policy", ("hidden",)), _WRONG),
    Example("partly public, one round, symbols, own mask", _symbols("personal"), _WRONG, _HIDES),
    Example("partly public, one round, own mask", _residual("personal", 3), _WRONG, _HIDES),
    Example("partly public, one round, label only", _residual("personal", 2), _HALF, (False, False)),
    _both("k_ary", _second("policy", "k_ary"), _PLAIN, quick_from=4.0),
    _both("bits", _second("personal", "bits"), _PLAIN, _HIDES, quick_from=4.0),
    _both("cell certain", _second("policy", "k_ary", column=1), _PLAIN),
    _both("k_ary, public model", _second("policy", "k_ary", assisted=True), _WRONG),
    _both("bits, public model", _second("hidden", "bits", assisted=True), _WRONG),
)
