"""The second task, from the reports of the first round."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.randomness import Randomness
from hedgerow.tasks.partly_public.cells import CellTask
from hedgerow.tasks.partly_public.choose import Choice, choose
from hedgerow.tasks.partly_public.first import FirstReports

__all__ = [
    "CART_DEPTH",
    "CART_FROM",
    "EDGE_DEPTH",
    "design_cells",
    "expected_share",
    "resolve",
    "settle",
    "shared_label",
]

CART_FROM = 1e4
"""Least ``n * epsilon**2`` for which the rule "auto" is "cart": below, cuts that may be anywhere follow the noise.

This and the depth were chosen leave-one-set-out on 12 public sets of at most 12,000 rows at epsilon 1, 2, 4 and 8, with
2 repeats, the two columns private that tell most, by ``python -m hedgerow_experiments.histoftree.defaults``: mean R2 on
sets left out .227, and .138 by the paper's default, "max_edge" of depth 4. Trees that correct a public model, and masks
of each holder's own, were not tried: they keep the paper's.
"""
CART_DEPTH = 3
"""Depth of a tree of the rule "cart", unless one is given; chosen with :data:`CART_FROM`."""
CONSTANT = 0.1
"""The constant of the criterion, as in the paper's appendix C.1."""
LABEL_SHARE = 0.5
"""The label's share of epsilon where there is a cell to hide, as in the paper."""
EDGE_DEPTH = 4
"""Depth of trees of the other rules: the paper's."""


def settle(
    rule: str, max_depth: int | str | None, *, n: int, epsilon: float, policy: bool, assisted: bool
) -> tuple[str, int | str]:
    """Return the rule and the depth in use: what was given, else what wins where it was tried, else the paper's.

    The number of reports and epsilon are public.

    >>> settle("auto", None, n=10_000, epsilon=1.0, policy=True, assisted=False)
    ('cart', 3)
    >>> settle("auto", None, n=1_000, epsilon=1.0, policy=True, assisted=False)
    ('max_edge', 4)
    """
    if rule == "auto":
        enough = policy and not assisted and n * epsilon**2 >= CART_FROM
        rule = "cart" if enough else "max_edge"
    if max_depth is None:
        max_depth = CART_DEPTH if rule == "cart" else EDGE_DEPTH
    return rule, max_depth


def resolve(
    private: Any,
    epsilon: float,
    *,
    n_private: int | str,
    max_depth: int | str,
    n_bins: int | str,
    constant: float,
    hide_mask: bool = False,
) -> Choice:
    """Return the values in use: whatever is ``"auto"`` by criterion (15), from the masks alone.

    Hidden masks may not be looked at: then there is no histogram unless asked for, and depth 4.
    """
    given = (n_private, max_depth, n_bins)
    if hide_mask:
        values = [d if isinstance(v, str) else int(v) for v, d in zip(given, (0, 4, 2), strict=True)]
        return Choice(values[0], values[1], values[2], float("nan"))
    if not any(isinstance(v, str) for v in given):
        return Choice(int(n_private), int(max_depth), int(n_bins), float("nan"))
    mask = np.asarray(private)
    return choose(mask, epsilon, n_private=n_private, max_depth=max_depth, n_bins=n_bins, constant=constant)


def shared_label(choice: Choice, rule: str, *, policy: bool, given: float = LABEL_SHARE) -> float:
    """Return the label's share of epsilon: all of it where no cell is to be hidden.

    Under a policy no tree cuts a private feature; with one bin, or no feature, the histogram does not either.

    >>> shared_label(Choice(0, 3, 2, 0.0), "cart", policy=True), shared_label(Choice(1, 3, 2, 0.0), "cart", policy=True)
    (1.0, 0.5)
    """
    certain = policy and (choice.n_bins == 1 or choice.n_private == 0)
    return 1.0 if certain and rule != "random_max_edge" else given


def expected_share(private: Any, n_holders: int, epsilon: float) -> float:
    """Return the label's share for so many holders under a policy, with the default of everything else."""
    rule, depth = settle("auto", None, n=n_holders, epsilon=epsilon, policy=True, assisted=False)
    masks = np.broadcast_to(private, (n_holders, len(private)))
    choice = resolve(masks, epsilon, n_private="auto", max_depth=depth, n_bins=2, constant=CONSTANT)
    return shared_label(choice, rule, policy=True)


def design_cells(
    reports: FirstReports,
    *,
    n_private: int | str = "auto",
    max_depth: int | str | None = None,
    n_bins: int | str = 2,
    constant: float = CONSTANT,
    rule: str = "auto",
    response: str = "k_ary",
    min_samples_leaf: int = 1,
    balance: float = 0.2,
    randomness: Randomness | int | None = None,
) -> CellTask:
    """Make the second task of the first round's reports; see :meth:`CellTask.design`.

    The rule "auto" and no depth are what :func:`settle` makes of them.
    """
    task = reports.task
    rule, max_depth = settle(
        rule,
        max_depth,
        n=len(reports),
        epsilon=task.epsilon,
        policy=task.masks == "policy",
        assisted=task.assist is not None,
    )
    if task.label_share == 1 and task.private and isinstance(n_private, str):
        n_private = 0  # the label has all of epsilon: nothing is left to hide a cell
    choice = resolve(
        reports.private,
        reports.task.epsilon,
        n_private=n_private,
        max_depth=max_depth,
        n_bins=n_bins,
        constant=constant,
        hide_mask=reports.task.masks == "hidden",
    )
    return CellTask.design(
        reports,
        n_private=choice.n_private,
        max_depth=choice.max_depth,
        n_bins=choice.n_bins,
        rule=rule,
        response=response,
        min_samples_leaf=min_samples_leaf,
        balance=balance,
        randomness=randomness,
    )
