"""HistOfTree on top of a public model: errors take the label's place, nothing else changes."""

import dataclasses
import json

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow.audit.exact import audit_exact
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.partition import grow
from hedgerow.public import PublicModel
from hedgerow.randomness import as_randomness
from hedgerow.semi import HistOfTreeRegressor
from hedgerow.tasks.partly_public import CellTask, SemiModel, SemiTask
from hedgerow.tasks.partly_public.histogram import histogram_below
from hedgerow.tasks.partly_public.law import TwoRounds

PRIVATE = [True, False, False]


def data(n, seed, step=3.0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, 4 * X[:, 0] + 2 * X[:, 1] + step * (X[:, 2] > 0.5) + rng.normal(0, 0.3, n)


@pytest.fixture(scope="module")
def base():
    return PublicModel(Ridge(), random_state=0).fit(*data(400, 0))


def fitted(base, X, y, **options):
    given = {"epsilon": 2.0, "label_bounds": (-2, 11), "public_model": base, "max_depth": 2, "n_private": 1}
    given |= {"random_state": 3, **options}
    return HistOfTreeRegressor(**given).fit(X, y, private=PRIVATE)


def test_reports_correct_what_the_public_model_cannot_express(base):
    X, y = data(20_000, 1)
    tree = fitted(base, X, y, epsilon=4.0)
    Xt, yt = data(2000, 2)
    public = np.mean((np.clip(base.predict(Xt), -2, 11) - yt) ** 2)
    assert np.mean((tree.predict(Xt) - yt) ** 2) < 0.8 * public


def test_fit_is_exactly_task_reports_aggregate_model(base):
    X, y = data(3000, 1)
    tree, source = fitted(base, X, y), as_randomness(3)
    task = SemiTask.from_json(tree.task_.to_json())
    reports = task.privatize(X, y, private=None, randomness=source.child("first"))
    secrets = reports.kept
    cells = CellTask.design(
        reports, n_private=tree.choice_.n_private, n_bins=2, max_depth=2, balance=0.2,
        randomness=source.child("partition"),
    )  # fmt: skip
    assert cells.id == tree.cell_task_.id
    model = cells.totals().add(cells.privatize(X, kept=secrets, randomness=source.child("second"))).model(shrink=1.0)
    again = SemiModel.from_json(model.to_json())
    assert np.array_equal(again.predict(X[:200]), tree.predict(X[:200]))


def test_what_is_reported_is_the_clipped_error_of_the_public_model(base):
    X, y = data(2000, 1)
    tree = fitted(base, X, y, epsilon=float("inf"))
    task = tree.task_
    reports = task.privatize(X, y, private=None, randomness=5)
    error = np.clip(y, -2, 11) - np.clip(base.predict(X), -2, 11)
    expected = np.clip(error, -task.assist.radius, task.assist.radius)
    # Without noise a level is the error rounded to one of its two neighbours.
    assert np.abs(task.grid.values(reports.levels) - expected).max() <= task.grid.step
    assert task.assist.radius in [c * np.sqrt(np.mean(base.residuals_**2)) for c in (0.5, 0.7, 1.0, 1.4, 2.0, 3.0)]


def test_a_right_public_model_is_left_alone():
    rng = np.random.default_rng(0)
    worst = 0.0
    for seed in range(5):
        X = rng.random((3000, 3))
        y = 4 * X[:, 0] + rng.normal(0, 1, 3000)
        base = PublicModel(Ridge(), random_state=0).fit(X[:1000], y[:1000])
        for epsilon in (0.2, 1.0):
            tree = fitted(base, X[1000:], y[1000:], epsilon=epsilon, random_state=seed)
            Xt = rng.random((2000, 3))
            public, ours = np.clip(base.predict(Xt), -2, 11), tree.predict(Xt)
            worst = max(worst, float(np.mean((ours - public) ** 2)))
    # The error of labels has variance 1: the corrections add less than 1 % to it.
    assert worst < 0.01


def test_nothing_public_is_read_from_private_records(base):
    X, y = data(500, 1)
    one, other = fitted(base, X, y).task_, fitted(base, X + 100, y - 50).task_
    assert one.id == other.id


def test_the_transcript_keeps_epsilon_with_a_public_model(base):
    X, y = data(300, 1)
    task = fitted(base, X, y, epsilon=1.0).task_
    # The audit tells apart every pair of (private value, level), hence whatever error a private value leads to.
    grid = type(task.grid)(task.grid.low, task.grid.high, 2)
    small = dataclasses.replace(SemiTask.from_dict(task.to_dict()), grid=grid)
    whole = grow("max_edge", task.space, None, None, max_depth=0)
    cells = CellTask(small, histogram_below(whole, [0], 2))
    records = np.array([[0.2, 0.5, 0.5], [0.8, 0.5, 0.5]])
    rounds = TwoRounds(lambda level: cells, records, np.array(PRIVATE))
    assert audit_exact(rounds, epsilon=1.0).holds
    assert not audit_exact(rounds, epsilon=0.9).holds
    assert task.guarantee == fitted(None, X, y, epsilon=1.0, feature_bounds=(0, 1)).task_.guarantee


def test_a_task_with_a_public_model_that_was_changed_is_refused(base):
    data_ = json.loads(fitted(base, *data(300, 1)).task_.to_json())
    data_["assist"]["radius"] *= 2
    with pytest.raises(FormatError):
        SemiTask.from_dict(data_)
    data_["assist"]["more"] = 1
    with pytest.raises(FormatError, match="more"):
        SemiTask.from_dict(data_)


def test_tasks_without_a_public_model_say_so():
    task = SemiTask.design(["a", "b"], epsilon=1.0, label_bounds=(0, 1), feature_bounds=(0, 1))
    assert task.to_dict()["assist"] is None


def test_intervals_hold_the_public_model_moved_by_the_cell(base):
    X, y = data(20_000, 1)
    tree = fitted(base, X, y, epsilon=8.0)
    low, high = tree.predict_interval(X[:500])
    inside = (low <= tree.predict(X[:500]) + 0.2) & (tree.predict(X[:500]) - 0.2 <= high)
    assert (low <= high).all()
    assert inside.mean() > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"public_model": Ridge()}, "'X_public' and 'y_public' are required with public_model="),
        ({"feature_bounds": (0, 1)}, "leave 'feature_bounds' and 'categories' out"),
        ({"categories": {0: ["a"]}}, "leave 'feature_bounds' and 'categories' out"),
    ],
)
def test_bad_arguments_are_refused(base, options, message):
    with pytest.raises(HedgerowError, match=message):
        fitted(options.pop("public_model", base), *data(100, 1), **options)


def test_records_of_another_width_are_refused(base):
    with pytest.raises(HedgerowError, match="3 columns"):
        fitted(base, np.zeros((10, 2)), np.zeros(10))
