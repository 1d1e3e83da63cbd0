"""Mutations of JSON: every value replaced, every field removed, added or given twice, every list cut and stretched.

A mutation is made in the text, not in what the text stands for: ``1e999``, ``16.0`` for 16 or a field that stands twice
are told apart from their neighbours only there.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Iterable, Iterator
from typing import Any

from hedgerow.content import canonical
from hedgerow.randomness import Randomness

__all__ = ["Path", "mutations", "put"]

Path = tuple[str | int, ...]
_RAW = '"@raw@"'

VALUES = (
    "null", "true", "false", '""', '"x"', '"1"', '"inf"', '"nan"', "0", "1", "-1", "2", "3", "0.5", "1.0", "-0.5",
    "0.0", "-0.0", "-0", "1e999", "-1e999", "NaN", "Infinity", "1e308", "-1e308", "1e+101", "1e-101", "1e-308",
    "5e-324", "1e+16", "1048576", "1048577", "16777216", "16777217", "9007199254740993", "1" + "0" * 400, "[]", "{}",
    "[null]", "[[]]", "[0.0]", '{"a":1}', "1.0e0", "01", "+1", ".5", "1.", "0x1", " 1", "undefined",
)  # fmt: skip
"""What any value is replaced by: other types, ends of numbers, spellings that are not Python's, what is not JSON."""

WORDS = (
    "bits", "unary", "k_ary", "subset", "levels", "policy", "personal", "hidden", "laplace", "gaussian", "staircase",
    "interval", "bins", "matrix", "project", "uniform", "constructor", "__proto__", "toString", "record", "age",
    "other",
)  # fmt: skip
"""What a text is replaced by: words that mean something elsewhere in a task, or to JavaScript."""


def put(content: Any, path: Path, raw: str) -> str:
    """Return the canonical text of content in which the value at a path is this text, whatever it is.

    >>> put({"b": [1, 2], "a": 0}, ("b", 1), "1e999")
    '{"a":0,"b":[1,1e999]}'
    """
    changed = copy.deepcopy(content)
    if not path:
        return raw
    _at(changed, path[:-1])[path[-1]] = "@raw@"
    return canonical(changed).replace(_RAW, raw, 1)


