"""Tables 3 (taxi trips) and 6 (seconds) of the LPDT paper."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from hedgerow.space import FeatureSpace
from hedgerow_experiments.data.splits import Split, widened
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.lpdt.methods import GROUPS, Errors, Stream, _split
from hedgerow_experiments.lpdt.studies import _taxi, make_split

__all__ = ["seconds", "taxi"]


@lru_cache(maxsize=1)
def _trips(repeat: int) -> Split:
    """Return trips paid by prepaid card as public records, those by credit card as private and test ones (8:2)."""
    X0, y0, X1, y1 = _taxi()
    order = np.random.default_rng([33, repeat]).permutation(len(y1))
    test, private = np.split(order, [len(order) // 5])
    space = FeatureSpace.from_public(X0)
    bounds = widened(y0)
    return make_split(space, bounds, (X0, y0), (X1[private], y1[private]), (X1[test], y1[test]))


def taxi(key: Key, seed: int) -> Errors:
    """Compute one cell of table 3."""
    return GROUPS[key.group](_trips(key.repeat), key.epsilon, Stream(seed))


def _tree(rule: str) -> Callable[[Split, float, Any], Any]:
    def fit(data: Split, epsilon: float, source: Any) -> Any:
        from hedgerow.local import LPDTRegressor

        model = LPDTRegressor(
            epsilon, label_bounds=data.label_bounds, categories=data.categories or None, rule=rule, max_depth=4,
            min_samples_leaf=20, response="bits", cell_share=0.5, random_state=source,
        )  # fmt: skip
        return model.fit(data.private.X, data.private.y, data.public.X, data.public.y).predict(data.test.X)

    return fit


def _numeric(name: str, **options: Any) -> Callable[[Split, float, Any], Any]:
    def fit(data: Split, epsilon: float, source: Any) -> Any:
        import hedgerow.baselines as baselines

        # A column that is the same in all public records has no range to split; it says nothing, and is left out.
        kept = data.space.low < data.space.high
        bounds = np.stack([data.space.low, data.space.high])[:, kept]
        public = {"label_bounds": data.label_bounds, "feature_bounds": bounds}
        model = getattr(baselines, name)(epsilon, random_state=source, **public, **options)
        return model.fit(data.private.Z[:, kept], data.private.y).predict(data.test.Z[:, kept])

    return fit


def _without_privacy(data: Split, epsilon: float, source: Any) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_depth=4, random_state=0).fit(data.private.Z, data.private.y).predict(data.test.Z)


_FITS: dict[str, Callable[[Split, float, Any], Any]] = {
    "DT": _without_privacy,
    "LPDT-M": _tree("max_edge"),
    "LPDT-V": _tree("cart"),
    "PHIST": _numeric("PrivateHistogramRegressor"),
    "APHIST": _numeric("PrivateHistogramRegressor", adjusted=True),
    "DECONV": _numeric("DeconvolutionRegressor"),
}


def seconds(key: Key, seed: int) -> dict[str, float]:
    """Return the processor time of one fit and its predictions: table 6, the second of two runs.

    The first fills tables of noise that a program computes once.
    """
    data = _split(key.dataset, key.repeat)
    fit = _FITS[key.group]
    took = 0.0
    for _ in range(2):
        start = time.process_time()
        fit(data, key.epsilon or 2.0, Stream(seed))
        took = time.process_time() - start
    return {key.group: round(took, 6)}
