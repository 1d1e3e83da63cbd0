"""The inputs of a formula: columns of raw records, and what becomes of every value in them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hedgerow.features import CategoricalFeature, Feature
from hedgerow.space import FeatureSpace

__all__ = ["Input", "NumberInput", "TextInput", "inputs_of", "raw_inputs"]

_NOWHERE = "\x00 no category has this name \x00"


@dataclass(frozen=True)
class NumberInput:
    """A column of numbers: NaN counts as ``missing`` (itself NaN: it stays missing), then all are cut to the range.

    With ``indicator`` the records have a column more, after all inputs: 1 where the value is missing, else 0.

    Examples
    --------
    >>> from hedgerow.features import NumericFeature
    >>> inputs_of(FeatureSpace((NumericFeature("age", 0, 99, missing=40),)))
    (NumberInput(name='age', low=0.0, high=99.0, missing=40.0, indicator=False),)
    """

    name: str
    low: float = -math.inf
    high: float = math.inf
    missing: float = math.nan
    indicator: bool = False


@dataclass(frozen=True)
class TextInput:
    """A column of names: ``keys[i]`` counts as ``codes[i]``, any other text as ``unknown``, no value as ``missing``."""

    name: str
    keys: tuple[str, ...]
    codes: tuple[int, ...]
    unknown: int
    missing: int


Input = NumberInput | TextInput


def inputs_of(space: FeatureSpace) -> tuple[Input, ...]:
    """Return the inputs of a schema: what its features make of every value."""
    return tuple(_input(column) for column in space.columns)


def _input(feature: Feature) -> Input:
    if isinstance(feature, CategoricalFeature):
        codes = tuple(int(feature.value(name)) for name in feature.categories)
        unknown = int(feature.value(_NOWHERE))
        return TextInput(feature.name, feature.categories, codes, unknown, int(feature.value(None)))
    return NumberInput(feature.name, feature.low, feature.high, feature.value(math.nan), feature.indicator)


def raw_inputs(names: tuple[str, ...]) -> tuple[Input, ...]:
    """Return columns of numbers that are taken as they are."""
    return tuple(NumberInput(name) for name in names)
