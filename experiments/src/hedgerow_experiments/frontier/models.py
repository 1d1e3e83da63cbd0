"""Models of the bench: public ones, fitted once a split and kept on disk if a folder is given, and assisted ones."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow.public
from hedgerow.estimators.records import take_rows
from hedgerow.local.assisted import design_assisted, design_pilot
from hedgerow.local.assisted.design import public_errors
from hedgerow.local.assisted.pilot import pilot_group, pilot_size
from hedgerow.public import PublicModel
from hedgerow.randomness import SeededRandomness
from hedgerow.tasks.assisted import AssistedModel, check_pilot

__all__ = ["assisted_models", "fitted_model"]

FOLDER = "HEDGEROW_BENCH_CACHE"
"""Environment variable that names the folder; it must be one that only you can write to, for models are pickled."""


def fitted_model(X: Any, y: Any, seed: int, categories: Any = None) -> PublicModel:
    """Return the public model of these records."""
    folder = os.environ.get(FOLDER)
    path = None if not folder else Path(folder) / f"{_digest(X, y, seed, categories)}.pickle"
    if path is not None and path.exists():
        kept: PublicModel = pickle.loads(path.read_bytes())
        return kept
    model = PublicModel(random_state=seed, categories=categories).fit(X, y)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(pickle.dumps(model))
        part.replace(path)
    return model


def _digest(X: Any, y: Any, seed: int, categories: Any = None) -> str:
    """Return a name for the model: records, labels, seed and category lists as they are, and the code that fits it.

    Lists are in their order, which is that of the codes; without any the name is that of the rest alone.
    """
    text = X.to_csv(index=False) if hasattr(X, "to_csv") else np.asarray(X, dtype=np.float64).tobytes().hex()
    labels = np.asarray(y, dtype=np.float64).tobytes()
    name = hashlib.sha256(f"{_source()}\n{seed}\n{text}\n".encode() + labels).hexdigest()
    if categories:
        lists = sorted((repr(column), list(map(str, listed))) for column, listed in dict(categories).items())
        name = hashlib.sha256(f"{name}\n{json.dumps(lists)}".encode()).hexdigest()
    return name[:24]


@cache
def _source() -> str:
    """Return a digest of the package that fits public models: a model of other code is not this model."""
    found = hashlib.sha256()
    for path in sorted(Path(hedgerow.public.__file__).parent.glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def assisted_models(
    public: tuple[Any, Any], private: tuple[Any, Any], seeds: list[int], *, pilot: Any = "auto", **options: Any
) -> list[AssistedModel]:
    """Return the assisted forest for each seed of the holders' noise, as ``AssistedForestRegressor`` would make it.

    The public part is designed once, and again only for a pilot that contradicts it.
    """
    X, y = private
    size = pilot_size(pilot, len(y), options["epsilon"])
    plain = design_assisted(*public, n_holders=len(y) - size, **options)
    question = design_pilot(*public, **options) if size else None
    models = []
    _, residuals, _ = public_errors(options["public_model"], *public, options["label_bounds"])
    for seed in seeds:
        task = plain
        source = SeededRandomness(seed)
        others = np.arange(len(y))
        if question is not None:
            asked, others = pilot_group(len(y), size, source.child("pilot group"))
            totals = question.simulate(take_rows(X, asked), y[asked], source.child("pilot")).model()
            if check_pilot(totals, residuals).differs:
                task = design_assisted(*public, n_holders=len(others), pilot=totals, **options)
        models.append(task.simulate(take_rows(X, others), y[others], source).model())
    return models
