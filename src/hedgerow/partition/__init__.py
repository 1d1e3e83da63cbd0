"""Partitions of the feature space: a flat immutable tree and the rules that grow one from public data.

>>> import numpy as np
>>> from hedgerow.space import FeatureSpace
>>> X, y = np.random.default_rng(0).random((200, 2)), np.arange(200) % 7
>>> space = FeatureSpace.from_public(X)
>>> grow("max_edge", space, space.encode(X), y, max_depth=3, min_samples_leaf=5).n_leaves
8
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hedgerow.errors import HedgerowError
from hedgerow.partition.tree import CellBounds, Leaf, Partition
from hedgerow.randomness import Randomness, as_randomness

if TYPE_CHECKING:
    import numpy.typing as npt

    from hedgerow.partition.cart import grow_cart
    from hedgerow.partition.max_edge import grow_max_edge
    from hedgerow.partition.random import grow_random, grow_random_max_edge
    from hedgerow.space import FeatureSpace

__all__ = [
    "RULES",
    "CellBounds",
    "Leaf",
    "Partition",
    "grow",
    "grow_cart",
    "grow_max_edge",
    "grow_random",
    "grow_random_max_edge",
]

RULES = ("max_edge", "cart", "random", "random_max_edge")

_GROWERS = {
    "grow_cart": "cart",
    "grow_max_edge": "max_edge",
    "grow_random": "random",
    "grow_random_max_edge": "random",
}


def __getattr__(name: str) -> Any:
    """Load a rule when it is first asked for: a holder's device only ever walks trees."""
    if name in _GROWERS:
        return getattr(import_module(f"{__name__}.{_GROWERS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def grow(
    rule: str,
    space: FeatureSpace,
    Z: npt.NDArray[Any] | None,
    y: npt.ArrayLike | None,
    *,
    max_depth: int,
    min_samples_leaf: int = 1,
    randomness: Randomness | int | None = None,
) -> Partition:
    """Grow a partition by the rule of this name.

    Parameters
    ----------
    rule : {"max_edge", "cart", "random", "random_max_edge"}
        See :func:`grow_max_edge`, :func:`grow_cart`, :func:`grow_random`, :func:`grow_random_max_edge`.
    space : FeatureSpace
        Public ranges and categories.
    Z, y : encoded public records and labels, or None
        ``cart`` needs both; ``max_edge`` both or neither; the random rules never read ``y``.
    max_depth : int
        Levels of splits, 0 .. 20.
    min_samples_leaf : int
        Fewest public records on each side of a split.
    randomness : Randomness or int, optional
        For the random rules; an int seeds a simulation, None uses secure randomness.

    Examples
    --------
    >>> from hedgerow.space import FeatureSpace
    >>> grow("random", FeatureSpace.from_bounds((0, 1), 3), None, None, max_depth=2, randomness=1)
    Partition(n_leaves=4, depth=2, features=['x0', 'x1', 'x2'])
    """
    limits = {"max_depth": max_depth, "min_samples_leaf": min_samples_leaf}
    if rule == "max_edge":
        from hedgerow.partition.max_edge import grow_max_edge

        return grow_max_edge(space, Z, y, **limits)
    if rule == "cart":
        from hedgerow.partition.cart import grow_cart

        if Z is None or y is None:
            raise HedgerowError(
                "The 'cart' rule needs public records 'Z' and labels 'y'. "
                "Without public data use rule='max_edge', 'random' or 'random_max_edge'."
            )
        return grow_cart(space, Z, y, **limits)
    if rule in ("random", "random_max_edge"):
        from hedgerow.partition.random import grow_random, grow_random_max_edge

        grow_blindly = grow_random if rule == "random" else grow_random_max_edge
        return grow_blindly(space, Z, as_randomness(randomness), **limits)
    raise HedgerowError(f"The 'rule' parameter must be one of {', '.join(RULES)}. Got {rule!r} instead.")
