"""The page of the frontier experiments."""

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow_experiments.frontier import compute as frontier
from hedgerow_experiments.frontier.page import page, ratios


def fake(public, factor):
    errors = {f"{e:g}": [public * factor, public * factor] for e in frontier.EPSILONS}
    return {"public": public, "assisted": errors, "seconds": 1.0, "kB": 100, "seed": 0}


def test_page_states_means_harm_and_which_sets_were_kept_out():
    results = [(("CON", 0, 2), fake(4.0, 0.9)), (("AQU", 0, 2), fake(1.0, 1.02)), (("RED->WHI", 0, 2), fake(0.7, 0.9))]
    text = page(results, frontier.DESIGN, frontier.EPSILONS)
    assert "| CON (design) | 1 | 4 | 100 | 0.900 |" in text and "| AQU | 1 | 1 | 100 | 1.020 |" in text
    assert "12 of 12" in text and "0 of 12" in text
    assert f"**{np.sqrt(0.9 * 1.02):.3f}**" in text and "geometric mean, kept out | | | | **1.020**" in text.replace(
        "  ", " "
    )
    assert "0.630" in text and "public model has 0.700" in text


def test_page_states_the_gap_that_private_labels_close():
    value = {"public": 1.0, "free": 0.5, "holders": 9, "label": {"1": 0.8, "4": 0.6}}
    text = page([(("label", "CAL", 0), value)], frontier.DESIGN, frontier.EPSILONS)
    assert "| CAL | 9 | 1 | 1 | 0.5 | 0.40 | 0.80 | 0.12/0.20/0.25/0.28 |" in text


def test_page_states_the_other_shifts():
    text = page([(("shift", "TAX13->TAX", 0, 2), fake(2.0, 0.5))], frontier.DESIGN, frontier.EPSILONS)
    assert "| TAX13->TAX | 1 | 2 | 0.500 |" in text and "2013" in text


def test_public_models_are_fitted_once_for_the_same_records(tmp_path, monkeypatch):
    from hedgerow_experiments.frontier import models as frontier_models

    X, y = np.random.default_rng(0).random((20, 2)), np.arange(20.0)
    monkeypatch.setenv(frontier_models.FOLDER, str(tmp_path))
    first, _ = frontier_models.fitted_model(X, y, 0)
    monkeypatch.setattr(frontier_models, "PublicModel", None)
    again, _ = frontier_models.fitted_model(X, y, 0)
    assert np.array_equal(again.predict(X), first.predict(X))
    with pytest.raises(TypeError):
        frontier_models.fitted_model(X, y, 1)  # another seed is another model


def test_assisted_models_have_the_pilot_of_the_estimator():
    from sklearn.linear_model import Ridge

    from hedgerow import PublicModel
    from hedgerow.local.assisted import design_assisted
    from hedgerow.tasks.assisted import simulate_assisted
    from hedgerow_experiments.frontier.models import assisted_models

    rng = np.random.default_rng(0)
    X, noise = rng.random((5200, 2)), rng.normal(size=5200)
    public = (X[:200], noise[:200])
    base = PublicModel(Ridge(), random_state=0).fit(*public)
    options = {"epsilon": 4.0, "label_bounds": (-30.0, 30.0), "base": base, "random_state": 0}
    same, wide = (X[200:], noise[200:]), (X[200:], 5 * noise[200:])
    task = design_assisted(*public, n_holders=5000, **options)
    (alone,) = assisted_models(public, same, [7], pilot=None, **options)
    assert alone == simulate_assisted(task, *same, 7).model()
    first, second = assisted_models(public, same, [7, 8], pilot="auto", **options)
    assert first.n_reports == second.n_reports == 5000 - 155 and first.task == second.task
    assert first.task.radius == task.radius
    assert assisted_models(public, wide, [7], pilot="auto", **options)[0].task.radius > 3 * task.radius


def test_ratio_is_of_means_over_splits():
    runs = [fake(1.0, 1.0), fake(3.0, 0.5)]
    assert ratios(runs, 1.0) == (pytest.approx(2.5 / 4), 0, 4)


def test_at_least_four_sets_are_kept_out():
    assert len(set(frontier.DATASETS) - set(frontier.DESIGN)) >= 4


def test_missing_data_is_an_error_and_not_a_traceback(tmp_path, monkeypatch, capsys):
    def missing(code):
        raise HedgerowError(f"data set {code} was not found")

    monkeypatch.setattr(frontier, "load_dataset", missing)
    assert frontier.main(["--out", str(tmp_path / "page.md"), "--datasets", "CON", "--repeats", "1"]) == 2
    assert "was not found" in capsys.readouterr().err


def test_runs_resume(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(frontier, "one_split", lambda code, repeat, draws: calls.append(code) or fake(1.0, 0.9))
    monkeypatch.setattr(frontier, "shift_split", lambda repeat, draws: calls.append("shift") or fake(1.0, 0.9))
    few = ["--datasets", "CON,AIR", "--repeats", "2", "--label-repeats", "0", "--shift-repeats", "0"]
    for _ in range(2):
        assert frontier.main(["--out", str(tmp_path / "f.md"), *few]) == 0
    assert calls == ["CON", "AIR", "shift"] * 2 and "0.900" in (tmp_path / "f.md").read_text()
