"""Class probabilities of a public model, corrected under local privacy."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import check_estimator

from hedgerow import AssistedForestClassifier, Model, privatize_many
from hedgerow.classes import OBSERVED
from hedgerow.errors import HedgerowError
from hedgerow.local.assisted import design_assisted_classes
from hedgerow.randomness import SeededRandomness
from hedgerow.tasks.totals import Totals


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
    public = np.column_stack([m.predict_public(X_test) for m in forest.model_.parts])
    public = np.column_stack([1 - public, public]) if classes == 2 else public
    accuracy = np.mean(forest.predict(X_test) == y_test)
    assert accuracy > np.mean(public.argmax(axis=1) == y_test) + 0.05
    assert len(forest.model_.parts) == (1 if classes == 2 else 3)


def test_every_holder_sends_one_message():
    forest = AssistedForestClassifier(1.0, public_model=Ridge(), random_state=0).fit(*make(1000, 1), *make(100, 0))
    assert sum(m.n_reports for m in forest.model_.parts) == 1000
    assert {m.task.epsilon for m in forest.model_.parts} == {1.0} and forest.guarantee_.epsilon == 1.0
    assert forest.model_.n_reports == 1000 and forest.aggregate_.n_reports == 1000
    assert forest.guarantee_.simulation and forest.guarantee_.protects == "record"


def test_the_class_asked_about_does_not_depend_on_the_record():
    X, y = make(1000, 1)
    counts = []
    for labels in (y, (y + 1) % 3):
        forest = AssistedForestClassifier(1.0, public_model=Ridge(), random_state=0).fit(X, labels, *make(100, 0))
        counts.append([m.n_reports for m in forest.model_.parts])
    assert counts[0] == counts[1]


@pytest.mark.parametrize("epsilon", [1.0, 20.0])
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


def test_the_designed_task_is_the_estimators():
    public = make(100, 0)
    forest = AssistedForestClassifier(1.0, public_model=Ridge(), random_state=0).fit(*make(1000, 1), *public)
    seed = int(SeededRandomness(0).child("design").integers(2**31 - 1, 1)[0])
    task = design_assisted_classes(*public, epsilon=1.0, n_holders=1000, public_model=Ridge(), random_state=seed)
    assert task == forest.task_


def test_collected_reports_give_the_model_that_is_simulated_in_law():
    """Reports about a class are 1/3 of all, and each class's overall error agrees: 6 deviations, below 1e-8 each."""
    X, y = make(9000, 1)
    forest = AssistedForestClassifier(4.0, public_model=Ridge(), random_state=0).fit(X, y, *make(300, 0))
    reports = privatize_many(forest.task_, X, np.array(list("012"))[y])
    model = Totals(forest.task_).add(reports).model()
    assert not model.simulation and Model.from_json(model.to_json()) == model
    for one, other in zip(model.parts, forest.model_.parts, strict=True):
        assert abs(one.n_reports - 3000) < 6 * np.sqrt(9000 * 2 / 9)
        (mean, variance), (again, more) = one.overall, other.overall
        assert abs(mean - again) < 6 * np.sqrt(variance + more)
