"""Contestants on a public model: fitted once, and given with the records that it was learnt from."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from hedgerow.compare import shared
from hedgerow.compare.contestants import CONTESTANTS, Case
from hedgerow.compare.shared import SharedPublicModel
from hedgerow.errors import HedgerowError
from hedgerow.public import PublicModel
from hedgerow.space import FeatureSpace

RUN = {contestant.name: contestant.run for contestant in CONTESTANTS}


def case(classes=None, n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.random((n, 2)), columns=["a", "b"])
    y = 4 * X["a"].to_numpy() + rng.normal(0, 0.3, n)
    if classes:
        y = np.array(classes, dtype=object)[np.clip((y / 4 * len(classes)).astype(int), 0, len(classes) - 1)]
    public, private, test = slice(0, 60), slice(60, 300), slice(300, None)
    space = FeatureSpace.from_bounds((0, 1), ["a", "b"])
    return Case(
        X[private], y[private], X[test], space, np.array([[0, 0], [1, 1.0]]), None if classes else (-2.0, 6.0),
        classes, None, ("a",), X[public], y[public],
    )  # fmt: skip


@pytest.fixture
def fits(monkeypatch):
    """Count fits of public models; each is a quick one."""
    counted = []
    fit = PublicModel.fit

    def counting(self, X, y):
        counted.append(np.asarray(y).tolist())
        return fit(self.set_params(regressor=Ridge()), X, y)

    monkeypatch.setattr(PublicModel, "fit", counting)
    monkeypatch.setattr(shared, "_KEPT", {})
    return counted


@pytest.mark.parametrize(("classes", "times"), [(None, 1), (("x", "y"), 1), (("x", "y", "z"), 3)])
def test_a_public_model_is_fitted_once_for_all_methods_and_epsilons(fits, classes, times):
    one = case(classes)
    for name in ("AssistedForest", "PrivateAnova on a public model", "SecureSum"):
        for epsilon in (1.0, 4.0):
            guess, guarantee = RUN[name](one, epsilon, 3)
            assert len(guess) == 100 and guarantee is not None
    assert len(fits) == times and len({tuple(labels) for labels in fits}) == times


def test_other_records_labels_or_parameters_are_another_model(fits):
    X = np.random.default_rng(0).random((50, 2))
    first = SharedPublicModel(random_state=0).fit(X, X[:, 0])
    assert SharedPublicModel(random_state=0).fit(X.copy(), X[:, 0]).fitted_ is first.fitted_
    for model, records, labels in [(SharedPublicModel(random_state=0), X, X[:, 1]),
                                   (SharedPublicModel(random_state=0), X + 1, X[:, 0]),
                                   (SharedPublicModel(random_state=1), X, X[:, 0])]:  # fmt: skip
        assert model.fit(records, labels).fitted_ is not first.fitted_
    loose = [SharedPublicModel().fit(X, X[:, 0]).fitted_ for _ in range(2)]
    assert loose[0] is not loose[1], "without a seed two fits are two models"
    assert len(shared._KEPT) <= shared._MOST
    for seed in range(2 * shared._MOST):
        SharedPublicModel(random_state=seed).fit(X, X[:, 0])
    assert len(shared._KEPT) == shared._MOST


@pytest.mark.parametrize("name", ["PrivateAnova on a public model", "LabelPrivate on a public model"])
def test_corrections_are_made_with_the_records_of_the_public_model(fits, name):
    """Without these records the same seed draws something else: they are used."""
    one = case()
    blind = dataclasses.replace(one)
    blind.__dict__["public_model"] = one.public_model
    object.__setattr__(blind, "X_public", None)
    object.__setattr__(blind, "y_public", None)
    assert not np.array_equal(RUN[name](one, 4.0, 3)[0], RUN[name](blind, 4.0, 3)[0])


def test_dp_ebm_of_three_classes_says_that_it_cannot():
    with pytest.raises(HedgerowError, match="two classes"):
        RUN["DP-EBM (interpret)"](case(("x", "y", "z")), 1.0, 0)
