"""The list of classes of a label: declared, taken from public labels, or, by name, read off the private ones.

A class that one person alone has would be published with the model. So the list is public knowledge and is declared,
as bounds are. ``classes="observed"`` says that it is no secret which classes occur; the guarantee then repeats it.
A label that is missing, or of a class that is not listed, counts as one of them, by default the first: nobody is turned
away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError, shown
from hedgerow.ranges import few
from hedgerow.values import category, cells

__all__ = ["DECLARED", "OBSERVED", "check_public_classes", "class_codes", "class_note", "read_classes"]

OBSERVED = "the list of classes was read off the private labels: which classes occur is not protected"
"""The condition of ``classes="observed"``, in the notes of a guarantee."""
DECLARED = "provided that the list of classes is public"


def read_classes(classes: object, y: object, y_public: object = None) -> npt.NDArray[Any]:
    """Return the list of classes, in order.

    Parameters
    ----------
    classes : list, "observed", "public" or None
        The list itself; those of the private labels ``y``; those of the public labels. None: those of the public labels
        if there are any, else it is an error.

    Examples
    --------
    >>> read_classes(["no", "yes"], ["yes", "perhaps"]).tolist()
    ['no', 'yes']
    >>> read_classes("observed", ["yes", None, "perhaps"]).tolist()
    ['perhaps', 'yes']
    >>> read_classes(None, ["yes", "perhaps"])
    Traceback (most recent call last):
    ...
    hedgerow.errors.BoundsError: 'classes' is required: pass classes=[...], the public list of classes, ...
    """
    if isinstance(classes, str):
        if classes == "observed":
            return _found(y)
        if classes != "public" or y_public is None:
            raise BoundsError(
                "'classes' must be a list, 'observed', or 'public' where there are public labels. "
                f"Got {shown(classes)} instead."
            )
    if classes is None or isinstance(classes, str):
        if y_public is None:
            raise BoundsError(
                "'classes' is required: pass classes=[...], the public list of classes, or classes='observed' to read "
                "it off the labels. It is not read unless you say so, because one person's rare class would be "
                "published; labels of other classes count as the first, or as a schema says."
            )
        return _found(y_public)
    return _declared(classes)


def check_public_classes(y_public: object, classes: Sequence[Any] | npt.NDArray[Any]) -> None:
    """Refuse *public* labels of classes that are not listed: either the list or the labels are wrong.

    >>> check_public_classes(["yes", "perhaps"], ["no", "yes"])
    Traceback (most recent call last):
    ...
    hedgerow.errors.BoundsError: 'y_public' has ['perhaps'], not one of the classes ['no', 'yes']: add it to ...
    """
    listed = {_name(c) for c in cells(classes)}
    if unknown := sorted({str(v) for v in cells(y_public) if _name(v) not in listed}):
        raise BoundsError(
            f"'y_public' has {few(unknown)}, not one of the classes {few([str(c) for c in classes])}: add it to "
            "'classes', or correct the public labels."
        )


def class_note(classes: object) -> str:
    """Return the condition that comes with a list of classes."""
    return OBSERVED if isinstance(classes, str) and classes == "observed" else DECLARED


def _declared(classes: object) -> npt.NDArray[Any]:
    try:
        listed = np.asarray(classes)
    except ValueError:
        listed = np.empty((0, 0))
    names = [category(c) for c in cells(listed)] if listed.ndim == 1 else []
    if not names or None in names or len(set(names)) != len(names):
        raise BoundsError(f"'classes' must be a list of distinct classes. Got {shown(classes)} instead.")
    return listed


def _found(y: object) -> npt.NDArray[Any]:
    """Return the distinct labels that are no missing values, sorted; by name if they cannot be compared."""
    by_name: dict[str, Any] = {}
    for value in cells(y):
        name = category(value)
        if name is not None and name not in ("inf", "-inf"):
            by_name.setdefault(name, value)
    try:
        return np.array(sorted(by_name.values()))
    except TypeError:
        return np.array([by_name[name] for name in sorted(by_name)], dtype=object)


def class_codes(
    classes: Sequence[Any] | npt.NDArray[Any], y: object, missing: int | np.integer[Any] = 0
) -> npt.NDArray[np.int64]:
    """Return the position of each label in the list; ``missing``, by default the first, for one that is not in it.

    Labels are compared by name, so that 1, 1.0 and "1" are one class; true and false also by number.

    >>> class_codes(["no", "yes"], ["yes", "perhaps", None, "no"]).tolist()
    [1, 0, 0, 0]
    >>> class_codes(["no", "yes"], ["yes", "perhaps", None, "no"], missing=1).tolist()
    [1, 1, 1, 0]
    >>> class_codes([0, 1], np.array([True, False])).tolist()
    [1, 0]
    """
    listed = np.asarray(classes)
    kinds = {listed.dtype.kind, y.dtype.kind} if isinstance(y, np.ndarray) else {""}
    if kinds <= set("iufb") or kinds == {"U"}:
        return _array_codes(listed, cast("npt.NDArray[Any]", y), int(missing))
    places = {_name(c): k for k, c in reversed(list(enumerate(cells(classes))))}
    return np.array([places.get(_name(v), int(missing)) for v in cells(y)], dtype=np.int64)


def _array_codes(classes: npt.NDArray[Any], y: npt.NDArray[Any], missing: int) -> npt.NDArray[np.int64]:
    """Look up arrays of one kind in one go."""
    order = np.argsort(classes, kind="stable")
    place = np.minimum(np.searchsorted(classes[order], y), len(classes) - 1)
    codes = order[place]
    return np.where(classes[codes] == y, codes, missing).astype(np.int64)


def _name(value: object) -> str | None:
    """Return the name by which a label is compared."""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    name = category(value)
    return {"True": "1", "False": "0"}.get(cast("str", name), name)
