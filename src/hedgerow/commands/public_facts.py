"""Public facts from a file and options: which columns are numbers, which are categories, and their ranges."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.commands.progress import Progress
from hedgerow.errors import HedgerowError
from hedgerow.features import CategoricalFeature, Feature, NumericFeature, category_name
from hedgerow.frames import Frame
from hedgerow.space import FeatureSpace
from hedgerow.tables import Block, Table

if TYPE_CHECKING:
    from hedgerow.schema import Schema

MOST_CATEGORIES = 100  # that a column may show without a list; by hand: more look like numbers or names read as text


def read_public(arguments: argparse.Namespace) -> tuple[Frame, npt.NDArray[Any], dict[str, tuple[float, float]]]:
    """Return the features, the labels and the ranges that were given; those of other columns are the records'."""
    table = Table(arguments.public)
    names, given = _check_columns(arguments, table)
    blocks = _read(table)
    if not blocks:
        raise HedgerowError(f"{arguments.public} has no records below its header; public records are needed.")
    y = np.concatenate(
        [b.texts(arguments.target) if arguments.classes else b.numbers(arguments.target) for b in blocks]
    )
    listed = dict(arguments.categories)
    if arguments.classes and arguments.classes != ["public"]:
        _check_listed(blocks, arguments.target, arguments.classes, "--classes")
    data = {n: _column(blocks, n, n in arguments.categorical or n in listed, n in given) for n in names}
    for name, categories in listed.items():
        _check_listed(blocks, name, categories, f"--categories {name}=...")
    return Frame(data, len(y)), y, given


def read_described(arguments: argparse.Namespace, space: FeatureSpace) -> tuple[Frame, npt.NDArray[Any]]:
    """Return public features as a schema's features read them, gaps and unknown values too, and the labels."""
    table = Table(arguments.public)
    table.require([*space.inputs, arguments.target], "that the schema describes")
    blocks = _read(table)
    if not blocks:
        raise HedgerowError(f"{arguments.public} has no records below its header; public records are needed.")
    labels = [b.texts(arguments.target) if arguments.classes else b.numbers(arguments.target) for b in blocks]
    if arguments.classes:
        _check_listed(blocks, arguments.target, arguments.classes, "the classes of the schema")
    data = {feature.name: described(blocks, feature) for feature in space.columns}
    return Frame(data, sum(map(len, blocks))), np.concatenate(labels)


def chosen_space(arguments: argparse.Namespace, schema: Schema) -> FeatureSpace:
    """Return the features of a schema, or those of them that --features names."""
    return schema.space if arguments.features is None else schema.space.arranged(arguments.features)


def described(blocks: Sequence[Block], feature: Feature) -> npt.NDArray[Any]:
    """Return a column as a feature reads it: numbers within the range, or categories of the list.

    Gaps stay gaps where the feature tells them apart.
    """
    numeric = isinstance(feature, NumericFeature)
    column = np.concatenate([b.private_column(feature.name, numeric=numeric) for b in blocks])
    codes = FeatureSpace((feature,)).encode(column.reshape(-1, 1))[:, 0]
    if isinstance(feature, NumericFeature):
        return np.where(np.isnan(column), np.nan, codes) if feature.indicator else codes
    return np.array(feature.categories, dtype=object)[codes.astype(np.int64)]


def read_space(arguments: argparse.Namespace) -> FeatureSpace:
    """Return all features as options describe them; of those that they do not, as the records do, if there are any.

    In the order of --features, else of the records and then of the options.
    """
    bounds = dict(arguments.feature_bounds)
    categories = dict(arguments.categories)
    table = None if arguments.public is None else Table(arguments.public)
    found = [] if table is None else table.names
    names = arguments.features or [n for n in dict.fromkeys([*found, *bounds, *categories]) if n != arguments.target]
    _check_names(arguments, names, bounds, categories)
    blocks = _records(table, [n for n in names if n not in bounds and n not in categories])
    features: list[Feature] = []
    for name in names:
        if name in bounds:
            features.append(NumericFeature(name, *bounds[name]))
        elif name in categories:
            features.append(CategoricalFeature(name, tuple(categories[name])))
        else:
            features.append(_described(blocks, name, name in arguments.categorical))
    return FeatureSpace(tuple(features))


