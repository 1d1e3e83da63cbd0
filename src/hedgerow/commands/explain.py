"""``hedgerow explain``: a model in words and as a picture."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import (
    add_command,
    check_output,
    check_picture,
    output,
    read_any_model,
    report,
    write_text,
)
from hedgerow.commands.progress import Progress
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DESCRIPTION = """\
Say what a model predicts and how sure it is: each leaf with its conditions,
its share of the holders, its mean label and an interval for that mean; and what
the people behind the reports were promised. Where the task came from public
records, also whether private records look like them. All of it follows from the
reports that were sent and from public records, and so costs no privacy.
Of a model of two rounds: its cells, likewise. Of an assisted model: where reports
correct the public model, by how much, and how much of that is believed.
Of a model of 'hedgerow fit': its features and pairs by size, and its curves, each
with the noise in it.
--explorer writes a page on which one record is tried: its prediction, what that is
made of, and how sure it is. The page asks nothing of any other site.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "explain", "say what a model predicts, and how sure it is", _DESCRIPTION)
    parser.add_argument("model", help="a model made by 'hedgerow aggregate' or 'hedgerow fit'")
    parser.add_argument("--shift", action="store_true", help="compare private and public records leaf by leaf")
    parser.add_argument("--plot", metavar="FILE", dest="picture", help="draw the tree or curves: .png, .svg or .pdf")
    parser.add_argument("--plot-shift", metavar="FILE", dest="shift_picture", help="draw the comparison")
    parser.add_argument("--explorer", metavar="FILE", help="write a page to try one record on: .html")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print, and draw if asked to; what cannot be drawn is noticed first."""
    for path in (arguments.picture, arguments.shift_picture):
        if path is not None:
            check_picture(path, [arguments.model])
    if arguments.explorer is not None:
        _check_page(arguments)
    model: Any = read_any_model(arguments.model)
    summary, lines, pictures = _explained(arguments, model)
    wanted = {arguments.picture: pictures["plot"], arguments.shift_picture: pictures.get("plot_shift")}
    wanted.pop(None, None)
    for path, plot in wanted.items():
        if plot is not None:
            _draw(path, plot)
    if arguments.explorer is not None:
        with Progress("writing the page"):
            text = model.explorer().to_html()
        write_text(arguments.explorer, text)
    written = {"plot": arguments.picture, "plot_shift": arguments.shift_picture, "explorer": arguments.explorer}
    report(arguments, {**summary, **written}, lines)
    return 0


def _check_page(arguments: argparse.Namespace) -> None:
    """Refuse a page that cannot be written, before the work."""
    if os.path.splitext(arguments.explorer)[1].lower() != ".html":
        raise HedgerowError(f"--explorer must name a file that ends in .html. Got {arguments.explorer!r} instead.")
    check_output(argparse.Namespace(output=arguments.explorer, json=False), [arguments.model], "--explorer")


def _explained(
    arguments: argparse.Namespace, model: Any
) -> tuple[dict[str, Any], list[str], dict[str, Callable[[], Figure]]]:
    """Return the summary for machines, the lines for people, and what can be drawn."""
    explained = model.explain()
    found = model.shift()
    if found is None:
        _no_shift(arguments)
        return explained.to_dict(), [str(explained)], {"plot": explained.plot}
    text = str(found) if arguments.shift else str(explained)
    return explained.to_dict(), [text], {"plot": explained.plot, "plot_shift": found.plot}


def _no_shift(arguments: argparse.Namespace) -> None:
    if arguments.shift or arguments.shift_picture is not None:
        option = "--shift" if arguments.shift else "--plot-shift"
        raise HedgerowError(
            f"{arguments.model} holds nothing to compare with: no public records by leaf; leave out {option}."
        )


def _draw(path: str, plot: Callable[[], Figure]) -> None:
    """Draw into a file that appears only when it is whole."""
    with output(path, option="--plot") as file, Progress("drawing"):
        plot().savefig(file, format=os.path.splitext(path)[1][1:].lower(), dpi=120)
