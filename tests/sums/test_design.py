"""Chains of groups: what a group is sent of those before it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from hedgerow.sums import design
from hedgerow.sums.design import Chain
from hedgerow.sums.rules import Rules
from hedgerow.tasks.sums.noisy import NoisySums

RNG = np.random.default_rng(0)
X = RNG.random((30_000, 2))
Y = X[:, 0] + (X[:, 1] > 0.5)
FEW = Rules(forest=(16,) * 8, asked=(8,) * 8)


@pytest.fixture(scope="module")
def chain():
    facts = {"epsilon": 4.0, "delta": 1e-6, "label_bounds": (0, 2), "n_holders": 29_800}
    return Chain.of(X[:200], Y[:200], public_model=Ridge(), rules=FEW, **facts)


def test_a_group_that_learns_is_judged_with_those_before_it_and_one_that_checks_is_not(chain):
    task = chain.first()
    assert task.earlier == () and task.open == 1
    told = []
    while task is not None:
        model = task.model(task.simulate(X[200:5200], Y[200:5200], task.group))
        if model.checks:
            assert task.earlier == ()
        else:
            assert [before.sums for before in task.earlier] == told
            sent = task.steps[-1].added(design.corrections((), *rows_of(chain)))
            assert np.allclose(task.sent, sent, rtol=0, atol=1e-6)  # a task keeps rows in single precision
            told.append(model.sums)
        task = chain.after(model)
    assert len(told) == len(chain.sizes) - 1 >= 2


def rows_of(chain):
    return chain.pool.rows[:, :-1], chain.pool.rows[:, -1]


def test_a_group_of_nobody_tells_nothing(chain):
    task = chain.first()
    model = task.model(NoisySums(task.id, 0, (0,) * task.length, True))
    after = chain.after(model)
    assert after.earlier == () and not after.steps[-1].trees.value.any()


def test_more_groups_leave_less_open(chain):
    first = chain.first()
    model = first.model(first.simulate(X[200:5200], Y[200:5200], 1))
    second = chain.after(model)
    again = second.model(second.simulate(X[5200:10_200], Y[5200:10_200], 2))
    assert again.learnt.open < model.learnt.open < 1
    assert replace(second, earlier=()).model(again_sums(second, again)).learnt.gain < again.learnt.gain


def again_sums(task, model):
    bare = replace(task, earlier=())
    return NoisySums(bare.id, model.n_reports, model.sums, True)


def test_a_level_beyond_every_public_error_is_found():
    """Holders' labels are higher by eight times the radius; the bound widens as the sums of each group say."""
    facts = {"epsilon": 4.0, "delta": 1e-6, "label_bounds": (0, 9), "n_holders": 29_800}
    chain = Chain.of(X[:200], Y[:200], public_model=Ridge(), rules=FEW, **facts)
    task = chain.first()
    radius = task.steps[0].bound
    labels = Y + 8 * radius
    while task is not None:
        model = task.model(task.simulate(X[200:8200], labels[200:8200], task.group))
        task = chain.after(model)
    assert model.steps[-1].bound > 8 * radius and model.scale == 1.0
    error = np.mean((model.predict(X) - labels) ** 2)
    assert error < 0.02 * np.mean((model.predict_public(X) - labels) ** 2)


@pytest.mark.parametrize("times", [1, 8])
def test_a_level_that_only_groups_before_told_does_not_pass_the_check(times):
    """Those who check have errors like the public ones: that must be seen, however large the correction is."""
    facts = {"epsilon": 4.0, "delta": 1e-6, "label_bounds": (0, 9), "n_holders": 29_800}
    chain = Chain.of(X[:200], Y[:200], public_model=Ridge(), rules=FEW, **facts)
    task = chain.first()
    level = times * task.steps[0].bound
    while task is not None:
        last = task.group == len(chain.sizes) - 1
        model = task.model(task.simulate(X[200:8200], Y[200:8200] + (0.0 if last else level), task.group))
        task = chain.after(model)
    public = np.mean((model.predict_public(X) - Y) ** 2)
    assert np.mean(model.task.levels) > 0.5 * level and np.mean((model.predict(X) - Y) ** 2) < 1.01 * public


def checked_at(level, n, epsilon=1.0):
    """Return the model after all groups of a chain for n holders whose labels are higher by so many public errors."""
    facts = {"epsilon": epsilon, "delta": 1e-6, "label_bounds": (0, 9), "n_holders": n, "min_batch_size": 1}
    chain = Chain.of(X[:200], Y[:200], public_model=Ridge(), rules=FEW, **facts)
    labels = Y + level * np.sqrt(np.mean(chain.residuals**2))
    task, first = chain.first(), 200
    while task is not None:
        own = slice(first, first + chain.sizes[task.group])
        model = task.model(task.simulate(X[own], labels[own], task.group))
        task, first = chain.after(model), own.stop
    return model, labels


def test_few_holders_check_the_level_alone_and_it_passes():
    """Four hundred tell a level better than a forest, of which a level is the most: that alone is asked, and added."""
    model, labels = checked_at(1.0, 1600)
    assert len(model.task.levels) == 1 and np.ptp(model.predict(X) - model.predict_public(X)) < 1e-9
    assert np.mean((model.predict(X) - labels) ** 2) < 0.7 * np.mean((model.predict_public(X) - labels) ** 2)


def test_many_holders_check_all_that_steps_add():
    model, labels = checked_at(1.0, 20_000)
    assert len(model.task.levels) == 4 and model.scale == 1.0
    assert np.mean((model.predict(X) - labels) ** 2) < 0.4 * np.mean((model.predict_public(X) - labels) ** 2)


def test_a_public_model_that_is_nearly_always_right_can_be_corrected():
    """Indicators of a class that the public model is sure of: most public errors are exactly 0."""
    label = (X[:, 0] > 0.5).astype(float)
    sure = DecisionTreeRegressor(max_depth=2).fit(X[:200], label[:200])
    facts = {"epsilon": 4.0, "delta": 1e-6, "label_bounds": (0, 1), "n_holders": 9_800}
    chain = Chain.of(X[:200], label[:200], public_model=sure, rules=FEW, **facts)
    assert np.mean(chain.residuals == 0) > 0.9
    other = np.where(X[:, 1] > 0.5, label, 1 - label)  # which is wrong for half of the holders
    task = chain.first()
    assert task.radius > 0.001
    while task is not None:
        model = task.model(task.simulate(X[200:5200], other[200:5200], task.group))
        task = chain.after(model)
    error = np.mean((model.predict(X) - other) ** 2)
    assert np.isfinite(error) and error < np.mean((model.predict_public(X) - other) ** 2)
