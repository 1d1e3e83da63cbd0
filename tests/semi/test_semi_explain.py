"""A model of two rounds, in words: the same numbers that it predicts with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow import HistOfTreeRegressor, PublicModel
from hedgerow.tasks import leaves as words
from hedgerow.tasks.partly_public import SemiModel


def data(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, 4 * X[:, 0] + 2 * X[:, 1] + 3 * (X[:, 2] > 0.5) + rng.normal(0, 0.3, n)


@pytest.fixture(scope="module")
def base():
    return PublicModel(Ridge(), random_state=0).fit(*data(300, 0))


def fitted(public_model=None, private=(True, False, False), n=8000, **options):
    bounds = {} if public_model is not None else {"feature_bounds": (0, 1)}
    options = {"epsilon": 4.0, "max_depth": 2, "n_private": 1, "random_state": 1, **bounds, **options}
    tree = HistOfTreeRegressor(label_bounds=(-2, 11), public_model=public_model, **options)
    return tree.fit(*data(n, 1), private=private).model_


@pytest.mark.parametrize("shrink", [True, False])
@pytest.mark.parametrize("response", ["k_ary", "bits"])
def test_rows_are_what_the_model_predicts(shrink, response):
    model = fitted(shrink=shrink, response=response)
    rows = model.table(0.8)
    X = data(500, 2)[0]
    cell, (low, high) = model.apply(X), model.predict_interval(X, 0.8)
    np.testing.assert_array_equal([rows[j]["mean"] for j in cell], model.predict(X))
    np.testing.assert_array_equal([rows[j]["low"] for j in cell], low)
    np.testing.assert_array_equal([rows[j]["high"] for j in cell], high)
    assert [row["leaf"] for row in rows] == list(range(8)) and len({row["cell"] for row in rows}) == 8
    text = str(model.explain(0.8))
    assert str(model.guarantee) in text and "80% interval" in text and "for everybody: x0." in text
    for row in rows:
        value = f"{row['mean']:.4g} [{row['low']:.4g}, {row['high']:.4g}]  if {row['cell']}"
        assert f"{row['share']:6.1%} +- {row['share_sd']:.1%}  {value}" in text


def test_shares_are_near_the_truth_by_their_own_deviation():
    """Eight cells, one draw: 6 deviations have a chance below 8 * 2e-9 under normality."""
    model = fitted()
    truth = np.bincount(model.apply(data(8000, 1)[0]), minlength=8) / 8000
    for row in model.table():
        assert abs(row["share"] - truth[row["leaf"]]) < 6 * row["share_sd"] and not row["starved"]


def test_on_a_public_model_rows_are_what_is_added_to_it(base):
    model = fitted(base)
    rows, X = model.table(), data(500, 2)[0]
    added = np.array([row["correction"] for row in rows])
    public = np.clip(base.predict(X), -2, 11)
    np.testing.assert_allclose(model.predict(X), np.clip(public + added[model.apply(X)], -2, 11), atol=1e-12)
    assert all(row["low"] <= row["high"] and "mean" not in row for row in rows)
    assert np.abs(added).max() > 0.2 and "added to the public model" in str(model.explain())


def test_a_public_model_without_contradiction_is_said_to_predict_alone(base):
    loud = fitted(base)
    quiet = SemiModel(loud.task, 0, ((0.0,) * 8,) * 5)
    assert "no evidence against the public model" in str(quiet.explain()) and "  none" in str(quiet.explain())
    assert "no evidence against the public model" not in str(loud.explain())


def test_importance_follows_what_was_learnt():
    gains = fitted().importances()
    assert sum(gains.values()) == pytest.approx(1) and max(gains, key=gains.get) == "x2"


@pytest.mark.parametrize("masks", ["personal", "hidden"])
def test_who_chose_is_said(masks):
    mask = np.random.default_rng(0).random((8000, 3)) < 0.5
    text = str(fitted(private=mask, hide_mask=masks == "hidden").explain())
    assert {"personal": "and said so.", "hidden": "and did not say."}[masks] in text


def test_empty_and_starved_cells(base):
    for given in (None, base):
        model = fitted(given)
        nobody = SemiModel(model.task, 0, ((0.0,) * 8,) * 5)
        assert all(row["starved"] and row["share"] == 0 for row in nobody.table())
        assert str(nobody.explain()).count("too few holders to tell from none") == 8


def test_long_tables_are_cut_in_text_only(monkeypatch):
    monkeypatch.setattr(words, "LONGEST", 3)
    model = fitted()
    rows = model.table()
    shown = [row["cell"] in str(model.explain()) for row in rows]
    assert sum(shown) == 3 and "... and 5 cells with fewer holders" in str(model.explain())
    assert min(r["share"] for r, s in zip(rows, shown, strict=True) if s) >= max(
        r["share"] for r, s in zip(rows, shown, strict=True) if not s
    )


def test_picture(base, tmp_path):
    for given in (None, base):
        figure = fitted(given).plot(tmp_path / "cells.svg")
        assert len(figure.axes) == 3 and "<svg" in (tmp_path / "cells.svg").read_text()


def test_simulation_is_said():
    model = fitted()
    assert "Simulation only" in str(model.explain())
    assert "Simulation" not in str(replace(model, simulation=False).explain())
