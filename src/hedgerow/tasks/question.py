"""What a task asks a person for, before anything is randomised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hedgerow.features import Feature

__all__ = ["LabelField", "Question"]


@dataclass(frozen=True)
class LabelField:
    """The label: a number within public bounds, or one of public classes.

    ``missing`` is what a missing one counts as; of classes its place, and an unknown one counts as that too.
    """

    name: str
    bounds: tuple[float, float]
    missing: float
    classes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Question:
    """What is asked of one record.

    Attributes
    ----------
    features : tuple of features
        In the order of the task; none where the features are public already.
    label : LabelField or None
        None in a second round: the device keeps what it drawn of the label in the first.
    numbered : bool
        Whether the public number of the record is asked for, under the name ``"record"``.
    clear : frozenset of str
        Names of what is sent as it is.
    chooses : bool
        Whether each holder says which of its features are private.
    """

    features: tuple[Feature, ...]
    label: LabelField | None
    numbered: bool = False
    clear: frozenset[str] = frozenset()
    chooses: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all that is asked, in the order of a form."""
        number = ("record",) if self.numbered else ()
        label = () if self.label is None else (self.label.name,)
        return (*number, *(f.name for f in self.features), *label)
