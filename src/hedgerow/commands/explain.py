"""``hedgerow explain``: a model in words and as a picture."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import add_command, check_output, output, read_model, report
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.protocol.model import Model

_DESCRIPTION = """\
Say what a model predicts and how sure it is: each leaf with its conditions,
its share of the holders, its mean label and an interval for that mean; and what
the people behind the reports were promised. All of it follows from the reports
that were sent, and so costs no privacy.
"""
_PICTURES = (".png", ".svg", ".pdf")


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "explain", "say what a model predicts, and how sure it is", _DESCRIPTION)
    parser.add_argument("model", help="a model made by 'hedgerow aggregate'")
    parser.add_argument("--plot", metavar="FILE", dest="picture", help="draw the tree: .png, .svg or .pdf")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print, and draw if asked to."""
    model = read_model(arguments.model)
    if arguments.picture is not None:
        _draw(arguments, model)
    summary = {
        "task": model.task.id,
        "title": model.task.title,
        "target": model.task.target,
        "label_bounds": list(model.task.label_bounds),
        "n_reports": model.n_reports,
        "n_leaves": model.task.n_leaves,
        "leaves": model.leaf_table(),
        "simulation": model.simulation,
        "guarantee": model.guarantee.to_dict(),
        "statement": str(model.guarantee),
        "plot": arguments.picture,
    }
    report(arguments, summary, [_text(model)])
    return 0


def _text(model: Model) -> str:
    explain = getattr(model, "explain", None)
    return str(explain()) if explain is not None else f"{_table(model)}\n\n{model.guarantee}"


def _table(model: Model) -> str:
    rows = [f"{'leaf':>4} {'share':>7} {'mean':>10} {'90 % interval':>23}  cell"]
    for leaf in model.leaf_table():
        interval = f"{leaf['low']:>10.4g} to {leaf['high']:>9.4g}"
        note = "  (too few reports)" if leaf["starved"] else ""
        rows.append(
            f"{leaf['leaf']:>4} {leaf['share']:>7.1%} {leaf['mean']:>10.4g} {interval:>23}  {leaf['cell']}{note}"
        )
    return "\n".join(rows)


def _draw(arguments: argparse.Namespace, model: Model) -> None:
    """Draw into a file that appears only when it is whole."""
    path = arguments.picture
    kind = os.path.splitext(path)[1].lower()
    if kind not in _PICTURES:
        raise HedgerowError(f"--plot must name a file that ends in {', '.join(_PICTURES)}. Got {path!r} instead.")
    check_output(argparse.Namespace(output=path, json=False), [arguments.model])
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise HedgerowError("--plot needs Matplotlib: pip install 'hedgerow[plot]'.") from None
    from hedgerow.partition.plot import plot_partition

    axes = plot_partition(model.task.partition, model.leaf_values)
    try:
        with output(path) as file:
            axes.figure.savefig(file, format=kind[1:], dpi=150)
    finally:
        pyplot.close(axes.figure)
