"""mechanism="auto": whichever label mechanism errs least under the prior, by closed form."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

from hedgerow.errors import HedgerowError
from hedgerow.guarantee import LARGE_EPSILON
from hedgerow.label.additive import LaplaceMechanism, StaircaseMechanism
from hedgerow.label.base import LabelMechanism, PriorMechanism
from hedgerow.label.bins import RROnBins
from hedgerow.label.interval import RPWithPrior
from hedgerow.label.optimal import SOLVED, OptimalRandomizer
from hedgerow.label.unbiased import UnbiasedRandomizer
from hedgerow.tasks.labels.task import LabelTask

__all__ = ["AutoMechanism"]

_ADDITIVE: dict[str, type[LabelMechanism]] = {"laplace": LaplaceMechanism, "staircase": StaircaseMechanism}
_SHAPED: dict[str, type[PriorMechanism]] = {
    "optimal": OptimalRandomizer,
    "interval": RPWithPrior,
    "bins": RROnBins,
    "unbiased": UnbiasedRandomizer,
}


@dataclass(frozen=True)
class AutoMechanism(PriorMechanism):
    """Choose mechanism and parameters by the closed-form expected error under a known or private prior.

    Without ``averaging`` the error is ``E(noisy label - label)**2``. With it, the error is that of a learner
    which averages over so many labels after the best affine map; noise then counts for less than shrinkage.
    The labels themselves are never looked at: prior, budget and bounds decide.

    Parameters
    ----------
    among : tuple of str
        Which of "optimal", "interval", "bins", "unbiased", "staircase" and "laplace" take part.

    Examples
    --------
    >>> prior = ([8, 4, 2, 1, 1], [0, 10, 20, 30, 40, 50])
    >>> AutoMechanism(1.0, label_bounds=(0, 50), prior=prior).choice
    'bins'
    >>> AutoMechanism(1.0, label_bounds=(0, 50), prior=prior, averaging=100.0).choice
    'optimal'
    """

    _: KW_ONLY
    prior_share: float | str = "auto"
    among: tuple[str, ...] = ("optimal", "interval", "bins", "unbiased", "staircase", "laplace")

    def __post_init__(self) -> None:
        super().__post_init__()
        if SOLVED < self.epsilon < math.inf:
            raise HedgerowError(
                f"The 'epsilon' parameter of AutoMechanism must be at most {SOLVED:g}, or inf (no noise). "
                f"Got {self.epsilon!r} instead: beyond {LARGE_EPSILON:g} next to nothing is protected."
            )
        known = {*_ADDITIVE, *_SHAPED}
        if not self.among or not set(self.among) <= known:
            raise HedgerowError(f"The 'among' parameter must be some of {sorted(known)}. Got {self.among!r} instead.")

    @cached_property
    def errors(self) -> dict[str, float]:
        """The closed-form error of each mechanism under the prior, for the chosen averaging."""
        return {name: self._error(mechanism) for name, mechanism in self._mechanisms.items()}

    @property
    def choice(self) -> str:
        """The name of the mechanism that errs least."""
        errors = self.errors
        return min(errors, key=lambda name: errors[name])

    @cached_property
    def _mechanisms(self) -> dict[str, LabelMechanism]:
        common: dict[str, Any] = {"label_bounds": self.label_bounds}
        shaped = {**common, "prior": self._known, "averaging": self.averaging}
        made: dict[str, LabelMechanism] = {}
        for name in self.among:
            if name in _SHAPED:
                made[name] = _SHAPED[name](self.epsilon, **shaped)
            else:
                made[name] = _ADDITIVE[name](self.epsilon, **common)
        return made

    def _error(self, mechanism: LabelMechanism) -> float:
        value = mechanism.fidelity(self._known)
        return value.squared_error if self.averaging is None else value.calibrated_error(self.averaging)

    def _design(self) -> LabelTask:
        return self._mechanisms[self.choice].task
