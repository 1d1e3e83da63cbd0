"""Tier 2: run the code that ships, and bound the privacy loss from below by what it does."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from hashlib import blake2b
from reprlib import repr as brief
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.audit.events import Event, best_event
from hedgerow.audit.intervals import loss_bound
from hedgerow.audit.result import HOLDS, VIOLATED, AuditResult
from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.base import Mechanism
from hedgerow.randomness import Randomness, as_randomness

__all__ = ["audit_sampled", "runner"]

Run = Callable[[Any, int, Randomness], Any]


def audit_sampled(
    run: Run,
    a: Any,
    b: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    n: int = 200_000,
    alpha: float = 1e-6,
    statistic: Callable[[Any], Any] | None = None,
    randomness: Randomness | int | None = None,
    name: str = "mechanism",
) -> AuditResult:
    r"""Look for an event that is too much more likely under one input than under the other.

    .. math:: \varepsilon \ge \log \frac{P(E \mid a) - \delta}{P(E \mid b)}  \quad\text{for every event } E

    The event is chosen on the first half of the samples. On the second half, which had no part in the choice,
    Clopper-Pearson bounds give a lower bound of the right-hand side. Both directions are tried. A correct
    mechanism is called VIOLATED with probability at most ``alpha``; a wrong one may go undetected if the
    excess is small against ``1 / sqrt(n P(E))``.

    Parameters
    ----------
    run : callable
        ``run(value, n, randomness)`` returns ``n`` independent outputs: an array (integers, floats, booleans;
        one row an output if 2-dimensional) or a list of hashable values.
    a, b : object
        Two neighbouring inputs.
    epsilon, delta : float
        The claim.
    n : int
        Outputs drawn for each input.
    alpha : float
        Chance of a false alarm.
    statistic : callable, optional
        Maps the outputs to what is examined in their place (one value or row each); for outputs with a
        structure that :mod:`hedgerow.audit.events` cannot guess.
    randomness : Randomness or int, optional
        Passed to ``run``; secure by default.
    name : str
        Name in the result.

    Examples
    --------
    >>> from hedgerow.mechanisms import KaryResponse
    >>> run = runner(KaryResponse(1.5, 4))
    >>> audit_sampled(run, 0, 1, epsilon=1.5, randomness=0).verdict
    'holds'
    >>> audit_sampled(run, 0, 1, epsilon=1.3, randomness=0).verdict
    'VIOLATED'
    """
    claim = check_epsilon(epsilon)
    check_positive(n, name="n", least=4)
    _check_probability("delta", delta, zero=True)
    _check_probability("alpha", alpha, zero=False)
    start = time.perf_counter()
    source = as_randomness(randomness)
    drawn = [_draw(run, value, n, source.child("audit", i), statistic) for i, value in enumerate((a, b))]
    samples = _comparable(*drawn)
    found = [
        _direction(samples[i], samples[1 - i], delta=delta, alpha=alpha / 2, names=names)
        for i, names in enumerate([(a, b), (b, a)])
    ]
    measured, witness = max(found)
    verdict = VIOLATED if measured > claim else HOLDS
    seconds = time.perf_counter() - start
    return AuditResult(name, claim, measured, "sampled", verdict, seconds, delta, int(n), witness)


def runner(mechanism: Mechanism) -> Run:
    """Return ``run`` for a mechanism: ``n`` outputs of one input."""
    return mechanism.sample


def _direction(
    more: npt.NDArray[Any], less: npt.NDArray[Any], *, delta: float, alpha: float, names: tuple[Any, Any]
) -> tuple[float, str]:
    half = len(more) // 2
    event = best_event(more[:half], less[:half], delta=delta, alpha=alpha)
    if event is None:
        return 0.0, "no event tells the inputs apart"
    rest = len(more) - half
    up = event.count(more[half:])
    down = event.count(less[half:])
    bound = float(loss_bound(up, down, rest, delta, alpha))
    return bound, _describe(event, up, down, rest, names)


def _describe(event: Event, up: int, down: int, n: int, names: tuple[Any, Any]) -> str:
    size = int(event.members.sum())
    return (
        f"event of {size} codes by {event.name}: {up} of {n} for {brief(names[0])}, {down} of {n} for {brief(names[1])}"
    )


def _draw(run: Run, value: Any, n: int, source: Randomness, statistic: Callable[[Any], Any] | None) -> Any:
    outputs = run(value, n, source)
    if statistic is not None:
        outputs = statistic(outputs)
    if len(outputs) != n:
        raise HedgerowError(f"'run' must return {n} outputs for n={n}. Got {len(outputs)} instead.")
    return outputs


def _comparable(first: Any, second: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return both samples as numeric arrays of one form; other values become digests."""
    one = _numeric(first)
    two = _numeric(second)
    if one is None or two is None:
        one = _digests(first)
        two = _digests(second)
    if one.shape[1:] != two.shape[1:]:
        raise HedgerowError(
            f"the outputs for the two inputs must have one shape. Got {one.shape[1:]} and {two.shape[1:]}."
        )
    if "f" in (one.dtype.kind, two.dtype.kind):
        one = one.astype(np.float64, copy=False)
        two = two.astype(np.float64, copy=False)
    return one, two


def _numeric(outputs: Any) -> npt.NDArray[Any] | None:
    try:
        array = np.asarray(outputs)
    except ValueError:  # rows of different lengths
        return None
    if array.dtype.kind not in "biuf":
        return None
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    if array.ndim == 1:
        return array
    rows = array.reshape(len(array), -1)
    return rows[:, 0] if rows.shape[1] == 1 else rows


def _digests(outputs: Any) -> npt.NDArray[np.uint64]:
    """Return a word for each output that depends on nothing but the output (its repr)."""
    known: dict[Hashable, int] = {}
    for output in outputs:
        if output not in known:
            known[output] = int.from_bytes(blake2b(repr(output).encode(), digest_size=8).digest(), "little")
    return np.array([known[output] for output in outputs], dtype=np.uint64)


def _check_probability(name: str, value: float, *, zero: bool) -> None:
    if not (0 <= value < 1 if zero else 0 < value < 1):
        least = "at least" if zero else "above"
        raise HedgerowError(f"The '{name}' parameter must be {least} 0 and below 1. Got {value!r} instead.")
