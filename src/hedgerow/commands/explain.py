"""``hedgerow explain``: a model in words and as a picture."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import add_command, check_output, output, read_any_model, report
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hedgerow.tasks.assisted import AssistedModel
    from hedgerow.tasks.partly_public import SemiModel
    from hedgerow.tasks.tree.model import Model

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
    summary, lines, pictures = _explained(arguments)
    wanted = {arguments.picture: pictures["plot"], arguments.shift_picture: pictures.get("plot_shift")}
    wanted.pop(None, None)
    for path in wanted:
        _check_picture(arguments, path)
    for path, plot in wanted.items():
        if plot is not None:
            _draw(path, plot)
    report(arguments, {**summary, "plot": arguments.picture, "plot_shift": arguments.shift_picture}, lines)
    return 0


def _explained(arguments: argparse.Namespace) -> tuple[dict[str, Any], list[str], dict[str, Callable[[], Figure]]]:
    """Return the summary for machines, the lines for people, and what can be drawn, for each kind of model."""
    from hedgerow.commands.anova_files import explain_anova, read_anova
    from hedgerow.commands.assisted_files import read_model as read_assisted_model
    from hedgerow.tasks.partly_public import SemiModel

    path = arguments.model
    if (central := read_anova(path)) is not None:
        _no_shift(arguments, "was fitted without public records: nothing to compare with")
        summary, lines, parts = explain_anova(arguments, central)
        return summary, lines, {"plot": parts.plot}
    if (assisted := read_assisted_model(path)) is not None:
        _no_shift(arguments, "corrects a public model; what reports say against it is in 'hedgerow explain' without it")
        from hedgerow.tasks.assisted.explain import explain_assisted, plot_assisted

        return _assisted(assisted), [explain_assisted(assisted)], {"plot": lambda: plot_assisted(assisted)}
    model = read_any_model(path)
    if isinstance(model, SemiModel):
        _no_shift(arguments, "comes from a task that counts no public records by cell: nothing to compare with")
        return _semi(model), [model.explain()], {"plot": model.plot}
    if model.task.public is None:
        _no_shift(arguments, "comes from a task without public records: nothing to compare with")
    text = str(model.shift()) if arguments.shift else model.explain()
    return _summary(model), [text], {"plot": model.plot, "plot_shift": lambda: model.shift().plot()}


def _no_shift(arguments: argparse.Namespace, why: str) -> None:
    if arguments.shift or arguments.shift_picture is not None:
        option = "--shift" if arguments.shift else "--plot-shift"
        raise HedgerowError(f"{arguments.model} {why}; leave out {option}.")


def _summary(model: Model) -> dict[str, Any]:
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
        **_promised(model),
    }


def _promised(model: Model | SemiModel | AssistedModel) -> dict[str, Any]:
    statement = {"guarantee": model.guarantee.to_dict(), "statement": str(model.guarantee)}
    return {"simulation": model.simulation, **statement}


def _semi(model: SemiModel) -> dict[str, Any]:
    from hedgerow.tasks.partly_public.explain import semi_importances

    first = model.task.first
    assist = first.assist
    bounds = (first.grid.low, first.grid.high) if assist is None else assist.label_bounds
    return {
        "task": model.task.id,
        "title": first.title,
        "target": first.target,
        "label_bounds": list(bounds),
        "classes": None,
        "masks": first.masks,
        "private": list(first.private) if first.masks == "policy" else None,
        "n_reports": model.n_reports,
        "n_leaves": model.task.n_cells,
        "leaves": model.leaf_table(),
        "importances": semi_importances(model),
        "shrink": model.shrink,
        "radius": None if assist is None else assist.radius,
        **_promised(model),
    }


def _assisted(model: AssistedModel) -> dict[str, Any]:
    from hedgerow.tasks.assisted.explain import assisted_table, verdict

    task, (whole, leaves) = model.task, model.factors
    return {
        "task": task.id,
        "target": task.target,
        "label_bounds": list(task.label_bounds),
        "classes": None,
        "n_reports": model.n_reports,
        "n_trees": len(task.shares),
        "n_leaves": len(task.trees.value),
        "public_mse": task.residuals.mean_square,
        "radius": task.radius,
        "gate": model.gate,
        "kept_overall": whole,
        "kept_by_leaf": leaves,
        "verdict": verdict(model),
        "shifted": model.corrections.shift > 0,
        "leaves": assisted_table(model),
        **_promised(model),
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
