"""Figures as SVG that is the same whenever it is made of the same figure."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["can_draw", "svg"]

_SETTINGS = {
    "text.parse_math": False,  # a name with $ in it is a name
    "text.usetex": False,
    "svg.hashsalt": "hedgerow",  # ids inside of a picture are drawn by chance otherwise
    "svg.fonttype": "path",  # looks the same wherever it is opened
}


def can_draw() -> bool:
    """Return whether Matplotlib is there."""
    try:
        return find_spec("matplotlib") is not None
    except ValueError:  # what stands for a package that is kept from being loaded
        return False


def svg(draw: Callable[[], Figure]) -> bytes:
    """Return a figure as SVG, without the date and the program that made it."""
    import matplotlib as mpl

    out = io.BytesIO()
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a script that the font does not have: boxes are drawn
        draw().savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()
