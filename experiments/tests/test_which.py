"""What to use when: verdicts from pairs on the same splits, anchors, and one command that says it."""

import json

import numpy as np
import pytest

from hedgerow.cli import main
from hedgerow.compare.scores import Row, summarise
from hedgerow.recommended import RECOMMENDED
from hedgerow_experiments.export import committed, write_rows
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.library.compute import METHODS
from hedgerow_experiments.page.index import page
from hedgerow_experiments.page.verdicts import ANCHOR, LEADS, as_errors, compare, peers
from hedgerow_experiments.page.which import answers, measured, section, sentence

ENDS = {"one value for all": 10.0, "boosting": 2.0, "public model": 6.0}


def row(data, method, epsilon, repeat, value, setting="regression", metric="mse"):
    return Row("library", data, setting, method, epsilon, None, "", repeat, metric, value)


def pair_of(errors, other, **options):
    """Return the verdict on lists of errors by set: one value a split."""
    rows = [row(f"S{d}", m, 1.0, r, v) for m, sets in (("a", errors), ("b", other))
            for d, splits in enumerate(sets) for r, v in enumerate(splits)]  # fmt: skip
    return compare(summarise(rows, "none"), "a", "b", 1.0, **options)


def test_a_verdict_is_from_the_same_splits_of_the_sets_that_both_ran():
    # Splits differ far more than methods do: only pairs can tell that a is better by a tenth on each.
    hard = np.array([[1.0, 10.0, 100.0, 1000.0, 3.0, 30.0, 300.0, 5.0, 50.0, 500.0]] * 3)
    found = pair_of(hard - 0.1, hard)
    assert (found.better, found.worse, found.sets) == (3, 0, 3)
    shuffled = np.roll(hard, 1, axis=1)
    assert pair_of(shuffled - 0.1, hard).better == 0
    rows = [row("S0", "a", 1.0, 0, 1.0), row("S1", "a", 1.0, 0, 9.0), row("S0", "b", 1.0, 0, 2.0),
            row("S0", "b", 1.0, 1, 900.0), row("S2", "b", 1.0, 0, 9.0)]  # fmt: skip
    found = compare(summarise(rows, "none"), "a", "b", 1.0)
    assert (found.sets, found.ratio) == (1, 0.5), "S0 and its split 0 only"
    assert compare(summarise(rows, "none"), "a", "c", 1.0) is None


def test_splits_that_share_records_count_for_less():
    """A difference of 2.2 plain standard errors would be a finding at 5 % with ten splits that share nothing."""
    noise = np.array([1.0, -1.0] * 5)
    noise *= np.sqrt(0.9)  # a variance of 1
    shift = 2.3 / np.sqrt(10)
    plain = shift / (1 / np.sqrt(10))
    assert plain > 2.262
    other = np.full((1, 10), 50.0)
    assert pair_of(other - shift + noise, other).better == 0
    assert pair_of(other - 2.263 * np.sqrt(0.35) + noise, other).better == 1  # the variance of the mean is .1 + .25
    assert pair_of(other - 2.261 * np.sqrt(0.35) + noise, other).better == 0


def test_verdicts_say_what_an_interval_says():
    def twelve(factors):
        return [[f] * 4 for f in factors], [[1.0] * 4] * len(factors)

    assert pair_of(*twelve([0.5] * 12)).word == "better" and pair_of(*twelve([2.0] * 12)).word == "worse"
    assert pair_of(*twelve([0.995] * 12)).word == "level"
    mixed = pair_of(*twelve([0.5] * 6 + [2.0] * 6))
    assert mixed.word == "not told apart" and mixed.low == 0.5 and mixed.high == 2.0
    assert pair_of([[0.0] * 3], [[0.0] * 3]).ratio == 1.0 and pair_of([[1.0] * 3], [[0.0] * 3]).ratio == np.inf


def test_accuracies_are_shares_of_wrong_classes():
    rows = [row("BAN", m, 1.0, 0, v, "classification", "accuracy") for m, v in (("a", 0.9), ("b", 0.8))]
    assert compare(as_errors(summarise(rows, "none")), "a", "b", 1.0).ratio == pytest.approx(0.5)


