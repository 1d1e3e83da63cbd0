"""Laplace noise on every number of a record: what a deconvolution estimator starts from."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, LocalMechanism
from hedgerow.mechanisms.laplace import DiscreteLaplace, exactly
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.types import IntArray

__all__ = ["AUDITS", "RecordLaplace", "equal_share"]


def equal_share(epsilon: float, parts: int) -> float:
    """Return the largest float of which ``parts`` exact copies sum to at most ``epsilon``.

    >>> equal_share(1.0, 4)
    0.25
    """
    share = epsilon / parts
    while not math.isinf(epsilon) and Fraction(share) * parts > Fraction(epsilon):
        share = math.nextafter(share, 0.0)
    return share


@dataclass(frozen=True)
class RecordLaplace(LocalMechanism):
    r"""Add discrete Laplace noise to each of k numbers on grids, with ``epsilon / k`` for each.

    .. math:: P(w \mid v) = \prod_{j=1}^{k} \frac{1-r_j}{1+r_j} r_j^{|w_j - v_j|},
              \qquad r_j \ge e^{-\varepsilon / (k\, s_j)}, \quad v_j \in 0 .. s_j

    Proof that it is epsilon-DP: a change of the whole record moves number j by at most ``s_j``, so its factor
    changes by at most ``r_j ** -s_j <= e**(epsilon/k)``; there are k factors, and ``k`` shares sum to at most
    epsilon exactly. In particular, features AND label pay: k is one more than the number of features.

    Parameters
    ----------
    epsilon : float
        Budget of one report about the whole record.
    n_steps : tuple of int
        Grid steps of each number.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> RecordLaplace(6.0, (4, 4, 8)).randomize_rows(np.array([[0, 4, 3]]), SeededRandomness(1)).tolist()
    [[2, 3, 2]]
    """

    epsilon: float
    n_steps: tuple[int, ...]
    parts: tuple[DiscreteLaplace, ...] = field(init=False, repr=False)
    name = "Laplace on a record"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        steps = tuple(self.n_steps)
        if not steps:
            raise HedgerowError("'n_steps' must name at least one number. Got none.")
        share = equal_share(self.epsilon, len(steps))
        object.__setattr__(self, "n_steps", steps)
        made = {s: DiscreteLaplace(share, s) for s in set(steps)}
        object.__setattr__(self, "parts", tuple(made[s] for s in steps))

    @property
    def n_inputs(self) -> int:  # type: ignore[override]
        """Return the number of records on the grids."""
        return math.prod(s + 1 for s in self.n_steps)

    def randomize_rows(self, levels: npt.NDArray[np.integer], randomness: Randomness | None = None) -> IntArray:
        """Return noisy levels, one row a holder."""
        source = as_randomness(randomness)
        columns = [part.randomize(levels[:, j], source) for j, part in enumerate(self.parts)]
        return np.stack(columns, axis=1)

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return noisy levels for inputs counted in row-major order of the grids."""
        shape = tuple(s + 1 for s in self.n_steps)
        return self.randomize_rows(np.stack(np.unravel_index(self._check(values), shape), axis=1), randomness)

    def law(self, value: int, *, reach: int = 2) -> Law:
        """Return the exact law, every number clamped at ``reach`` steps beyond its grid."""
        levels = np.unravel_index(value, tuple(s + 1 for s in self.n_steps))
        laws = [part.law(int(v), reach=reach) for part, v in zip(self.parts, levels, strict=True)]
        outputs = tuple(itertools.product(*(one.outputs for one in laws)))
        return Law(outputs, tuple(math.prod(w) for w in itertools.product(*(one.weights for one in laws))))

    def outcomes(self, drawn: npt.NDArray[Any], *, reach: int = 2) -> list[Hashable]:
        """Return noisy levels, clamped as in the law."""
        return super().outcomes(np.clip(drawn, -reach, np.array(self.n_steps) + reach))

    def words(self) -> str:
        """Return the odds that a number is told as it is, from the finest grid to the coarsest."""
        chances = [exactly(part.ratio) for part in self.parts]
        return (
            f"each of {len(self.parts)} numbers gets noise in whole steps: none with a probability from "
            f"{percent(min(chances))} to {percent(max(chances))}"
        )


AUDITS = (
    Audit(
        "Laplace on a record",
        lambda epsilon: RecordLaplace(epsilon, (2, 3)),
        (Chance(0, lambda sent: sent[0] == 0), Chance(0, lambda sent: sent[1] == 0)),
    ),
)
