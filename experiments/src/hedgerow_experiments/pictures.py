"""Pictures that are no experiments: figures 4 and 6 of the LPDT paper on our taxi sample, and a tree of its kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.partition import grow
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.splits import split
from hedgerow_experiments.figures import boxes, save, tree_picture

__all__ = ["PICTURES", "draw_picture"]

_PAYMENTS = {"Prcard": "public", "Credit Card": "private"}
_ZONE = 32


def _fares() -> tuple[Any, Any, Any]:
    """Return fares, how each trip was paid and whether it ended in the zone that the paper names."""
    data = load_dataset("TAX")
    ends = (data.X["dropoff_community_area"] == _ZONE).to_numpy()
    return np.asarray(data.y, dtype=np.float64), data.X["payment_type"].to_numpy(), ends


def figure_4() -> Any:
    """Draw fares by where a trip ends, for prepaid (public) and credit cards (private)."""
    y, paid, here = _fares()
    groups = {
        f"{role},\n{'zone 32' if inside else 'elsewhere'}": y[(paid == kind) & (here == inside)]
        for kind, role in _PAYMENTS.items()
        for inside in (True, False)
    }
    medians = ", ".join(f"{np.median(v):.2f}" for v in groups.values())
    return boxes(groups, title=f"medians {medians}", y_label="fare, dollars")


def figure_6() -> Any:
    """Draw the fares of public and private trips: their distributions differ."""
    y, paid, _ = _fares()
    groups = {f"{role}\n({kind})": y[paid == kind] for kind, role in _PAYMENTS.items()}
    return boxes(groups, title="Fares by payment", y_label="fare, dollars")


def tree() -> Any:
    """Draw the partition that LPDT-V grows from the public tenth of the abalones, with public leaf means."""
    parts = split(load_dataset("ABA"), 0)
    grown = grow("cart", parts.space, parts.public.Z, parts.public.y, max_depth=3, min_samples_leaf=20)
    leaves = grown.apply(parts.public.Z)
    means = [float(parts.public.y[leaves == j].mean()) for j in range(grown.n_leaves)]
    return tree_picture(grown, means, title="Abalone: rings by leaf, from 418 public records")


PICTURES: dict[str, tuple[str, Callable[[], Any]]] = {
    "lpdt-figure4": ("lpdt_figure_4", figure_4),
    "lpdt-figure6": ("lpdt_figure_6", figure_6),
    "lpdt-tree": ("lpdt_tree", tree),
}
"""File names and what draws them, by name."""


def draw_picture(name: str, folder: Path) -> list[Path]:
    """Draw one of :data:`PICTURES` as SVG and PNG."""
    stem, make = PICTURES[name]
    return save(make(), folder / stem)
