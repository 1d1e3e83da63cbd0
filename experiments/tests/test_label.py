"""The experiments: cells are repeatable, runs go on where they stopped, the report counts the targets."""

import json
from pathlib import Path

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow_experiments.data.datasets import data_folder
from hedgerow_experiments.label.data import Case, load_case
from hedgerow_experiments.label.network import PaperNetwork, predict_many
from hedgerow_experiments.label.trials import MECHANISMS, main, read_results, run_block, run_cell

OPTIONS = [
    "--datasets",
    "simulated-linear",
    "--learners",
    "network",
    "--mechanisms",
    "RPWithPrior,Laplace",
    "--epsilons",
    "4",
]


def test_a_run_goes_on_where_it_stopped(tmp_path):
    out = tmp_path / "label.md"
    assert main([*OPTIONS, "--repeats", "1", "--out", str(out)]) == 0
    store = out.with_suffix(".jsonl")
    first = store.read_text()
    assert main([*OPTIONS, "--repeats", "1", "--out", str(out)]) == 0
    assert store.read_text() == first and len(read_results(store)) == 2
    text = out.read_text()
    assert "## simulated-linear, network" in text and "| 4 |" in text


def test_report_counts_the_targets(tmp_path):
    store, out, reference = tmp_path / "a.jsonl", tmp_path / "a.md", tmp_path / "paper.csv"
    rows = [("RPWithPrior", 0.5), ("auto", 0.52), ("Laplace", 0.9)]  # auto: 0.525 / 0.505
    cell = {"dataset": "crime", "learner": "network", "debias": "shrink", "epsilon": "1.0"}
    lines = [json.dumps({**cell, "mechanism": m, "trial": t, "mse": v + t / 100}) for m, v in rows for t in (0, 1)]
    store.write_text("\n".join(lines) + "\n")
    reference.write_text("dataset,epsilon,mechanism,mse,std\ncrime,1.0,RPWithPrior,0.5,0.01\n")
    main(["--report-only", "--store", str(store), "--out", str(out), "--reference", str(reference)])
    assert "| crime | network | 2 | 1 of 1 | 1 of 1 | 4% | 0 |" in out.read_text()


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
    one, two = (run_cell(small, "network", "RRonBins", 2.0, 0, "shrink", 20.0) for _ in range(2))
    assert one == two and np.isfinite(one)
    with pytest.raises(HedgerowError, match="unknown data set"):
        load_case("criteo", 0)


@pytest.mark.shared
@pytest.mark.skipif(data_folder() is None, reason="the papers' data are not here")
def test_the_papers_figure_is_reached_on_crime():
    reference = Path("../shared/reference/rpwithprior_mse.csv")
    if not reference.exists():
        pytest.skip("the paper's figures are not here")
    mse = np.mean([run_cell(load_case("crime", 0), "network", "RPWithPrior", 1.0, t, "shrink", 25.0) for t in (0, 1)])
    assert mse < 0.0411 + 0.0042  # Table 1 at epsilon = 1: mean and deviation
