"""Faults of a private search: records that take part twice, a comparison that is not paid for, true scores."""

from __future__ import annotations

from mutants.fault import Fault, whole_fits

_GROUPS = "src/hedgerow/search/groups.py"
_VALIDATION = "src/hedgerow/search/validation.py"
_ESTIMATOR = "src/hedgerow/search/estimator.py"
_TESTS = "tests/search/test_estimator.py"

FAULTS = (
    Fault(
        name="another method with an epsilon of its own",
        path="src/hedgerow/search/settings.py",
        before='    "epsilon",\n',
        after="",
        caught_by=(f"{_TESTS}::test_another_method_promises_the_same_and_knows_the_same",),
    ),
    Fault(
        name="all records compare, those of the candidates too",
        path=_GROUPS,
        before="            return Groups(rows[:k], rows[k], ",
        after="            return Groups(rows[:k], np.arange(n), ",
        caught_by=(f"{_TESTS}::test_each_record_takes_part_once", *whole_fits("PrivateSearchCV")),
    ),
    Fault(
        name="the final fit is on all records, at the same epsilon",
        path=_ESTIMATOR,
        before="            part = data.part(groups.final, blank, extra)\n",
        after="            part = data.part(np.arange(data.n), blank, extra)\n",
        caught_by=(f"{_TESTS}::test_each_record_takes_part_once", *whole_fits("PrivateSearchCV")),
    ),
    Fault(
        name="a group without records is fitted without a blank one",
        path=_ESTIMATOR,
        before='        blank = hasattr(self.estimator, "neighbours")',
        after="        blank = False",
        caught_by=(f"{_TESTS}::test_a_few_records_are_no_error",),
    ),
    Fault(
        name="the best candidate is chosen without noise",
        path=_VALIDATION,
        before='    best = int(choice.choose(costs[None, :], randomness=source.child("choice"))[0])\n',
        after="    best = int(costs.argmin())\n",
        caught_by=(*whole_fits("PrivateSearchCV, classes, most compare"), *whole_fits("PrivateSearchCV")),
    ),
    Fault(
        name="the choice is made with half the sensitivity",
        path=_VALIDATION,
        before="    choice = PermuteAndFlip(_share(budget, 1 - Fraction(score_share)), STEPS)\n",
        after="    choice = PermuteAndFlip(_share(budget, 1 - Fraction(score_share)), STEPS // 2)\n",
        caught_by=whole_fits("PrivateSearchCV, classes, most compare, no scores"),
    ),
    Fault(
        name="choice and scores get the whole budget each",
        path=_VALIDATION,
        before="    choice = PermuteAndFlip(_share(budget, 1 - Fraction(score_share)), STEPS)\n",
        after="    choice = PermuteAndFlip(budget, STEPS)\n",
        caught_by=("tests/search/test_validation.py::test_choice_and_scores_add_up_to_the_claim",),
    ),
    Fault(
        name="scores of all candidates cost as if there were one",
        path=_VALIDATION,
        before="        mechanism = NoisyCounts(paid, k * STEPS)\n",
        after="        mechanism = NoisyCounts(paid, STEPS)\n",
        caught_by=(
            "tests/search/test_validation.py::test_choice_and_scores_add_up_to_the_claim",
            *whole_fits("PrivateSearchCV, classes, most compare"),
        ),
    ),
    Fault(
        name="true scores are kept",
        path=_VALIDATION,
        before='        noisy = mechanism.release(counts, source.child("scores")).astype(np.float64)\n',
        after=(
            '        mechanism.release(counts, source.child("scores"))\n        noisy = counts.astype(np.float64)\n'
        ),
        caught_by=whole_fits("PrivateSearchCV"),
    ),
    Fault(
        name="replacements are compared at the whole epsilon",
        path=_VALIDATION,
        before='    budget = whole if claim.neighbours == "add/remove" else whole / 2\n',
        after="    budget = whole\n",
        caught_by=("tests/search/test_validation.py::test_choice_and_scores_add_up_to_the_claim",),
    ),
    Fault(
        name="validation holders send the truth",
        path=_VALIDATION,
        before='    bits = mechanism.randomize(levels, source.child("bits"))\n',
        after="    bits = (2 * levels > mechanism.n_steps).astype(np.int64)\n",
        caught_by=("tests/search/test_validation.py::test_each_holder_sends_one_bit_about_one_candidate",),
    ),
    Fault(
        name="a dearer candidate is not booked",
        path="src/hedgerow/search/booking.py",
        before="        if self._parts == 0 or any(more):\n",
        after="        if self._parts == 0:\n",
        caught_by=("tests/search/test_booking.py::test_disjoint_parts_cost_the_largest",),
    ),
    Fault(
        name="a search is not booked",
        path=_ESTIMATOR,
        before="        together = Together(self.ledger, type(self).__name__)\n",
        after="        together = Together(None, type(self).__name__)\n",
        caught_by=(f"{_TESTS}::test_a_search_is_one_entry_at_what_it_claims",),
    ),
)
