"""Tables of results: signed ranks, marks, rank sums, and their forms, exactly."""

import math

import numpy as np
import pytest

from hedgerow.compare.scores import Summary
from hedgerow.errors import HedgerowError
from hedgerow_experiments.forms import escape_latex, number, to_csv, to_latex, to_markdown
from hedgerow_experiments.ranks import mean_ranks, paired, signed_rank
from hedgerow_experiments.tables import Entry, Table, rank_sums, tabulate


def cell(data, method, *values, start=0):
    return Summary(data, "", method, 1.0, None, "mse", "", dict(enumerate(values, start)))


def test_signed_rank_agrees_with_scipy_without_and_with_ties():
    from scipy.stats import wilcoxon

    rng = np.random.default_rng(1)
    for n in (5, 12, 30):
        a, b = rng.normal(size=n), rng.normal(0.4, size=n)
        exact = wilcoxon(a, b, alternative="less", method="exact").pvalue
        assert signed_rank(a, b) == pytest.approx(exact, abs=1e-12)
    # With ties, all signs by hand: |d| = 1, 1, 2 with ranks 1.5, 1.5, 3 and d > 0 for the first only: W = 1.5.
    # Sums at most 1.5 of 8: {}, {first}, {second}.
    assert signed_rank([2, 0, 0], [1, 1, 2]) == 3 / 8


def test_signed_rank_of_equal_samples_and_of_zeros():
    assert signed_rank([], []) == signed_rank([1.0, 2.0], [1.0, 2.0]) == 1.0
    assert signed_rank([1.0, 5.0], [2.0, 5.0]) == 0.5


def test_signed_rank_is_one_sided_and_strong_at_fifty():
    a = np.arange(50.0)
    assert signed_rank(a, a + 1 + a / 100) == pytest.approx(2.0**-50)
    assert signed_rank(a + 1, a) == 1.0


def test_ranks_share_ties():
    assert mean_ranks([3, 1, 3, 3]) == [3.0, 1.0, 3.0, 3.0]
    assert paired({1: 1.0, 3: 2.0}, {3: 5.0, 4: 1.0}) == ([2.0], [5.0])


LOW = (1.0, 1.1, 1.2, 0.9, 1.05, 0.95)


@pytest.fixture
def table():
    high = tuple(v + 1 for v in LOW)
    middle = tuple(v + 0.5 for v in LOW)
    cells = [
        cell("A", "x", *LOW), cell("A", "y", *middle), cell("A", "z", *high),
        cell("B", "x", *high), cell("B", "y", *LOW),
        cell("C_1", "x", 2.0), cell("C_1", "y", 2.0), cell("C_1", "z", 3.0),
    ]  # fmt: skip
    return tabulate(cells, paper={("A", "x"): 2.0, ("A", "z"): 4.0})


def test_best_second_and_star(table):
    rows = dict(table.rows)
    x, y, z = rows["A"]
    assert (x.best, x.second, x.star) == (True, False, True)
    assert (y.best, y.second) == (False, True) and not (z.best or z.second or z.star)
    assert x.ratio == pytest.approx(sum(LOW) / 6 / 2)


def test_missing_cells_and_ties(table):
    rows = dict(table.rows)
    assert rows["B"][2] is None and rows["B"][1].best and rows["B"][1].star
    assert [e.best for e in rows["C_1"]] == [True, True, False]  # both are best, none is second
    assert not any(e.second or e.star for e in rows["C_1"])
    assert table.ranks == (1 + 1.5, 2 + 1.5, 3 + 3)  # over the complete rows A and C_1


def test_star_needs_every_other_family():
    near = tuple(v + (0.01 if i % 2 else -0.011) for i, v in enumerate(LOW))
    cells = [cell("A", "x+a", *LOW), cell("A", "x+b", *near), cell("A", "y", *(v + 1 for v in LOW))]
    best = tabulate(cells).rows[0][1]
    assert not any(e.star for e in best)
    same = tabulate(cells, family=lambda m: m.split("+")[0]).rows[0][1]
    assert [e.star for e in same if e.best] == [True]


