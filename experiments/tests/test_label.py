"""The label experiments: cells are repeatable, runs go on where they stopped, the page counts the targets."""

import numpy as np
import pytest

from hedgerow.compare.scores import Row
from hedgerow.errors import HedgerowError
from hedgerow_experiments.data.datasets import data_folder
from hedgerow_experiments.experiment import Key, Selection
from hedgerow_experiments.export import export
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.label import trials
from hedgerow_experiments.label.data import Case, load_case
from hedgerow_experiments.label.declared import LABEL
from hedgerow_experiments.label.network import PaperNetwork, predict_many
from hedgerow_experiments.label.page import pages
from hedgerow_experiments.label.trials import MECHANISMS, run_block
from hedgerow_experiments.printed import Printed
from hedgerow_experiments.runner import run


def test_a_run_goes_on_where_it_stopped(tmp_path):
    few = Selection(1, None, ("simulated-linear",), (4.0,), ("RPWithPrior", "Laplace"), ("network",))
    for _ in range(2):
        results = run(LABEL, few, folder=tmp_path, quiet=True)
        assert len(results) == 2 and len((tmp_path / "label.jsonl").read_text().splitlines()) == 3
    export(LABEL, tmp_path)
    text = pages(Evidence.load(tmp_path))["label.md"].decode()
    assert "## simulated-linear, network" in text and "| 4 |" in text


def test_the_page_counts_the_targets():
    errors = [("RPWithPrior", 0.5), ("auto", 0.52), ("Laplace", 0.9)]  # auto: 0.525 / 0.505
    rows = [row("label", m, t, v + t / 100) for m, v in errors for t in (0, 1)]
    printed = [Printed("label", "network", "crime", "RPWithPrior", 1.0, 0.5, 0.01)]
    text = pages(Evidence({"label": rows}, printed))["label.md"].decode()
    assert "| crime | network | 2 | 1 of 1 | 1 of 1 | 4% | 0 |" in text and "| 0.5 (0.01) |" in text
    other = [row("label-debias", f"Optimal/{way}", t, t + 1.0) for way in ("shrink", "none") for t in (0, 1)]
    other.append(row("label-debias", "Optimal/shrink", 2, 99.0))  # a trial that the others lack
    text = pages(Evidence({"label": rows, "label-debias": other}, printed))["label.md"].decode()
    assert "| crime | network | Optimal | 1 | 2 | 1.5 (0.71) | - | 1.5 (0.71) |" in text


def row(experiment, method, repeat, value):
    return Row(experiment, "crime", "network", method, 1.0, None, "", repeat, "mse", value)


def test_mechanisms_of_a_trial_share_fits_and_splits_that_were_looked_at_are_left_out(monkeypatch):
    seen = []

    def run_block(case, learner, variants, epsilon, trial, averaging, fits):
        seen.append((learner, *variants, epsilon, trial, averaging, id(fits)))
        return [1.5]

    monkeypatch.setattr(trials, "run_block", run_block)
    monkeypatch.setattr(trials, "measure_averaging", lambda *_: 0.25)
    monkeypatch.setattr(trials, "load_case", lambda *_: Case(np.zeros((10, 1)), np.zeros(10), (0.0, 1.0)))
    trials._case.cache_clear()
    trials._shared.cache_clear()
    for name in ("Laplace", "auto/none"):
        assert trials.compute(Key("crime", 3, "network", 2.0, name), 0) == {name: 1.5}
    trials._case.cache_clear()
    trials._shared.cache_clear()
    (first, second), start = seen, trials.FIRST["crime"]
    assert first[:5] == ("network", ("Laplace", "shrink"), 2.0, 3 + start, 0.25)
    assert second[1] == ("auto", "none") and first[5] == second[5]


def test_several_networks_in_step_are_those_of_scikit_learn():
    case = load_case("simulated-linear", 0)
    X, Xt, network = case.X[:500], case.X[500:600], PaperNetwork(case.bounds, 128, (), 3)
    labels = [case.y[:500], np.random.default_rng(0).normal(size=500)]
    many = predict_many(network, X, labels, Xt, np.float64)
    for y, predicted in zip(labels, many, strict=True):
        assert np.abs(predicted - network.fit(X, y).predict(Xt)).max() < 1e-9
    single = predict_many(network, X, labels, Xt)
    assert np.abs(np.array(single) - many).max() < 0.05  # single precision is enough


def test_auto_is_the_mechanism_it_chose():
    case = load_case("simulated-linear", 0)
    small = Case(case.X[:400], case.y[:400], case.bounds)
    variants = [(m, "shrink") for m in MECHANISMS]
    auto, *others = run_block(small, "network", sorted(variants, key=lambda v: v[0] != "auto"), 2.0, 0, 20.0)
    assert auto in others
    assert len(set(run_block(small, "network", variants, np.inf, 0, 20.0))) == 1


def test_a_cell_is_repeatable():
    case = load_case("simulated-nonlinear", 0)
    small = Case(case.X[:300], case.y[:300], case.bounds)
    one, two = (run_block(small, "network", [("RRonBins", "shrink")], 2.0, 0, 20.0)[0] for _ in range(2))
    assert one == two and np.isfinite(one)
    with pytest.raises(HedgerowError, match="unknown data set"):
        load_case("advertising", 0)


@pytest.mark.shared
@pytest.mark.skipif(data_folder() is None, reason="the papers' data are not here")
def test_the_papers_figure_is_reached_on_crime():
    case, variants = load_case("crime", 0), [("RPWithPrior", "shrink")]
    mse = np.mean([run_block(case, "network", variants, 1.0, t, 25.0) for t in (0, 1)])
    assert mse < 0.0411 + 0.0042  # Table 1 at epsilon = 1: mean and deviation
