"""Class probabilities of a public model, corrected under local privacy."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import check_estimator

from hedgerow import AssistedForestClassifier
from hedgerow.classes import OBSERVED
from hedgerow.errors import HedgerowError


def make(n, seed, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    wave = np.sin(7 * X[:, 0]) + 0.1 * rng.normal(size=n)
    return X, np.digitize(wave, [-0.3, 0.5] if classes == 3 else [0.0])


@pytest.mark.parametrize("classes", [2, 3])
def test_gain_over_the_public_probabilities(classes):
    X_test, y_test = make(3000, 2, classes)
    forest = AssistedForestClassifier(4.0, public_model=Ridge(), random_state=0)
    forest.fit(*make(30_000, 1, classes), *make(300, 0, classes))
    proba = forest.predict_proba(X_test)
    assert proba.shape == (3000, classes) and np.allclose(proba.sum(axis=1), 1) and proba.min() >= 0
    public = np.column_stack([m.predict_public(X_test) for m in forest.models_])
    public = np.column_stack([1 - public, public]) if classes == 2 else public
    accuracy = np.mean(forest.predict(X_test) == y_test)
    assert accuracy > np.mean(public.argmax(axis=1) == y_test) + 0.05
    assert len(forest.models_) == (1 if classes == 2 else 3)


def test_every_holder_sends_one_message():
    forest = AssistedForestClassifier(1.0, public_model=Ridge(), random_state=0).fit(*make(1000, 1), *make(100, 0))
    assert sum(m.n_reports for m in forest.models_) == 1000
    assert {m.task.epsilon for m in forest.models_} == {1.0} and forest.guarantee_.epsilon == 1.0
    assert forest.guarantee_.simulation and forest.guarantee_.protects == "record"


def test_the_class_asked_about_does_not_depend_on_the_record():
    X, y = make(1000, 1)
    counts = []
    for labels in (y, (y + 1) % 3):
        forest = AssistedForestClassifier(1.0, public_model=Ridge(), random_state=0).fit(X, labels, *make(100, 0))
        counts.append([m.n_reports for m in forest.models_])
    assert counts[0] == counts[1]


@pytest.mark.parametrize("epsilon", [1.0, 100.0])
def test_scikit_learn_accepts_it(epsilon):
    results = check_estimator(AssistedForestClassifier(epsilon, classes="observed", random_state=0), on_skip=None)
    assert {r["status"] for r in results} <= {"passed", "skipped"}


def test_without_public_labels_the_guarantee_says_that_classes_are_public():
    X, y = make(50, 1)
    observed, listed = (AssistedForestClassifier(classes=c, random_state=0).fit(X, y) for c in ("observed", [0, 1, 2]))
    assert OBSERVED in observed.guarantee_.notes and OBSERVED not in listed.guarantee_.notes


def test_what_cannot_work_is_refused():
    X, y = make(50, 1)
    with pytest.raises(HedgerowError, match="'classes' is required"):
        AssistedForestClassifier().fit(X, y)
    assert set(AssistedForestClassifier(classes=[0, 1], random_state=0).fit(X, y).predict(X)) <= {0, 1}
    with pytest.raises(HedgerowError, match="'y_public' is required"):
        AssistedForestClassifier().fit(X, y, X)
