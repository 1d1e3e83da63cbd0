"""The records of ``hedgerow compare``, with bounds and categories, and where each of these came from."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.classes import class_codes
from hedgerow.commands.public_facts import described, is_text
from hedgerow.commands.schema import take_schema
from hedgerow.errors import BoundsError, HedgerowError
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.grid import check_label_bounds, label_numbers, middle
from hedgerow.tables import Block, Table
from hedgerow.values import category

if TYPE_CHECKING:
    from hedgerow.compare.comparison import Problem
    from hedgerow.schema import Schema

GIVEN = "given by you"
PUBLIC = "from the public records"
READ = "READ FROM THE PRIVATE RECORDS"


def read_problem(arguments: argparse.Namespace) -> Problem:
    """Return the records and what is known about them beforehand."""
    import pandas as pd

    from hedgerow.compare.comparison import Problem

    schema = take_schema(arguments)
    private = _Records(arguments.data, arguments.target)
    public = _Records(arguments.public, arguments.target) if arguments.public else None
    if schema is not None:
        _take_columns(arguments, schema, private, public)
    if public is not None and set(public.names) != set(private.names):
        odd = sorted(set(public.names) ^ set(private.names))
        raise HedgerowError(f"--public and --data must have the same columns; only one has {odd[0]!r}.")
    given_bounds = dict(arguments.feature_bounds)
    given_lists = dict(arguments.categories)
    _check_names(arguments, private.names, given_bounds, given_lists)
    text = [n for n in private.names if n in given_lists or (n not in given_bounds and (public or private).is_text(n))]
    lists, from_lists = _categories(arguments, public, private, text, given_lists)
    bounds, from_bounds = _ranges(arguments, public, private, text, given_bounds)
    label, from_label = _label(arguments, public, private)
    origin = {"feature bounds": from_bounds, **({"categories": from_lists} if text else {})}
    origin["classes" if "classes" in label else "label bounds"] = from_label
    classify = "classes" in label
    known: dict[str, Any] = {"X_public": None, "y_public": None}
    if public is not None:
        columns = public.columns(private.names, text) if schema is None else public.described(schema)
        known = {"X_public": pd.DataFrame(columns), "y_public": public.labels(classify)}
    ranges = dict(zip(private.names, bounds.T.tolist(), strict=True))
    if schema is None:
        rows = {
            n: _listed(private.cells(n), lists[n]) if n in text else private.filled(n, ranges[n]) for n in private.names
        }
    else:
        rows = private.described(schema)
    stated = None if schema is None else getattr(schema.label, "missing", None)
    if classify:
        y = _classes(private.cells(arguments.target), label["classes"], stated)
    else:
        y = private.filled(arguments.target, label["label_bounds"], stated)
    if schema is not None:
        schema = _with_label(schema, arguments.target, label, stated)
    return Problem(
        pd.DataFrame(rows), y, arguments.target, bounds, categories=lists,
        private=tuple(arguments.private_columns), origin=origin, schema=schema, **label, **known,
    )  # fmt: skip


def _with_label(schema: Schema, target: str, label: dict[str, Any], missing: Any) -> Schema:
    """Return the schema with the label as it is read here: classes are text, and options may have said what it is."""
    if "classes" in label:
        stated = None if missing is None else str(missing)
        return schema.with_label(target, classes=label["classes"], missing=stated)
    return schema.with_label(target, bounds=label["label_bounds"], missing=missing)


def _take_columns(arguments: argparse.Namespace, schema: Schema, private: _Records, public: _Records | None) -> None:
    """Take ranges and categories from a schema; columns that it does not describe are left out."""
    space = schema.space
    for records in (private, *([] if public is None else [public])):
        records.keep(space.inputs)
    features = space.columns
    arguments.categories = [(f.name, list(f.categories)) for f in features if isinstance(f, CategoricalFeature)]
    arguments.feature_bounds = [(f.name, (f.low, f.high)) for f in features if isinstance(f, NumericFeature)]


def _listed(cells: Any, categories: list[str]) -> Any:
    """Return categories, those that are not listed by the public rule."""
    feature = CategoricalFeature("", tuple(categories))
    return np.array(feature.categories)[feature.codes(cells).astype(int)]


def _classes(cells: Any, classes: tuple[str, ...], missing: Any) -> Any:
    """Return classes, those that are not listed as the schema says, or as the first."""
    place = 0 if missing is None else classes.index(str(missing))
    return np.array(classes)[class_codes(list(classes), cells, place)]


class _Records:
    """A file in memory."""

    def __init__(self, path: str, target: str) -> None:
        self.path = path
        self.target = target
        self.table = Table(path)
        self.table.require([target], "named by --target")
        self.names = [n for n in self.table.names if n != target]
        self.blocks: list[Block] = list(self.table.blocks())
        if not self.names or sum(map(len, self.blocks)) < 10:
            raise HedgerowError(f"{path} must hold a feature besides the target, and at least 10 records.")

    def keep(self, names: Sequence[str]) -> None:
        """Leave out all other columns."""
        self.table.require(names, "that the schema describes")
        self.names = list(names)

    def is_text(self, name: str) -> bool:
        return is_text(self.blocks, name)

    def columns(self, names: list[str], text: list[str]) -> dict[str, Any]:
        return {n: self.texts(n) if n in text else self.numbers(n) for n in names}

    def numbers(self, name: str) -> Any:
        return np.concatenate([b.numbers(name) for b in self.blocks])

    def texts(self, name: str) -> Any:
        return np.concatenate([b.texts(name) for b in self.blocks]).astype(str)

    def cells(self, name: str) -> Any:
        """Return a private column as it is."""
        return np.concatenate([b.private_column(name, numeric=False) for b in self.blocks])

    def described(self, schema: Schema) -> dict[str, Any]:
        """Return all columns as a schema reads them."""
        return {feature.name: described(self.blocks, feature) for feature in schema.space.columns}

    def filled(self, name: str, bounds: Any, missing: float | None = None) -> Any:
        """Return a private column of numbers; an infinite one counts as the end, by default a missing as the middle."""
        values = np.concatenate([b.private_numbers(name) for b in self.blocks])
        low, high = bounds
        return label_numbers(values, (low, high), middle(low, high, missing, "the column"))

    def range(self, name: str) -> tuple[float, float]:
        """Return the range of a column's numbers, with --bounds-from-data."""
        values = np.concatenate([b.private_numbers(name) for b in self.blocks])
        values = values[np.isfinite(values)]
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
        return low, high if high > low else low + 1.0

    def labels(self, classify: bool) -> Any:
        return self.texts(self.target) if classify else self.numbers(self.target)


