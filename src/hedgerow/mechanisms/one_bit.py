"""One bit about a number in [0, 1]: rounded at random, then flipped at random."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, LocalMechanism
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE
from hedgerow.types import FloatArray, IntArray

__all__ = ["AUDITS", "OneBit"]


@dataclass(frozen=True)
class OneBit(LocalMechanism):
    r"""Send a bit whose expectation is an affine function of a level ``0 .. n_steps``.

    The level v is rounded to an end, 1 with probability ``v / n_steps``, and the bit goes through randomised response
    that keeps it with probability :math:`p \le e^\varepsilon / (1 + e^\varepsilon)`:

    .. math:: P(1 \mid v) = (1-p) + (2p-1)\, v / n_{steps}

    Proof that it is epsilon-DP: both probabilities lie in ``[1-p, p]`` whatever v is, so a ratio is at most
    ``p / (1-p) <= e**epsilon``, because the dyadic p is rounded down. It is reached between the two ends.

    Parameters
    ----------
    epsilon : float
        Budget of the bit.
    n_steps : int
        Steps of the grid on [0, 1].

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> bit = OneBit(1.0, 10)
    >>> sent = bit.randomize(np.full(100_000, 3), SeededRandomness(0))
    >>> round(float(bit.estimate(sent.sum(), sent.size)), 2)
    0.3
    """

    epsilon: float
    n_steps: int = 1 << 24
    response: KaryResponse = field(init=False, repr=False)
    name = "one bit"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "n_steps", check_positive(self.n_steps, name="n_steps"))
        object.__setattr__(self, "response", KaryResponse(self.epsilon, 2))

    @property
    def n_inputs(self) -> int:  # type: ignore[override]
        """Return the number of levels."""
        return self.n_steps + 1

    @property
    def gain(self) -> float:
        """Return ``2 p - 1``, how much of the signal survives."""
        return float(2 * self.response.p - 1)

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return one bit for each level."""
        levels = self._check(values)
        source = as_randomness(randomness)
        rounded = source.integers(self.n_steps, levels.size) < levels
        return np.asarray(self.response.randomize(rounded.astype(np.int64), source))

    def law(self, value: int) -> Law:
        """Return the exact law of the bit."""
        p = self.response.truth
        one = value * p + (self.n_steps - value) * (ONE - p)
        return Law((0, 1), (self.n_steps * ONE - one, one))

    def words(self) -> str:
        """Return the odds at both ends."""
        return (
            f"one bit is sent: it is 1 with probability {percent(self.response.q)} at level 0, with "
            f"{percent(self.response.p)} at level {self.n_steps}, and in proportion between"
        )

    def estimate(self, ones: npt.ArrayLike, n: npt.ArrayLike) -> FloatArray:
        """Return unbiased means in [0, 1] (but for noise) from the number of ones among ``n`` bits."""
        q = float(1 - self.response.p)
        return np.asarray((np.asarray(ones, dtype=np.float64) / np.asarray(n) - q) / self.gain)


AUDITS = (
    Audit(
        "one bit",
        lambda epsilon: OneBit(epsilon, 8),
        (Chance(0, lambda bit: bit == 1), Chance(8, lambda bit: bit == 1)),
    ),
)
