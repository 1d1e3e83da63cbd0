"""The page on what privacy costs: figures and tables of the same means."""

import pytest

from hedgerow.compare.scores import Row
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.frontier import costs
from hedgerow_experiments.frontier.declared import COSTS
from hedgerow_experiments.tidy import rows_of

EPSILONS = (0.5, 2.0, 8.0)


def evidence(codes=("ABA", "RED"), central=True):
    rows, ours = [], []
    for code in codes:
        for repeat in range(2):
            errors = {"public only": 2.0, "local": 1.9 + repeat, "semi-feature": 1.8, "label": 1.2}
            for name, error in errors.items():
                rows += [Row("advise", code, name, "simulated", e, None, "", repeat, "mse", error) for e in EPSILONS]
            ours.append((Key(code, repeat, "", 0.0, "central"), {"0.5": 3.0, "2": 2.0, "8": 1.1}))
            ours.append((Key(code, repeat, "", 0.0, "not private"), {"": 1.0}))
    return Evidence({"advise": rows, "costs": rows_of(COSTS, ours) if central else []})


def test_one_figure_and_one_table_a_data_set():
    pytest.importorskip("matplotlib")
    files = costs.pages(evidence())
    text = files["costs.md"].decode()
    assert text.count("| 0.5 | 2.4 | 1.8 | 1.2 | 3 | 2 | 1 |") == 2 and "splits (2)" in text
    for code in ("ABA", "RED"):
        assert f"(costs_{code}.svg)" in text and len(files[f"costs_{code}.svg"]) < 100_000


def test_sets_without_all_trust_models_are_left_out():
    assert costs.gather(evidence(("ABA",), central=False)) == {} == costs.pages(evidence(central=False))


def test_both_ends_are_computed(monkeypatch):
    import numpy as np
    import pandas as pd

    from hedgerow_experiments.data.datasets import Dataset

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((200, 2)), columns=["a", "b"])
    monkeypatch.setattr(costs, "load_dataset", lambda code: Dataset(code, X, X["a"].to_numpy(), "y"))
    assert costs.compute(Key("ABA", 0, "", 0.0, "not private"), 0)[""] < 0.02
    assert list(costs.compute(Key("ABA", 0, "", 0.0, "central"), 0)) == ["0.5", "2", "8"]
