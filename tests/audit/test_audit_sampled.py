"""The sampled tier. Each audit has a false-alarm rate of at most 1e-6 by default, and is seeded here."""

import math

import numpy as np
import pytest

from hedgerow.audit import audit_sampled, runner
from hedgerow.audit.events import best_event, granularity
from hedgerow.audit.intervals import at_least, at_most, loss_bound
from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms import BitVectorResponse, DiscreteLaplace, KaryResponse
from hedgerow.randomness import SeededRandomness

# --- Clopper-Pearson ---


@pytest.mark.parametrize("n", [1, 10, 10**6])
@pytest.mark.parametrize("alpha", [0.05, 1e-6, 1e-12])
def test_intervals_against_closed_forms(n, alpha):
    assert at_least(0, n, alpha) == 0 and at_most(n, n, alpha) == 1
    assert at_least(n, n, alpha) == pytest.approx(alpha ** (1 / n), rel=1e-9)
    assert at_most(0, n, alpha) == pytest.approx(-math.expm1(math.log(alpha) / n), rel=1e-9)
    assert at_least(1, n, alpha) == pytest.approx(-math.expm1(math.log1p(-alpha) / n), rel=1e-9)


@pytest.mark.parametrize(("count", "n"), [(3, 20), (10, 20), (19, 20)])
def test_intervals_invert_the_binomial_tail(count, n):
    def tail(p):  # P(X >= count)
        return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(count, n + 1))

    assert tail(float(at_least(count, n, 1e-3))) == pytest.approx(1e-3, rel=1e-6)
    high = float(at_most(count - 1, n, 1e-3))
    assert 1 - tail(high) == pytest.approx(1e-3, rel=1e-6)


