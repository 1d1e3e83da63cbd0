"""The page on the guide's forecasts, and what it is written from."""

import numpy as np
import pandas as pd
import pytest

from hedgerow.compare.scores import Row
from hedgerow.local.advise import CurvePoints, PublicFacts, advise_from
from hedgerow_experiments.data.datasets import Dataset
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.frontier import advise
from hedgerow_experiments.frontier.advise_page import PublicRow, gather, page, pages
from hedgerow_experiments.frontier.declared import ADVISE, SIMULATED
from hedgerow_experiments.tidy import rows_of


@pytest.fixture
def facts():
    sizes = (60.0, 120.0, 240.0)
    curve = CurvePoints(sizes, tuple((m / 300) ** -0.4 for m in sizes), tuple(map(tuple, 1e-4 * np.eye(3))), 300.0)
    return PublicFacts(np.random.default_rng(0).normal(0, 0.5, 300), 240.0, curve, 1.0, 4.0)


def test_page_counts_cells_as_means_over_splits_and_single_splits():
    cells = {("ABA", "2", "local"): [(1.0, 0.8), (1.0, 1.3)], ("WHI", "2", "local"): [(2.0, 1.0)]}
    cells |= {("WHI", "2", "public only"): [(1.0, 1.0)]}
    text = page(cells, {"WHI": [PublicRow(50, 0.8, 0.9, 0.88, 1.0)]})
    assert "| local | 2 | 50% | 1 | 0% | 3 | 0% |" in text and "**off**" in text
    rows = [PublicRow(50, 1.0, 1.0, f, 1.0) for f in (0.9, 1.0, 1.1)]  # standard error 0.1/sqrt(3)
    assert "| 1.00 | 1.00 ± 0.06 |" in page(cells, {"WHI": rows})
    assert "| WHI | 50 | 1 | 0.8 | 0.9 | 0.88 | 1 | 0.80 | 0.88 |" in text


def evidence(facts):
    """Two splits that were simulated, one of which the frontier has too."""
    results = []
    errors = {"public only": 2.0, "local": 9.0, "semi-feature": 1.8, "label": 1.2}
    for repeat in (0, 2):
        measured = {"facts": facts.to_dict(), "own": 1.0, "holders": 1000}
        results.append((Key("ABA", repeat, "", 0.0, "facts"), measured))
        for name, error in errors.items():
            results.append((Key("ABA", repeat, "", 0.0, name), dict.fromkeys(("0.5", "2", "8"), error)))
    frontier = [
        Row("frontier", "ABA", "", "AssistedForest", e, None, "", repeat, "mse", 1.5 + repeat)
        for repeat in (0, 1)
        for e in (0.5, 2.0, 8.0)
    ]
    return Evidence({"advise": rows_of(ADVISE, results), "frontier": frontier})


def test_cells_have_the_splits_that_were_simulated_and_the_draws_of_the_frontier(facts):
    found = evidence(facts)
    cells, known = gather(found)
    scores = [r for r in found.rows("advise") if r.setting in SIMULATED]
    assert len(scores) == 2 * 2 * 4 * 3  # splits, forecast and simulated, settings, epsilons
    assert [s for _, s in cells["ABA", "8", "local"]] == [1.5, 9.0]
    assert [s for _, s in cells["ABA", "8", "label"]] == [1.2, 1.2]
    advice = advise_from(facts, 2.0, 1000)
    assert cells["ABA", "2", "label"][0][0] == advice.expected("label", 1000)
    assert list(known) == ["ABA"] and known["ABA"][0] == PublicRow(
        300, 1.0, float(np.mean(facts.residuals**2)), advice.mean_square, 2.0
    )
    assert "| ABA | 300 | 2 |" in pages(found)["advise.md"].decode()


def test_every_setting_is_simulated_on_the_same_split_and_model(monkeypatch):
    asked, made = [], []
    X = pd.DataFrame(np.random.default_rng(0).random((100, 2)), columns=["a", "b"])
    monkeypatch.setattr(advise, "load_dataset", lambda code: Dataset(code, X, X["a"].to_numpy(), "y"))
    monkeypatch.setattr(advise, "fitted_model", lambda *given: made.append(given) or "model")
    monkeypatch.setattr(
        advise, "predicted", lambda name, s, base, e, seed: asked.append((name, base, e, seed)) or s.test.y + 2.0
    )
    advise._split.cache_clear()
    for name in SIMULATED:
        assert advise.compute(Key("ABA", 5, "", 0.0, name), 5) == pytest.approx({"0.5": 4.0, "2": 4.0, "8": 4.0})
    advise._split.cache_clear()
    assert asked == [(name, "model", e, 5) for name in SIMULATED for e in (0.5, 2.0, 8.0)] and len(made) == 1
