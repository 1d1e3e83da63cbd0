"""The results page, printed figures and the commands that write them, on made rows."""

import json
import re
from pathlib import Path

import pytest

from hedgerow.cli import main
from hedgerow_experiments.claims.base import Evidence
from hedgerow_experiments.claims.page import check_all
from hedgerow_experiments.data.datasets import find_dataset
from hedgerow_experiments.data.sources import SOURCES
from hedgerow_experiments.draw import draw
from hedgerow_experiments.export import committed, read_rows, write_rows
from hedgerow_experiments.page.common import versus
from hedgerow_experiments.page.index import SECTIONS, page
from hedgerow_experiments.page.trust import kept, trust
from hedgerow_experiments.printed import Printed, beside_the_paper, collect, over, read_printed, write_printed
from hedgerow_experiments.registry import find_experiment
from hedgerow_experiments.show import named_tables
from hedgerow_experiments.tables import tabulate
from hedgerow_experiments.tidy import Row, summarise


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
    ]
    write_printed(figures, tmp_path)
    return tmp_path


def test_the_page_says_what_was_measured(results):
    found = Evidence.load(results)
    text = page(found, read_printed(results), check_all(found))
    assert "AssistedForest&#x27;s error is 10 % below that of the best public model at epsilon 8, level with it" in text
    assert "PrivateAnova&#x27;s error is 50 % below that of DP-EBM at epsilon 1" in text
    assert "HistOfTree&#x27;s error beside the best of the naive methods: 50 % below at epsilon 1" in text
    assert "2 of 2 data sets at epsilon 2, 0 of 2 data sets at epsilon 6" in text
    assert "<b>0.683</b>* <small>/ 8.38 (0.0815)</small>" in text  # LPDT-M at 6: 4/6 times the mean of the noise
    for section in SECTIONS:
        assert f'id="{section.key}"' in text and f'href="#{section.key}"' in text


def test_the_page_stands_alone(results):
    found = Evidence.load(results)
    text = page(found, [], check_all(found))
    assert not re.search(r"<script|<link|@import|url\(|<img|src=", text)
    outside = set(re.findall(r'href="(https?://[^"]+)"', text))
    assert outside <= {source.page for source in SOURCES.values()}
    opened, closed = re.findall(r"<(\w+)[ >]", text), re.findall(r"</(\w+)>", text)
    for tag in ("details", "table", "div", "svg", "ul", "figure", "h2", "main"):
        assert opened.count(tag) == closed.count(tag) > 0, tag


def test_a_page_without_results_says_so():
    text = page(Evidence({}), [], check_all(Evidence({})))
    assert text.count("No committed results yet.") == 4 and "no experiment" in text


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
    said, body = trust(Evidence({"library": cells}), fewest=1)
    assert said == ("Of what can be learnt without privacy the median data set keeps at epsilon 1: AssistedForest "
                    "75 %, PrivateAnova 100 %, DiPriMe -25 %; the public model alone 50 %.")  # fmt: skip
    assert "Every estimator on every data set" in body and "HistOfTree" not in body and "rank sum" not in body
    assert trust(Evidence({})) == trust(Evidence({"library": cells})) == ("", "")


def test_ratios_in_words():
    assert [versus(v) for v in (1.0, 0.996, 1.01, 0.5, 1.99, 12.3)] == [
        "level with", "level with", "1 % above", "50 % below", "99 % above", "12 times",
    ]  # fmt: skip


def test_printed_figures_are_read_from_transcribed_tables(tmp_path):
    (tmp_path / "lpdt_mse.csv").write_text(
        "dataset,epsilon,method,mse\nABA,,DT,5.67e+0\nABA,0.5,PHIST,\nCBM,6,LPDT-M,0.7\nABA,6,LPDT-M,8.38\n"
    )
    (tmp_path / "histoftree_mse_ratio.csv").write_text(
        "dataset,epsilon,preference,method,mse_over_dt\nABA,2,personalized,KRR,1.7\n"
    )
    (tmp_path / "diprime.csv").write_text("dataset,metric,epsilon,method,value\nRobot,accuracy,2,RF,0.987\n")
    (tmp_path / "rpwithprior_mse.csv").write_text("dataset,epsilon,mechanism,mse,std\ncrime,inf,Laplace,0.0182,0.1\n")
    found = collect(tmp_path)
    assert found == [
        Printed("lpdt-table2", "", "ABA", "DT", None, 5.67), Printed("lpdt-table2", "", "ABA", "LPDT-M", 6.0, 8.38),
        Printed("histoftree", "personal", "ABA", "KRR", 2.0, 1.7),
        Printed("label", "network", "crime", "Laplace", float("inf"), 0.0182),
        Printed("diprime", "2", "ROB", "RF", 2.0, 0.987),
    ]  # fmt: skip
    write_printed(found, tmp_path)
    assert read_printed(tmp_path) == found and read_printed(tmp_path / "nowhere") == []


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
    (results / "lpdt.md").write_text("# LPDT")
    (results / "lpdt.notes.md").write_text("a part of lpdt.md")
    site = results / "site"
    assert main(["bench", "page", "--out", str(results), "--to", str(site)]) == 0
    assert capsys.readouterr().out.splitlines() == [str(site / f) for f in ("index.html", "claims.md", "lpdt.md")]
    first = (site / "claims.md").read_text()
    assert main(["bench", "claims", "--out", str(results)]) == 0
    assert "claims.md: " in capsys.readouterr().out and (results / "claims.md").read_text() == first
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


def test_pages_of_the_committed_results_link_to_pages_that_are_there(tmp_path):
    assert main(["bench", "page", "--out", str(COMMITTED), "--to", str(tmp_path)]) == 0
    links = set(re.findall(r'href="([\w-]+\.md)"', (tmp_path / "index.html").read_text()))
    for path in tmp_path.glob("*.md"):
        links |= set(re.findall(r"\]\(([\w.-]+)\)", path.read_text()))
    assert len(links) > 15 and {name for name in links if not (tmp_path / name).exists()} == set()
