"""The results page, printed figures and the commands that write them, on made rows."""

import json
import re
from pathlib import Path

import pytest

from hedgerow.cli import main
from hedgerow.compare.scores import Row, summarise
from hedgerow_experiments.claims.page import check_all
from hedgerow_experiments.data.datasets import find_dataset
from hedgerow_experiments.data.sources import SOURCES
from hedgerow_experiments.draw import draw
from hedgerow_experiments.export import committed, read_rows, write_rows
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.page.common import versus
from hedgerow_experiments.page.index import SECTIONS, page
from hedgerow_experiments.page.trust import intervals, kept, trust
from hedgerow_experiments.printed import Printed, beside_the_paper, over, read_printed
from hedgerow_experiments.registry import find_experiment
from hedgerow_experiments.show import named_tables
from hedgerow_experiments.tables import tabulate


def rows(experiment, method, data, epsilon, value, setting="", metric="mse", x=None):
    return [Row(experiment, data, setting, method, epsilon, x, "", r, metric, value * (1 + r / 100)) for r in range(6)]


@pytest.fixture
def results(tmp_path):
    """A folder with a few committed results of every paper."""
    found = {
        "lpdt-table2": [
            *(r for d in ("ABA", "CCP") for e in (2.0, 6.0) for k, m in enumerate(("LPDT-M", "LPDT-V", "LPDT-V+blend"))
              for r in rows("lpdt-table2", m, d, e, 4 / e + k / 10)),
            *(r for d in ("ABA", "CCP") for e in (2.0, 6.0) for r in rows("lpdt-table2", "PHIST", d, e, 3.0)),
            *(r for d in ("ABA", "CCP") for m, v in (("DT", 0.5), ("DT-pub", 1.5))
              for r in rows("lpdt-table2", m, d, None, v)),
        ],
        "histoftree": [
            *(r for e in (1.0, 2.0) for k, m in enumerate(("HistOfTree-ME", "HistOfTree-CART", "ParDT", "KRR"))
              for r in rows("histoftree", m, "ABA", e, 2.0 + k, "aligned")),
            *rows("histoftree", "Hist", "ABA", 1.0, 8.0, "both"), *rows("histoftree", "DT", "ABA", None, 1.0, "both"),
        ],
        "label": [r for e in (0.5, 4.0) for k, m in enumerate(("auto", "RPWithPrior", "Laplace"))
                  for r in rows("label", m, "crime", e, 0.1 + k, "network")],
        "anova": [r for e in (1.0, 10.0) for k, m in enumerate(("PrivateAnova", "DP-EBM"))
                  for r in rows("anova", m, "ABA", e, 0.01 * (1 + k), "regression")],
        "frontier": [*rows("frontier", "public model", "ABA", None, 5.0),
                     *(r for e, v in ((0.5, 5.0), (8.0, 4.5)) for r in rows("frontier", "AssistedForest", "ABA", e, v)),
                     ],
    }  # fmt: skip
    for name, own in found.items():
        write_rows(own, committed(name, tmp_path))
    figures = [
        Printed("lpdt-table2", "", "ABA", "LPDT-M", 6.0, 8.38),
        Printed("lpdt-table2", "", "ABA", "DT", None, 5.67),
        Printed("label", "network", "crime", "Laplace", float("inf"), 0.0182, 0.1),
    ]
    lines = [",".join("" if v is None else str(v) for v in figure) for figure in figures]
    (tmp_path / "data" / "printed.csv").write_text("\n".join([",".join(Printed._fields), *lines]) + "\n")
    assert read_printed(tmp_path) == figures and read_printed(tmp_path / "nowhere") == []
    return tmp_path


