"""Faults of the commands: an answer drawn again, and what lies beside it."""

from __future__ import annotations

from mutants.fault import Fault

_TESTS = "tests/commands/test_receipt.py"
_LEDGER = "tests/commands/test_cli_ledger.py"
_ANSWER = "tests/commands/test_answer.py"

FAULTS = (
    Fault(
        name="privatize --resume ignores its receipt",
        path="src/hedgerow/commands/privatize.py",
        before="    return Receipt(arguments.output, task.id).answered()\n",
        after="    return None\n",
        caught_by=(f"{_TESTS}::test_a_finished_answer_is_not_drawn_again",),
    ),
    Fault(
        name="privatize --resume draws again where reports were moved",
        path="src/hedgerow/commands/receipt.py",
        before="        if not os.path.exists(self.output) or found.output != _digest(self.output):\n",
        after="        if not os.path.exists(self.output):\n            return None\n        if False:\n",
        caught_by=(f"{_TESTS}::test_reports_that_were_moved_or_changed_are_not_drawn_again",),
    ),
    Fault(
        name="a resumed second round does not look whether it was answered",
        path="src/hedgerow/commands/answer.py",
        before="            if self.kept is not None and not (parts.marked and self.kept.answered):\n",
        after="            if self.kept is not None and not self.kept.answered:\n",
        caught_by=(f"{_ANSWER}::test_a_second_round_answered_without_resume_is_not_answered_with_it",),
    ),
    Fault(
        name="what a device kept is marked after the answer is written",
        path="src/hedgerow/commands/answer.py",
        before="                spend()\n",
        after="                stack.callback(spend)\n",
        caught_by=("tests/commands/test_cli_semi.py::test_crash_at_any_step_leaves_one_answer_at_most",),
    ),
    Fault(
        name="privatize books after it has drawn",
        path="src/hedgerow/commands/answer.py",
        before="        self._book(secrets.token_hex(16))\n        self._use_up()\n",
        after="        self._use_up()\n",
        caught_by=(f"{_LEDGER}::test_booking_comes_before_the_first_draw",),
    ),
    Fault(
        name="a second round is free whatever was booked",
        path="src/hedgerow/commands/answer.py",
        before='        if first is not None and any((e.key or "").startswith(_key(first)) for e in self.ledger.entries()):\n',
        after="        if first is not None:\n",
        caught_by=("tests/conformance/test_cli_matrix.py::test_ledger",),
    ),
    Fault(
        name="a ledger's trigger may give a budget back",
        path="src/hedgerow/ledger.py",
        before="    if _layout(connection) != _own_layout():\n",
        after="    if False:\n",
        caught_by=(f"{_LEDGER}::test_what_is_no_ledger_is_refused_in_one_line",),
    ),
    Fault(
        name="the parts of an answer hold a plain digest of the private file",
        path="src/hedgerow/commands/parts.py",
        before="        digests = [fingerprint(path, key) for path in inputs]",
        after="        digests = [hashlib.sha256(open(path, 'rb').read()).hexdigest() for path in inputs]",
        caught_by=(f"{_ANSWER}::test_the_parts_alone_tell_nothing_about_the_file",),
    ),
    Fault(
        name="a card promises against whoever held the records",
        path="src/hedgerow/card/protected.py",
        before="    if AS_IF_LOCAL in claim.notes or AS_IF_SHARED in claim.notes:\n",
        after="    if not claim.notes:\n",
        caught_by=("tests/test_card.py::test_central_models_and_estimators",),
    ),
    Fault(
        name="a card leaves out the conditions of its promise",
        path="src/hedgerow/card/sections.py",
        before="    if claim.notes:\n",
        after="    if claim.simulation and not claim.notes:\n",
        caught_by=("tests/test_card.py::test_every_kind_of_model",),
    ),
    Fault(
        name="names in a card are markup",
        path="src/hedgerow/card/page.py",
        before='    return escape(seen(" ".join(text.split())))\n',
        after='    return seen(" ".join(text.split()))\n',
        caught_by=("tests/test_card.py::test_a_page_has_all_its_parts_in_order_and_nothing_of_others",),
    ),
)
