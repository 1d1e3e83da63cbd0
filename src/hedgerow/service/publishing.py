"""What is refused before a task is published: groups that are too small, words that deceive, records for everybody."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from hedgerow.service.problems import Problem
from hedgerow.tasks.announcement import Announcement
from hedgerow.tasks.base import Task
from hedgerow.tasks.trimmed import check_groups, least_reports

__all__ = ["check_grouping", "check_records", "check_words"]

_UNSEEN = ("Cc", "Cs", "Zl", "Zp")  # of Unicode: control characters, halves of pairs, ends of lines and paragraphs
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # its explicit bidirectional controls


def check_grouping(task: Task, groups: int, target: int | None, most: int) -> int:
    """Refuse a number of groups that cannot be, and groups of a task whose reports are not added up here.

    So few reports are expected that groups stay too small to be trimmed: refused, too. The sum of one report is the
    report, which would be kept for nothing.
    """
    if not groups:
        return 0
    check_groups(task, groups, 0.5)
    expected = min(filter(None, (target, most)), default=0)
    least = groups * least_reports(groups)
    if expected < least:
        raise Problem(
            "invalid-request",
            f"{groups} groups need {least:,} reports to be trimmed, {least_reports(groups):,} in each: with fewer, "
            f"small sums would be kept for nothing. Expected are {expected:,}: say more with 'target' or "
            "'max_reports', or take fewer groups.",
        )
    return groups


def check_words(notice: Announcement) -> None:
    """Refuse words that are not what they look like: with control characters, or with such as turn the text around.

    They go into the audit log, terminals, letters and pages. Of the purpose, lines may end.
    """
    for name in ("title", "curator", "purpose"):
        text = str(getattr(notice, name))
        lines = re.sub(r"[\t\r\n]", "", text) if name == "purpose" else text
        if any(sign in _TURNING or unicodedata.category(sign) in _UNSEEN for sign in lines):
            raise Problem("invalid-request", f"{name!r} must be plain text, without control characters.")


def check_records(task: Task, *, tokens: bool = False, passes: bool = False, **_: Any) -> None:
    """Refuse to take reports that name a record from anybody: whoever came first would have it for good."""
    if not task.question().numbered:
        return
    if passes:
        raise Problem(
            "invalid-request", "Reports to this task name their record, so a pass hides nothing: take tokens."
        )
    if not tokens:
        raise Problem(
            "invalid-request",
            "Reports to this task name their record: without tokens, a stranger could answer for everybody.",
        )
