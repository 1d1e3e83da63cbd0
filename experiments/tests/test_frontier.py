"""The page of the frontier experiments."""

import numpy as np
import pytest

from hedgerow_experiments.experiment import Key
from hedgerow_experiments.found import KEPT, Evidence
from hedgerow_experiments.frontier import compute as frontier
from hedgerow_experiments.frontier.declared import DESIGN, EPSILONS, FRONTIER
from hedgerow_experiments.frontier.page import page, pages, ratios
from hedgerow_experiments.tidy import rows_of


def split(code, public, factor, setting="", repeat=0):
    """Rows of one split: two draws with the same error at every epsilon."""
    errors = {f"{e:g}": [public * factor, public * factor] for e in EPSILONS}
    return rows_of(FRONTIER, [(Key(code, repeat, setting, 0.0, "assisted"), value(public, errors))])


def value(public, errors):
    return {"public": public, "assisted": errors, "kB": 100}


def text_of(*splits):
    return page(Evidence({"frontier": [row for rows in splits for row in rows]}))


def test_page_states_means_harm_and_which_sets_were_kept_out():
    text = text_of(split("CON", 4.0, 0.9), split("AQU", 1.0, 1.02), split("RED->WHI", 0.7, 0.9, "shift"))
    assert "| CON (design) | 1 | 4 | 100 | 0.900 |" in text and "| AQU | 1 | 1 | 100 | 1.020 |" in text
    assert "12 of 12" in text and "0 of 12" in text
    assert f"**{np.sqrt(0.9 * 1.02):.3f}**" in text and "geometric mean, kept out | | | | **1.020**" in text.replace(
        "  ", " "
    )
    assert "0.630" in text and "public model has 0.700" in text


def test_page_states_the_gap_that_private_labels_close():
    labels = {"0.5": 0.9, "1": 0.8, "2": 0.7, "4": 0.6}
    key = Key("CAL", 0, "labels", 0.0, "labels")
    text = text_of(rows_of(FRONTIER, [(key, {"public": 1.0, "free": 0.5, "holders": 9, "label": labels})]))
    assert "| CAL | 9 | 1 | 1 | 0.5 | 0.20 | 0.40 | 0.60 | 0.80 | 0.12/0.20/0.25/0.28 |" in text


def test_page_states_the_other_shifts():
    text = text_of(split("TAX13->TAX", 2.0, 0.5, "shift"))
    assert "| TAX13->TAX | 1 | 2 | 0.500 |" in text and "2013" in text


def test_a_page_that_is_kept_is_not_made(tmp_path):
    found = Evidence({"frontier": split("CON", 4.0, 0.9)}, folder=tmp_path)
    assert list(pages(found)) == ["frontier.md"]
    (tmp_path / KEPT).mkdir()
    (tmp_path / KEPT / "frontier.md").write_text("as it was")
    assert pages(found) == {} == pages(Evidence({}))


def test_rows_have_every_draw_and_their_mean():
    found = rows_of(FRONTIER, [(Key("ABA", 0, "", 0.0, "assisted"), value(4.0, {"0.5": [1.0, 2.0]}))])
    assert {(r.method, r.epsilon, r.metric): r.value for r in found} == {
        ("public model", None, "mse"): 4.0,
        ("public model", None, "kB"): 100,
        ("AssistedForest", 0.5, "mse"): 1.5,
        ("AssistedForest, draw 0", 0.5, "mse"): 1.0,
        ("AssistedForest, draw 1", 0.5, "mse"): 2.0,
    }


def test_public_models_are_fitted_once_for_the_same_records(tmp_path, monkeypatch):
    from hedgerow_experiments.frontier import models as frontier_models

    X, y = np.random.default_rng(0).random((20, 2)), np.arange(20.0)
    monkeypatch.setenv(frontier_models.FOLDER, str(tmp_path))
    first = frontier_models.fitted_model(X, y, 0)
    monkeypatch.setattr(frontier_models, "PublicModel", None)
    again = frontier_models.fitted_model(X, y, 0)
    assert np.array_equal(again.predict(X), first.predict(X))
    with pytest.raises(TypeError):
        frontier_models.fitted_model(X, y, 1)  # another seed is another model


def test_assisted_models_have_the_pilot_of_the_estimator():
    from sklearn.linear_model import Ridge

    from hedgerow import PublicModel
    from hedgerow.local.assisted import design_assisted
    from hedgerow_experiments.frontier.models import assisted_models

    rng = np.random.default_rng(0)
    X, noise = rng.random((5200, 2)), rng.normal(size=5200)
    public = (X[:200], noise[:200])
    base = PublicModel(Ridge(), random_state=0).fit(*public)
    options = {"epsilon": 4.0, "label_bounds": (-30.0, 30.0), "public_model": base, "random_state": 0}
    same, wide = (X[200:], noise[200:]), (X[200:], 5 * noise[200:])
    task = design_assisted(*public, n_holders=5000, **options)
    (alone,) = assisted_models(public, same, [7], pilot=None, **options)
    assert alone == task.simulate(*same, 7).model()
    first, second = assisted_models(public, same, [7, 8], pilot="auto", **options)
    assert first.n_reports == second.n_reports == 5000 - 155 and first.task == second.task
    assert first.task.radius == task.radius
    assert assisted_models(public, wide, [7], pilot="auto", **options)[0].task.radius > 3 * task.radius


def test_ratio_is_of_means_over_splits():
    runs = [value(1.0, {"1": [1.0, 1.0]}), value(3.0, {"1": [1.5, 1.5]})]
    assert ratios(runs, 1.0) == (pytest.approx(2.5 / 4), 0, 4)


def test_at_least_four_sets_are_kept_out():
    assert len(set(FRONTIER.groups[0].datasets) - set(DESIGN)) >= 4


def test_a_cell_is_computed_by_its_setting(monkeypatch):
    for name in ("one_split", "shift_split", "other_shift", "label_split"):
        monkeypatch.setattr(frontier, name, lambda *given, name=name: (name, *given))
    cells = [("ABA", ""), ("RED->WHI", "shift"), ("WHI->RED", "shift"), ("CAL", "labels")]
    assert [frontier.compute(Key(code, 3, setting, 0.0, "-"), 0) for code, setting in cells] == [
        ("one_split", "ABA", 3, 2), ("shift_split", 3, 2), ("other_shift", "WHI->RED", 3, 2), ("label_split", "CAL", 3),
    ]  # fmt: skip
