"""Budgets and whole numbers as arguments."""

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from hedgerow.checks import (
    Flag,
    Kind,
    OneOf,
    Real,
    Whole,
    check_epsilon,
    check_parameters,
    check_positive,
    declared_rules,
)
from hedgerow.errors import HedgerowError


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, "1", True, None])
def test_bad_epsilon_is_named(epsilon):
    with pytest.raises(HedgerowError, match="'epsilon' parameter must be"):
        check_epsilon(epsilon)


def test_good_epsilons_become_floats():
    assert [check_epsilon(e) for e in (1, np.float32(0.5), Fraction(1, 4), math.inf)] == [1.0, 0.5, 0.25, math.inf]


@pytest.mark.parametrize("value", [0, -3, 2.5, True, "4", None])
def test_bad_whole_numbers_are_named(value):
    with pytest.raises(HedgerowError, match="'size' parameter must be an int >= 1"):
        check_positive(value, name="size")


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (Whole(2, 9), [2, 9, np.int64(3)], [1, 10, 2.0, True, "3", None]),
        (Real(0, 1), [0.5, np.float32(0.25), Fraction(1, 3)], [0, 1, math.nan, True, "0.5"]),
        (Real(0, 1, ends="both"), [0, 1, 0.5], [-0.1, 1.1]),
        (Real(0, ends="low"), [0, 3.5], [-1, math.inf, math.nan]),
        (OneOf("auto", None), ["auto", None], ["Auto", 0, ["auto"], np.array(["auto"])]),
        (Flag(), [True, np.False_], [0, 1, "True", None]),
        (Whole() | OneOf("auto"), [1, "auto"], [0, "all", None]),
        (Kind("a path", (str,)), ["x"], [b"x"]),
    ],
    ids=lambda rule: getattr(rule, "words", ""),
)
def test_rules_allow_what_they_say(rule, good, bad):
    assert all(rule.allows(value) for value in good)
    for value in bad:
        assert not rule.allows(value)
        with pytest.raises(HedgerowError, match="The 'size' parameter of Tree must be ") as error:
            check_parameters({"size": value}, {"size": rule}, owner="Tree")
        assert f"must be {rule.words}. Got {value!r} instead." in str(error.value)


def test_rules_of_base_classes_hold_unless_changed():
    class Base:
        _parameters: ClassVar = {"size": Whole(), "share": Real(0, 1)}

    class Tree(Base):
        _parameters: ClassVar = {"size": Whole(5)}

    rules = declared_rules(Tree)
    assert not rules["size"].allows(4) and rules["share"].allows(0.5)