def _at(content: Any, path: Path) -> Any:
    for step in path:
        content = content[step]
    return content


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the way to every value; of long lists to the first, the middle and the last."""
    yield path
    if isinstance(value, dict):
        for name in sorted(value):
            yield from _paths(value[name], (*path, name))
    elif isinstance(value, list):
        for i in sorted({0, len(value) // 2, len(value) - 1} & set(range(len(value)))):
            yield from _paths(value[i], (*path, i))


def mutations(content: dict[str, Any], few: int, source: Randomness) -> Iterator[tuple[Path, str]]:
    """Yield where to put which text: every field and end of a list left out, and ``few`` others at each place."""
    for path in _paths(content):
        value = _at(content, path)
        always: list[str] = []
        others = [*VALUES, *_near(value)] if path else []
        if isinstance(value, dict):
            always = [canonical({key: item for key, item in value.items() if key != name}) for name in value]
            yield from ((path, raw) for raw in _some(_objects(value), few, source))
        elif isinstance(value, list):
            always = [canonical(items) for items in ([], value[1:], value[:-1], value[::-1]) if items != value]
            yield from ((path, raw) for raw in _some(_lists(value), few, source))
        elif isinstance(value, str) and path[-1] == "data":
            always = list(_models(value, few, source))
        yield from ((path, raw) for raw in (*always, *_some(others, few, source)))


def _some(mutations: Iterable[str], few: int, source: Randomness) -> list[str]:
    """Return a few of them, drawn at random, in their order."""
    all_of_them = list(mutations)
    drawn = source.integers(1 << 30, len(all_of_them)).argsort(kind="stable")[:few]
    return [all_of_them[i] for i in sorted(drawn.tolist())]


def _objects(value: dict[str, Any]) -> Iterator[str]:
    text = canonical(value)
    for name in value:
        yield canonical({("renamed" if key == name else key): item for key, item in value.items()})
        yield f"{text[:-1]},{canonical(name)}:{canonical(value[name])}}}"  # given twice
        yield canonical({name: value[name]})[:-1] + "," + text[1:]
    for name in ("", "id", "missing", "unknown", "zzz", "__proto__", "constructor"):
        if name not in value:
            yield canonical({**value, name: 1})
    yield json.dumps(value, sort_keys=True)  # with blanks
    yield json.dumps(dict(sorted(value.items(), reverse=True)), separators=(",", ":"))  # in another order
    yield canonical([value])


def _lists(value: list[Any]) -> Iterator[str]:
    changed = [[*value, *value[-1:]], [*value[:1], *value], [value], value[:1] * (len(value) + 2), 3 * value]
    extra: list[Any] = [None, 0, 0.0, "x", [], {}]
    changed += [[*value, more] for more in extra]
    yield from (canonical(items) for items in changed if items != value)
    yield canonical(value)[:-1] + ",]"


def _near(value: Any) -> Iterator[str]:
    """Yield values of the same type, and the same value in other spellings."""
    if isinstance(value, str):
        for text in (value + "x", value.upper(), value[1:], value[::-1], f"{value} ", f"{value}\u00e9", *WORDS):
            yield canonical(text)
        yield "".join(["'", value, "'"])
        yield '"' + "".join(f"\\u{ord(c):04x}" for c in value) + '"'
    elif type(value) in (int, float):
        for x in (value + 1, value - 1, -value, 2 * value, value / 2, value + 0.25, 1.1 * value, value * (1 + 2**-52)):
            yield canonical(x)
        spelled = canonical(value)
        yield from (f'"{spelled}"', f"{spelled}0", f"{spelled}.0", f"{spelled}e0", f"[{spelled}]", f"0{spelled}")
        yield canonical(int(value) if isinstance(value, float) else float(value))


def _models(text: str, few: int, source: Randomness) -> Iterator[str]:
    """Yield the bytes of a public model, changed here and there, and the same bytes in other spellings."""
    data = base64.b64decode(text)
    head = 12 + int.from_bytes(data[8:12], "little")
    changed = [b"", data[:11], data[:-1], data[:-8], data + bytes(1), data + bytes(8), b"HDGQ" + data[4:]]
    for i, byte in ((4, 2), (6, 1), (8, data[8] + 1 & 255), (8, data[8] - 1 & 255), (11, 255)):
        changed.append(data[:i] + bytes([byte]) + data[i + 1 :])
    for before, after in (
        (b'"parts"', b' "parts"'), (b'"kind"', b'"Kind"'), (b'"trees"', b'"linear"'), (b'"linear"', b'"kernel"'),
        (b'"matern"', b'"kernel"'),
        (b'"<f4"', b'"<f8"'), (b'"<f8"', b'"<f4"'), (b'"design":', b'"design":1'), (b'"n_columns":', b'"n_columns":1'),
        (b'"intercept":', b'"intercept":-'), (b'"intercept":', b'"intercept":1e999,"a":'),
        (b'"parts":[', b'"parts":[[],'),
    ):  # fmt: skip
        manifest = data[12:head].replace(before, after, 1)
        changed.append(data[:8] + len(manifest).to_bytes(4, "little") + manifest + data[head:])
    nan = bytes.fromhex("000000000000f87f")
    changed += [data[:-8] + nan, data[:head] + b"\xff" * 4 + data[head + 4 :], data[:-8] + bytes(8)]
    for i in source.integers(len(data), 2 * few).tolist():
        changed.append(data[:i] + bytes([data[i] ^ 1 << i % 8]) + data[i + 1 :])
    yield from (canonical(base64.b64encode(d).decode()) for d in changed if d != data)
    other = text.replace("+", "-").replace("/", "_")
    spellings = [
        text[:8] + "\n" + text[8:],
        text + "=",
        text.rstrip("=") if "=" in text else text + "====",
        other,
        text + " ",
    ]
    yield from (canonical(s) for s in spellings if s != text)
