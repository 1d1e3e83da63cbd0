"""The whole two-round protocol, enumerated: holders with different masks, partitions that depend on round 1."""

from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from hedgerow.audit import audit_exact, audit_laws, audit_sampled, runner
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.base import as_law
from hedgerow.partition import grow
from hedgerow.space import FeatureSpace
from hedgerow.tasks.partly_public import CellTask, SemiTask
from hedgerow.tasks.partly_public.histogram import histogram_below
from hedgerow.tasks.partly_public.law import TwoRounds

SPACE = FeatureSpace.from_bounds((0, 1), ["a", "b", "c"])
STUMP = grow("max_edge", SPACE, None, None, max_depth=0)
DEEP = grow("max_edge", SPACE, None, None, max_depth=2)
MASKS = {
    "none": [False, False, False],
    "one": [True, False, False],
    "other": [False, True, False],
    "two": [True, True, False],
    "all": [True, True, True],
}


def protocol(epsilon, mask, response="k_ary", masks="personal", share=0.5, adaptive=True):
    private = tuple(n for n, m in zip("abc", mask, strict=True) if m) if masks == "policy" else ()
    first = SemiTask(epsilon, LabelGrid(0.0, 1.0, 2), SPACE, share, masks, private)

    @lru_cache
    def published(high):
        # a: two bins; or a tree on a and b. Which of them depends on the noisy label, as the curator's may.
        partition = DEEP if high else histogram_below(STUMP, [0], 2)
        return CellTask(first, partition, response)

    base = np.array([0.2, 0.3, 0.4])
    private_columns = np.ones(3, dtype=bool) if masks == "hidden" else np.array(mask)
    records = np.array([np.where(private_columns, corner, base) for corner in np.ndindex(2, 2, 2)], dtype=float)
    records = np.unique(np.where(private_columns, records * 0.6 + 0.2, base), axis=0)
    return TwoRounds(lambda level: published(adaptive and level > 0), records, np.array(mask))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("response", ["k_ary", "bits"])
@pytest.mark.parametrize(("epsilon", "share"), [(1.0, 0.5), (2.0, 0.7)])
def test_both_rounds_cost_epsilon_exactly(mask, response, epsilon, share):
    assert audit_exact(protocol(epsilon, MASKS[mask], response, share=share)).holds
    weak = protocol(1.1 * epsilon, MASKS[mask], response, share=share)
    assert not audit_exact(weak, epsilon=epsilon).holds


@pytest.mark.parametrize("masks", ["policy", "hidden"])
def test_both_rounds_cost_epsilon_under_a_policy_and_with_hidden_masks(masks):
    assert audit_exact(protocol(1.0, MASKS["two"], masks=masks)).holds
    assert not audit_exact(protocol(1.1, MASKS["two"], masks=masks), epsilon=1.0).holds


def test_the_claim_is_tight():
    for mask in MASKS.values():
        assert audit_exact(protocol(1.0, mask)).measured > 0.99


def test_hidden_masks_give_one_law_whatever_the_mask():
    one, two = protocol(1.0, MASKS["one"], masks="hidden"), protocol(1.0, MASKS["all"], masks="hidden")
    assert one.n_inputs == two.n_inputs
    assert all(one.law(v) == two.law(v) for v in range(0, one.n_inputs, 5))


def test_open_masks_do_show_the_mask():
    """Why the guarantee is conditional: with the same record, transcripts under two masks never coincide."""
    one, two = protocol(1.0, MASKS["one"]), protocol(1.0, MASKS["two"])
    supports = [{o[1] for o in p.law(0).outputs if o != "elsewhere" and isinstance(o[1], tuple)} for p in (one, two)]
    assert supports[0] != supports[1]


def second_draw(whole, value):
    """Return the law of a faulty device: it draws the coarse label again for the second round."""
    law, noise = whole.law(value), whole.first.label
    level = value % (whole.first.grid.n_steps + 1)
    chances = {}
    for output, weight in zip(law.outputs, law.weights, strict=True):
        for again in range(-2, 5) if output != "elsewhere" else [None]:
            share = noise.coarse_chance(again - level) if again is not None else 1
            chances[output, again] = Fraction(weight, law.total) * share
    chances["rest"] = 1 - sum(chances.values())
    return as_law(chances)


def test_a_second_draw_of_the_label_costs_one_and_a_half_epsilon():
    whole = protocol(1.0, MASKS["one"], adaptive=False)
    laws = [(v, second_draw(whole, v)) for v in range(whole.n_inputs)]
    result = audit_laws("second draw", laws, epsilon=1.0)
    assert not result.holds
    assert 1.5 - 1e-9 < result.measured <= 1.5
    assert audit_laws("second draw", laws, epsilon=1.5).holds


def test_what_ships_passes_a_sampled_audit_and_weaker_noise_does_not():
    """False alarm below 1e-6 by Clopper-Pearson; the weak copy has an event of probability near 0.3."""
    good, weak = protocol(2.0, MASKS["one"]), protocol(2.6, MASKS["one"])
    last = good.n_inputs - 1
    assert audit_sampled(runner(good), 0, last, epsilon=2.0, n=60_000, randomness=1).holds
    assert not audit_sampled(runner(weak), 0, last, epsilon=2.0, n=60_000, randomness=1).holds


@pytest.mark.parametrize("mask", ["none", "one", "all"])
@pytest.mark.parametrize("response", ["k_ary", "bits"])
def test_what_ships_has_the_enumerated_law(mask, response):
    """TV over K frequent outputs and the rest: 2**K exp(-2 n t**2) < 1e-7 with K <= 150 at t = 0.028."""
    n, whole = 80_000, protocol(2.0, MASKS[mask], response)
    value = whole.n_inputs // 2
    rows = whole.randomize(np.full(n, value), 5)
    law = whole.law(value)
    exact = {o: w / law.total for o, w in zip(law.outputs, law.weights, strict=True)}
    kept = sorted((o for o in exact if o != "elsewhere"), key=lambda o: -exact[o])[:150]
    seen = {}
    for (coarse, last, *answer), count in zip(*np.unique(rows, axis=0, return_counts=True), strict=True):
        cells = tuple(np.flatnonzero(answer).tolist())
        output = (int(coarse), cells) if (int(coarse), cells) in exact else (int(coarse), int(last))
        seen[output] = seen.get(output, 0) + int(count)
    distance = sum(abs(seen.get(o, 0) / n - exact[o]) for o in kept)
    assert distance / 2 < 0.028
