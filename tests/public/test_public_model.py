"""The public model, its portable form and its distillation."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

from hedgerow import PortableModel, PublicModel
from hedgerow.errors import FormatError, HedgerowError, HedgerowWarning
from hedgerow.portable import Kernel, Linear, Matern, Trees
from hedgerow.public.kernel_ridge import TunedKernelRidge, leave_one_out

REGRESSORS = [
    DecisionTreeRegressor(max_depth=6),
    ExtraTreeRegressor(random_state=0),
    RandomForestRegressor(10, random_state=0),
    ExtraTreesRegressor(10, random_state=0),
    GradientBoostingRegressor(n_estimators=20, random_state=0),
    GradientBoostingRegressor(n_estimators=5, init="zero", random_state=0),
    HistGradientBoostingRegressor(max_iter=20),
    Ridge(),
    LinearRegression(),
    Lasso(0.01),
    make_pipeline(StandardScaler(), Ridge()),
    KernelRidge(kernel="rbf", gamma=0.3),
    make_pipeline(StandardScaler(), SVR()),
    SVR(gamma=0.5),
]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) * [1.0, 100.0, 0.01] + [0.0, 1000.0, 0.0]
    y = 500 + 30 * np.sin(2 * X[:, 0]) + 0.1 * X[:, 1] + 8 * rng.normal(size=400)
    return X, y


@pytest.fixture(scope="module")
def stack(data):
    X, y = data
    return PublicModel(random_state=0).fit(X[:200], y[:200])


def test_stack_is_equal_in_numpy_alone(data, stack):
    X, _ = data
    portable = PortableModel.from_bytes(stack.portable_.to_bytes())
    np.testing.assert_allclose(portable.predict(stack.space_.encode(X)), stack.predict(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("regressor", REGRESSORS, ids=lambda r: type(r).__name__)
def test_any_supported_regressor_is_equal_in_numpy_alone(data, regressor):
    X, y = data
    model = PublicModel(regressor, random_state=0).fit(X[:300], y[:300])
    portable = PortableModel.from_bytes(model.portable_.to_bytes())
    np.testing.assert_allclose(portable.predict(model.space_.encode(X)), model.predict(X), rtol=0, atol=1e-6)


def test_trees_agree_on_their_thresholds():
    """Records exactly on, and one float32 or float64 step beside, a threshold go the same way."""
    rng = np.random.default_rng(1)
    X = rng.random((300, 2))
    for regressor in (ExtraTreesRegressor(20, random_state=0), HistGradientBoostingRegressor(max_iter=20)):
        model = PublicModel(regressor).fit(X, X[:, 0] * X[:, 1])
        cuts = model.portable_.parts[0].threshold
        near = [cuts, np.nextafter(cuts, 2.0), np.nextafter(cuts, -2.0), np.nextafter(cuts.astype("f4"), np.float32(2))]
        points = np.concatenate(near)
        Z = model.space_.encode(np.column_stack([points, rng.permutation(points)]))
        np.testing.assert_allclose(model.portable_.predict(Z), model.fitted_.predict(Z), atol=1e-9)


def test_stack_is_about_as_good_as_its_best_member_and_its_residuals_are_honest(data, stack):
    X, y = data
    error = np.mean((stack.predict(X[200:]) - y[200:]) ** 2)
    best = min(np.mean((m.predict(X[200:]) - y[200:]) ** 2) for m in stack.fitted_.members.values())
    assert error < 1.1 * best
    assert all(w > 0 for w in stack.weights_.values())
    # Out-of-fold, not in-sample: the residuals are about as large as errors on new records.
    assert 0.5 < np.mean(stack.residuals_**2) / error < 2
    assert np.mean((stack.predict(X[:200]) - y[:200]) ** 2) < 0.7 * np.mean(stack.residuals_**2)


def test_residuals_come_from_models_that_have_not_seen_the_record():
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 1)), rng.normal(size=60)
    model = PublicModel(DecisionTreeRegressor(), random_state=0).fit(X, y)
    assert np.allclose(model.predict(X), y) and np.mean(model.residuals_**2) > 0.5


@pytest.mark.parametrize("regressor", [ExtraTreesRegressor(100, random_state=0), AdaBoostRegressor(random_state=0)])
def test_compact_is_small_and_close(data, regressor):
    X, y = data
    large = PublicModel(regressor, random_state=0).fit(X[:300], y[:300])
    small = PublicModel(regressor, compact=True, random_state=0).fit(X[:300], y[:300])
    assert small.portable_.n_bytes <= 200_000 < (large.portable_.n_bytes if large.portable_ else 1e9)
    difference = np.mean((small.predict(X[300:]) - large.predict(X[300:])) ** 2)
    assert difference < 0.05 * np.var(y)
    assert np.mean((small.predict(X[300:]) - y[300:]) ** 2) < 1.2 * np.mean((large.predict(X[300:]) - y[300:]) ** 2)
    Z = small.space_.encode(X)
    assert (small.portable_.predict(Z) == small.predict(X)).all()


def test_compact_keeps_a_model_that_is_small_already(data):
    X, y = data
    model = PublicModel(Ridge(), compact=True).fit(X, y)
    assert [p.kind for p in model.portable_.parts] == ["linear"]


@pytest.mark.parametrize("regressor", [AdaBoostRegressor(), make_pipeline(MinMaxScaler(), Ridge()), SVR(kernel="poly")])
def test_what_has_no_portable_form_says_so(data, regressor):
    model = PublicModel(regressor).fit(data[0][:50], data[1][:50])
    assert model.portable_ is None and np.isfinite(model.predict(data[0])).all()


def test_categories_become_indicators(small_models):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(300), "b": rng.choice(["x", "y", "z"], 300)})
    y = X["a"].to_numpy() + (X["b"] == "y") * 3.0
    model = PublicModel(random_state=0).fit(X, y)
    assert np.mean((model.predict(X) - y) ** 2) < 0.02
    np.testing.assert_allclose(model.portable_.predict(model.space_.encode(X)), model.predict(X), atol=1e-6)


def test_leave_one_out_is_what_it_says():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, 2)), rng.normal(size=25)
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    found = leave_one_out(K, y, [0.3])[0]
    errors = []
    for i in range(25):
        rest = np.arange(25) != i
        dual = np.linalg.solve(K[np.ix_(rest, rest)] + 0.3 * np.eye(24), y[rest])
        errors.append((y[i] - K[i, rest] @ dual) ** 2)
    assert found == pytest.approx(np.mean(errors), rel=1e-9)


def test_kernel_is_tuned_to_the_data():
    rng = np.random.default_rng(0)
    X = rng.random((300, 1))
    tuned = TunedKernelRidge().fit(X, np.sin(9 * X[:, 0]))
    assert np.abs(tuned.predict(X) - np.sin(9 * X[:, 0])).max() < 0.01
    noise = TunedKernelRidge().fit(X, rng.normal(size=300))
    assert noise.alpha_ > tuned.alpha_


@pytest.mark.parametrize("regressor", [Ridge(), DecisionTreeRegressor(max_depth=3)])
def test_scikit_learn_accepts_it(regressor):
    results = check_estimator(PublicModel(regressor, random_state=0), on_skip=None)
    assert {r["status"] for r in results} <= {"passed", "skipped"}
    clone(PublicModel(regressor, compact=True))


def test_few_rows_and_wrong_input_are_handled():
    X = np.arange(10.0).reshape(5, 2)
    assert np.isfinite(PublicModel(random_state=0).fit(X, np.arange(5.0)).predict(X)).all()
    with pytest.warns(HedgerowWarning, match="all 5 public labels are alike"):
        assert PublicModel(random_state=0).fit(X, np.ones(5)).predict(X) == pytest.approx(1.0)
    with pytest.raises(HedgerowError, match="target y is None"):
        PublicModel().fit(X, None)
    with pytest.raises(ValueError, match="NaN"):
        PublicModel().fit(np.full((5, 2), np.nan), np.ones(5))


@pytest.fixture
def small():
    trees = Trees([3, 1], [0, -1, -1, -1], [0.5], [1.0, 2.0, 4.0])
    kernel = Kernel([[0.0, 1.0]], [2.0], [0.0, 0.0], [1.0, 1.0], [0.5])
    smooth = Matern([[0.0, 1.0]], [2.0], [0.0, 0.0], [1.0, 3.0], [[0.5, 0.0]], [[2.0, -1.0]])
    return PortableModel(2, [0, 1], [-1, -1], 0.25, (trees, Linear([1.0, 2.0]), kernel, smooth))


def test_every_truncation_and_every_extra_byte_is_refused(small):
    data = small.to_bytes()
    assert PortableModel.from_bytes(data) == small and PortableModel.from_bytes(data).digest == small.digest
    for n in range(len(data)):
        with pytest.raises(FormatError):
            PortableModel.from_bytes(data[:n])
    with pytest.raises(FormatError, match="left over"):
        PortableModel.from_bytes(data + b"\0")


def test_no_changed_byte_crashes_or_loads_something_else_silently(small):
    data = small.to_bytes()
    for i in range(len(data)):
        for change in (1, 0x80, 0xFF):
            broken = data[:i] + bytes([data[i] ^ change]) + data[i + 1 :]
            try:
                model = PortableModel.from_bytes(broken)
            except FormatError:
                continue
            assert model.to_bytes() == broken != data
            with np.errstate(all="ignore"):
                model.predict(np.zeros((2, model.n_columns)))


@pytest.mark.parametrize(
    "arrays",
    [
        ([3], [0, -1, -1], [], [1.0, 2.0]),  # a threshold is missing
        ([3], [0, -1, -1], [np.nan], [1.0, 2.0]),
        ([3], [0, -1, -1], [0.5], [1.0, np.inf]),
        ([3], [-1, 0, -1], [0.5], [1.0, 2.0]),  # a leaf at the root, and then more nodes
        ([1, 3], [0, -1, -1, -1], [0.5], [1.0, 2.0, 3.0]),  # right in sum, wrong tree by tree
        ([2], [0, -1], [0.5], [1.0]),
        ([0, 1], [-1], [], [1.0]),
        ([1], [-2], [], [1.0]),
    ],
)
def test_what_is_not_a_tree_is_refused(arrays):
    with pytest.raises(FormatError):
        Trees(*arrays)


def test_parts_must_fit_the_design():
    with pytest.raises(FormatError, match="design"):
        PortableModel(1, [1], [-1], 0.0, ())
    with pytest.raises(FormatError, match="linear"):
        PortableModel(1, [0], [-1], 0.0, (Linear([1.0, 2.0]),))
    with pytest.raises(FormatError, match="trees"):
        PortableModel(1, [0], [-1], 0.0, (Trees([3], [1, -1, -1], [0.5], [1.0, 2.0]),))
    with pytest.raises(FormatError, match="kernel"):
        Kernel([[0.0]], [1.0], [0.0], [0.0], [1.0])
    with pytest.raises(FormatError, match="matern"):
        PortableModel(1, [0], [-1], 0.0, (Matern([[0.0, 0.0]], [1.0], [0.0] * 2, [1.0] * 2),))
    with pytest.raises(FormatError, match="2 columns"):
        PortableModel(2, [0], [-1], 0.0, ()).predict(np.zeros((3, 1)))


@pytest.mark.parametrize(
    "arrays",
    [
        ([[0.0]], [1.0], [0.0], [0.0]),  # a length-scale of 0
        ([[0.0]], [1.0], [0.0], [-1.0]),
        ([[0.0]], [1.0, 2.0], [0.0], [1.0]),  # more heights than points
        ([[0.0, 1.0]], [1.0], [0.0], [1.0]),  # more columns than length-scales
        ([[0.0]], [1.0], [0.0], [1.0, 1.0]),
        ([[np.nan]], [1.0], [0.0], [1.0]),
        ([0.0], [1.0], [0.0], [1.0]),
        ([[0.0]], [1.0], [0.0], [1.0], [[1.0]]),  # an edge where nothing bends
        ([[0.0]], [1.0], [0.0], [1.0], [[1.0, 2.0]], [[1.0, 2.0]]),  # bends of a column that is not there
        ([[0.0]], [1.0], [0.0], [1.0], [[np.inf]], [[1.0]]),
    ],
)
def test_what_is_not_a_smooth_part_is_refused(arrays):
    with pytest.raises(FormatError):
        Matern(*arrays)
