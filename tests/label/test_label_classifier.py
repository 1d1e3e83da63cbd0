"""LabelPrivateClassifier: any classifier, one guarantee, never worse than what is public."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

from hedgerow import Guarantee, HedgerowError, LabelPrivateClassifier, Ledger
from hedgerow.classes import OBSERVED
from hedgerow.label import classifier
from hedgerow.label.class_learning import Corrected
from hedgerow.mechanisms.top import TopResponse
from hedgerow.tasks.class_labels import class_grid
from hedgerow.tasks.labels.task import LabelTask

rng = np.random.default_rng(0)
NAMES = ["low", "mid", "top"]
X = rng.random((6000, 3))
CODES = (3 * X[:, 0]).astype(int)
Y = np.array(NAMES)[CODES]
NEW = rng.random((500, 3))
TRUE = np.array(NAMES)[(3 * NEW[:, 0]).astype(int)]


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        DecisionTreeClassifier(max_leaf_nodes=6),
        make_pipeline(StandardScaler(), GaussianNB()),
        make_pipeline(PolynomialFeatures(2), RidgeClassifier()),
    ],
    ids=["logistic", "tree", "pipeline", "without probabilities"],
)
def test_any_classifier_learns(estimator):
    model = LabelPrivateClassifier(3.0, estimator=estimator, classes=NAMES, random_state=0).fit(X, Y)
    assert model.score(NEW, TRUE) > 0.6
    shares = model.predict_proba(NEW)
    assert shares.shape == (500, 3) and shares.sum(axis=1) == pytest.approx(1) and (shares > 0).all()
    assert model.guarantee_.epsilon == 3.0 and model.guarantee_.protects == model.guarantee_.neighbours == "label"


def test_boosting_is_the_default():
    with threadpool_limits(1):
        model = LabelPrivateClassifier(3.0, classes=NAMES, random_state=0).fit(X[:2000], Y[:2000])
        assert model.score(NEW, TRUE) > 0.8


def test_probabilities_are_of_classes_not_of_reports():
    """A classifier of reports alone would say 0.27 and 0.64 at epsilon 1."""
    y = np.where(rng.random(6000) < 0.2, "no", "yes")
    y[X[:, 0] < 0.5] = "no"
    model = LabelPrivateClassifier(
        1.0, estimator=DecisionTreeClassifier(max_depth=1), classes=["no", "yes"], random_state=0
    )
    shares = model.fit(X, y).predict_proba([[0.2, 0.5, 0.5], [0.8, 0.5, 0.5]])[:, 1]
    assert shares[0] < 0.1 and abs(shares[1] - 0.8) < 0.1  # the noise of 3,000 reports is 0.02


def test_nothing_is_learnt_from_a_tiny_budget_but_what_all_share():
    y = np.where(rng.random(600) < 0.9, "a", "b")
    model = LabelPrivateClassifier(0.01, estimator=DecisionTreeClassifier(), classes=["a", "b"], random_state=3)
    assert model.fit(X[:600], y).learner_.belief < 0.05  # a full tree would be nothing but noise


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 4.0])
@pytest.mark.parametrize("estimator", [None, GaussianNB()], ids=["corrections", "classifier"])
def test_a_public_model_is_not_made_worse(epsilon, estimator):
    public = LogisticRegression().fit(X[:60], Y[:60])
    model = LabelPrivateClassifier(
        epsilon, estimator=estimator, classes=NAMES, public_model=LogisticRegression(), random_state=1
    )
    with threadpool_limits(1):
        model.fit(X[60:1500], Y[60:1500], X_public=X[:60], y_public=Y[:60])
        assert model.score(NEW, TRUE) > public.score(NEW, TRUE) - 0.01
        if epsilon > 1:
            assert model.score(NEW, TRUE) > public.score(NEW, TRUE) + 0.1
    assert isinstance(model.learner_, Corrected) == (estimator is None)


def test_ranks_are_sent_on_a_public_model_and_the_likeliest_classes_with_a_prior(small_learners):
    model = LabelPrivateClassifier(0.5, classes=NAMES, public_model=Ridge(), random_state=0)
    model.fit(X[60:400], Y[60:400], X_public=X[:60], y_public=Y[:60])
    assert model.mechanism_.top == (0, 1) and model.task_ is None
    prior = LabelPrivateClassifier(
        0.5, estimator=GaussianNB(), classes=NAMES, prior=[0.48, 0.04, 0.48], random_state=0
    ).fit(X, Y)
    assert prior.mechanism_.top == (0, 2)
    assert prior.predict_proba(NEW)[:, 1] == pytest.approx(0.04, abs=0.01)


def test_a_prior_beside_a_public_model_is_refused():
    model = LabelPrivateClassifier(1.0, classes=NAMES, prior=[1, 1, 1], public_model=Ridge())
    with pytest.raises(HedgerowError, match="'prior' and 'public_model'"):
        model.fit(X[60:400], Y[60:400], X_public=X[:60], y_public=Y[:60])


def test_collected_reports_make_the_same_model_as_fit(small_learners):
    task = LabelTask(class_grid(tuple(NAMES)), TopResponse(2.0, 2, (0, 1, 2)), classes=tuple(NAMES))
    order = rng.permutation(6000)
    reports = task.privatize(order, Y[order], randomness=7)
    model = LabelPrivateClassifier(2.0, estimator=GaussianNB()).fit_reports(X, reports)
    assert model.classes_.tolist() == NAMES and model.guarantee_ == reports.guarantee
    assert model.score(NEW, TRUE) > 0.8
    records = reports.dataset()[0]
    direct = LabelPrivateClassifier(2.0, estimator=GaussianNB(), classes=NAMES, random_state=0).fit(X, Y)
    assert (records == np.arange(6000)).all() and direct.task_.mechanism == task.mechanism
    with threadpool_limits(1):
        helped = LabelPrivateClassifier(public_model=Ridge()).fit_reports(X, reports, X_public=X[:60], y_public=Y[:60])
    assert helped.score(NEW, TRUE) > 0.8


def test_reports_about_numbers_are_refused():
    from hedgerow.grid import LabelGrid

    task = LabelTask(LabelGrid(0.0, 2.0, 2), TopResponse(2.0, 2, (0, 1, 2)))
    with pytest.raises(HedgerowError, match="'reports' must be of a label task with classes"):
        LabelPrivateClassifier().fit_reports(X[:2], task.privatize([0, 1], [0.0, 1.0], randomness=0))


def test_public_weights_go_to_the_estimator_and_nowhere_else():
    weight = np.where(X[:, 0] < 1 / 3, 1e-6, 1.0)
    model = LabelPrivateClassifier(8.0, estimator=DecisionTreeClassifier(max_depth=2), classes=NAMES, random_state=0)
    model.fit(X, Y, sample_weight=weight)
    assert "low" not in model.predict(NEW[NEW[:, 0] > 0.4])
    with pytest.raises(HedgerowError, match="'sample_weight' must be 6000 public numbers above 0"):
        model.fit(X, Y, sample_weight=np.where(X[:, 0] < 1 / 3, 0.0, 1.0))
    on_public = LabelPrivateClassifier(1.0, classes=NAMES, public_model=Ridge())
    with pytest.raises(HedgerowError, match="'sample_weight'"):
        on_public.fit(X[60:], Y[60:], X_public=X[:60], y_public=Y[:60], sample_weight=weight[60:])


def test_a_class_that_is_not_listed_counts_as_the_first_and_observed_ones_are_told():
    model = LabelPrivateClassifier(1.0, estimator=GaussianNB(), classes="observed", random_state=0).fit(
        X[:300], Y[:300]
    )
    assert OBSERVED in model.guarantee_.notes and model.task_.observed
    same = []
    for y in (np.where(Y == "low", "other", Y)[:300], Y[:300]):
        fitted = LabelPrivateClassifier(1.0, estimator=GaussianNB(), classes=NAMES, random_state=0).fit(X[:300], y)
        same.append(fitted.predict_proba(NEW))
    assert (same[0] == same[1]).all()


def test_a_fit_is_booked_before_it_draws():
    ledger = Ledger(None, limit=Guarantee(1.5, protects="label", trust="local", neighbours="label", simulation=True))
    model = LabelPrivateClassifier(1.0, estimator=GaussianNB(), classes=NAMES, ledger=ledger, random_state=0)
    model.fit(X[:100], Y[:100])
    assert ledger.remaining().epsilon == 0.5
    with pytest.raises(HedgerowError, match="needs epsilon = 1"):
        clone(model).set_params(ledger=ledger).fit(X[:100], Y[:100])


@pytest.mark.parametrize("options", [{}, {"estimator": LogisticRegression()}], ids=["boosting", "logistic"])
def test_scikit_learn_accepts_it(options, monkeypatch):
    class_boosting_for = classifier.class_boosting_for  # its conventions do not depend on how many trees it grows
    monkeypatch.setattr(
        classifier, "class_boosting_for", lambda *facts: class_boosting_for(*facts).set_params(max_iter=5)
    )
    with threadpool_limits(1):
        check_estimator(LabelPrivateClassifier(2.0, classes="observed", random_state=0, **options), on_skip=None)