def test_the_page_says_what_was_measured(results):
    found = Evidence.load(results)
    text = page(found, check_all(found))
    assert "AssistedForest&#x27;s error is 10 % below that of the best public model at epsilon 8, level with it" in text
    assert "PrivateAnova&#x27;s error is 50 % below that of DP-EBM at epsilon 1" in text
    assert "HistOfTree&#x27;s error beside the best of the naive methods: 50 % below at epsilon 1" in text
    assert "2 of 2 data sets at epsilon 2, 0 of 2 data sets at epsilon 6" in text
    assert "<b>0.683</b>* <small>/ 8.38 (0.0815)</small>" in text  # LPDT-M at 6: 4/6 times the mean of the noise
    for section in SECTIONS:
        assert f'id="{section.key}"' in text and f'href="#{section.key}"' in text


def test_the_page_stands_alone(results):
    found = Evidence.load(results)
    text = page(found, check_all(found))
    assert not re.search(r"<script|<link|@import|url\(|<img|src=", text)
    outside = set(re.findall(r'href="(https?://[^"]+)"', text))
    assert outside <= {source.page for source in SOURCES.values()}
    opened, closed = re.findall(r"<(\w+)[ >]", text), re.findall(r"</(\w+)>", text)
    for tag in ("details", "table", "div", "svg", "ul", "figure", "h2", "main"):
        assert opened.count(tag) == closed.count(tag) > 0, tag


def test_a_page_without_results_says_so():
    text = page(Evidence({}), check_all(Evidence({})))
    assert text.count("No committed results yet.") == 5 and "no experiment" in text


def test_the_price_of_trust_is_the_share_of_what_can_be_learnt():
    made = {
        ("one value for all", None): 10.0, ("boosting", None): 2.0, ("tree", None): 4.0, ("public model", None): 6.0,
        ("AssistedForest", 1.0): 4.0, ("PrivateAnova", 1.0): 2.0, ("DiPriMe", 1.0): 12.0,
    }  # fmt: skip
    one = [Row("library", "ABA", "regression", m, e, None, "", 0, "mse", v) for (m, e), v in made.items()]
    cells = summarise(one, "none")
    shares = {m: v for (_, m, _), v in kept(cells).items()}
    assert shares == {"one value for all": 0.0, "boosting": 1.0, "tree": 0.75, "public model": 0.5,
                      "AssistedForest": 0.75, "PrivateAnova": 1.0, "DiPriMe": -0.25}  # fmt: skip
    said, body = trust(Evidence({"library": one}), fewest=1)
    assert said == ("Of what can be learnt without privacy the median data set keeps at epsilon 1: AssistedForest 75 % "
                    "(75 to 75), PrivateAnova 100 % (100 to 100), DiPriMe -25 % (-25 to -25); the public model alone "
                    "50 % (50 to 50).")  # fmt: skip
    assert "Splits of a data set: 1." in body
    twice = [*one, *(r._replace(repeat=1) for r in one if r.method != "DiPriMe")]
    told = trust(Evidence({"library": twice}), fewest=1)[1]
    assert "Splits of a data set: 2 (at the least, on some set, DiPriMe at epsilon 1 1)." in told
    more = [*one, *(r._replace(dataset="AIR") for r in one if r.method != "DiPriMe")]
    assert "DiPriMe" not in trust(Evidence({"library": more}), fewest=2)[0]  # of one set, where others are of two
    assert "Every estimator on every data set" in body and "HistOfTree" not in body and "rank sum" not in body
    assert trust(Evidence({})) == trust(Evidence({"library": one})) == ("", "")


def test_intervals_are_of_other_data_sets_and_splits():
    """Splits of the error 4 or 6 in turn: shares of .75 and .5. More splits or sets tell more of the median."""

    def made(sets, splits, spread=1.0):
        ends = {"one value for all": 10.0, "boosting": 2.0}
        rows = [(m, None, v) for m, v in ends.items()]
        rows += [("AssistedForest", 1.0, None)]
        return summarise(
            [
                Row(
                    "library",
                    f"S{d}",
                    "regression",
                    m,
                    e,
                    None,
                    "",
                    r,
                    "mse",
                    5 + spread * (-1) ** r if v is None else v,
                )
                for d in range(sets)
                for r in range(splits)
                for m, e, v in rows
            ],
            "none",
        )

    def width(sets, splits):
        low, high = intervals(made(sets, splits))["AssistedForest", 1.0]
        assert low <= 0.625 <= high
        return high - low

    assert width(1, 4) > width(1, 40) > 0 and width(1, 4) > width(15, 4)
    assert intervals(made(3, 1))["AssistedForest", 1.0] == (0.5, 0.5)  # one split of each, all alike
    both = [*made(3, 2), *(s._replace(dataset=s.dataset + "x") for s in made(3, 2, 0.0)), *made(1, 1)[:1]]
    assert set(intervals(both)) == {("one value for all", None), ("boosting", None), ("AssistedForest", 1.0)}
    assert intervals([]) == {}


