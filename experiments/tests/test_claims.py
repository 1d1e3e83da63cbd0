"""Claims: verdicts follow from rows, by the rule that is stated, and the page shows them all."""

import re

import pytest

from hedgerow.compare.scores import Row, Summary, summarise
from hedgerow_experiments.claims import diprime_figures as claims_diprime
from hedgerow_experiments.claims import histoftree as claims_histoftree
from hedgerow_experiments.claims import label as claims_label
from hedgerow_experiments.claims import lpdt as claims_lpdt
from hedgerow_experiments.claims.base import (
    HOLDS,
    NOT,
    OPEN,
    PARTLY,
    Claim,
    Verdict,
    by_share,
    duel,
    ratio,
    trend,
    valley,
)
from hedgerow_experiments.claims.page import ALL, PAPERS, check_all, count, to_markdown
from hedgerow_experiments.claims.sentences import SENTENCES
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.registry import all_experiments

NOISE = (0.0, 0.02, -0.01, 0.03, 0.01, -0.02)


def rows(experiment, method, mean, *, data="A", setting="", epsilon=1.0, x=None, metric="mse"):
    return [
        Row(experiment, data, setting, method, epsilon, x, "", r, metric, mean * (1 + n)) for r, n in enumerate(NOISE)
    ]


def evidence(*groups):
    found = {}
    for group in groups:
        found.setdefault(group[0].experiment, []).extend(group)
    return Evidence(found)


def verdicts(found, claims, where):
    return {c.text: c.check(found) for c in claims if c.where == where}


@pytest.mark.parametrize(
    ("n", "total", "most", "word"),
    [(9, 10, False, HOLDS), (8, 10, False, PARTLY), (5, 10, False, PARTLY), (4, 10, False, NOT), (0, 0, False, OPEN),
     (6, 10, True, HOLDS), (5, 10, True, NOT), (1, 1, False, HOLDS)],
)  # fmt: skip
def test_the_rule(n, total, most, word):
    assert by_share(n, total, most=most).word == word


def test_a_duel_counts_cells_and_significance_both_ways():
    a = [c for d, v in (("A", 1.0), ("B", 2.0), ("C", 1.0)) for c in summarise(rows("e", "a", v, data=d))]
    b = [c for d, v in (("A", 2.0), ("B", 1.0), ("C", 1.0001)) for c in summarise(rows("e", "b", v, data=d))]
    found = duel(a, b)
    assert found.word == PARTLY
    # In C every repeat differs in the same direction: significant too.
    assert found.evidence == (
        "better in 2 of 3 cells (significantly in 2, significantly worse in 1); ratio 1.00, mean gain -17 % ± 0.28 %"
    )
    assert duel(b, a).word == NOT and duel(a, b, most=True).word == HOLDS
    assert duel(a, b, better="higher").evidence.startswith("better in 1 of 3 cells (significantly in 1, signif")
    assert duel([], b).word == OPEN


def test_of_several_methods_the_best_in_each_cell_counts():
    a = summarise(rows("e", "a1", 3.0) + rows("e", "a2", 1.0))
    b = summarise(rows("e", "b", 2.0))
    assert duel(a, b).word == HOLDS and ratio(a, b) == [pytest.approx(0.5)]


def test_what_has_no_epsilon_is_compared_at_every_epsilon():
    a = [c for e in (1.0, 2.0) for c in summarise(rows("e", "a", e, epsilon=e))]
    b = summarise(rows("e", "b", 1.5, epsilon=None))
    assert duel(a, b).word == OPEN
    assert duel(a, b, fixed=True).evidence.startswith("better in 1 of 2")


def test_too_few_repeats_are_never_significant():
    a, b = (
        [Summary("A", "", m, 1.0, None, "mse", "", {r: v + r for r in range(4)})] for m, v in (("a", 0.0), ("b", 9.0))
    )
    assert "significantly in 0" in duel(a, b).evidence