@pytest.fixture
def found():
    """Ten sets and three splits; PrivateAnova keeps more than others, AssistedForest is level with the public model."""
    made = {"AssistedForest": 5.99, "LPDT": 8.0, "PrivateAnova": 4.0, "PrivateAnova on a public model": 3.0,
            "DiPriMe": 9.0, ANCHOR: 12.0}  # fmt: skip
    rows = [row(f"S{d}", m, None, r, v) for d in range(10) for r in range(3) for m, v in ENDS.items()]
    rows += [row(f"S{d}", m, e, r, v + (4 - e) / 10 * (m != "AssistedForest"))
             for d in range(10) for r in range(3) for m, v in made.items() for e in (1.0, 4.0)]  # fmt: skip
    return Evidence({"library": rows})


def test_answers_have_shares_rivals_and_anchors(found):
    central = next(a for a in answers(found, ["central"], [4.0]))
    shares = {s.method: s.median for s in central.shares}
    assert shares == {"PrivateAnova on a public model": 0.875, "PrivateAnova": 0.75, "DiPriMe": 0.125, ANCHOR: -0.25,
                      "public model": 0.5}  # fmt: skip
    beside = {(p.ours, p.other): p.ratio for p in central.pairs}
    assert beside["PrivateAnova on a public model", "public model"] == 0.5
    assert beside["PrivateAnova", ANCHOR] == pytest.approx(1 / 3)
    assert ("PrivateAnova", "public model") not in beside, "it knows no public records"
    assert sentence(central) == ("At epsilon 4 PrivateAnova on a public model keeps 88 % (88 to 88) of what can be "
                                 "learnt; better than the public model (error 50 % below); better than DP-EBM "
                                 "(error 75 % below).")  # fmt: skip
    local = next(a for a in answers(found, ["local"], [1.0]))
    assert "level with the public model" in sentence(local)
    assert {a.epsilon for a in answers(found)} == {1.0, 4.0}
    assert "not told apart" not in section(found, "central") and section(found, "central").count("<h3>Epsilon") == 2


def test_what_is_recommended_leads_in_its_trust_model():
    assert LEADS.keys() == {one.key for one in RECOMMENDED}
    for one in RECOMMENDED:
        first = one.names[0]
        for lead in filter(None, LEADS[one.key]):
            assert first.startswith(lead.split()[0]) and METHODS[lead].trust == one.key
        with_public, without = LEADS[one.key]
        assert METHODS[with_public].public and (not without or not METHODS[without].public)


def test_rivals_that_need_public_records_are_not_beside_methods_without(found):
    assert peers(found, "central")["PrivateAnova"] == ["DiPriMe", ANCHOR]
    assert peers(found, "local") == {"AssistedForest": ["LPDT", "public model", ANCHOR]}


def test_an_epsilon_that_was_not_measured_is_answered_by_its_neighbours(found):
    assert [measured(found, e) for e in (0.1, 1.0, 2.0, 8.0)] == [[1.0], [1.0], [1.0, 4.0], [4.0]]


def test_the_command_answers_wherever_one_is(found, tmp_path, monkeypatch, capsys):
    write_rows(found.rows("library"), committed("library", tmp_path))
    assert main(["bench", "which", "--trust", "central", "--epsilon", "2", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert "central, epsilon 1\n" in said.out and "central, epsilon 4\n" in said.out and "local" not in said.out
    assert "use PrivateAnovaRegressor" in said.out and "epsilon 2 was not measured; this is at 1 and 4." in said.err
    assert "public model                    better: error x 0.50" in said.out
    assert "DP-EBM (interpret)              -25 % (-25 to -25): worse than one value for all\n" in said.out
    assert "DiPriMe                         12 % (12 to 12)\n" in said.out
    assert "From 10 public data sets" in said.out and "splits of each: 3. " in said.out
    assert main(["bench", "which", "--json", "--out", str(tmp_path)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [a["trust"] for a in told] == [one.key for one in RECOMMENDED] and told[0]["epsilon"] == 1.0
    assert main(["bench", "which", "--trust", "no one", "--out", str(tmp_path)]) == 2
    assert main(["bench", "which", "--epsilon", "0", "--out", str(tmp_path)]) == 2
    (tmp_path / "none").mkdir()
    assert main(["bench", "which", "--out", str(tmp_path / "none")]) == 2
    monkeypatch.chdir(tmp_path)  # no results here: those of the source are taken
    assert main(["bench", "which", "--trust", "local"]) == 0
    assert "From 33 public data sets" in capsys.readouterr().out


def test_the_page_has_the_verdicts_and_the_anchors(found):
    text = page(found, [])
    assert "At epsilon 1 PrivateAnova on a public model keeps 84 %" in text
    assert "S-BDT, best setting of each set" in text and "hedgerow bench which" in text
    assert text.count("better : worse on sets") == 4  # two trust models were run, at two epsilons
