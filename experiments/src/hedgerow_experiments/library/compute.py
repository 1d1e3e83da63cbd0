"""Every estimator of the library on every data set: the contestants of ``hedgerow compare``, and the baselines.

Public are a tenth of the records, the label bounds and categories that are declared for a data set, and the feature
ranges of the public records. A large data set is a sample of 5,000 records. A column that is missing in more than half
of the public records is left out; other missing numbers are the public median. In the semi-private model the first
``ceil(log sqrt(d))`` columns are private, as in the HistOfTree paper.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.compare.contestants import CONTESTANTS, Case, Contestant, Outcome, central_runner, outcome_of, semi_runner
from hedgerow.space import FeatureSpace
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.histoftree.methods import n_sensitive

__all__ = ["METHODS", "compute", "make_case"]

MOST = 5_000
"""Records of a data set, public and test ones among them. For cost: one split of CAL at one epsilon takes 7 seconds so,
and 22 with 20,000."""


def make_case(code: str, repeat: int) -> tuple[Case, npt.NDArray[Any]]:
    """Return split number ``repeat``, 1:7:2 into public, private and test records, and the test labels."""
    data = load_dataset(code)
    facts = data.facts
    assert facts is not None
    n = min(len(data.y), MOST)
    order = np.random.default_rng([zlib.crc32(code.encode()), repeat]).permutation(len(data.y))[:n]
    public, private, test = np.split(order, [round(0.1 * n), n - round(0.2 * n)])
    classes = None if facts.label_bounds is not None else tuple(map(str, facts.classes or ()))
    y = data.y.astype(str).astype(object) if classes else np.asarray(data.y, dtype=np.float64)
    categories = {name: list(values) for name, values in facts.categories.items()}
    X = _complete(data.X, data.X.iloc[public], categories)
    named = FeatureSpace.from_public(X.iloc[public], categories=categories)
    bounds = named.ranges
    names = [str(c) for c in X.columns]
    case = Case(
        X.iloc[private], y[private], X.iloc[test], FeatureSpace.from_bounds(bounds, names, categories=categories),
        bounds, facts.label_bounds, classes, categories or None, tuple(names[: n_sensitive(len(names))]),
        X.iloc[public], y[public],
    )  # fmt: skip
    return case, y[test]


def _complete(X: Any, public: Any, categories: dict[str, list[str]]) -> Any:
    """Return records without gaps, by what the public records say."""
    X = X[[c for c in X.columns if public[c].isna().mean() <= 0.5]]
    X = X.rename(columns=str)
    numbers = [c for c in X.columns if c not in categories]
    filled = X[numbers].astype(float).fillna(public.rename(columns=str)[numbers].median())
    return X.assign(**{c: filled[c] for c in numbers})


def _numeric(name: str, **options: Any) -> Any:
    """Return a runner of an estimator without public data that takes numbers only; categories are codes."""

    def run(case: Case, epsilon: float, seed: int) -> Outcome:
        import hedgerow.baselines as baselines

        bounds = case.space.ranges
        kind = getattr(baselines, name)
        model = kind(epsilon, label_bounds=case.label_bounds, feature_bounds=bounds, random_state=seed, **options)
        model.fit(case.numbers(case.X), case.y)
        return np.asarray(model.predict(case.numbers(case.X_test))), model.guarantee_

    return run


def _trees(stem: str) -> Any:
    """Return a runner of a tree on noisy labels, all features public."""

    def run(case: Case, epsilon: float, seed: int) -> Outcome:
        import hedgerow.baselines as baselines

        kind = getattr(baselines, stem)
        return outcome_of(kind(epsilon, random_state=seed, **case.bounds).fit(case.X, case.y), case)

    return run


_PEERS = "hedgerow.baselines"
_BASELINES = (
    Contestant("PHIST", "local", _numeric("PrivateHistogramRegressor"), classification=False),
    Contestant("APHIST", "local", _numeric("PrivateHistogramRegressor", adjusted=True), classification=False),
    Contestant("DECONV", "local", _numeric("DeconvolutionRegressor", bandwidth=0.5), classification=False),
    Contestant("KRR", "semi", semi_runner(_PEERS, "KRR"), classification=False, private_columns=True),
    Contestant("ParDT", "semi", semi_runner(_PEERS, "PartialTree"), classification=False, private_columns=True),
    Contestant("LabelDT", "label", _trees("LabelTreeRegressor"), classification=False),
    Contestant("DP-ERT", "central", central_runner(_PEERS, "DPExtraTrees")),
    Contestant("DP-RF", "central", central_runner(_PEERS, "DPRandomForest")),
    Contestant("DP-DF", "central", central_runner(_PEERS, "DPDecisionForest"), regression=False),
)
METHODS = {c.name: c for c in (*CONTESTANTS, *_BASELINES)}
"""Everything that is run, by name."""


_case = lru_cache(maxsize=1)(make_case)  # and with it the public model, which cells of a split share


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return the test score of one fit, predictions clipped to the label bounds.

    A fit that breaks down in its linear algebra counts as ``{"failed": 1.0}``: a row without a score, which the page
    tells of. Any other error is one of ours, and stops the run.
    """
    case, truth = _case(key.dataset, key.repeat)
    try:
        guess, _ = METHODS[key.group].run(case, key.epsilon or 1.0, seed % 2**31)
    except np.linalg.LinAlgError:
        return {"failed": 1.0}
    if case.classes is not None:
        return {"accuracy": float(np.mean(np.asarray(guess).astype(str) == truth.astype(str)))}
    assert case.label_bounds is not None
    return {"mse": float(np.mean((np.clip(guess, *case.label_bounds) - truth) ** 2))}