def test_loss_bound_is_never_negative_and_grows_with_the_evidence():
    assert loss_bound(0, 0, 100, 0.0, 1e-6) == 0
    assert loss_bound(10, 90, 100, 0.0, 1e-6) == 0
    small, large = (float(loss_bound(n // 2, n // 10, n, 0.0, 1e-6)) for n in (1000, 10**7))
    assert 0 < small < large < math.log(5)
    assert large == pytest.approx(math.log(5), abs=0.01)
    assert loss_bound(500, 100, 1000, 0.4, 1e-6) < small


# --- what must be caught, and what must not ---


def numpy_laplace(epsilon):
    def run(value, n, randomness):
        return np.random.default_rng(int(randomness.integers(1 << 30, 1)[0])).laplace(value, 1 / epsilon, n)

    return run


def grid_laplace(epsilon, steps=64):
    grid, noise = LabelGrid(0.0, 1.0, steps), DiscreteLaplace(epsilon, steps)

    def run(value, n, randomness):
        return grid.values(noise.randomize(grid.levels(np.full(n, value), randomness), randomness))

    return run


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_floating_point_laplace_fails_and_noise_on_a_grid_holds(epsilon):
    floats = audit_sampled(numpy_laplace(epsilon), 0.0, 1.0, epsilon=epsilon, randomness=0)
    assert floats.verdict == "VIOLATED" and "granularity" in floats.witness
    assert floats.measured > 2 * epsilon
    ours = audit_sampled(grid_laplace(epsilon), 0.0, 1.0, epsilon=epsilon, randomness=0)
    assert ours.verdict == "holds"
    assert ours.measured > 0.8 * epsilon, "the audit of the correct noise must be tight to mean anything"


def test_floating_point_laplace_rounded_to_a_grid_holds():
    run = numpy_laplace(1.0)
    result = audit_sampled(lambda v, n, r: np.round(run(v, n, r) * 64) / 64, 0.0, 1.0, epsilon=1.0, randomness=0)
    assert result.holds and result.measured > 0.8


def test_granularity():
    values = np.array([0.5, 1.5, -0.1, 3.0, 1e300, 5e-324, 0.0, -0.0, np.inf, np.nan])
    expected = [-1, -1, -55, 0, None, -1074, -1100, -1100, -1100, -1100]
    for got, want in zip((granularity(values) - 1100).tolist(), expected, strict=True):
        assert want is None or got == want
    for value in (0.1, 1 / 3, 12345.678):
        exponent = int(granularity(np.array([value]))[0]) - 1100
        assert (value / 2.0**exponent) % 2 == 1, "the lowest bit of the value is where it is said to be"


def test_no_false_alarm_at_a_tight_claim():
    # 4 x 10 audits at alpha = 1e-6.
    mechanisms = [KaryResponse(1.0, 4), BitVectorResponse(1.0, 4), DiscreteLaplace(1.0, 4), KaryResponse(0.1, 2)]
    for mechanism in mechanisms:
        for seed in range(10):
            result = audit_sampled(
                runner(mechanism), 0, mechanism.n_inputs - 1, epsilon=mechanism.epsilon, n=20_000, randomness=seed
            )
            assert result.holds


def test_false_alarms_are_as_rare_as_alpha_says():
    # With alpha = 0.2 a tight mechanism may be called violated in 20% of audits. 200 seeds: more than 80 such
    # calls have probability below 1e-9. (The bounds are conservative: about a tenth of that is seen.)
    run = runner(KaryResponse(1.0, 2))
    alarms = sum(
        not audit_sampled(run, 0, 1, epsilon=1.0, n=2000, alpha=0.2, randomness=seed).holds for seed in range(200)
    )
    assert alarms <= 80


def test_identical_inputs_show_no_loss():
    result = audit_sampled(runner(KaryResponse(3.0, 4)), 1, 1, epsilon=0.01, n=50_000, randomness=3)
    assert result.holds and result.measured == 0


def test_both_directions_are_tried():
    def run(value, n, randomness):  # "yes" betrays 1; nothing betrays 0
        return (randomness.integers(10, n) < (3 if value else 1)).astype(int)

    for a, b in ((0, 1), (1, 0)):
        result = audit_sampled(run, a, b, epsilon=0.8, n=100_000, randomness=0)
        assert not result.holds
        assert result.measured == pytest.approx(math.log(3), abs=0.15)


def test_long_bit_vectors_are_caught_by_their_likelihood():
    # 2**60 outputs, no two alike: only the two bits that matter tell.
    wrong = audit_sampled(runner(BitVectorResponse(1.65, 60)), 3, 41, epsilon=1.5, n=200_000, randomness=0)
    assert not wrong.holds and "likelihood" in wrong.witness
    right = audit_sampled(runner(BitVectorResponse(1.5, 60)), 3, 41, epsilon=1.5, n=200_000, randomness=0)
    assert right.holds and right.measured > 1.35


def test_composite_reports_are_caught():
    # LPDT's report, its label noise drawn at the whole epsilon instead of its half.
    bits = BitVectorResponse(1.0, 8)

    def run_with(noise):
        def run(record, n, randomness):
            leaf, level = record
            row = bits.randomize(np.full(n, leaf), randomness)
            return np.column_stack([row, noise.randomize(np.full(n, level), randomness)])

        return run

    right = audit_sampled(run_with(DiscreteLaplace(1.0, 16)), (0, 0), (5, 16), epsilon=2.0, randomness=1)
    wrong = audit_sampled(run_with(DiscreteLaplace(2.0, 16)), (0, 0), (5, 16), epsilon=2.0, randomness=1)
    assert right.holds and right.measured > 1.7
    assert not wrong.holds


def test_delta_is_allowed_for():
    def run(value, n, randomness):  # gives the input away once in a hundred, else nothing
        return np.where(randomness.integers(100, n) == 0, value, 9)

    assert not audit_sampled(run, 0, 1, epsilon=1.0, randomness=0).holds
    assert not audit_sampled(run, 0, 1, epsilon=1.0, delta=0.007, randomness=0).holds
    tight = audit_sampled(run, 0, 1, epsilon=1.0, delta=0.01, randomness=0)
    assert tight.holds and tight.delta == 0.01


def test_any_hashable_output():
    def run(value, n, randomness):
        names = [("yes", "no")[b] for b in (randomness.integers(4, n) < (3 if value else 1)).astype(int)]
        return [(name, len(name)) for name in names]

    result = audit_sampled(run, 0, 1, epsilon=0.9, n=50_000, randomness=0)
    assert not result.holds and result.measured == pytest.approx(math.log(3), abs=0.15)


def test_ragged_outputs():
    def run(value, n, randomness):
        return [(1,) * (1 + int(b)) for b in randomness.integers(4, n) < (3 if value else 1)]

    assert not audit_sampled(run, 0, 1, epsilon=0.9, n=50_000, randomness=0).holds


def test_statistic_finds_what_hides():
    def run(value, n, randomness):  # the parity of three bits leaks; each bit and each pair is fair
        rows = randomness.integers(2, 3 * n).reshape(n, 3)
        leak = randomness.integers(10, n) < 8
        parity = rows.sum(axis=1) % 2
        rows[:, 2] ^= np.where(leak, parity ^ value, 0)
        return np.hstack([rows, randomness.integers(1 << 20, n)[:, None]])

    blind = audit_sampled(run, 0, 1, epsilon=0.5, randomness=0)
    seeing = audit_sampled(run, 0, 1, epsilon=0.5, randomness=0, statistic=lambda o: o[:, :3].sum(axis=1) % 2)
    assert blind.holds and not seeing.holds


def test_event_comes_from_the_first_half_only():
    # Outputs that never repeat: an event made of seen values says nothing about the second half.
    def run(value, n, randomness):
        return randomness.uint64(n).astype(np.float64) + 0.0

    result = audit_sampled(run, 0, 1, epsilon=0.01, n=20_000, randomness=0)
    assert result.holds and result.measured < 0.01


def test_unseen_codes_are_outside_every_event():
    event = best_event(np.zeros(1000, dtype=int), np.ones(1000, dtype=int), delta=0.0, alpha=1e-6)
    assert event.count(np.array([0, 0, 1, 7])) == 2


def test_seeded_audits_repeat():
    run = runner(KaryResponse(1.0, 3))
    one, two = (audit_sampled(run, 0, 1, epsilon=1.0, n=10_000, randomness=SeededRandomness(5)) for _ in range(2))
    assert (one.measured, one.witness) == (two.measured, two.witness)


def test_secure_randomness_is_the_default():
    seen = []
    audit_sampled(lambda v, n, r: seen.append(r.simulation) or np.zeros(n), 0, 1, epsilon=1.0, n=100)
    assert seen == [False, False]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0}, "'epsilon'"),
        ({"n": 3}, "'n'"),
        ({"n": 1.5}, "'n'"),
        ({"alpha": 0}, "'alpha'"),
        ({"alpha": 1}, "'alpha'"),
        ({"delta": 1}, "'delta'"),
        ({"delta": -0.1}, "'delta'"),
        ({"statistic": lambda o: o[:5]}, "'run' must return"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(HedgerowError, match=message):
        audit_sampled(runner(KaryResponse(1.0, 2)), 0, 1, **({"epsilon": 1.0, "n": 100} | arguments))


def test_outputs_of_two_shapes_are_refused():
    with pytest.raises(HedgerowError, match="one shape"):
        audit_sampled(lambda v, n, r: np.zeros((n, 2 + v)), 0, 1, epsilon=1.0, n=100, randomness=0)
