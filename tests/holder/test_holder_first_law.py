"""A first round with a public model on the page: what is drawn follows the exact law of the model's error."""

from collections import Counter
from fractions import Fraction
from functools import cache

from scipy.stats import binom

from hedgerow.tasks.announcement import task_text
from vectors.rounds import make_first

FALSE_ALARM = 1e-6  # of the test of the law
DRAWS = 15_000
RECORD = {"age": 41.0, "home": "house", "pay": 2.0, "rent": 14.0}


@cache
def task():
    return make_first(6.0, "t", 8.0, 3, 0)


def test_the_error_and_the_label_lie_elsewhere_on_the_grid():
    error = task().assist.errors(task().space.encode_record(RECORD)[None, :], [RECORD["rent"]])[0]
    assert abs(error) < 8 < RECORD["rent"]


@cache
def chances(task):
    """Return P(coarse) and P(fine), clamped: a mixture over the two levels that the error is rounded to."""
    z = task.space.encode_record(RECORD)[None, :]
    place = (task.assist.errors(z, [RECORD["rent"]])[0] - task.grid.low) / task.grid.step
    level, share = divmod(Fraction(float(place)), 1)
    assert 0 < share < 1  # the error is not on a level, and within the radius
    out = []
    for law in (lambda v: task.label.coarse_law(v, reach=task.label.coarse.reach), task.label.fine.law):
        mixed = Counter()
        for own, weight in ((int(level), 1 - share), (int(level) + 1, share)):
            found = law(own)
            for output, w in zip(found.outputs, found.weights, strict=True):
                mixed[output] += float(weight * Fraction(w, found.total))
        out.append(mixed)
    return out


def surprise(counts, task):
    """Return the smallest exact binomial tail of any output's count, times the number of tails looked at."""
    tails = []
    for number, law in enumerate(chances(task)):
        found = Counter()
        for key, n in counts.items():
            found[int(key.split()[number])] += n
        assert set(found) <= set(law) and sum(found.values()) == DRAWS
        for output, p in law.items():
            n = found[output]
            tails += [float(binom.cdf(n, DRAWS, p)), float(binom.sf(n - 1, DRAWS, p))]
    return min(tails) * len(tails)


def drawn(node, *change):
    data = {"text": task_text(task()), "record": RECORD, "mask": [True, False, True], "draws": DRAWS}
    return node("holder_first_law.mjs", data, *change)


def test_draws_follow_the_exact_law_of_the_error(node):
    # Each exact tail is below t with probability at most t: a union bound over tails. Rounding a label to 24 bits moves
    # a probability by less than 1e-7, far less than DRAWS can tell.
    assert surprise(drawn(node), task()) > FALSE_ALARM


def test_ten_percent_too_little_noise_is_noticed(node):
    less = "laplace(1.1 * epsilon, steps), laplace(1.1 * label, steps)"
    assert surprise(drawn(node, "laplace(epsilon, steps), laplace(label, steps)", less), task()) < FALSE_ALARM
