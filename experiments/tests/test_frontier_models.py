"""Fitted models are found again by everything that went into them."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow_experiments.frontier import models as frontier_models
from hedgerow_experiments.frontier.models import _digest, fitted_model


class Quick:
    """Remembers what it was made with."""

    def __init__(self, random_state, categories):
        self.made = (random_state, categories)

    def fit(self, X, y):
        return self


X, y = np.arange(6.0).reshape(3, 2), [1, 2, 3]


@pytest.fixture(autouse=True)
def quick(monkeypatch, tmp_path):
    monkeypatch.setattr(frontier_models, "PublicModel", Quick)
    monkeypatch.setenv(frontier_models.FOLDER, str(tmp_path / "models"))
    return tmp_path / "models"


def test_other_category_lists_are_another_model(quick):
    lists = [
        None,
        {0: ["a", "b"]},
        {0: ["b", "a"]},
        {0: ["a", "b", "c"]},
        {1: ["a", "b"]},
        {0: ["a,b"]},
        {"0": ["a", "b"]},
    ]
    models = [fitted_model(X, y, 7, given).made for given in lists]
    assert models == [(7, given) for given in lists] and len(list(quick.iterdir())) == len(lists)
    assert [fitted_model(X, y, 7, given).made for given in lists] == models  # from disk
    assert len(list(quick.iterdir())) == len(lists)


def test_the_order_of_columns_does_not_matter():
    one, other = {"a": ["x"], "b": ["y"]}, {"b": ["y"], "a": ["x"]}
    assert _digest(X, y, 7, one) == _digest(X, y, 7, other)


def test_a_model_of_other_code_is_another_one(quick, monkeypatch):
    """Whoever changes how public models are fitted must not be given those of before."""
    from hedgerow_experiments.frontier import models

    before = _digest(X, y, 7)
    assert before == _digest(X, y, 7, {})
    fitted_model(X, y, 7)
    monkeypatch.setattr(models, "_source", lambda: "other code")
    assert _digest(X, y, 7) != before
    fitted_model(X, y, 7)
    assert len(list(quick.iterdir())) == 2


def test_records_labels_and_seed_are_in_the_name():
    names = {_digest(X, y, 7), _digest(X + 1, y, 7), _digest(X, [1, 2, 4], 7), _digest(X, y, 8)}
    assert len(names) == 4
