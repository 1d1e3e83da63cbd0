"""The page that compares public models: ratios split by split, and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.compare.scores import Row
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.public.before import StackBefore
from hedgerow_experiments.public.declared import PUBLIC_MODEL, SAMPLES, SHARES
from hedgerow_experiments.public.models import tidy
from hedgerow_experiments.public.models_page import pages


def rows(code, setting, repeat, **values):
    key = Key(code, repeat, setting, 0.0, "models")
    assert key in set(PUBLIC_MODEL.keys())
    named = {name.replace("_", " "): number for name, number in values.items()}
    return list(tidy(PUBLIC_MODEL, key, named))


def test_the_page_shows_ratios_of_the_same_split():
    cell = {"now_seconds": 5.0, "before_seconds": 3.0, "now_kB": 300.0}
    found = rows("AIR", SHARES, 0, now_mse=1.0, before_mse=2.0, compact_mse=1.5, other_seed_mse=1.0, **cell)
    found += rows("AIR", SHARES, 1, now_mse=8.0, before_mse=4.0, compact_mse=4.0, other_seed_mse=8.0, **cell)
    found += rows("WHI", SAMPLES, 0, now_mse=3.0, before_mse=4.0, compact_mse=3.0, **cell)
    assert all(isinstance(row, Row) for row in found)
    text = pages(Evidence({PUBLIC_MODEL.name: found}))["public-model.md"].decode()
    assert "| 1:7:2 | AIR | 1.000 | 2.000 | 0.866 | 0.0% | 5.0 | 3.0 | 300 | 2 |" in text
    assert "| 400 rows | WHI* | 0.750 | 0.750 | 0.750 |  | 5.0 | 3.0 | 300 | 1 |" in text
    assert "Kept out: geometric mean 0.750" in text and "All: geometric mean 0.866" in text


def test_the_stack_as_it_was_has_no_process_and_learns():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    model = StackBefore(0).fit(X, y)
    assert set(model.weights_) == {
        "extra trees", "boosting", "ridge", "kernel ridge", "support vectors, C=1", "support vectors, C=10",
    }  # fmt: skip
    assert np.mean((model.predict(X) - X[:, 0]) ** 2) < 0.1 * y.var()
    assert min(model.weights_.values()) >= 0 and sum(model.weights_.values()) == pytest.approx(1.0, abs=0.2)
