"""Does an export predict as its model does? Asked of awkward records, before anything is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.export.runtime import evaluate
from hedgerow.formula import Formula, NumberInput, TextInput

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["TOLERANCE", "Check", "awkward_records", "check_onnx", "check_program", "onnx_feed"]

TOLERANCE = 1e-6
"""Largest difference from ``predict``, in units of the range of the predictions (of probabilities, of 1)."""
_FAR = 1e12  # a wider range is drawn around the model's cuts instead; by hand
_UNLISTED = "a name that is not listed"


@dataclass(frozen=True)
class Check:
    """What was compared: how many records, by what, and the largest difference in units of the range."""

    n_records: int
    evaluator: str
    difference: float

    def __str__(self) -> str:
        return f"differs from predict by at most {self.difference:.1g} of the range on {self.n_records:,} drawn records"


def awkward_records(formula: Formula, n: int, seed: int = 0) -> npt.NDArray[Any]:
    """Return raw records within and beyond the ranges, on and next to thresholds, missing and unknown ones among them.

    Where a missing number has no prediction (columns that are taken as they are), none is missing.
    """
    rng = np.random.default_rng(seed)
    cuts = _cuts(formula)
    columns = [_column(column, cuts.get(j, []), n, rng) for j, column in enumerate(formula.inputs)]
    found = np.empty((n, len(columns)), dtype=object)
    for j, values in enumerate(columns):
        found[:, j] = values
    return found


def _cuts(formula: Formula) -> dict[int, list[float]]:
    """Return the finite thresholds of each column of the records."""
    found: dict[int, set[float]] = {}
    for term in formula.value.steps():
        if term.op == "trees":
            for feature, cut in zip(term.data["feature"].tolist(), term.data["threshold"].tolist(), strict=True):
                if np.isfinite(cut):
                    found.setdefault(feature, set()).add(cut)
    return {feature: sorted(values) for feature, values in found.items()}


def _column(column: NumberInput | TextInput, cuts: list[float], n: int, rng: np.random.Generator) -> list[Any]:
    if isinstance(column, TextInput):
        names = [*column.keys, _UNLISTED, None]
        return [names[i] for i in rng.integers(len(names), size=n)]
    bounded = bool(np.isfinite([column.low, column.high]).all()) and column.high - column.low < _FAR
    low, high = (column.low, column.high) if bounded else (min(cuts, default=-1.0), max(cuts, default=1.0))
    share = rng.random(n)
    values = low * (1 - share) + high * share  # the width of the widest range is no float
    if cuts:
        near = rng.choice(cuts, n)
        side = rng.integers(4, size=n)
        near = np.where(side == 1, np.nextafter(near, np.inf), near)
        near = np.where(side == 2, np.nextafter(near, -np.inf), near)
        near = np.where(side == 3, near.astype(np.float32), near)
        values = np.where(rng.random(n) < 0.5, near, values)
    far = rng.choice([low - 1.0, high + 1.0, low, high], n)
    values = np.where(rng.random(n) < 0.1, far, values)
    if not np.isnan(column.missing):
        values = np.where(rng.random(n) < 0.1, np.nan, values)
    return list(values.tolist())


def check_program(program: dict[str, Any], model: Any, records: npt.NDArray[Any]) -> Check:
    """Compare the NumPy form with the model."""
    found = evaluate(program, records)
    return _compared(found, model, records, "NumPy")


def check_onnx(formula: Formula, exported: ModelProto, model: Any, records: npt.NDArray[Any]) -> Check | None:
    """Compare the ONNX form with the model; None where ONNX Runtime is not installed."""
    try:
        from onnxruntime import InferenceSession
    except ImportError:
        return None
    try:
        session = InferenceSession(exported.SerializeToString(), providers=["CPUExecutionProvider"])
        found = session.run(None, onnx_feed(formula, records))
    except Exception as error:  # ONNX Runtime has a class of its own for each, without a common one
        raise HedgerowError(f"ONNX Runtime does not run the export, which is not written: {error}") from error
    return _compared(found[-1], model, records, "ONNX Runtime")


def onnx_feed(formula: Formula, records: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Return raw records as the inputs of an ONNX model: doubles with NaN for missing, or text.

    A missing text is the empty one; where that is a category, any name that is not listed.
    """
    feed = {}
    for column, values in zip(formula.inputs, records.T, strict=True):
        if isinstance(column, TextInput):
            missing = _UNLISTED if "" in column.keys else ""
            found = np.array([missing if value is None else value for value in values], dtype=object)
        else:
            found = values.astype(np.float64)
        feed[column.name] = found[:, None]
    return feed


def _compared(found: Any, model: Any, records: npt.NDArray[Any], evaluator: str) -> Check:
    classes = getattr(model, "classes_", getattr(model, "classes", None))
    if hasattr(model, "predict_proba") and classes is not None:
        wanted = np.asarray(model.predict_proba(records))
        scale = 1.0
    else:
        wanted = np.asarray(model.predict(records), dtype=np.float64)
        scale = max(float(np.ptp(wanted)), 1e-9 * float(np.abs(wanted).max()), 1e-300)
    difference = float(np.abs(np.asarray(found).reshape(wanted.shape) - wanted).max() / scale)
    if not difference <= TOLERANCE:
        raise HedgerowError(
            f"the export differs from predict by {difference:.3g} of the range, more than {TOLERANCE:g}, and is not "
            "written. Sums that overflow come out otherwise elsewhere; if none can, please report this."
        )
    return Check(len(wanted), evaluator, difference)