def test_shapes_of_curves():
    assert valley([(0, 2.0), (1, 1.0), (2, 1.5)]) and not valley([(0, 1.0), (1, 2.0)])
    assert not valley([(0, 3.0), (1, 1.0), (2, 2.0), (3, 1.5)])
    assert valley([(0, 3.0), (1, 1.0), (2, 2.0), (3, 1.95)], slack=0.05)
    assert trend([3, 2, 1], up=False) and not trend([3, 2, 2.5], up=False) and trend([3, 2, 2.01], up=False, slack=0.01)
    assert not trend([1.0, 1.004, 1.008], up=False, slack=0.01)  # small steps up all the way are no fall


def lpdt_table(trees, hist, public, dt=0.5):
    parts = []
    for epsilon in (1.0, 2.0, 4.0, 6.0, 8.0):
        for data in "ABC":
            for method, value in (("LPDT-M", trees[epsilon]), ("LPDT-V", 9.0), ("PHIST", hist), ("APHIST", 9.0)):
                parts.append(rows("lpdt-table2", method, value, data=data, epsilon=epsilon))
    for data in "ABC":
        parts.append(rows("lpdt-table2", "DT", dt, data=data, epsilon=None))
        parts.append(rows("lpdt-table2", "DT-pub", public, data=data, epsilon=None))
    return evidence(*parts)


def test_lpdt_claims_follow_the_table():
    found = lpdt_table({1.0: 8.0, 2.0: 4.0, 4.0: 2.0, 6.0: 1.0, 8.0: 0.9}, hist=3.0, public=1.5)
    said = verdicts(found, claims_lpdt.CLAIMS, "table 2")
    words = [v.word for v in said.values()]
    # better at 4, 6, 8; worse at 1, 2; no blend measured; 9 of 15 in all; above DT; exactly twice DT at 6
    assert words == [HOLDS, NOT, OPEN, PARTLY, HOLDS, HOLDS]
    assert verdicts(found, claims_lpdt.CLAIMS, "table 7").popitem()[1].word == HOLDS
    crossing = verdicts(found, claims_lpdt.CLAIMS, "not in it").popitem()[1]
    assert crossing == Verdict(
        HOLDS, "the public tree is better on 3 of 3 at 1, 3 of 3 at 2, 3 of 3 at 4, 0 of 3 at 6, 0 of 3 at 8"
    )
    worse = lpdt_table({1.0: 8.0, 2.0: 4.0, 4.0: 2.0, 6.0: 1.7, 8.0: 0.9}, hist=3.0, public=1.5)
    assert verdicts(worse, claims_lpdt.CLAIMS, "table 7").popitem()[1].word == NOT


def test_lpdt_figures_follow_the_curves():
    def panel(setting, best):
        return [
            rows("lpdt-figures", "LPDT-M", 1 + (x - best[e]) ** 2, data="synthetic", setting=setting, epsilon=e, x=x)
            for e in best
            for x in (1.0, 2.0, 3.0, 4.0, 5.0)
        ]

    good = verdicts(evidence(*panel("2a", {3.0: 2.0, 8.0: 4.0})), claims_lpdt.CLAIMS, "figure 2(a)")
    assert [v.word for v in good.values()] == [HOLDS, HOLDS]
    bad = verdicts(evidence(*panel("2a", {3.0: 4.0, 8.0: 1.0})), claims_lpdt.CLAIMS, "figure 2(a)")
    assert [v.word for v in bad.values()] == [PARTLY, NOT]
    assert list(bad.values())[1].evidence == "best at 4 at epsilon 3, 1 at epsilon 8"
    leaf = verdicts(evidence(*panel("2b", {3.0: 4.0, 8.0: 2.0})), claims_lpdt.CLAIMS, "figure 2(b)")
    assert [v.word for v in leaf.values()] == [HOLDS, HOLDS]


def test_figure_three_says_how_many_records_are_enough():
    def at(method, points):
        return [rows("lpdt-figures", method, v, data="RED", setting="3", epsilon=6.0, x=x) for x, v in points]

    parts = [*at("PHIST", [(500.0, 3.0), (1000.0, 2.0)]), *at("LPDT-V", [(500.0, 1.9), (1000.0, 1.0)])]
    (said,) = verdicts(evidence(*parts), claims_lpdt.CLAIMS, "figure 3").values()
    assert said.word == HOLDS and said.evidence.startswith(
        "LPDT with 500 private records is as good as PHIST with 1000"
    )


