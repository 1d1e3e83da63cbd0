"""The page's rule for values is Python's, and every record gets a report of one length."""

import json
import math
import struct

import pytest

from hedgerow.randomness import SeededRandomness
from hedgerow.values import category, number
from vectors.bases import bases

VALUES = [
    None, True, False, 0, 1, -1, 3, 0.5, -0.0, 1.0, 1e16, 1e22, 123456789012345680.0, 1.5e-7, 1e308, 10**400,
    -(10**400), 2**53, "", " ", "abc", "old", "1", "1.0", " 41 ", "\t7\n", "+7.5e0", "-.5", "5.", ".", "e5", "1e400",
    "-1e400", "1e-400", "0x10", "1_000", "1,5", "NaN", "nan", "inf", "Infinity", "-inf", "true", "\u00a07", "\u0661",
    "1\u2003", "F", "M", "other", "X", "yes", "no", "flat", "constructor", "__proto__", [], [3], [[]], {}, {"a": 1},
    "[3]", "None", "True",
]  # fmt: skip


@pytest.fixture(scope="module")
def floats():
    words = SeededRandomness(5).bytes(8 * 1500)
    found = [x for (x,) in struct.iter_unpack("<d", words) if math.isfinite(x)]
    found += [k / 7 * 10.0**p for k in (1, -3, 22) for p in range(-9, 25)] + [10.0**p for p in range(-30, 40)]
    return [*found, 0.0, -0.0, 5e-324, 1.7976931348623157e308, 2.0**53, 9999999999999998.0, 1e16, 1e-4, 1e-5]


def test_the_rule_is_pythons_and_nothing_is_an_error(node, floats):
    tasks = [{"text": text, "names": names(json.loads(text))} for _, text in bases()]
    found = node("holder_values.mjs", {"floats": floats, "values": VALUES, "tasks": tasks})
    assert found["wrong"] == [] and found["answered"] > 3000
    assert found["texts"] == [repr(x) for x in floats]
    # JavaScript has no whole numbers beyond all floats; no category has such a name.
    sizes = [abs(v) if isinstance(v, int) else 0 for v in VALUES]
    named = [(name, category(v)) for name, v, size in zip(found["names"], VALUES, sizes, strict=True) if size < 1e300]
    assert [name for name, _ in named] == [name for _, name in named] and len(named) == len(VALUES) - 2
    numbers = [float(x) for x in found["numbers"]]
    assert [repr(x + 0.0) for x in numbers] == [repr(number(v) + 0.0) for v in VALUES]


def names(content):
    """Return the names that a task asks for."""
    first = content.get("first", content)
    space = first.get("space") or first.get("partition", {}).get("space") or {"columns": []}
    return [*(feature["name"] for feature in space["columns"]), first["target"]]
