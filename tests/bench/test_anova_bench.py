"""The bench of PrivateAnova: what is measured, and the table that is written from it."""

from hedgerow.bench.anova import METHODS, main, runs
from hedgerow.bench.anova_table import write
from hedgerow.bench.results import Results


def test_runs_are_distinct_but_for_the_second_pass_and_leave_epsilon_out_where_it_means_nothing():
    found = list(runs(2, [], []))
    assert {r.method for r in found} == set(METHODS)
    assert not [r for r in found if r.method == "mean" and r.epsilon == 10]
    assert {r.epsilon for r in found if r.data == "BAN"} == {2.0}
    assert len({r for r in found if r.data == "MET"}) == 2 * (2 * len(METHODS) - 3)
    assert {r.data for r in runs(1, ["pure"], ["ABA"])} == {"ABA"}


def test_table_states_ratios_and_marks_what_was_not_measured(tmp_path):
    results = Results(tmp_path / "anova.jsonl")
    for repeat, value in enumerate([0.02, 0.04]):
        results.add(("ABA", 1.0, "PrivateAnova", repeat), {"value": value, "seconds": 1.0})
        results.add(("ABA", 1.0, "DP-EBM", repeat), {"value": 2 * value, "seconds": 1.0})
    results.add(("WHI", 1.0, "PrivateAnova", 0), {"value": 0.0179, "seconds": 1.0})
    write(tmp_path / "anova.md", results)
    text = (tmp_path / "anova.md").read_text()
    assert "| ABA | 1 | 0.0300 ± 0.0100 (2) | 0.0600 ± 0.0200 (2) | 0.50 |" in text
    assert "| WHI* | 1 | 0.0179 (1) | 0.0179 (issue 9) | 1.00 |" in text
    assert "epsilon 1 over 2 data sets: 0.71" in text
    assert main(["--out", str(tmp_path / "anova.md"), "--write-only"]) == 0
