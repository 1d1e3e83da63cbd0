"""Faults of the estimators: what they book."""

from __future__ import annotations

from mutants.fault import Fault

_BOOKED = "tests/test_spending.py::test_each_fit_is_booked_once_at_what_it_claims"
_BEFORE = "tests/test_spending.py::test_it_is_booked_before_the_first_draw_and_stays_so"

_GAPS = (
    Fault(
        name="a missing class counts as the first in sorted order",
        path="src/hedgerow/estimators/records.py",
        before="    instead = declared[:1] if stated is None else [stated]\n",
        after="    instead = classes[:1] if stated is None else [stated]\n",
        caught_by=("tests/conformance/test_tables.py::test_a_missing_class_counts_as_the_first_of_a_list",),
    ),
    Fault(
        name="tasks take the words of a schema and not its missing label",
        path="src/hedgerow/tasks/asking.py",
        before="            made = self.counting(_missing(asked.label, schema.label))\n",
        after="            _missing(asked.label, schema.label)\n",
        caught_by=("tests/test_wording.py::test_every_kind_carries_words_and_gets_them_back",),
    ),
    Fault(
        name="whether a private value is missing is public",
        path="src/hedgerow/space.py",
        before="        return mask[..., [*range(len(self.columns)), *self.told]]\n",
        after="        return np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, len(self.told))])\n",
        caught_by=("tests/conformance/test_tables.py::test_whether_a_value_is_missing_is_as_private_as_the_value",),
    ),
)

_LEDGER = (
    Fault(
        name="a fit is booked after its reports were drawn",
        path="src/hedgerow/local/tree.py",
        before=(
            "        booking = self._book(self.task_.guarantee, source)\n"
            '        self.aggregate_ = simulate_aggregate(self.task_, X, y, source.child("holders"))\n'
        ),
        after=(
            '        self.aggregate_ = simulate_aggregate(self.task_, X, y, source.child("holders"))\n'
            "        booking = self._book(self.task_.guarantee, source)\n"
        ),
        caught_by=(f"{_BEFORE}[LPDTRegressor]",),
    ),
    Fault(
        name="pilots answer before the fit is booked",
        path="src/hedgerow/local/assisted/regressor.py",
        before="            booking.book()\n",
        after="",
        caught_by=(f"{_BEFORE}[AssistedForestRegressor]",),
    ),
    Fault(
        name="forests are not booked",
        path="src/hedgerow/central/base.py",
        before="        booking.book()\n",
        after="",
        caught_by=(f"{_BOOKED}[DPExtraTreesRegressor]",),
    ),
    Fault(
        name="half of what is claimed is booked",
        path="src/hedgerow/spending.py",
        before="        book(self.ledger, self.guarantee, purpose=self.purpose, key=self.key)\n",
        after=(
            "        half = replace(self.guarantee, epsilon=self.guarantee.epsilon / 2)\n"
            "        book(self.ledger, half, purpose=self.purpose, key=self.key)\n"
        ),
        caught_by=(f"{_BOOKED}[DeconvolutionRegressor]",),
    ),
    Fault(
        name="two fits of one estimator share a key",
        path="src/hedgerow/spending.py",
        before='        self.key = f"{purpose} {secrets.token_hex(16)}"\n',
        after='        self.key = f"{purpose}"\n',
        caught_by=(f"{_BEFORE}[KRRRegressor]",),
    ),
    Fault(
        name="seeded noise is booked as if it protected",
        path="src/hedgerow/spending.py",
        before="        claim = replace(guarantee, simulation=source.simulation)\n",
        after="        claim = replace(guarantee, simulation=False)\n",
        caught_by=("tests/test_spending.py::test_seeds_need_a_rehearsal[LabelTreeRegressor]",),
    ),
)

_DEALT = (
    Fault(
        name="every holder answers about every class, each time with the whole epsilon",
        path="src/hedgerow/semi/classifier.py",
        before="        groups = {code: np.flatnonzero(drawn == code) for code in range(k)}\n",
        after="        groups = {code: np.arange(n) for code in range(k)}\n",
        caught_by=("tests/semi/test_semi_classifier.py::test_two_classes_are_one_question_and_three_are_dealt_out",),
    ),
    Fault(
        name="holders answer about the class that they have",
        path="src/hedgerow/semi/classifier.py",
        before="        for code, group in self._deal(len(codes), source).items():\n",
        after=(
            "        for code in self._deal(len(codes), source):\n"
            "            group = np.flatnonzero(codes == code) if (codes == code).any() else np.arange(1)\n"
        ),
        caught_by=("tests/semi/test_semi_classifier.py::test_groups_depend_on_the_coins_alone",),
    ),
)

FAULTS = (*_LEDGER, *_GAPS, *_DEALT)
