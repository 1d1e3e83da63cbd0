"""Faults of the commands: a finished answer drawn again."""

from __future__ import annotations

from mutants.fault import Fault

_TESTS = "tests/commands/test_receipt.py"

FAULTS = (
    Fault(
        name="privatize --resume ignores its receipt",
        path="src/hedgerow/commands/privatize.py",
        before="    return _receipt(arguments, task).answered()\n",
        after="    return None\n",
        caught_by=(f"{_TESTS}::test_a_finished_answer_is_not_drawn_again",),
    ),
    Fault(
        name="privatize --resume draws again where reports were moved",
        path="src/hedgerow/commands/receipt.py",
        before='        if not os.path.exists(self.output) or found["output"] != _digest(self.output):\n',
        after="        if not os.path.exists(self.output):\n            return None\n        if False:\n",
        caught_by=(f"{_TESTS}::test_reports_that_were_moved_or_changed_are_not_drawn_again",),
    ),
)
