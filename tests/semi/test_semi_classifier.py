import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import HedgerowError, HistOfTreeClassifier, PublicModel

RNG = np.random.default_rng(0)
X = RNG.random((12_000, 3))
THREE = np.digitize(X[:, 1], [1 / 3, 2 / 3])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([HistOfTreeClassifier(2.0, classes="observed", feature_bounds=(-100, 100))])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_two_classes_are_one_question_and_three_are_dealt_out():
    two = HistOfTreeClassifier(4.0, classes=[0, 1], feature_bounds=(0, 1), random_state=0)
    two.fit(X, (X[:, 1] > 0.5).astype(int), private=[0])
    assert list(two.trees_) == [1] and two.models_[0].n_reports == len(X)
    assert two.score(X, (X[:, 1] > 0.5).astype(int)) > 0.9
    three = HistOfTreeClassifier(4.0, classes=[0, 1, 2], feature_bounds=(0, 1), random_state=0)
    three.fit(X, THREE, private=[0])
    counts = [model.n_reports for model in three.models_]
    # Each holder is in one group: binomial counts, 6 standard deviations of 52 (false alarm below 1e-8).
    assert sum(counts) == len(X) and max(abs(np.array(counts) - 4_000)) < 6 * 52
    assert three.score(X, THREE) > 0.75
    assert np.allclose(three.predict_proba(X[:50]).sum(axis=1), 1)


def test_groups_depend_on_the_coins_alone():
    """Other records, the same coins: the same holders are asked about each class."""
    first = HistOfTreeClassifier(1.0, classes=list("abc"), feature_bounds=(0, 1), random_state=3)
    other = HistOfTreeClassifier(1.0, classes=list("abc"), feature_bounds=(0, 1), random_state=3)
    first.fit(X[:600], np.array(list("abc"))[THREE[:600]])
    other.fit(1 - X[:600], np.array(["b"] * 600))
    assert [m.n_reports for m in first.models_] == [m.n_reports for m in other.models_]


def test_one_epsilon_for_all_classes_and_one_booking(tmp_path):
    from hedgerow import Guarantee, Ledger

    limit = Guarantee(1.0, protects="private features and label", trust="local", neighbours="replace")
    with Ledger(tmp_path / "l.ledger", limit=limit) as ledger:
        model = HistOfTreeClassifier(1.0, classes=[0, 1, 2], feature_bounds=(0, 1), ledger=ledger)
        model.fit(X[:300], THREE[:300], private=[0])
        assert len(ledger.entries()) == 1 and ledger.remaining().epsilon == 0
    assert model.guarantee_.epsilon == 1.0 and model.guarantee_.protects == "private features and label"


def test_more_classes_than_holders():
    model = HistOfTreeClassifier(1.0, classes=list("abcdef"), feature_bounds=(0, 1), random_state=0)
    model.fit(X[:2], ["a", "b"])
    assert np.allclose(model.predict_proba(X[:5]).sum(axis=1), 1)


def test_a_fitted_public_model_is_refused(small_models):
    public = PublicModel(random_state=0, regressor=None).fit(X[:60], X[:60, 1])
    with pytest.raises(HedgerowError, match="'public_model' of classes is fitted for each"):
        HistOfTreeClassifier(classes=[0, 1, 2], public_model=public).fit(X[:100], THREE[:100])
