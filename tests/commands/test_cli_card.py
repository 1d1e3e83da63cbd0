"""``hedgerow card``: files, what is said, and what is refused before any work."""

import json
import sys

import numpy as np
import pytest

from hedgerow import DPExtraTreesRegressor, LPDTRegressor, cli
from hedgerow.audit import quick
from hedgerow.audit.result import AuditResult


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("card")
    X = np.random.default_rng(0).random((300, 1))
    y = X[:, 0]
    known = {"label_bounds": (0, 1), "feature_bounds": (0, 1), "random_state": 0}
    tree = LPDTRegressor(4.0, max_depth=1, **known).fit(X, y, X_public=X, y_public=y)
    (folder / "model.json").write_text(tree.model_.to_json())
    (folder / "forest.json").write_text(DPExtraTreesRegressor(4.0, **known).fit(X, y).model_.to_json())
    return folder


def card(folder, *arguments, model="model.json"):
    return cli.main(["card", str(folder / model), *map(str, arguments)])


def test_a_page_with_pictures_and_an_audit(folder, capsys):
    assert card(folder, "-o", folder / "card.html", "--purpose", "<b>Why", "--intended-use", "For <i>", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    html = (folder / "card.html").read_text()
    assert said["pictures"] and said["format"] == "html" and said["simulation"]
    assert [found["verdict"] for found in said["audits"]] == ["holds"]
    assert "&lt;b&gt;Why" in html and "For &lt;i&gt;" in html and "data:image/svg+xml" in html
    assert "holds" in html and said["task"] in html


def test_markdown_without_matplotlib(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert card(folder, "-o", folder / "card.md") == 0
    assert "Model card: " in capsys.readouterr().out
    assert (folder / "card.md").read_text().startswith("# Model card: ")


def test_a_page_without_matplotlib_says_so_first(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert card(folder, "-o", folder / "forest.html", model="forest.json") == 0
    assert "no pictures" in capsys.readouterr().err
    html = (folder / "forest.html").read_text()
    assert "<img" not in html and "Matplotlib was not installed" in html and "hedgerow audit Forest" in html


def test_a_violated_claim_is_written_and_told(folder, capsys, monkeypatch):
    found = AuditResult("whole: tree", 4.0, 4.2, "exact", "VIOLATED", 0.1)
    monkeypatch.setattr(quick.WholeTask, "exact", lambda self, epsilon: found)
    assert card(folder, "-o", folder / "bad.md") == 1
    assert "VIOLATED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "card.pdf"], "ends in .html"),
        (["-o", "-"], "ends in .html"),
        (["-o", "none/card.md"], "there is no folder"),
        (["-o", "card.md", "--purpose", "x" * 4_001], "'purpose' must have at most 4,000 characters"),
    ],
)
def test_refused_before_anything_is_read(folder, capsys, monkeypatch, arguments, message):
    monkeypatch.setattr("hedgerow.commands.card.read_any_model", lambda path: pytest.fail("read"))
    monkeypatch.chdir(folder)
    assert card(folder, *arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["explain", "missing.json", "--plot", "x.svg"],
        ["explain", "missing.json", "--plot-shift", "x.svg"],
        ["advise", "--public", "missing.csv", "--target", "y", "--n-holders", "9", "--plot", "x.svg"],
    ],
)
def test_a_missing_plotting_library_is_noticed_before_the_work(tmp_path, capsys, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert cli.main(command) == 2
    assert "needs Matplotlib: pip install 'hedgerow[plot]'" in capsys.readouterr().err
