"""Which groups of private values are told with an error, and when none are."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow import PublicModel
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.label.response import residual_response
from hedgerow.semi.cells import MOST, _candidates, choose_joint
from hedgerow.semi.design import design_residual
from hedgerow.semi.errors import CrossedErrors
from hedgerow.space import FeatureSpace

N = 300


@pytest.fixture(autouse=True, scope="module")
def learnt_once():
    """Learn errors once from the same public records: no budget and no noise bears on them."""
    of = CrossedErrors.of.__func__
    kept = {}

    def remembered(cls, Z, y, hidden):
        key = (Z.shape, Z.tobytes(), y.tobytes(), hidden.tobytes())
        if key not in kept:
            kept[key] = of(cls, Z, y, hidden)
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CrossedErrors, "of", classmethod(remembered))
        yield


def public(interact, seed=0):
    """Return public records whose label depends on the first column alone, or on both together."""
    rng = np.random.default_rng(seed)
    X = rng.random((N, 3))
    turned = np.where(X[:, 0] > 0.5, 1.0, -1.0) * (X[:, 1] - 0.5)
    y = 4 * (turned if interact else np.sin(6 * X[:, 1])) + rng.normal(0, 0.1, N)
    return X, y


def chosen(interact, epsilon, averaging=40.0, private=("x0",)):
    X, y = public(interact)
    model = PublicModel(Ridge(), feature_bounds=(0, 1), random_state=0).fit(X, y)
    model.space_ = FeatureSpace.from_bounds((0, 1), ["x0", "x1", "x2"])
    plain = residual_response(model.residuals_, epsilon, averaging, (-4, 4))
    return choose_joint(model, X, y, private, epsilon=epsilon, averaging=averaging, plain=plain)


def test_groups_are_told_where_errors_depend_on_private_values_and_noise_is_small():
    made = chosen(True, 6.0)
    assert made is not None and set(made.cells.feature.tolist()) == {-1, 0} and 2 <= made.cells.n_leaves <= MOST


@pytest.mark.parametrize(("interact", "epsilon"), [(True, 0.5), (False, 1.0), (True, float("inf"))])
def test_and_not_otherwise(interact, epsilon):
    assert chosen(interact, epsilon) is None


def test_without_private_columns_there_are_none():
    assert chosen(True, 6.0, private=()) is None


def test_candidates_are_groups_of_about_as_many_records():
    columns = (NumericFeature("a", 0, 1), CategoricalFeature("c", ("p", "q", "r")), NumericFeature("z", 5, 5))
    space = FeatureSpace(columns)
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.beta(1, 5, 400), rng.integers(0, 3, 400), np.full(400, 5.0)]).astype(float)
    found = _candidates(space, Z, np.arange(3))
    assert {cells.n_leaves for cells in found} == {2, 3, 4, 6, 8}
    assert len(found) == len(set(found)) and all(2 not in cells.feature.tolist() for cells in found)
    halves = next(cells for cells in found if cells.n_leaves == 2 and 0 in cells.feature.tolist())
    assert np.bincount(halves.apply(Z)).tolist() == [200, 200]


def test_what_public_values_tell_of_private_ones_counts():
    """Four private values that a public column tells, or does not: then without groups little can be learnt of them."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 4, N).astype(float)
    y = a**2 + rng.normal(0, 3, N)
    told = []
    for other in (a + rng.normal(0, 0.05, N), rng.normal(0, 1, N)):
        errors = CrossedErrors.of(np.column_stack([a, other]), y, np.array([True, False]))
        told.append(errors.told(np.zeros(errors.n_given, dtype=int)))
    assert told[0] > 0.9 > told[1]


def test_the_task_has_the_groups_and_their_response():
    X, y = public(True)
    model = PublicModel(Ridge(), feature_bounds=(0, 1), random_state=0).fit(X, y)
    settings = {"epsilon": 6.0, "label_bounds": (-4, 4), "n_holders": 5000}
    first = model.space_.inputs[0]
    task = design_residual(model, private_columns=[first], X_public=X, y_public=y, **settings)
    assert task.cells is not None and task.mechanism.n_inputs == task.n_cells * (task.grid.n_steps + 1)
    assert design_residual(model, private_columns=[first], **settings).cells is None
    assert design_residual(model, X_public=X, y_public=y, **settings).cells is None
