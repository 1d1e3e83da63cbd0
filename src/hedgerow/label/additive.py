"""Label mechanisms that add noise: Laplace, Gaussian, staircase."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from hedgerow.checks import Real, Rule
from hedgerow.grid import LabelGrid
from hedgerow.label.base import LabelMechanism
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.mechanisms.staircase import StaircaseNoise
from hedgerow.tasks.labels.task import LabelTask

__all__ = ["GaussianMechanism", "LaplaceMechanism", "StaircaseMechanism"]


@dataclass(frozen=True)
class LaplaceMechanism(LabelMechanism):
    """Discrete Laplace noise on the label: unbiased, epsilon-DP.

    Law and proof are in :class:`~hedgerow.mechanisms.DiscreteLaplace`; the expected squared error is
    ``2 r / (1-r)**2`` squared steps, and what rounding adds.

    Examples
    --------
    >>> mechanism = LaplaceMechanism(2.0, label_bounds=(0, 80))
    >>> mechanism.randomize([10.0, 70.0], randomness=0).tolist()
    [10.0, -7.5]
    >>> round(mechanism.expected_squared_error("uniform"))  # 2 (80/2)**2, nearly
    3200
    """

    def _design(self) -> LabelTask:
        grid = LabelGrid.for_epsilon(self.label_bounds, self.epsilon)
        if self.n_steps is not None:
            grid = self._grid(self.n_steps)
        return LabelTask(grid, LaplaceNoise(self.epsilon, grid.n_steps))


@dataclass(frozen=True)
class StaircaseMechanism(LabelMechanism):
    """Staircase noise on the label: the least variance of all additive noise that is epsilon-DP.

    Law, proof and sampler are in :class:`~hedgerow.mechanisms.staircase.StaircaseNoise`.

    Examples
    --------
    >>> bounds = (0, 80)
    >>> errors = [m(4.0, label_bounds=bounds).expected_squared_error("uniform")
    ...           for m in (StaircaseMechanism, LaplaceMechanism)]
    >>> [round(e) for e in errors]
    [416, 800]
    """

    def _design(self) -> LabelTask:
        grid = self._grid(self.n_steps or (256 if self.epsilon <= 12 else 4096))
        return LabelTask(grid, StaircaseNoise(self.epsilon, grid.n_steps))


@dataclass(frozen=True)
class GaussianMechanism(LabelMechanism):
    """Discrete Gaussian noise on the label: unbiased, (epsilon, delta)-DP with the delta of the discrete law.

    Parameters
    ----------
    delta : float
        Probability with which the promise may fail, for one label.

    Examples
    --------
    >>> mechanism = GaussianMechanism(1.0, delta=1e-4, label_bounds=(0, 1))
    >>> mechanism.guarantee.delta
    0.0001
    >>> round(mechanism.expected_squared_error("uniform") ** 0.5, 2)
    3.19
    """

    _: KW_ONLY
    delta: float = 1e-6

    _parameters: ClassVar[dict[str, Rule]] = {"delta": Real(0, 1)}

    def _design(self) -> LabelTask:
        grid = LabelGrid.for_epsilon(self.label_bounds, min(self.epsilon, 16.0))
        if self.n_steps is not None:
            grid = self._grid(self.n_steps)
        return LabelTask(grid, GaussianNoise(self.epsilon, grid.n_steps, self.delta))
