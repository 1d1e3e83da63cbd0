"""The secure source, branched: code that asks for secure randomness is run along all that it may be given.

The methods of :class:`~hedgerow.randomness.SecureRandomness` itself are replaced while a law is worked out, so that
whatever holds for the secure source alone (its type, ``simulation`` being False) holds here.

Samplers are worked out on their own: the law of ``bernoulli(p, 3)``, say, comes out of running that function along
all paths of its words, once, and the code around it then branches over its results. That merges paths (8 random bits
that decide, or do not and are followed by 56 more) and changes no law, for samplers depend on their arguments and
their draws alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

import hedgerow.samplers as samplers
from hedgerow.audit.branching.paths import Lost, Walk, active, deepest, explore
from hedgerow.audit.branching.words import Words, words
from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.kernels import reference
from hedgerow.randomness import Randomness, SecureRandomness

__all__ = ["ID_BYTES", "branching", "law_of"]

ID_BYTES = 12
"""A draw of so many bytes is an id: it must be sent as it is, and decide nothing."""

Laws = dict[Hashable, tuple[list[Any], list[Fraction]]]


def law_of(
    run: Callable[[], bytes], *, goal: Fraction = Fraction(1, 1 << 40), most: int = 20_000
) -> tuple[dict[Hashable, Fraction], Fraction]:
    r"""Return the chances of all bytes that ``run`` can return, ids blanked out, and the chance of what was left out.

    Must be called within :func:`branching`. An id is the random bytes of one draw, and must be found as drawn in what
    is returned: it then is uniform and independent of the rest, which is all there is to know about it. Bytes whose id
    is not the one that was drawn are returned as they are, and no two runs will agree on them.

    Examples
    --------
    >>> from hedgerow.mechanisms import KaryResponse
    >>> coin = KaryResponse(1.0, 2)
    >>> with branching():
    ...     law, rest = law_of(lambda: bytes(coin.randomize(np.array([0])).tolist()))
    >>> law[b"\0"] == coin.p, rest
    (True, Fraction(0, 1))
    """

    def body(walk: Walk) -> Hashable:
        data = run()
        for sent in walk.sent:
            if sent not in data:
                return ("an id that was not drawn as it was sent", data)
            data = data.replace(sent, b"\0" * len(sent))
        return data

    return explore(body, goal=goal, most=most)


_open = False


@contextmanager
def branching(left_out: Fraction = Fraction(1, 1 << 50)) -> Iterator[None]:
    """Let every draw of the secure source branch; not for several threads. Within another one, it is the same one.

    ``left_out`` is the chance of a sampler's paths that are not followed: far below what is left out of the whole.
    """
    global _open
    if _open:
        yield
        return
    laws: Laws = {}
    with ExitStack() as stack:
        stack.enter_context(reference())
        _forget()
        for name, method in _primitives().items():
            stack.enter_context(patch.object(SecureRandomness, name, method))
        for owner, name in _samplers():
            merged = _merge(getattr(owner, name), laws, left_out)
            stack.enter_context(patch.object(owner, name, merged))
        _open = True
        try:
            yield
        finally:
            _open = False
            _forget()


def _primitives() -> dict[str, Any]:
    def uint8(self: Randomness, n: int) -> Any:
        if n < ID_BYTES:
            return words(8, n)
        walk = active()
        if not deepest(walk):
            raise HedgerowError("an id was drawn inside a sampler.")
        walk.sent.append(os.urandom(n))
        return np.frombuffer(walk.sent[-1], dtype=np.uint8)

    def some_bytes(self: Randomness, n: int) -> bytes:
        raise HedgerowError("bytes were drawn that are neither words nor an id; the audit cannot branch over them.")

    return {
        "uint8": uint8,
        "uint16": lambda self, n: words(16, n),
        "uint32": lambda self, n: words(32, n),
        "uint64": lambda self, n: words(64, n),
        "bits": lambda self, k: words(k, 1).view(np.ndarray)[0],
        "bytes": some_bytes,
    }


def _samplers() -> list[tuple[Any, str]]:
    """Return where samplers are looked up: methods, and functions under every name that imports gave them."""
    functions = [samplers.bernoulli, samplers.bernoulli_exp, samplers.geometric, samplers.discrete_laplace]
    places: list[tuple[Any, str]] = [(samplers.LazyCdf, "sample"), (Randomness, "integers"), (LabelGrid, "levels")]
    for module in [m for name, m in sys.modules.items() if name.startswith("hedgerow.")]:
        places += [(module, name) for name, value in vars(module).items() if any(value is f for f in functions)]
    return places


def _merge(sampler: Callable[..., Any], laws: Laws, left_out: Fraction) -> Callable[..., Any]:
    """Return a function that branches over the results of a sampler, whose law is worked out once."""

    def merged(*given: Any, **named: Any) -> Any:
        arguments = [*given, *named.values()]
        if not any(isinstance(a, SecureRandomness) for a in arguments) or any(isinstance(a, Words) for a in arguments):
            return sampler(*given, **named)
        key = (sampler, *map(_key, arguments), *named)
        if key not in laws:
            laws[key] = _law(lambda: sampler(*given, **named), left_out)
        results, chances = laws[key]
        chosen = active().choose(chances)
        if chosen == len(results):
            raise Lost
        return results[chosen].copy()

    return merged


def _law(run: Callable[[], Any], left_out: Fraction) -> tuple[list[Any], list[Fraction]]:
    kept: dict[Hashable, Any] = {}

    def once(walk: Walk) -> Hashable:
        result = run()
        key = _key(result)
        kept.setdefault(key, result)
        return key

    law, rest = explore(once, goal=left_out)
    return [kept[key] for key in law], [*law.values(), rest]


def _key(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, list):
        return tuple(map(_key, value))
    return "source" if isinstance(value, Randomness) else value


def _forget() -> None:
    """Empty the samplers' caches: a device starts without tables, and no count of draws is left behind."""
    for value in vars(samplers).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()
