"""The estimator with public records: one round unless two are asked for."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow import HistOfTreeClassifier, HistOfTreeRegressor, PublicModel
from hedgerow.errors import HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.ledger import Ledger
from hedgerow.tasks.partly_public import CorrectedModel, ResidualTask, SemiModel, SemiTask

N = 4000
SEEDED = {"public_model": Ridge(), "random_state": 0}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((N + 500, 3))
    y = X[:, 0] + 2.0 * (X[:, 1] > 0.5) * X[:, 2] + rng.normal(0, 0.1, len(X))
    return X, y


def fit(data, private=(0,), **settings):
    X, y = data
    settings = {"epsilon": 4.0, "label_bounds": (-1, 4), "public_model": Ridge(), "random_state": 0, **settings}
    public = {"X_public": X[N : N + 200], "y_public": y[N : N + 200]}
    return HistOfTreeRegressor(**settings).fit(X[:N], y[:N], private=list(private), **public)


@pytest.fixture(scope="module")
def one(data):
    return fit(data)


def test_public_records_make_one_round(one, data):
    X, y = (part[N + 200 :] for part in data)
    assert isinstance(one.task_, ResidualTask) and isinstance(one.model_, CorrectedModel)
    public = np.mean((one.model_.predict_public(X) - y) ** 2)
    assert np.mean((one.predict(X) - y) ** 2) < 0.6 * public
    assert one.guarantee_.epsilon == 4.0 and one.guarantee_.protects == "private features and label"
    assert any("as if each holder had randomised" in note for note in one.guarantee_.notes)
    low, high = one.predict_interval(X)
    assert (low <= one.predict(X)).all() and (one.predict(X) <= high).all()


def test_other_doors_make_the_same_model(one, data):
    """Reports by the published task make the model that ``fit`` makes of them, whatever their order."""
    X, y = data
    reports = one.task_.privatize(X[:N], y[:N], randomness=one._source().child("reports"))
    again = one.task_.totals().add(reports).model()
    assert again.predict(X[N:]).tolist() == one.predict(X[N:]).tolist()


@pytest.mark.parametrize("settings", [{"method": "two_rounds"}, {"max_depth": 2}, {"hide_mask": True}])
def test_two_rounds_are_there_by_name_and_by_their_settings(data, settings):
    tree = fit(data, **settings)
    assert isinstance(tree.task_, SemiTask) and isinstance(tree.model_, SemiModel)


def test_without_a_public_model_there_are_two_rounds(data):
    X, y = data
    settings = {"epsilon": 4.0, "label_bounds": (-1, 4), "feature_bounds": (0, 1), "random_state": 0}
    tree = HistOfTreeRegressor(**settings).fit(X[:500], y[:500], private=[0])
    assert isinstance(tree.task_, SemiTask)
    with pytest.raises(HedgerowError, match="'X_public' and 'y_public'"):
        HistOfTreeRegressor(method="one_round", **settings).fit(X[:500], y[:500], private=[0])


def test_one_round_refuses_settings_of_two(data):
    with pytest.raises(HedgerowError, match="'n_bins' is for two rounds"):
        fit(data, method="one_round", n_bins=3)


def test_masks_of_each_holders_own(data):
    """The third feature is everybody's to see, the others in turn: what half of them hide is learnt from the rest."""
    X, y = data
    private = np.zeros((N, 3), dtype=bool)
    private[np.arange(N), np.arange(N) % 2] = True
    model = fit(data, private=private)
    assert model.task_.masks == "personal" and model.task_.cells is None
    assert set(model.model_.correction.column.tolist()) == {0, 1, 2}
    assert set(model.model_.groups.feature.tolist()) <= {-1, 2}, "groups that are told have nobody's value made up"
    public = model.model_.predict_public(X[N:])
    assert np.mean((model.predict(X[N:]) - y[N:]) ** 2) < 0.85 * np.mean((public - y[N:]) ** 2)


def test_one_who_hides_everything_does_not_spoil_it(one, data):
    private = np.zeros((N, 3), dtype=bool)
    private[:, 0] = True
    private[7] = True
    model = fit(data, private=private)
    X, y = data[0][N + 200 :], data[1][N + 200 :]
    assert np.mean((model.predict(X) - y) ** 2) < 1.2 * np.mean((one.predict(X) - y) ** 2)


def test_with_the_label_alone_private_the_learner_reads_the_prediction(data, small_learners):
    model = fit(data, private=())
    assert model.guarantee_.protects == "label"
    assert 3 in model.model_.correction.column.tolist(), "the column after the features is the public prediction"


def test_a_fitted_public_model_and_a_ledger(data, tmp_path, small_learners):
    X, y = data
    public = PublicModel(Ridge(), random_state=0).fit(X[N:], y[N:])
    limit = Guarantee(2.0, protects="private features and label", trust="local", neighbours="replace")
    with Ledger(tmp_path / "one.ledger", limit=limit) as ledger:
        model = HistOfTreeRegressor(epsilon=2.0, label_bounds=(-1, 4), public_model=public, ledger=ledger)
        model.fit(X[:N], y[:N], private=[0])
        assert ledger.remaining().epsilon == 0 and not model.guarantee_.simulation
    assert isinstance(model.model_, CorrectedModel)


def test_classes_in_one_round(data):
    X, y = data
    words = np.where(y > 1.2, "high", "low")
    model = HistOfTreeClassifier(epsilon=4.0, classes=["low", "high"], feature_bounds=(0, 1), **SEEDED)
    model.fit(X[:N], words[:N], private=[0], X_public=X[N : N + 200], y_public=words[N : N + 200])
    assert all(isinstance(part, CorrectedModel) for part in model.models_)
    assert np.mean(model.predict(X[N + 200 :]) == words[N + 200 :]) > 0.85
