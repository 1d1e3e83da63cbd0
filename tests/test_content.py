"""The codec: what is declared comes back, and nothing else is read."""

import json
import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.arrays import listed
from hedgerow.content import Content, canonical, parse
from hedgerow.errors import BoundsError, FormatError
from hedgerow.forms import Budget


@dataclass(frozen=True)
class Number(Content, what="number column"):
    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise BoundsError(f"'low' must not be above 'high'. Got {self.low} instead.")


@dataclass(frozen=True)
class Category(Content, what="category column"):
    name: str
    categories: tuple[str, ...]


class Noise(Content, what="noise", tag="kind"):
    kind: ClassVar[str]


@dataclass(frozen=True)
class Laplace(Noise):
    kind: ClassVar[str] = "laplace"
    scale: float = 1.0


@dataclass(frozen=True)
class Truth(Noise):
    kind: ClassVar[str] = "truth"


@dataclass(frozen=True, eq=False)
class Question(Content, what="question", format="test/question", version=3):
    epsilon: Budget
    columns: tuple[Number | Category, ...]
    noise: Noise
    response: Literal["bits", "unary"] = "bits"
    bounds: tuple[float, float] = (0.0, 1.0)
    n_steps: int = 4
    open: bool = True
    parts: tuple[tuple[int, ...], ...] | None = None
    leaves: Annotated[npt.NDArray[Any], listed("<u2")] = None  # type: ignore[assignment]


def question(**changes: Any) -> Question:
    columns = (Number("age", 0.0, 99.0), Category("sex", ("F", "M")))
    leaves = np.array([1, 2, 65535], dtype=np.uint16)
    return Question(**{"epsilon": 1.0, "columns": columns, "noise": Laplace(2.0), "leaves": leaves, **changes})


@pytest.mark.parametrize(
    "changes",
    [{}, {"epsilon": math.inf}, {"noise": Truth()}, {"parts": ((1, 2), ())}, {"response": "unary", "open": False}],
)
def test_what_is_declared_comes_back(changes):
    one = question(**changes)
    two = Question.from_json(one.to_json())
    assert two.to_json() == one.to_json()
    assert (two.columns, two.noise, two.epsilon, two.parts) == (one.columns, one.noise, one.epsilon, one.parts)
    assert two.leaves.tolist() == [1, 2, 65535]


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += _paths(item, (*path, key))
    return found


def _changed(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    copy = json.loads(json.dumps(data))
    at = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return copy


WRONG = [None, True, "text", 0.5, -1, 10**400, 1e999, [], {}, [None], "inf"]


def test_any_value_in_any_place_is_read_back_as_written_or_refused_as_a_format():
    data = question(parts=((1, 2), (3,))).to_dict()
    refused = 0
    for path in _paths(data):
        for value in WRONG:
            changed = _changed(data, path, value)
            try:
                read = Question.from_dict(changed)
            except FormatError:
                refused += 1
                continue
            assert canonical(read.to_dict()) == canonical(_as_floats(changed))
    assert refused > 250


def _as_floats(data: dict[str, Any]) -> dict[str, Any]:
    """Write whole numbers as floats where the question declares floats; the codec reads either."""
    data = json.loads(json.dumps(data))
    data["bounds"] = [float(b) for b in data["bounds"]]
    if not isinstance(data["epsilon"], str):
        data["epsilon"] = float(data["epsilon"])
    for column in data["columns"]:
        for name in {"low", "high"} & set(column):
            column[name] = float(column[name])
    if "scale" in data["noise"]:
        data["noise"]["scale"] = float(data["noise"]["scale"])
    return data


@pytest.mark.parametrize("name", ["format", "version", "epsilon", "columns", "noise", "leaves"])
def test_a_field_too_few_or_too_many_is_refused(name):
    data = question().to_dict()
    del data[name]
    with pytest.raises(FormatError, match=name):
        Question.from_dict(data)
    with pytest.raises(FormatError, match="unknown fields \\['more'\\]"):
        Question.from_dict({**question().to_dict(), "more": 1})


def test_another_version_is_refused_and_true_is_not_one():
    for version in (2, 4, True, 3.0, "3"):
        with pytest.raises(FormatError, match="is not supported, only 3"):
            Question.from_dict({**question().to_dict(), "version": version})


def test_what_the_class_refuses_is_a_format_error_when_read():
    data = question().to_dict()
    data["columns"][0]["low"] = 100
    with pytest.raises(FormatError, match="'low' must not be above"):
        Question.from_dict(data)


@pytest.mark.parametrize(
    "error", [RecursionError, MemoryError, ZeroDivisionError, IndexError, AttributeError, BoundsError]
)
def test_whatever_goes_wrong_while_a_content_is_made_is_a_format_error(error):
    @dataclass(frozen=True)
    class Fragile(Content, what="fragile thing"):
        name: str

        def __post_init__(self) -> None:
            raise error("anything")

    with pytest.raises(FormatError, match="anything"):
        Fragile.from_dict({"name": "a"})


def test_minus_zero_is_zero_so_that_equal_content_has_one_text():
    assert Number("a", -0.0, 1.0).to_json() == Number("a", 0.0, 1.0).to_json()


def test_a_family_is_told_apart_by_its_tag():
    assert Noise.from_dict({"kind": "truth"}) == Truth()
    with pytest.raises(FormatError, match="must be one of \\['laplace', 'truth'\\]"):
        Noise.from_dict({"kind": "gauss"})
    with pytest.raises(FormatError, match="must be one of"):
        Noise.from_dict({"kind": ["laplace"]})


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=3), st.lists, max_leaves=4))
def test_nothing_but_a_format_error_leaves_the_reader(value):
    with pytest.raises(FormatError):
        Question.from_dict(value)
    with pytest.raises(FormatError):
        Question.from_dict({**question().to_dict(), "columns": [value]})


@pytest.mark.parametrize("text", ["{", '{"a": NaN}', '{"a": Infinity}', '{"a": 1, "a": 1}', "[" * 100_000, b"\xff"])
def test_text_that_is_not_strict_json_is_refused(text):
    with pytest.raises(FormatError, match="not valid JSON"):
        parse(text, "question")