def test_rank_sums_decide_the_tables_of_histoftree():
    def table(own):
        parts = []
        for epsilon in (1.0, 2.0, 4.0):
            for data in "AB":
                for method, value, mask in (
                    ("HistOfTree-ME", own, "aligned"), ("HistOfTree-CART", 1.0, "aligned"), ("ParDT", 2.0, "aligned"),
                    ("KRR", 4.0, "aligned"), ("Hist", 3.0, "both"),
                ):  # fmt: skip
                    parts.append(rows("histoftree", method, value, data=data, setting=mask, epsilon=epsilon))
        return verdicts(evidence(*parts), claims_histoftree.CLAIMS, "tables 1-3")

    good = table(own=1.5)
    first = next(iter(good.values()))
    assert first.word == HOLDS and "4 against 6 at epsilon 1" in first.evidence
    assert next(iter(table(own=2.5).values())).word == NOT


def test_nothing_measured_gives_no_verdict_except_what_is_computed():
    checked = check_all(Evidence({}))
    decided = {c.claim.text: c.verdict for c in checked if c.verdict.word != OPEN}
    local, public, semi, label, cost = decided.values()
    assert list(decided) == [
        "LPDT is epsilon-locally private",
        "500 public records lower the error, even with 1,000 private ones fewer",
        "What a person sends, over both rounds, is epsilon-private",
        "RPWithPrior is epsilon-label private, given the prior",
        "K candidate medians cost no more than one, so that the scheme is epsilon-private",
    ]
    assert {audit.word for audit in (local, semi, label)} == {HOLDS} and "6 of 6 hold" in label.evidence
    assert public.word == HOLDS and public.evidence.startswith("lower in 9 of 10 runs")
    assert cost.word == NOT and re.search(r"guarantee is (\d+\.?\d*)", cost.evidence)[1] == "19.5"


def test_verdicts_from_few_repeats_say_so():
    def claim(check):
        return (Claim("LPDT", "table 1", "one", check, "lpdt.md"),)

    def a_beats_b(found):
        return duel(found.cells("label", method="a"), found.cells("label", method="b"))

    few = rows("label", "a", 1.0) + rows("label", "b", 2.0)[:2]
    (said,) = check_all(Evidence({"label": few}), claim(a_beats_b))
    assert said.verdict.word == HOLDS and said.verdict.evidence.endswith("; few repeats: 2 to 6 a cell")
    first = [rows("label", "a", 1.0)[0], rows("label", "b", 2.0)[0]]
    many = [row._replace(repeat=r) for row in first for r in range(10)]
    (said,) = check_all(Evidence({"label": many}), claim(a_beats_b))
    assert said.verdict.word == HOLDS and "few repeats" not in said.verdict.evidence
    (said,) = check_all(Evidence({}), claim(a_beats_b))
    assert said.verdict == Verdict(OPEN, "no results")


def test_never_is_judged_run_by_run():
    def verdict(last):
        own = rows("frontier", "AssistedForest", 0.9)
        own[-1] = own[-1]._replace(value=last)  # one bad run: the mean stays far below
        found = evidence(own, rows("frontier", "public model", 1.0, epsilon=None))
        return next(c.verdict for c in check_all(found) if "never worse" in c.claim.text)

    assert verdict(0.9).word == HOLDS and "in 6 of 6 runs" in verdict(0.9).evidence
    assert verdict(1.1).word == NOT and "in 5 of 6 runs" in verdict(1.1).evidence


def test_claims_speak_of_experiments_and_papers_that_exist():
    asked = set()

    class Spy(Evidence):
        def cells(self, experiment, **_):
            asked.add(experiment)
            return []

    check_all(Spy({}))
    assert asked <= set(all_experiments())
    assert {c.paper for c in ALL} == set(PAPERS) and len({(c.paper, c.text) for c in ALL}) == len(ALL) > 40