def test_ratios_in_words():
    assert [versus(v) for v in (1.0, 0.996, 1.01, 0.5, 1.99, 12.3)] == [
        "level with", "level with", "1 % above", "50 % below", "99 % above", "12 times",
    ]  # fmt: skip


def test_a_variant_stands_beside_its_namesake():
    cells = summarise(rows("e", "LPDT-M+blend", "A", 6.0, 2.0) + rows("e", "DT", "A", None, 1.0))
    printed = [Printed("e", "", "A", "LPDT-M", 6.0, 4.0), Printed("e", "", "A", "LPDT-M", 8.0, 9.0)]
    entry = beside_the_paper(cells, printed, epsilon=6.0).rows[0][1]
    assert [e.paper for e in entry] == [4.0, None] and entry[0].ratio == pytest.approx(0.5125)


def test_tables_of_an_experiment_have_the_printed_figures_of_their_cells(results):
    one = find_experiment("lpdt-table2")
    found = dict(named_tables(one, read_rows(one.name, committed(one.name, results)), read_printed(results)))
    at = {title: {name: dict(zip(t.columns, row, strict=True)) for name, row in t.rows} for title, t in found.items()}
    six = at["lpdt-table2, epsilon 6, mse"]
    assert six["ABA"]["LPDT-M"].paper == 8.38 and six["CCP"]["LPDT-M"].paper is None
    assert six["ABA"]["LPDT-V"].paper is None and six["ABA"]["DT"].paper == 5.67
    assert at["lpdt-table2, epsilon 2, mse"]["ABA"]["LPDT-M"].paper is None


def test_ratios_to_a_base():
    cells = summarise(rows("e", "x", "A", 1.0, 6.0) + rows("e", "x", "B", 1.0, 6.0))
    (found,) = over(cells, summarise(rows("e", "DT", "A", None, 2.0)))
    assert found.dataset == "A" and found.mean == pytest.approx(3.0)
    assert tabulate([found]).rows[0][0] == "A"


def test_figures_of_an_experiment(tmp_path):
    one = find_experiment("lpdt-table2")
    free = rows("lpdt-table2", "DT", "ABA", None, 1.0)
    files = draw(one, rows("lpdt-table2", "LPDT-M", "ABA", 1.0, 2.0) + free, tmp_path)
    assert [f.name for f in files] == ["lpdt-table2.svg", "lpdt-table2.png"]
    two = draw(find_experiment("lpdt-figures"), rows("lpdt-figures", "LPDT-M", "s", 4.0, 2.0, "2a", x=3.0), tmp_path)
    assert [f.name for f in two] == ["lpdt-figures-2a.svg", "lpdt-figures-2a.png"]
    assert draw(one, free, tmp_path) == []


