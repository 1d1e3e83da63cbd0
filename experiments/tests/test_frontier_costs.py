"""The page on what privacy costs: figures and tables of the same means."""

import pytest

from hedgerow_experiments.frontier import costs as frontier_costs
from hedgerow_experiments.results import Results


def fill(folder, codes=("ABA", "RED")):
    (folder / "results").mkdir()
    simulated, central = Results(folder / "results/advise.jsonl"), Results(folder / "results/costs.jsonl")
    for code in codes:
        for repeat in range(2):
            found = {"public only": 2.0, "local": 1.9 + repeat, "semi-feature": 1.8, "label": 1.2}
            simulated.add((code, repeat), {"mse": {"0.5": found, "2": found, "8": found}})
            central.add((code, repeat), {"free": 1.0, "central": {"0.5": 3.0, "2": 2.0, "8": 1.1}})


def test_one_figure_and_one_table_a_data_set(tmp_path):
    pytest.importorskip("matplotlib")
    fill(tmp_path)
    out = tmp_path / "costs.md"
    assert frontier_costs.main(["--out", str(out), "--datasets", "ABA,RED", "--repeats", "2"]) == 0
    text = out.read_text()
    assert text.count("| 0.5 | 2.4 | 1.8 | 1.2 | 3 | 2 | 1 |") == 2 and "splits (2)" in text
    for code in ("ABA", "RED"):
        assert f"images/costs_{code}.svg" in text
        assert (tmp_path / f"images/costs_{code}.svg").stat().st_size < 100_000


def test_sets_without_all_trust_models_are_left_out(tmp_path):
    fill(tmp_path, ("ABA",))
    found = frontier_costs.gather(Results(tmp_path / "results/advise.jsonl"), Results(tmp_path / "none.jsonl"), ["ABA"])
    assert found == {}
