"""PRIVACY.md's counterexample: K candidate medians do not cost one median."""

from fractions import Fraction
from math import comb, log

from hedgerow.central.accounting import TreeBudget
from hedgerow.mechanisms.median import PrivateMedian
from hedgerow.mechanisms.selection import ExponentialSelection
from hedgerow.samplers import exp_at_least

K = 5
# 180 records x=0, y=-1; 40 at x=.9, y=1; 180 at x=1, y=1, on a grid with 10 cuts: the last one is (.9, 1].
DATA = [0] * 180 + [9] * 40 + [10] * 180
MORE = [*DATA, 10]
LABELS = {0: -1, 9: 1, 10: 1}
UNITS = 4  # costs in quarters of R**2


def cost(cells, cut):
    """floor(UNITS * SSE / R**2) of splitting at a cut, R = 2."""
    total = Fraction(0)
    for side in ([c for c in cells if c < cut], [c for c in cells if c >= cut]):
        s = sum(LABELS[c] for c in side)
        total += len(side) - Fraction(s * s, max(len(side), 1))
    return int(UNITS * total / 4)


def paper_event(cells):
    """P(the chosen split is in (.9, 1]) for K equal columns at eps_s = eps_a = 1."""
    last = PrivateMedian(1.0, 11).law(cells).probability(10)
    bad, good = cost(cells, 10), cost(cells, 5)
    total = Fraction(0)
    for k in range(1, K + 1):
        law = ExponentialSelection(1.0, UNITS).law([bad] * k + [good] * (K - k))
        chosen = Fraction(sum(law.weights[:k]), law.total)
        total += comb(K, k) * last**k * (1 - last) ** (K - k) * chosen
    return total


def test_the_papers_two_epsilons_are_exceeded_and_our_six_are_not():
    ratio = paper_event(MORE) / paper_event(DATA)
    assert not exp_at_least(ratio, Fraction(2))  # the paper: eps_s + eps_a
    assert 4.1 < log(ratio) < 4.3
    true = TreeBudget(Fraction(1), Fraction(1), K, Fraction(0), 1).total
    assert true == 6 and exp_at_least(ratio, true)


def test_one_selection_over_all_pairs_keeps_two():
    """The strict scheme at the same 2 epsilons: all K columns' cuts in one choice."""
    choice = ExponentialSelection(2.0, UNITS)
    laws = [choice.law([cost(cells, cut) for _ in range(K) for cut in range(1, 11)]) for cells in (DATA, MORE)]
    for a, b in (laws, laws[::-1]):
        for x, y in zip(a.weights, b.weights, strict=True):
            assert exp_at_least(Fraction(x * b.total, y * a.total), Fraction(2))