@pytest.mark.shared
@pytest.mark.skipif(find_dataset("TAX") is None, reason="the papers' data are not here")
def test_pictures_are_drawn(tmp_path, capsys):
    assert main(["bench", "figures", "lpdt-figure4", "--to", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith("lpdt_figure_4.png")
    assert "zone 32" in (tmp_path / "lpdt_figure_4.svg").read_text()


def test_the_commands_write_what_they_say(results, capsys):
    (results / "lpdt.notes.md").write_text("a part of lpdt.md")
    (results / "kept").mkdir()
    (results / "kept" / "frontier.md").write_text("as it was")
    site = results / "site"
    assert main(["bench", "page", "--out", str(results), "--to", str(site)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert sorted(said) == sorted(str(path) for path in site.iterdir())
    named = {path.name for path in site.iterdir()}
    assert {"index.html", "claims.md", "lpdt.md", "label.md", "anova.md", "frontier.md", "anova.csv"} <= named
    assert "a part of" in (site / "lpdt.md").read_text() and (site / "frontier.md").read_text() == "as it was"
    assert main(["bench", "claims", "--out", str(results)]) == 0
    told = capsys.readouterr().out
    assert "LPDT, table 2: " in told and " not measured" in told.splitlines()[-1]
    assert main(["bench", "claims", "--out", str(results), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {s["word"] for s in said} >= {"holds", "not measured"}
    assert main(["bench", "figures", "anova", "--out", str(results)]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("figures/anova-regression.svg")
    assert main(["bench", "figures", "diprime", "--out", str(results)]) == 2
    assert main(["bench", "page", "--out", str(results / "nowhere")]) == 2


def test_data_sets_are_listed_and_missing_ones_fetched(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path / "d"))
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "ABA.csv.gz").write_bytes(b"")
    assert main(["bench", "data", "ABA", "RED", "DIA"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("d/ABA.csv.gz") and "not here; origin: https://archive" in lines[1]
    assert lines[2].endswith("comes with scikit-learn")

    def refuse(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    assert main(["bench", "data", "RED", "--fetch", "--json"]) == 1
    (item,) = json.loads(capsys.readouterr().out)
    assert item["file"] is None and "no route to host" in item["problem"]
    assert main(["bench", "data", "XXX"]) == 2


COMMITTED = Path(__file__).parents[1] / "results"


# Lines as they were first published: a change of tables or pages must not change a figure.
KNOWN = {
    "lpdt.md": "| ABA | 0.89 met | 0.92 met | 0.91 met | 0.86 met | 0.99 met | 0.99 met |",
    "histoftree.md": "| rank sum | 12 (17) | 18 (14.5) | 33 (34) | 37 (37.5) | 50 (47) |",
    "label.md": "| crime | network | 10 | 13 of 13 | 13 of 13 | 4% | 0 |",
    "diprime.md": "| DiPriMeFlip | 0.9203 ± 0.014 (10) | 0.903 | 0.8075 ± 0.0098 (10) | 0.781 | 0.8222 ± 0.028 (10) |",
    "diprime_fresh.md": "# DiPriMe forests: measured",
    "anova.md": "| ahead of DP-EBM on all rows | 21 of 21 rows | met |",
    "claims.md": "(#rpwithprior-label-differential-privacy-in-regression-label-model) | 5 | 2 | 7 | 0 |",
    "frontier.md": "| AIR (design) | 10 | 11.24 | 56 | 1.002 | 0.996 | 0.992 | 0.977 | 0.902 | 0.863 | 3 of 120 |",
    "lpdt_figures.md": "![Figure 4](lpdt_figure_4.png)",
    "costs.md": "| 8 | 4.533 | 4.616 | 4.374 | 4.509 | 4.623 | 4.88 |",
}


def test_pages_of_the_committed_results_have_their_figures_and_link_to_what_is_there(tmp_path, monkeypatch):
    # Figures are put together but not painted: `make docs` does that, and tests of each figure on made rows.
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda figure, to, **options: to.write(b"painted"))
    assert main(["bench", "page", "--out", str(COMMITTED), "--to", str(tmp_path)]) == 0
    for name, line in KNOWN.items():
        assert line in (tmp_path / name).read_text(), name
    links = set(re.findall(r'href="([\w-]+\.md)"', (tmp_path / "index.html").read_text()))
    for path in tmp_path.glob("*.md"):
        links |= set(re.findall(r"\]\(([\w.-]+)\)", path.read_text()))
    assert len(links) > 15 and {name for name in links if not (tmp_path / name).exists()} == set()