def _records(table: Table | None, names: list[str]) -> list[Block]:
    """Return the public records, if there are columns that only they describe."""
    if not names:
        return []
    if table is None:
        raise HedgerowError(
            f"column {names[0]!r} needs --feature-bounds {names[0]}=LOW:HIGH or --categories {names[0]}=A,B: "
            "ranges are public knowledge and never read from private records."
        )
    table.require(names, "that no --feature-bounds or --categories describes")
    blocks = _read(table)
    if not blocks:
        raise HedgerowError(f"{table.path} has no records below its header; give --feature-bounds instead.")
    return blocks


def _described(blocks: list[Block], name: str, categorical: bool) -> Feature:
    """Return a feature as the public records show it."""
    column = _column(blocks, name, categorical, False)
    if column.dtype == object:
        return CategoricalFeature(name, tuple(sorted({str(v) for v in column})))
    return NumericFeature(name, float(column.min()), float(column.max()))


def _check_columns(arguments: argparse.Namespace, table: Table) -> tuple[list[str], dict[str, tuple[float, float]]]:
    """Return the features and the given bounds, refusing names that do not fit."""
    table.require([arguments.target], "named by --target")
    names = arguments.features or [n for n in table.names if n != arguments.target]
    table.require(names, "named by --features")
    given = dict(arguments.feature_bounds)
    _check_names(arguments, names, given, dict(arguments.categories))
    return names, given


def _check_names(arguments: argparse.Namespace, names: list[str], bounds: Any, categories: Any) -> None:
    """Refuse options about columns that are no features, or that do not fit together."""
    given = {"--categorical": arguments.categorical, "--categories": categories, "--feature-bounds": bounds}
    for option, columns in given.items():
        if strange := [c for c in columns if c not in names]:
            raise HedgerowError(f"{option} names {strange[0]!r}, which is not a feature; the features are {names}.")
    if arguments.target in names or not names:
        raise HedgerowError(
            f"--features must name at least one column other than the target {arguments.target!r}; without public "
            "records, --feature-bounds COL=LOW:HIGH and --categories COL=A,B do."
        )
    if both := sorted(set(bounds) & {*arguments.categorical, *categories}):
        raise HedgerowError(f"column {both[0]!r} is categorical and has no range; leave out its --feature-bounds.")


def _check_listed(blocks: list[Block], name: str, listed: Sequence[str], option: str) -> None:
    """Refuse public records with a category that was not listed."""
    for block in blocks:
        for i, value in enumerate(block.texts(name).tolist()):
            if category_name(value) not in listed:
                raise block.error(i, name, f"{value!r} is not listed by {option}; add it there, or correct the record")


def _read(table: Table) -> list[Block]:
    blocks = []
    with Progress("reading") as progress:
        for block in table.blocks():
            blocks.append(block)
            progress.update(block.start + len(block), table.share)
    return blocks


def _column(blocks: list[Block], name: str, declared: bool, numeric: bool) -> npt.NDArray[Any]:
    """Return a column as numbers or as categories."""
    if not declared and (numeric or not is_text(blocks, name)):
        return np.concatenate([b.numbers(name) for b in blocks])
    column = np.concatenate([b.texts(name) for b in blocks])
    n = len(set(column))
    if not declared and n > MOST_CATEGORIES:
        raise HedgerowError(
            f"{blocks[0].table.path}: column {name!r} holds {n} different texts; leave it out with --features, "
            f"or declare it with --categorical {name}."
        )
    return column


def is_text(blocks: list[Block], name: str) -> bool:
    """Whether a column holds categories: most of its cells are not numbers.

    A few words among numbers are more likely mistakes than categories, and are refused in their place when the
    column is read as numbers.
    """
    kinds = [_text_cells(b.columns[name]) for b in blocks]
    return 2 * sum(text for text, _ in kinds) > sum(filled for _, filled in kinds)


def _text_cells(column: Any) -> tuple[int, int]:
    """Return how many cells are text, and how many are not empty."""
    if not isinstance(column, tuple):
        import pyarrow as pa

        kind = column.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
            return (len(column), len(column)) if pa.types.is_dictionary(kind) else (0, len(column))
    filled = [cell for cell in (column if isinstance(column, tuple) else column.to_pylist()) if cell]
    return sum(not _is_number(cell) for cell in filled), len(filled)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
