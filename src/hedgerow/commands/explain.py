"""``hedgerow explain``: a model in words and as a picture."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import add_command, check_output, output, read_model, report
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hedgerow.protocol.model import Model

_DESCRIPTION = """\
Say what a model predicts and how sure it is: each leaf with its conditions,
its share of the holders, its mean label and an interval for that mean; and what
the people behind the reports were promised. Where the task came from public
records, also whether private records look like them. All of it follows from the
reports that were sent and from public records, and so costs no privacy.
Of a model of 'hedgerow fit': its features and pairs by size, and its curves, each
with the noise in it.
"""
_PICTURES = (".png", ".svg", ".pdf")


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "explain", "say what a model predicts, and how sure it is", _DESCRIPTION)
    parser.add_argument("model", help="a model made by 'hedgerow aggregate' or 'hedgerow fit'")
    parser.add_argument("--shift", action="store_true", help="compare private and public records leaf by leaf")
    parser.add_argument("--plot", metavar="FILE", dest="picture", help="draw the tree or curves: .png, .svg or .pdf")
    parser.add_argument("--plot-shift", metavar="FILE", dest="shift_picture", help="draw the comparison")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print, and draw if asked to."""
    from hedgerow.commands.anova_files import explain_anova, read_anova

    if (central := read_anova(arguments.model)) is not None:
        if arguments.shift or arguments.shift_picture is not None:
            raise HedgerowError(f"{arguments.model} was fitted without public records: nothing to compare with.")
        summary, lines, parts = explain_anova(arguments, central)
        if arguments.picture is not None:
            _check_picture(arguments, arguments.picture)
            _draw(arguments.picture, parts.plot)
        report(arguments, summary, lines)
        return 0
    model = read_model(arguments.model)
    if model.task.public is None and (arguments.shift or arguments.shift_picture is not None):
        raise HedgerowError(f"{arguments.model} comes from a task without public records: nothing to compare with.")
    pictures = {arguments.picture: model.plot, arguments.shift_picture: lambda: model.shift().plot()}
    pictures.pop(None, None)
    for path in pictures:
        _check_picture(arguments, path)
    for path, plot in pictures.items():
        _draw(path, plot)
    text = str(model.shift()) if arguments.shift else model.explain()
    report(arguments, _summary(arguments, model), [text])
    return 0


def _summary(arguments: argparse.Namespace, model: Model) -> dict[str, Any]:
    from dataclasses import asdict

    shift = None
    if model.task.public is not None:
        found = model.shift()
        shift = {"verdict": found.verdict, "shifted": found.shifted, "p_share": found.p_share, "p_mean": found.p_mean}
        shift["leaves"] = [asdict(leaf) for leaf in found.leaves]
    return {
        "task": model.task.id,
        "title": model.task.title,
        "target": model.task.target,
        "label_bounds": None if model.task.classes else list(model.task.label_bounds),
        "classes": None if model.task.classes is None else list(model.task.classes),
        "n_reports": model.n_reports,
        "n_leaves": model.task.n_leaves,
        "leaves": model.leaf_table(),
        "shift": shift,
        "simulation": model.simulation,
        "guarantee": model.guarantee.to_dict(),
        "statement": str(model.guarantee),
        "plot": arguments.picture,
        "plot_shift": arguments.shift_picture,
    }


def _check_picture(arguments: argparse.Namespace, path: str) -> None:
    if os.path.splitext(path)[1].lower() not in _PICTURES:
        raise HedgerowError(f"--plot must name a file that ends in {', '.join(_PICTURES)}. Got {path!r} instead.")
    check_output(argparse.Namespace(output=path, json=False), [arguments.model], option="--plot")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise HedgerowError("--plot needs Matplotlib: pip install 'hedgerow[plot]'.") from None


def _draw(path: str, plot: Callable[[], Figure]) -> None:
    """Draw into a file that appears only when it is whole."""
    with output(path, option="--plot") as file:
        plot().savefig(file, format=os.path.splitext(path)[1][1:].lower(), dpi=120)