def test_star_compares_common_repeats_only():
    cells = [cell("A", "x", *LOW), cell("A", "y", *(v + 1 for v in LOW), start=100)]
    assert not tabulate(cells).rows[0][1][0].star


def test_higher_may_be_better():
    cells = [cell("A", "x", *LOW), cell("A", "y", *(v + 1 for v in LOW))]
    found = tabulate(cells, better="higher")
    x, y = found.rows[0][1]
    assert y.best and y.star and x.second and found.ranks == (2.0, 1.0)


def test_ends_may_be_kept_out_of_the_contest():
    cells = [cell("A", "DT", *(v / 9 for v in LOW)), cell("A", "x", *LOW), cell("A", "y", *(v + 1 for v in LOW))]
    found = tabulate(cells, compete=("x", "y"))
    dt, x, _ = found.rows[0][1]
    assert not dt.best and x.best and math.isnan(found.ranks[0]) and found.ranks[1:] == (1.0, 2.0)


def test_overlap_is_the_rule_of_the_label_paper():
    cells = [cell("A", "x", 1.0, 1.2), cell("A", "y", 1.2, 1.5), cell("A", "z", 1.9, 2.1), cell("A", "w", 1.0, 9.0)]
    assert [e.best for e in tabulate(cells, marks="overlap").rows[0][1]] == [True, True, False, True]


def test_two_results_for_one_cell_and_unknown_marks_are_refused():
    with pytest.raises(HedgerowError, match="two results for 'A', 'x'"):
        tabulate([cell("A", "x", 1.0), cell("A", "x", 2.0)])
    with pytest.raises(HedgerowError, match="'marks' parameter"):
        tabulate([], marks="stars")


def test_no_ranks_without_a_complete_row():
    assert rank_sums(("x", "y"), [("A", (Entry(1.0, 0.0, 1), None))], ("x", "y")) is None
    assert tabulate([]).rows == ()


def test_markdown(table):
    assert to_markdown(table) == (
        "| data | x | y | z |\n|---|---|---|---|\n"
        r"| A | **1.03**\* / 2 (0.517) | <u>1.53</u> | 2.03 / 4 (0.508) |" + "\n"
        r"| B | <u>2.03</u> | **1.03**\* | - |" + "\n"
        "| C_1 | **2** | **2** | 3 |\n| rank sum | 2.5 | 3.5 | 6 |\n"
    )
    assert r"a\|b" in to_markdown(Table("x", ("a|b",), ()))


def test_csv(table):
    lines = to_csv(table).splitlines()
    assert lines[0] == "data,method,mean,deviation,repeats,paper,ratio,mark"
    assert lines[1] == "A,x,1.03333,0.108012,6,2,0.516667,best*"
    assert lines[2] == "A,y,1.53333,0.108012,6,,,second" and lines[6] == "C_1,x,2,,1,,,best"
    assert len(lines) == 9


def test_latex(table):
    assert to_latex(table, "Errors & ratios", "tab:e") == "\n".join(
        [
            r"\begin{table}", r"\centering", r"\caption{Errors \& ratios}", r"\label{tab:e}",
            r"\begin{tabular}{lrrr}", r"\toprule", r"data & x & y & z \\", r"\midrule",
            r"A & \textbf{1.03}$^{*}$ / 2 (0.517) & \underline{1.53} & 2.03 / 4 (0.508) \\",
            r"B & \underline{2.03} & \textbf{1.03}$^{*}$ & -- \\", r"C\_1 & \textbf{2} & \textbf{2} & 3 \\",
            r"\midrule", r"rank sum & 2.5 & 3.5 & 6 \\", r"\bottomrule", r"\end{tabular}", r"\end{table}", "",
        ]
    )  # fmt: skip


def test_latex_escapes_every_special_character():
    assert escape_latex(r"a\b{}_^~%$#&<>") == (
        r"a\textbackslash{}b\{\}\_\textasciicircum{}\textasciitilde{}\%\$\#\&\textless{}\textgreater{}"
    )


def test_numbers_are_short():
    assert [number(v) for v in (999.6, 1000.4, 99999.0, 1e5, math.nan, -0.5, 1e-3)] == [
        "1000", "1000", "99999", "1e+05", "-", "-0.5", "0.001",
    ]  # fmt: skip
