"""Tasks in which some features are private and the others are sent in clear: who decides, and what that promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError, HedgerowError, shown
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

__all__ = ["MASKS", "MASK_WORDS", "Masked", "check_mask"]

MASKS = ("policy", "personal", "hidden")
"""Who decides what is private: the task for everybody, each holder in the open, each holder in secret."""

MASK_WORDS = {
    "policy": "the task says which features are private, for everybody",
    "personal": "each holder chose which features are private, and said so",
    "hidden": "each holder chose which features are private, and did not say",
}
"""The same of reports that were made."""

_CLEAR = "features that are not private are sent in clear; what they imply about private ones is not covered"
_NOTES = {
    "policy": "conditional on the mask: the private features are fixed in advance, for everybody, by the task",
    "personal": "conditional on the mask: each holder's choice of private features is sent in clear, so it must not "
    "depend on the private values or the label; whatever the choice itself reveals is not covered",
    "hidden": "covers the mask: nothing that is sent depends on which features a holder calls private, "
    "for every feature is treated as private",
}


def check_mask(private: object, n: int, d: int) -> npt.NDArray[np.bool_]:
    """Return a mask of shape ``(n, d)`` from one of shape ``(d,)`` (aligned) or ``(n, d)`` (personalised)."""
    array = np.asarray(private)
    if array.dtype != np.bool_ and not (array.dtype.kind in "iuf" and np.isin(array, (0, 1)).all()):
        raise BoundsError(f"'private' must be a mask, True where a feature is protected. Got {shown(private)} instead.")
    if array.shape not in ((d,), (n, d)):
        raise BoundsError(f"'private' must have shape ({d},) or ({n}, {d}). Got {array.shape} instead.")
    return np.broadcast_to(array.astype(bool), (n, d))


class Masked:
    """The part of a task that knows its masks.

    Attributes
    ----------
    space : FeatureSpace
        The public schema of the features.
    masks : str
        One of :data:`MASKS`.
    private : tuple of str
        Private columns of a policy.
    """

    space: FeatureSpace
    masks: str
    private: tuple[str, ...]

    def _check_masks(self, allowed: tuple[str, ...] = MASKS) -> None:
        """Refuse unknown masks, and private columns where each holder chooses; put the columns in order."""
        if self.masks not in allowed:
            raise HedgerowError(f"The 'masks' parameter must be one of {list(allowed)}. Got {self.masks!r} instead.")
        listed = tuple(name for name in self.space.inputs if name in set(self.private))
        object.__setattr__(self, "private", listed)
        if self.private and self.masks != "policy":
            raise HedgerowError("'private' columns are for masks='policy' only.")

    @property
    def policy(self) -> npt.NDArray[np.bool_]:
        """The mask of everybody under a policy, of features."""
        return self.space.spread(np.array([name in self.private for name in self.space.inputs], dtype=bool))

    @property
    def clear(self) -> frozenset[str]:
        """Columns that everybody sends in clear."""
        if self.masks != "policy":
            return frozenset()
        return frozenset(set(self.space.inputs) - set(self.private))

    def effective(self, private: object, n: int) -> npt.NDArray[np.bool_]:
        """Return the mask that a holder's reports are made with: of n holders and all features, from one of columns."""
        d = len(self.space)
        chosen = None if private is None else self.space.spread(check_mask(private, n, len(self.space.columns)))
        if self.masks == "hidden":
            return np.ones((n, d), dtype=bool)
        if self.masks == "policy":
            if chosen is not None and (chosen != self.policy).any():
                raise HedgerowError("'private' differs from the task's policy; design a task with personal masks.")
            return np.broadcast_to(self.policy, (n, d))
        if chosen is None:
            raise HedgerowError("'private' is required: this task lets each holder choose; pass a boolean mask.")
        return chosen

    @property
    def conditions(self) -> tuple[str, ...]:
        """What a guarantee says of the masks."""
        condition = _NOTES[self.masks]
        if self.masks == "policy":
            condition += f" (private: {', '.join(self.private) or 'none, only the label is protected'})"
        return (condition,) if self.masks == "hidden" else (condition, _CLEAR)

    def read_features(self, X: Any) -> FloatArray:
        """Return records in double precision: single precision rounds the ends of a range, beyond it now and then."""
        if isinstance(X, np.ndarray) and X.dtype == np.float32:
            X = X.astype(np.float64)
        return np.asarray(self.space.encode(X, fill=True), dtype=np.float64)
