"""All experiments by name, one folder a paper, with its declarations in ``declared.py``."""

from __future__ import annotations

import importlib

from hedgerow.errors import HedgerowError
from hedgerow_experiments.experiment import Experiment

__all__ = ["all_experiments", "find_experiment"]

_FOLDERS = ("lpdt", "histoftree", "label", "diprime", "anova", "stated", "frontier", "library", "coverage", "public")


def all_experiments() -> dict[str, Experiment]:
    """Return every experiment by its name, in the order of the papers.

    >>> "lpdt-table2" in all_experiments()
    True
    """
    found: dict[str, Experiment] = {}
    for folder in _FOLDERS:
        for experiment in importlib.import_module(f"hedgerow_experiments.{folder}.declared").EXPERIMENTS:
            assert experiment.name not in found, f"{experiment.name} is declared twice"
            found[experiment.name] = experiment
    return found


def find_experiment(name: str) -> Experiment:
    """Return one experiment.

    >>> find_experiment("lpdt-table2").paper
    'LPDT'
    """
    known = all_experiments()
    if name not in known:
        raise HedgerowError(f"NAME must be one of {', '.join(known)}. Got {name!r} instead.")
    return known[name]
