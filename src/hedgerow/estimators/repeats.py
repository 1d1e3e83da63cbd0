"""Fits that scikit-learn repeats: a grid search or a cross-validation spends epsilon again and again.

Nothing tells an estimator that it is one of many but who called it. So a fit looks at its callers: a frame of a module
of scikit-learn that fits others (``model_selection``, ``ensemble``, ``feature_selection``, ...) makes it warn. Modules
that fit once, or that fit made-up data (``base``, ``pipeline``, ``compose``, ``utils`` with its checks), do not. Clones
of one estimator share what they have told, so that one search warns once.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from hedgerow.errors import RepeatedFitWarning

__all__ = ["Told", "warn_if_repeated"]

_HARMLESS = ("base", "pipeline", "compose", "utils", "externals", "_config")
_FAR = 200  # frames: from a fit to a search there are about 15, and pipelines within pipelines add some


class Told:
    """Whether an estimator, or a clone of the same one, has warned."""

    def __init__(self) -> None:
        self.done = False

    def __deepcopy__(self, memo: dict[int, Any]) -> Told:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_this_process, ()  # each worker of a search warns once, whatever it is sent


_ELSEWHERE = Told()


def _of_this_process() -> Told:
    return _ELSEWHERE


def warn_if_repeated(estimator: Any) -> None:
    """Warn, once for an estimator and its clones, if a part of scikit-learn that fits many times is calling."""
    told = vars(estimator).get("_told")
    if told is not None and told.done:
        return
    caller, level = _repeating_caller()
    if caller is None:
        return
    if told is not None:
        told.done = True
    warnings.warn(
        f"{caller} fits {type(estimator).__name__} many times. On private records each fit spends epsilon, and a "
        "choice among them is another release: 'guarantee_' is for one fit, and does not cover them together. "
        "PrivateSearchCV chooses settings at a stated cost, and ledger= books every fit; public records cost nothing.",
        RepeatedFitWarning,
        stacklevel=level,
    )


def _repeating_caller() -> tuple[str | None, int]:
    """Return the outermost module of scikit-learn among the callers that fits others many times, and who called it."""
    frame = sys._getframe(1)  # the frame of level 1 for whoever asks
    found = None
    level = 1
    for depth in range(1, _FAR):
        name = str(frame.f_globals.get("__name__", ""))
        parts = name.split(".")
        if parts[0] == "sklearn" and len(parts) > 1 and parts[1] not in _HARMLESS:
            found = ".".join(parts[:2])
        if found is not None and parts[0] in ("sklearn", "joblib"):
            level = depth + 1
        if frame.f_back is None:
            break
        frame = frame.f_back
    return found, level
