"""What holders say about a public model's error: exact claim, right on average, as wide as the noise allows."""

import math

import numpy as np
import pytest

from hedgerow.audit import audit_exact, audit_sampled
from hedgerow.label.response import residual_response
from hedgerow.randomness import SeededRandomness

PUBLIC = np.random.default_rng(0).standard_t(4, 400)
BOUNDS = (-40.0, 40.0)


def made(epsilon, averaging=100.0, residuals=PUBLIC, bounds=BOUNDS):
    return residual_response(residuals, epsilon, averaging, bounds)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_answer_is_private_exactly_and_not_at_a_tenth_less(epsilon):
    mechanism = made(epsilon).task.mechanism
    found = audit_exact(mechanism)
    assert found.holds and found.measured == pytest.approx(epsilon, rel=1e-4)
    assert not audit_exact(made(1.1 * epsilon).task.mechanism, epsilon=epsilon).holds


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_noisy_errors_as_shipped_hold(epsilon):
    """False alarm 1e-6 each, seeded; the ends of the range of errors."""

    def run(strength):
        response = made(strength)
        return lambda value, n, source: response.randomize(np.full(n, value), source)

    assert audit_sampled(run(epsilon), -9.0, 9.0, epsilon=epsilon, n=100_000, randomness=1).holds
    assert not audit_sampled(run(1.2 * epsilon), -9.0, 9.0, epsilon=epsilon, n=100_000, randomness=1).holds


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_noisy_errors_follow_errors_that_are_moved_a_little(epsilon):
    """The mean of 300,000 answers; six standard errors are a false alarm of 2e-9."""
    response = made(epsilon)
    for moved in (0.0, 0.3):
        noisy = response.randomize(np.resize(PUBLIC, 300_000) + moved, SeededRandomness(0))
        assert abs(noisy.mean() - PUBLIC.mean() - moved) < 6 * noisy.std() / math.sqrt(300_000) + 0.03


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_errors_told_in_units_are_right_on_average_by_what_was_untold(epsilon):
    """Errors lean up where they are large, and down elsewhere: drawn in alike in units, they are not alike beside."""
    rng = np.random.default_rng(1)
    units = np.repeat([2.0, 0.2], 200)
    errors = units * np.repeat([1.0, -1.0], 200) * (rng.exponential(size=400) - 1)
    response = made(epsilon, residuals=errors / units)
    level = response.untold(errors, units).mean()
    spread = np.sqrt(np.mean(errors**2))
    assert level > 0.02 * spread
    read = units * response.expected(errors / units) + level
    assert read.mean() == pytest.approx(errors.mean())
    moved = units * response.expected((errors + 0.01 * spread) / units) + level
    assert moved.mean() - read.mean() == pytest.approx(0.01 * spread, rel=0.2)


def test_answers_agree_with_their_expectation():
    """400,000 answers each; six standard errors are a false alarm of 2e-9."""
    response = made(2.0)
    for error in (-9.0, -0.37, 0.0, 1.2):
        noisy = response.randomize(np.full(400_000, error), SeededRandomness(1))
        assert abs(noisy.mean() - response.expected([error])[0]) < 6 * noisy.std() / math.sqrt(400_000)


def test_little_noise_tells_the_whole_error_and_much_noise_hardly_more_than_its_sign():
    large = 2.5 * np.sqrt(np.mean(PUBLIC**2))
    told = {epsilon: float(made(epsilon).expected([large])[0]) for epsilon in (0.5, 8.0)}
    assert told[0.5] < 0.75 * large and told[8.0] == pytest.approx(large, rel=0.05)


def test_more_labels_to_average_over_leave_less_bias():
    few, many = (made(1.0, averaging) for averaging in (2.0, 20_000.0))
    bias = [np.mean((response.expected(PUBLIC) - PUBLIC) ** 2) for response in (few, many)]
    assert bias[1] < 0.5 * bias[0]


def test_without_noise_errors_are_told_as_they_are():
    errors = np.array([-12.0, 0.25, 30.0])
    assert made(math.inf).randomize(errors, SeededRandomness(0)) == pytest.approx(errors, abs=0.04)


@pytest.mark.parametrize("epsilon", [0.01, 40.0])
@pytest.mark.parametrize("residuals", [np.zeros(5), np.array([3.0]), 1e6 * PUBLIC])
def test_odd_public_errors_and_budgets_have_an_answer(epsilon, residuals):
    response = made(epsilon, residuals=residuals)
    assert response.epsilon <= epsilon and response.task.grid.high <= BOUNDS[1] - BOUNDS[0]
    assert np.isfinite(response.randomize(np.array([-1e9, 0.0, 5.0]), SeededRandomness(0))).all()