def _check_names(arguments: argparse.Namespace, names: list[str], bounds: Any, lists: Any) -> None:
    wanted = {"--feature-bounds": bounds, "--categories": lists, "--private-columns": arguments.private_columns}
    for option, columns in wanted.items():
        if strange := [c for c in columns if c not in names]:
            raise HedgerowError(f"{option} names {strange[0]!r}, which is not a feature; the features are {names}.")
    if both := sorted(set(bounds) & set(lists)):
        raise HedgerowError(f"column {both[0]!r} is categorical and has no range; leave out its --feature-bounds.")


def _source(
    arguments: argparse.Namespace, public: _Records | None, private: _Records, what: str, option: str
) -> tuple[_Records, str]:
    """Return the records that a fact may be read from, or refuse."""
    if public is not None and not what.startswith("the range of the label"):
        return public, PUBLIC
    if arguments.bounds_from_data:
        return private, READ
    raise BoundsError(
        f"{what} must be public knowledge and is not read from the private file: give {option}"
        + ("" if "label" in what or "classes" in what else ", or --public records")
        + ", or say --bounds-from-data for a first look that the report will mark."
    )


def _categories(
    arguments: argparse.Namespace, public: _Records | None, private: _Records, text: list[str], given: Any
) -> tuple[dict[str, list[str]], str]:
    lists = dict(given)
    origins = {GIVEN} if given else set()
    for name in (n for n in text if n not in given):
        option = f"--categories {name}=A,B"
        source, origin = _source(arguments, public, private, f"the list of categories of {name!r}", option)
        lists[name] = sorted({c for v in source.cells(name) if (c := category(v)) is not None})
        origins.add(origin)
    return {n: lists[n] for n in text}, _together(origins)


def _ranges(
    arguments: argparse.Namespace, public: _Records | None, private: _Records, text: list[str], given: Any
) -> tuple[Any, str]:
    pairs = []
    origins = {GIVEN} if given else set()
    for name in private.names:
        if name in text:
            pairs.append((0.0, 1.0))
        elif name in given:
            pairs.append(check_label_bounds(given[name], name=f"--feature-bounds {name}"))
        else:
            option = f"--feature-bounds {name}=LOW:HIGH"
            source, origin = _source(arguments, public, private, f"the range of {name!r}", option)
            pairs.append(source.range(name))
            origins.add(origin)
    return np.array(pairs, dtype=np.float64).T, _together(origins)


def _label(arguments: argparse.Namespace, public: _Records | None, private: _Records) -> tuple[dict[str, Any], str]:
    """Return the bounds of the label or its classes."""
    if arguments.classes is not None:
        return {"classes": tuple(arguments.classes)}, GIVEN
    if arguments.label_bounds is not None:
        return {"label_bounds": check_label_bounds(arguments.label_bounds, name="--label-bounds")}, GIVEN
    if (public or private).is_text(arguments.target):
        source, origin = _source(arguments, public, private, "the list of classes", "--classes A,B")
        found = sorted({c for v in source.cells(arguments.target) if (c := category(v)) is not None})
        return {"classes": tuple(found)}, origin
    source, origin = _source(arguments, public, private, "the range of the label", "--label-bounds LOW:HIGH")
    return {"label_bounds": source.range(arguments.target)}, origin


def _together(origins: set[str]) -> str:
    return " and ".join(sorted(origins, key=[GIVEN, PUBLIC, READ].index))
