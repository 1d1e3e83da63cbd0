"""Models of ``hedgerow fit anova`` in files: reading them, predicting with them, saying what they hold."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import counted, naming, report
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.central.anova import AnovaModel, Explanation
    from hedgerow.commands.predictions import Predictions
    from hedgerow.commands.tables import Block, Frame, Table
    from hedgerow.space import FeatureSpace

__all__ = ["explain_anova", "frame", "new_names", "predict_anova", "read_anova", "write_predictions"]

_FORMAT = "hedgerow/anova-model"


def read_anova(path: str) -> AnovaModel | None:
    """Return the model in a file, or None if the file holds something else."""
    with open(path, "rb") as file:
        data = file.read()
    if _FORMAT.encode() not in data:
        return None
    try:
        content = json.loads(data)
    except ValueError:
        return None  # whoever reads it next says what is wrong
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        return None
    from hedgerow.central.anova import AnovaModel

    with naming(path):
        return AnovaModel.from_dict(content)


def frame(block: Block, space: FeatureSpace, missing: bool) -> Frame:
    """Return the features in a block of a file, checked cell by cell; ``missing``: empty cells are NaN or None.

    Empty cells are filled for the check, so that whatever else is wrong is still reported in its place.
    """
    from hedgerow.central.anova.model import MISSING
    from hedgerow.commands.tables import Block, _cells
    from hedgerow.features import CategoricalFeature

    if not missing:
        return block.frame(space)
    columns: dict[str, Any] = {}
    gaps: dict[str, list[int]] = {}
    for feature in space.features:
        listed = isinstance(feature, CategoricalFeature)
        cells = _cells(block.columns[feature.name])
        gaps[feature.name] = [i for i, v in enumerate(cells) if v is None or v == "" or v != v]
        for i in gaps[feature.name]:
            cells[i] = MISSING if listed else "0"
        columns[feature.name] = tuple(cells if listed else map(str, cells))
    found = Block(block.table, block.start, columns, block.lines).frame(space)
    for name, rows in gaps.items():
        found[name][rows] = None if found[name].dtype == object else float("nan")
    return found


def new_names(arguments: argparse.Namespace, model: AnovaModel) -> list[str]:
    """Return the names of the new columns, the prediction last."""
    name = arguments.name
    if arguments.interval is not None:
        raise HedgerowError("--interval is for models of 'hedgerow aggregate'; 'explain' shows this model's noise.")
    if model.classes is not None:
        return [*(f"{name}_{c}" for c in model.classes), name] if arguments.probabilities else [name]
    if arguments.probabilities:
        raise HedgerowError("--probabilities is for classes, and this model has a numeric label.")
    return [name] if len(model.low) == 1 else [f"{name}_{i}" for i in range(len(model.low))]


def predict_anova(arguments: argparse.Namespace, model: AnovaModel, table: Table, new: list[str]) -> int:
    """Write predictions for a table, block by block, and say so."""
    n = _predictions(arguments.output, model, table, new).run(arguments, {"format": _FORMAT})
    summary = {
        "output": arguments.output,
        "n_rows": n,
        "columns": [*table.names, *new],
        "simulation": model.guarantee.simulation,
    }
    report(arguments, summary, [f"{counted(n, 'prediction')} -> {arguments.output}"])
    return 0


def write_predictions(path: str, model: AnovaModel, table: Table, new: list[str], option: str = "-o") -> int:
    """Write the columns of a table and the new ones; return the number of rows."""
    return _predictions(path, model, table, new).write(option)


def _predictions(path: str, model: AnovaModel, table: Table, new: list[str]) -> Predictions:
    from hedgerow.commands.predictions import Predictions

    def predicted(block: Block) -> list[Any]:
        return _columns(model, frame(block, model.space, model.missing), len(new))

    return Predictions(path, table, model.space, new, predicted)


def _columns(model: AnovaModel, records: Frame, wanted: int) -> list[Any]:
    import numpy as np

    if model.classes is None:
        return list(model.predict(records).T)
    shares = model.probabilities(records)
    guess = np.array(model.classes)[shares.argmax(axis=1)]
    return [*shares.T, guess] if wanted > 1 else [guess]


def explain_anova(arguments: argparse.Namespace, model: AnovaModel) -> tuple[dict[str, Any], list[str], Explanation]:
    """Return the summary for machines, the lines for people, and the parts themselves."""
    from hedgerow.central.anova.explain import explain

    found = explain(model)
    summary = {
        "label_bounds": None if model.classes else [list(pair) for pair in zip(model.low, model.high, strict=True)],
        "classes": None if model.classes is None else list(model.classes),
        "additive": model.additive,
        "noisy_records": model.size,
        "importances": [
            {"features": list(group), "size": size, "noise": noise}
            for group, (size, noise) in sorted(found.importances.items(), key=lambda item: -item[1][0])
        ],
        "curves": {
            name: {"x": list(c.x), "y": c.y.tolist(), "noise": c.noise.tolist(), "missing": c.missing.tolist()}
            for name, c in found.curves.items()
        },
        "guarantee": model.guarantee.to_dict(),
        "statement": str(model.guarantee),
        "plot": arguments.picture,
    }
    return summary, [str(found), str(model.guarantee)], found
