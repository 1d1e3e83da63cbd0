"""``hedgerow export``: a model for other programs, as ONNX or as one Python file."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import add_command, check_output, output, read_any_model, report
from hedgerow.commands.progress import Progress
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.formula import Formula
    from hedgerow.tasks.models import Model

_DESCRIPTION = """\
Write a model for programs that know nothing of hedgerow. The name of the output
says how:
  model.onnx  an ONNX model, for ONNX Runtime in any language. One input a column,
              of shape [N, 1]: doubles (NaN if missing) or text (empty if missing);
              outputs 'prediction' [N], or of classes 'label' [N] and
              'probabilities' [N, classes]. Everything is in double precision.
  model.py    one Python file that needs NumPy alone: 'from model import model',
              then model.predict(records); an estimator of scikit-learn where that
              is installed.
What becomes of missing, unknown and far values is inside of both, as the schema
says, and so are the guarantee, the schema and the task's id.
Before anything is written, predictions are compared with those of 'hedgerow
predict' on records drawn within and beyond the ranges, next to thresholds, missing
and unknown; they agree to a millionth of the range, or nothing is written.
An export is what was published already, in another language: it costs no privacy.
"""
_KINDS = (".onnx", ".py")
_RECORDS = 2000  # that the exported model is tried on; by hand


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "export", "write a model for other programs: ONNX, Python", _DESCRIPTION)
    parser.add_argument("model", help="a model made by 'hedgerow aggregate' or 'hedgerow fit'")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="the export: a name that ends in .onnx or .py"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check, then write."""
    kind = os.path.splitext(arguments.output)[1].lower()
    if kind not in _KINDS:
        raise HedgerowError(
            f"-o must name a file that ends in .onnx (ONNX) or .py (one Python file that needs NumPy alone). "
            f"Got {arguments.output!r} instead."
        )
    check_output(arguments, [arguments.model])
    if kind == ".onnx":
        from hedgerow.export.onnx import check_installed

        check_installed()
    from hedgerow.export import formula_of

    model = read_any_model(arguments.model)
    formula = formula_of(model)
    with Progress("exporting and checking"):
        data, check = _onnx(formula, model) if kind == ".onnx" else _python(formula, model)
    with output(arguments.output) as file:
        file.write(data)
    summary = {
        "output": arguments.output,
        "format": "onnx" if kind == ".onnx" else "python",
        "task": None if model.task is None else model.task.id,
        "inputs": [column.name for column in formula.inputs],
        "n_bytes": len(data),
        "n_checked": check.n_records,
        "checked_with": check.evaluator,
        "difference": check.difference,
        "simulation": model.simulation,
    }
    lines = [f"{len(data):,} bytes -> {arguments.output}", f"{check} (checked with {check.evaluator})"]
    report(arguments, summary, lines)
    return 0


def _onnx(formula: Formula, model: Model) -> tuple[bytes, Any]:
    """Return the ONNX model and how it compares; by the same formula in NumPy where ONNX Runtime is not there."""
    from hedgerow.export.check import awkward_records, check_onnx, check_program
    from hedgerow.export.onnx import onnx_model
    from hedgerow.export.program import program_of

    exported = onnx_model(formula)
    records = awkward_records(formula, _RECORDS)
    check = check_onnx(formula, exported, model, records) or check_program(program_of(formula), model, records)
    return exported.SerializeToString(), check


def _python(formula: Formula, model: Model) -> tuple[bytes, Any]:
    from hedgerow.export.check import awkward_records, check_program
    from hedgerow.export.program import program_of, python_text

    records = awkward_records(formula, _RECORDS)
    return python_text(formula).encode(), check_program(program_of(formula), model, records)
