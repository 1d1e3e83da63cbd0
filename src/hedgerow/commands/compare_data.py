"""The records of ``hedgerow compare``, with bounds and categories, and where each of these came from."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.bounds import check_label_bounds
from hedgerow.commands.schema import is_text
from hedgerow.commands.tables import Block, Table
from hedgerow.errors import BoundsError, HedgerowError

if TYPE_CHECKING:
    from hedgerow.compare.comparison import Problem

GIVEN, PUBLIC, READ = "given by you", "from the public records", "READ FROM THE PRIVATE RECORDS"


def read_problem(arguments: argparse.Namespace) -> Problem:
    """Return the records and what is known about them beforehand."""
    import pandas as pd

    from hedgerow.compare.comparison import Problem

    private = _Records(arguments.data, arguments.target)
    public = _Records(arguments.public, arguments.target) if arguments.public else None
    if public is not None and set(public.names) != set(private.names):
        odd = sorted(set(public.names) ^ set(private.names))
        raise HedgerowError(f"--public and --data must have the same columns; only one has {odd[0]!r}.")
    given_bounds, given_lists = dict(arguments.feature_bounds), dict(arguments.categories)
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
        known = {"X_public": pd.DataFrame(public.columns(private.names, text)), "y_public": public.labels(classify)}
    return Problem(
        pd.DataFrame(private.columns(private.names, text)), private.labels(classify), arguments.target, bounds,
        categories=lists, private=tuple(arguments.private_columns), origin=origin, **label, **known,
    )  # fmt: skip


class _Records:
    """A file in memory."""

    def __init__(self, path: str, target: str) -> None:
        self.path, self.target = path, target
        table = Table(path)
        table.require([target], "named by --target")
        self.names = [n for n in table.names if n != target]
        self.blocks: list[Block] = list(table.blocks())
        if not self.names or sum(map(len, self.blocks)) < 10:
            raise HedgerowError(f"{path} must hold a feature besides the target, and at least 10 records.")

    def is_text(self, name: str) -> bool:
        return is_text(self.blocks, name)

    def columns(self, names: list[str], text: list[str]) -> dict[str, Any]:
        return {n: self.texts(n) if n in text else self.numbers(n) for n in names}

    def numbers(self, name: str) -> Any:
        return np.concatenate([b.numbers(name) for b in self.blocks])

    def texts(self, name: str) -> Any:
        return np.concatenate([b.texts(name) for b in self.blocks]).astype(str)

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
    lists, origins = dict(given), {GIVEN} if given else set()
    for name in (n for n in text if n not in given):
        option = f"--categories {name}=A,B"
        source, origin = _source(arguments, public, private, f"the list of categories of {name!r}", option)
        lists[name] = sorted(set(source.texts(name)))
        origins.add(origin)
        if source is public:
            _known(private, name, lists[name])
    return {n: lists[n] for n in text}, _together(origins)


def _known(private: _Records, name: str, known: list[str]) -> None:
    """Refuse records with a category that the public ones do not have, without naming it."""
    if set(private.texts(name)) - set(known):
        raise BoundsError(
            f"{private.path}: column {name!r} has categories that the public records lack; give "
            f"--categories {name}=A,B."
        )


def _ranges(
    arguments: argparse.Namespace, public: _Records | None, private: _Records, text: list[str], given: Any
) -> tuple[Any, str]:
    pairs, origins = [], {GIVEN} if given else set()
    for name in private.names:
        if name in text:
            pairs.append((0.0, 1.0))
        elif name in given:
            pairs.append(check_label_bounds(given[name], name=f"--feature-bounds {name}"))
        else:
            option = f"--feature-bounds {name}=LOW:HIGH"
            source, origin = _source(arguments, public, private, f"the range of {name!r}", option)
            values = source.numbers(name)
            low, high = float(values.min()), float(values.max())
            pairs.append((low, high if high > low else low + 1.0))
            origins.add(origin)
    return np.array(pairs, dtype=np.float64).T, _together(origins)


def _label(arguments: argparse.Namespace, public: _Records | None, private: _Records) -> tuple[dict[str, Any], str]:
    """Return the bounds of the label or its classes."""
    if arguments.classes is not None:
        if strange := set(private.texts(arguments.target)) - set(arguments.classes):
            raise BoundsError(
                f"--classes lacks {len(strange)} of the labels in {private.path}; list all that may occur."
            )
        return {"classes": tuple(arguments.classes)}, GIVEN
    if arguments.label_bounds is not None:
        return {"label_bounds": check_label_bounds(arguments.label_bounds, name="--label-bounds")}, GIVEN
    if (public or private).is_text(arguments.target):
        source, origin = _source(arguments, public, private, "the list of classes", "--classes A,B")
        found = sorted(set(source.texts(arguments.target)) | set(private.texts(arguments.target)))
        if source is public and len(found) > len(set(source.texts(arguments.target))):
            raise BoundsError(f"{private.path} has labels that the public records lack; give --classes A,B.")
        return {"classes": tuple(found)}, origin
    source, origin = _source(arguments, public, private, "the range of the label", "--label-bounds LOW:HIGH")
    values = source.numbers(arguments.target)
    low, high = float(values.min()), float(values.max())
    return {"label_bounds": (low, high if high > low else low + 1.0)}, origin


def _together(origins: set[str]) -> str:
    return " and ".join(sorted(origins, key=[GIVEN, PUBLIC, READ].index))
