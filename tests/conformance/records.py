"""Values and records that nobody thought of: whatever is in a record, it must be reported."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd

from hedgerow.holder.make import check_question
from hedgerow.tasks.labels.task import LabelTask


class Refuses:
    """An object that can be nothing."""

    def __float__(self):
        raise RuntimeError("no number")

    __str__ = __repr__ = __hash__ = __bool__ = __len__ = __index__ = __eq__ = __float__


class WildText(str):
    """Text whose methods fail."""

    def strip(self, *_):
        raise RuntimeError("not now")

    __str__ = __hash__ = __eq__ = strip


class WildNumber(float):
    """A number whose methods fail."""

    def __float__(self):
        raise RuntimeError("not now")

    __str__ = __gt__ = __lt__ = is_integer = __float__


class WildInt(int):
    """A whole number too large, and wild."""

    def __float__(self):
        raise OverflowError

    __gt__ = __str__ = __float__


VALUES = (
    None, math.nan, math.inf, -math.inf, 1.7e308, -1.7e308, 5e-324, -0.0, 0, 1, 3.7, 10**400, -(10**400), True, False,
    "", " ", "abc", "7", " +7.5e0\t", "1e400", "-1e400", "nan", "inf", "0x10", "1_0", "\u0661", "7\x1c", "x" * 100_000,
    "9" * 5000, b"1", [1.0], [], {}, (1,), {1}, np.array([1.0]), np.array([1.0, 2.0]), np.array(2), np.float32("nan"),
    np.longdouble("1e4000"), np.int64(3), np.True_, np.datetime64("NaT"), np.str_("5"), pd.NA, pd.NaT,
    pd.Timestamp(0), Decimal("sNaN"), Decimal("1e999"), Decimal("0.5"), Fraction(10**400), 1j, object(), int, Refuses(),
    WildText("5"), WildNumber(5), WildInt(5), lambda: 5,
)  # fmt: skip


class Broken(Mapping):
    """A record that fails to say what it holds."""

    def __getitem__(self, name):
        raise RuntimeError("not now")

    def __iter__(self):
        raise RuntimeError("not now")

    def __len__(self):
        raise RuntimeError("not now")


def records(task) -> Iterator[Mapping]:
    """Yield records for a task: all values alike, strange in one place, empty, broken. What is public stays right."""
    names = [name for name in check_question(task) if name != "record"]
    public = {"record": 7} if isinstance(task, LabelTask) else {}
    yield public
    yield public | {"something else": 3}
    for value in VALUES:
        yield dict.fromkeys(names, value) | public
    for name in names:
        for value in (None, "abc", math.inf, 0.5, Refuses()):
            yield dict.fromkeys(names, 0.25) | {name: value} | public
    if not public:
        yield Broken()