def test_the_page_has_every_claim_its_counts_and_links():
    claims = (
        Claim("LPDT", "table 1", "one", lambda e: Verdict(HOLDS, "1 of 1"), "lpdt.md"),
        Claim("LPDT", "table 2", "two", lambda e: Verdict(NOT, "0 of 1"), "lpdt.md"),
    )
    checked = check_all(Evidence({}), claims)
    assert count(checked) == {HOLDS: 1, PARTLY: 0, NOT: 1, OPEN: 0}
    page = to_markdown(checked)
    assert "| table 1 | one | **holds** | 1 of 1 ([numbers](lpdt.md)) |" in page
    (anchor,) = re.findall(r"\| \[LPDT\]\(#([\w-]+)\) \| 1 \| 0 \| 1 \| 0 \|", page)
    heading = re.search(r"^## (.*)$", page, re.MULTILINE)[1]
    assert anchor == re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_every_sentence_is_tested_or_says_why_not():
    known = {(claim.paper, claim.text) for claim in ALL}
    for sentence in SENTENCES:
        assert {(sentence.paper, text) for text in sentence.claims} <= known, sentence.says
        assert sentence.claims or sentence.why, sentence.says
    assert {(s.paper, s.where) for s in SENTENCES} == {
        (p, w) for p in ("LPDT", "HistOfTree", "RPWithPrior", "DiPriMe") for w in ("abstract", "conclusion")
    }
    text = to_markdown(check_all(Evidence({})))
    assert text.count("| abstract |") > 25 and "not measured: DiPriMe has fewer leaves" in text


def test_claims_of_privacy_are_audited_and_a_weaker_mechanism_is_found(monkeypatch):
    from hedgerow.audit import registry
    from hedgerow_experiments.claims import privacy

    assert privacy.audited("one bit")(Evidence({})).word == HOLDS
    entry = registry.find("k-ary response")
    monkeypatch.setattr(type(entry), "build", lambda self, epsilon: self.audit.build(1.1 * epsilon))
    found = privacy._verdict.__wrapped__(("k-ary response",))
    assert found.word == NOT and "0 of 3 hold; loss 0.55 at 0.5" in found.evidence


def figures(panel, method, curve, metric="mse"):
    return [row for x, v in curve.items() for row in rows("diprime-figures", method, v, data="APP", setting=panel,
                                                          epsilon=None, x=x, metric=metric)]  # fmt: skip


def test_figures_of_diprime_follow_the_curves():
    ours, rivals = ("DiPriMe", "DiPriMeExp", "DiPriMeFlip"), ("DP-ERT", "DP-RF", "DP-DF")
    groups = [figures("1(a)", m, {2: 2.0, 4: 1.0, 6: 1.5}) for m in ours]
    groups += [figures("1(a)", "RF", {2: 2.0, 4: 1.0, 6: 0.5}), figures("1(a)", "DP-ERT", {2: 1.9, 4: 3.0, 6: 3.0})]
    groups += [figures("3", m, {0.01: 0.2, 0.03: 0.8}, "share of leaves") for m in ours]
    groups += [figures("3", m, {0.01: 0.9, 0.03: 0.1}, "share of leaves") for m in rivals]
    groups += [figures("4", m, {0.05: 0.5, 0.45: 0.25, 0.55: 0.25}, "share of splits") for m in (*ours, "DP-ERT")]
    groups += [figures("2", m, {1: 0.5, 10: v}, "accuracy") for m, v in (("RF", 0.9), ("DP-ERT", 0.6), ("DP-DF", 0.88))]
    found = evidence(*groups)
    words = {c.where: c.check(found).word for c in claims_diprime.CLAIMS}
    assert words == {
        "figure 1": HOLDS, "figure 1(a)": HOLDS, "figure 1(c)": OPEN, "figure 2": PARTLY, "figure 3": HOLDS,
        "figure 4": NOT,
    }  # fmt: skip


def test_small_deviations_and_duels_over_all_budgets_of_rpwithprior():
    noisy = {"crime": (1.0, 2.0), "housing": (2.0, 1.0)}
    groups = [
        rows("label", m, v, data=d, setting="network", epsilon=1.0)
        for d, (own, other) in noisy.items()
        for m, v in (("RPWithPrior", own), ("Laplace", other))
    ]
    found = {c.where: c.check(evidence(*groups)) for c in claims_label.CLAIMS}
    assert found["section 5.1"].word == PARTLY and found["section 5.1"].evidence == "smaller in 1 of 2 comparisons"
    assert found["abstract"].word == PARTLY and found["abstract"].evidence.startswith("better in 1 of 2 cells")
