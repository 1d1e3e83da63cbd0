"""An assisted model, in words: the same numbers that it predicts with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow.local.assisted import design_assisted
from hedgerow.tasks.assisted import AssistedModel
from hedgerow.tasks.assisted import explain as words


def make(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, 3 * X[:, 0] + 2 * (X[:, 1] > 0.6) + 0.5 * rng.normal(size=n)


@pytest.fixture(scope="module")
def model():
    task = design_assisted(*make(300, 0), epsilon=4.0, n_holders=20_000, public_model=Ridge(), label_bounds=(-2, 8))
    return task.simulate(*make(20_000, 1), 1).model()


def test_rows_are_what_the_model_predicts(model):
    rows = model.table()
    kept = {(row["tree"], row["leaf"]): row["kept"] for row in rows}
    X = make(300, 2)[0]
    public, leaf = model.task.place(model.task.space.encode(X))
    added = np.mean([[kept[t, j] for t, j in enumerate(record)] for record in leaf.tolist()], axis=1)
    np.testing.assert_allclose(model.predict(X), np.clip(public + added, -2, 8), atol=1e-12)
    for t in range(len(model.task.shares)):
        assert sum(r["share"] for r in rows if r["tree"] == t) == pytest.approx(1)
        assert sum(r["public_share"] for r in rows if r["tree"] == t) == pytest.approx(1)
    one = rows[-1]
    assert one["estimate"] == model.corrections.d[-1][-1] and one["estimate_sd"] ** 2 == pytest.approx(
        model.corrections.V[-1][-1]
    )


def test_text_says_every_leaf_and_what_is_believed(model, monkeypatch):
    monkeypatch.setattr(words, "_LONGEST", 1000)
    text, (whole, leaves) = str(model.explain()), model.factors
    assert (
        str(model.guarantee) in text and f"{whole:.0%} is kept; of the differences between leaves {leaves:.0%}" in text
    )
    assert f"{model.task.residuals.mean_square:.4g}" in text
    for row in model.table():
        assert f"-> {row['kept']:.4g}  if {row['cell']}" in text


def test_overall_error_of_the_public_model_is_near_the_truth(model):
    """The verdict's number against the mean clipped error: 6 deviations, a chance below 2e-9 under normality."""
    X, y = make(20_000, 1)
    said = words.verdict(model).split("off by ")[1].split(" over")[0].split(" +- ")
    assert abs(float(said[0]) - np.mean(y - model.predict_public(X))) < 6 * float(said[1]) + 0.05


def test_nobody_answered(model):
    empty = AssistedModel(model.task, 0, (0,) * len(model.sums))
    assert all(row["estimate"] is None and row["kept"] == 0 for row in empty.table())
    text = str(empty.explain())
    assert "the public model predicts alone" in text and "nobody answered -> 0" in text
    assert empty.plot().axes


def test_long_tables_keep_the_leaves_that_matter(model, monkeypatch):
    monkeypatch.setattr(words, "_LONGEST", 4)
    rows, text = model.table(), str(model.explain())
    top = max(rows, key=lambda row: abs(row["kept"]) * row["share"])
    assert text.count("  if ") == 4 and f"-> {top['kept']:.4g}  if {top['cell']}" in text
    assert f"... and {len(rows) - 4} leaves that correct less" in text


def test_contradicted_public_shares_are_said(model):
    assert ("deviations in all: holders" in str(model.explain())) == (model.corrections.shift > 0)
    moved = replace(model)
    object.__setattr__(moved, "corrections", replace(model.corrections, shift=0.5))
    assert "deviations in all: holders" in str(moved.explain())


def test_picture(model, tmp_path):
    model.plot(tmp_path / "leaves.svg")
    assert "<svg" in (tmp_path / "leaves.svg").read_text()


def test_trees_that_nobody_answered_yet(model):
    """One report: one tree has it, and the noise of the whole is without bound."""
    one = model.task.simulate(*make(1, 5), 1).model()
    rows, text = one.table(), str(one.explain())
    assert {row["tree"] for row in rows if row["estimate"] is not None} != set(range(len(model.task.shares)))
    assert "corrected by 1 report about" in text and "Not every tree has a report yet" in text and "e+1" not in text
    assert all(row["kept"] == 0 for row in rows) and "e-" not in text.split("Leaves")[1]
