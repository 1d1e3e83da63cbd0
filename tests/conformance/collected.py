"""Holders of a small task: a table of records that fit its question, and what they send."""

import numpy as np
import pandas as pd

from hedgerow.features import CategoricalFeature


def table(task, n, seed=0):
    """Return records and labels, as whoever holds them all would give them to ``task.privatize``."""
    asked = (task.before or task).question()
    source = np.random.default_rng(seed)
    if asked.label.classes:
        y = source.choice(np.array(asked.label.classes), n)
    else:
        y = source.uniform(*asked.label.bounds, n)
    if asked.numbered:
        return np.arange(n), y
    columns = {}
    for feature in asked.features:
        if isinstance(feature, CategoricalFeature):
            columns[feature.name] = source.choice(np.array(feature.categories), n)
        else:
            columns[feature.name] = source.uniform(feature.low, feature.high, n)
    return pd.DataFrame(columns), y


def first_round(example, task, n, seed=0):
    """Return what ``task`` needs besides the records: nothing, a mask, or what the round before left."""
    X, y = table(task, n, seed)
    mask = None if example.mask is None else np.array(example.mask)
    if task.before is None:
        return {"private": mask}
    return {"kept": task.before.privatize(X, y, private=mask, randomness=seed).kept}


def reports(example, task, n=60, seed=0):
    """Return the reports of ``n`` holders."""
    X, y = table(task, n, seed)
    more = first_round(example, task, n, seed)
    return task.privatize(X, None if task.before else y, randomness=seed + 1, **more)
