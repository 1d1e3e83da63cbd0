"""The page on the guide's forecasts, and what it is written from."""

import numpy as np
import pytest

from hedgerow.local.advise import CurvePoints, PublicFacts, advise_from
from hedgerow_experiments.frontier import advise, advise_simulate
from hedgerow_experiments.frontier.advise import gather, simulate_missing
from hedgerow_experiments.frontier.advise_page import PublicRow, page
from hedgerow_experiments.results import Results


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


def test_cells_have_the_splits_that_were_simulated_and_the_draws_of_the_frontier(tmp_path, monkeypatch, facts):
    monkeypatch.setattr(advise, "public_facts", lambda code, repeat: (facts, 1.0))
    monkeypatch.setattr(advise, "_holders", lambda code: 1000)
    simulated, frontier = Results(tmp_path / "a.jsonl"), Results(tmp_path / "f.jsonl")
    errors = {"public only": 2.0, "local": 9.0, "semi-feature": 1.8, "label": 1.2}
    for repeat in (0, 2):
        simulated.add(("ABA", repeat), {"mse": dict.fromkeys(("0.5", "2", "8"), errors)})
    for repeat in (0, 1):
        assisted = {key: [1.0 + repeat, 2.0 + repeat] for key in ("0.5", "2", "8")}
        frontier.add(("ABA", repeat, 2), {"public": 2.0, "assisted": assisted})
    cells, known, rows = gather(simulated, frontier, ["ABA", "RED"])
    kept = {(r.repeat, r.value) for r in rows if (r.setting, r.method, r.epsilon) == ("local", "simulated", 8.0)}
    assert kept == {(0, 1.5), (2, 9.0)}
    assert len(rows) == 2 * 2 * 4 * 3  # splits, forecast and simulated, settings, epsilons
    assert [s for _, s in cells["ABA", "8", "local"]] == [1.5, 9.0]
    assert [s for _, s in cells["ABA", "8", "label"]] == [1.2, 1.2]
    advice = advise_from(facts, 2.0, 1000)
    assert cells["ABA", "2", "label"][0][0] == advice.expected("label", 1000)
    assert list(known) == ["ABA"] and known["ABA"][0] == PublicRow(
        300, 1.0, float(np.mean(facts.residuals**2)), advice.mean_square, 2.0
    )


def test_a_setting_can_be_simulated_again_alone(tmp_path, monkeypatch):
    asked = []

    def simulate(code, repeat, row, settings):
        asked.append((code, repeat, tuple(settings)))
        return {"mse": {e: dict.fromkeys(settings, 2.0) for e in ("0.5", "2", "8")}}

    monkeypatch.setattr(advise_simulate, "simulate_split", simulate)
    path, errors = tmp_path / "a.jsonl", {"public only": 1.0, "local": 1.0, "semi-feature": 1.0, "label": 1.0}
    Results(path).add(("ABA", 0), {"mse": dict.fromkeys(("0.5", "2", "8"), errors)})
    wanted = [("ABA", 0), ("RED", 0)]
    simulate_missing(path, None, wanted, again=["label"])
    assert asked == [("ABA", 0, ("label",)), ("RED", 0, ("public only", "local", "semi-feature", "label"))]
    found = Results(path)["ABA", 0]["mse"]["2"]
    assert found == {**errors, "label": 2.0}
    simulate_missing(path, None, wanted)  # nothing is missing any more
    assert len(asked) == 2
