"""``hedgerow card``: one page about a model, for whoever uses it or is in it."""

from __future__ import annotations

import argparse
import os
from typing import Any

from hedgerow.commands.files import add_command, check_output, read_any_model, report, warn, write_text
from hedgerow.commands.progress import Progress
from hedgerow.errors import HedgerowError

_DESCRIPTION = """\
Write one page about a model: what it is for, what its people were promised and
under which conditions, who is protected from whom, what it says and how sure it
is, pictures, the schema, whether private records look like public ones, an exact
audit, and how it was made. The name of the output says how:
  card.html   one file that asks nothing of any other site; it can be printed
  card.md     Markdown, without pictures
The audit is of small tasks like the model's, at its epsilon, as far as that takes
two seconds; the card says which command does the rest. All of the card follows
from what was published, and costs no privacy. One model has one card.
"""
_KINDS = (".html", ".md")


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "card", "write one page about a model: promise, use, audit", _DESCRIPTION)
    parser.add_argument("model", help="a model made by 'hedgerow aggregate' or 'hedgerow fit'")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="the card: a name that ends in .html or .md"
    )
    parser.add_argument("--purpose", default="", metavar="TEXT", help="why the model was made")
    parser.add_argument("--intended-use", default="", metavar="TEXT", help="who should use it, and for what")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Audit, then write."""
    kind = os.path.splitext(arguments.output)[1].lower()
    if kind not in _KINDS:
        raise HedgerowError(
            f"-o must name a file that ends in .html (a page) or .md (Markdown). Got {arguments.output!r} instead."
        )
    check_output(arguments, [arguments.model])
    from hedgerow.card.sections import Told
    from hedgerow.card.svg import can_draw

    Told(arguments.purpose, arguments.intended_use)  # refused before the work
    model: Any = read_any_model(arguments.model)
    if kind == ".html" and not can_draw():
        warn(arguments, "the card will have no pictures: they need Matplotlib, pip install 'hedgerow[plot]'")
    with Progress("auditing, and making the card"):
        audits = _audits(model)
        card = model.card(purpose=arguments.purpose, intended_use=arguments.intended_use, **audits)
        text = card.as_file(arguments.output)
    write_text(arguments.output, text)
    results = audits.get("audits", ())
    summary = {
        "output": arguments.output,
        "format": kind[1:],
        "task": None if model.task is None else model.task.id,
        "pictures": kind == ".html" and can_draw(),
        "audits": [{"name": result.mechanism, "verdict": result.verdict} for result in results],
        "simulation": model.simulation,
    }
    verdicts = [f"audit of {result.mechanism.removeprefix('whole: ')!r}: {result.verdict}" for result in results]
    report(arguments, summary, [f"{card.title} -> {arguments.output}", *verdicts])
    return 0 if all(result.holds for result in results) else 1


def _audits(model: Any) -> dict[str, Any]:
    """Return what a card takes of audits: nothing where there is no task to audit."""
    if model.task is None:
        return {}
    from hedgerow.audit import audit_task

    return {"audits": audit_task(model.task)}
