"""The bench's masks, grids and page, on made-up results."""

import numpy as np

from hedgerow.randomness import SeededRandomness
from hedgerow_experiments.data.datasets import Dataset
from hedgerow_experiments.experiment import Selection
from hedgerow_experiments.histoftree.declared import FIGURE_2, TABLES
from hedgerow_experiments.histoftree.methods import METHODS, make_trial, mask_for, n_sensitive
from hedgerow_experiments.histoftree.page import markdown
from hedgerow_experiments.tidy import rows_of


def small():
    pd = __import__("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": np.array(list("fm"))[rng.integers(0, 2, 150)], "a": rng.random(150), "b": rng.random(150)})
    return Dataset("TOY", X, X["a"].to_numpy() + rng.normal(0, 0.1, 150), "y")


def test_masks_are_those_of_section_5_2():
    assert [n_sensitive(d) for d in (6, 8, 11, 26, 68, 107)] == [1, 2, 2, 2, 3, 3]
    aligned, personal = mask_for(1000, 8)
    assert aligned.tolist() == [True] * 2 + [False] * 6
    assert personal.sum(axis=0).tolist() == [1000, 100, 100, 10, 10, 1, 1, 0]


def test_every_method_runs_over_its_grid_and_repeats_itself():
    trial = make_trial(small(), 0)
    assert trial.X.min() == 0 and trial.X.max() == 1 and len(trial.y_test) == 30
    for name in ("HistOfTree-ME", "AdHistOfTree-CART", "ParDT", "KRR", "Hist", "LabelDT", "DT"):
        once, twice = (METHODS[name](trial, 2.0, False, SeededRandomness(1)) for _ in range(2))
        assert once == twice
        assert all(np.isfinite(e) and e >= 0 for e in once.values())


def test_the_page_is_written_from_complete_repeats_only():
    rng = np.random.default_rng(0)
    results, figures = [], []
    for repeat in range(3):
        for key in list(TABLES.keys(Selection(1, repeat, ("ABA",))))[: None if repeat < 2 else 5]:
            grid = {"1/shrunk": 1 + rng.random(), "1/plain": 2 + rng.random()} if "Tree" in key.group else {"1": 2.0}
            results.append((key, grid))
    for key in FIGURE_2.keys(Selection(1)):
        shares = {
            f"0.5/{p}/{t}/{e}": float(rng.random()) for p in range(9) for t in (1, 2, 3) for e in ("shrunk", "plain")
        }
        figures.append((key, shares))
    page = markdown(rows_of(TABLES, results), rows_of(FIGURE_2, figures), {})
    assert "ABA 2" in page and "rank sum" in page and "Figure 2" in page
    assert "nan" not in page
