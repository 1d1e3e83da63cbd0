"""The card of every model: one page that is whole, honest, readable by anybody, and never markup of others."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from hedgerow import (
    DPExtraTreesRegressor,
    Guarantee,
    LocalTask,
    LPDTRegressor,
    PrivateAnovaRegressor,
    simulate_aggregate,
)
from hedgerow.baselines import DeconvolutionRegressor
from hedgerow.card import Bullets, Card, Code, Section, page
from hedgerow.card.markdown import marked
from hedgerow.card.protected import not_protected, parts
from hedgerow.schema import NumberColumn, Schema
from hedgerow.summary import SummaryTable
from hedgerow.tasks.examples import examples, fitting
from hedgerow.tasks.models import Model
from tests.conformance.collected import reports

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>|`x`[a](http://b.example)$\\frac{$"
PAGE_TAGS = {"html", "head", "meta", "title", "style", "body", "header", "h1", "nav", "ul", "li", "a", "main"}
PAGE_TAGS |= {"section", "h2", "p", "div", "table", "caption"}
PAGE_TAGS |= {"thead", "tbody", "tr", "th", "td", "figure", "img", "figcaption", "pre", "code"}


class Seen(HTMLParser):
    """Which elements there are, with their attributes, in order."""

    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def all(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture
def no_pictures(monkeypatch):
    """Drawing takes longer than all else."""
    monkeypatch.setattr(page, "can_draw", lambda: False)


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"<i>age</i>$x^{$": rng.random(3_000)})
    y = 40 * (X.iloc[:, 0] > 0.5) + rng.uniform(0, 20, len(X))
    schema = Schema((NumberColumn("<i>age</i>$x^{$", 0, 1, unit="<u>years</u>"),), NumberColumn("hours<b>", 0, 60))
    task = LocalTask.design(
        X[:300], y[:300], epsilon=4, label_bounds=(0, 60), max_depth=1, target="hours<b>", title=HOSTILE
    ).following(schema)
    return simulate_aggregate(task, X[300:], y[300:], randomness=1).model()


def test_a_page_has_all_its_parts_in_order_and_nothing_of_others(model):
    card = model.card(purpose=HOSTILE, intended_use=HOSTILE)
    html = card.to_html()
    assert html == model.card(purpose=HOSTILE, intended_use=HOSTILE).to_html()
    seen = Seen(html)
    assert {tag for tag, _ in seen.found} <= PAGE_TAGS
    assert not any(name.startswith("on") for _, attributes in seen.found for name in attributes)
    titles = ["Intended use", "Guarantee", "What it says, and how sure it is", "Pictures", "Schema"]
    titles += ["Public against private records", "Audit", "How it was made"]
    assert [section.title for section in card.sections] == titles
    assert len(seen.all("h1")) == 1 and len(seen.all("title")) == 1 and seen.all("html") == [{"lang": "en"}]
    assert len(seen.all("h2")) == 8 and not re.search("<h[3-6]", html)
    assert len(seen.all("caption")) == len(seen.all("table"))
    assert {attributes["scope"] for attributes in seen.all("th")} == {"row", "col"}
    assert all(a["alt"] and a["src"].startswith("data:image/svg+xml;base64,") for a in seen.all("img"))
    assert len(seen.all("img")) == 2
    addresses = [value for _, a in seen.found for name, value in a.items() if name in ("href", "src", "action")]
    assert all(value.startswith(("#s", "data:")) for value in addresses)
    assert "beyond counts as the nearest end, missing as 30</td>" in html  # the label's
    assert "&lt;u&gt;years&lt;/u&gt;" in html and model.task.id in html and "url(" not in html
    ids = [a["id"] for a in seen.all("h2")]
    assert [a["href"] for a in seen.all("a")] == [f"#{name}" for name in ids] and len(set(ids)) == len(ids)


def test_markdown_has_no_markup_of_others(model):
    text = model.card(purpose=HOSTILE + "\n\n# Guarantee\n\n- item\n\n1. item").to_markdown()
    assert not re.search(r"(?<!\\)<", text) and not re.search(r"(?<!\\)\$", text)
    assert text.count("\n## Guarantee\n") == 1 and "\n\\# Guarantee\n" in text
    assert "\n\\- item\n" in text and "\n1\\. item\n" in text
    assert "http://" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in rows)


@pytest.mark.parametrize("text", ["a www.b.example", "HTTPS://b.example", "~~x~~", "@me", "&lt;b&gt;", "![x](y)"])
def test_markdown_makes_no_links(text):
    found = marked(text)
    assert found.replace("\\", "") == text
    assert not re.search(r"(?<!\\)([~@&!\[]|://)|www\.", found)


def test_contrast_is_enough():
    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    style = page.STYLE
    papers = set(re.findall(r"background: (#\w{6})", style))
    inks = set(re.findall(r"[^-]color: (#\w{6})", style))
    assert papers == {"#ffffff", "#eef1f4"} and len(inks) == 3
    for ink in inks:
        for paper in papers:
            assert (light(paper) + 0.05) / (light(ink) + 0.05) >= 4.5
    assert "@media print" in style and ":focus-visible" in style


def test_without_matplotlib_the_card_says_so(model, no_pictures):
    html = model.card().to_html()
    assert "<img" not in html and html.count("Matplotlib was not installed") == 2


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_every_kind_of_model(example, no_pictures, small_learners):
    task = example.build(4.0)
    made = task.totals().add(reports(example, task)).model()
    assert example in fitting(task)
    if isinstance(made, Model):
        card = made.card()
        html = card.to_html()
        text = card.to_markdown()
        assert task.id in html and f"{made.n_reports}" in html and "simulation" in html
        label = (task.before or task).question().label
        if label.classes:
            assert f"missing or unknown counts as {label.classes[int(label.missing)]}" in text
        assert f'hedgerow audit --mechanism "whole: {example.name}" --epsilon 4' in text
        assert all(note[:30] in html for note in made.guarantee.notes if note.isascii() and "'" not in note)


def test_central_models_and_estimators(no_pictures):
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    y = X[:, 0]
    known = {"label_bounds": (0, 1), "feature_bounds": (0, 1), "random_state": 0}
    for estimator in (DPExtraTreesRegressor(4.0, **known), PrivateAnovaRegressor(4.0, **known)):
        text = estimator.fit(X, y).card(purpose="To try.").to_markdown()
        assert "To try." in text and f"hedgerow audit {estimator.model_.audited[0]}" in text
        assert "everyone but the curator" in text and "0 to 1" in text
        assert text.replace("To try.", "Not stated by whoever made this card.") == estimator.model_.card().to_markdown()
    local = LPDTRegressor(4.0, **known).fit(X, y, X_public=X, y_public=y)
    assert "everyone but whoever ran this, who held the records" in local.card().to_markdown()
    plain = DeconvolutionRegressor(4.0, **known).fit(X, y).card().to_markdown()
    assert "DeconvolutionRegressor" in plain and "epsilon = 4" in plain


def test_audits_are_told(model):
    from hedgerow.audit import AuditResult

    name = f"whole: {fitting(model.task)[0].name}"
    holds = model.card(audits=[AuditResult(name, 4.0, 3.99, "exact", "holds", 0.1)]).to_markdown()
    fails = model.card(audits=[AuditResult(name, 4.0, 4.01, "exact", "VIOLATED", 0.1)]).to_markdown()
    assert f"{marked(name)} | epsilon = 4 | 3.990000 | holds" in holds and "VIOLATED" in fails
    assert "not run" not in holds and "not run for this card" in model.card().to_markdown()


@pytest.mark.parametrize(
    ("more", "said"),
    [({"simulation": True}, "nobody: the noise"), ({"epsilon": float("inf")}, "nobody: epsilon"), ({}, "each person")],
)
def test_who_is_protected(more, said):
    claim = Guarantee(**{"epsilon": 1.0, "protects": "label", "trust": "local", "neighbours": "label", **more})
    assert parts(claim).rows[0][1].startswith(said)
    assert not_protected(claim)[0].startswith("Features are not protected")


def test_what_is_refused(model):
    with pytest.raises(ValueError, match=r"'purpose' must have at most 4,000 characters\. Got 5,000"):
        model.card(purpose="x" * 5_000)
    with pytest.raises(ValueError, match="'intended_use' must be text"):
        model.card(intended_use=3)
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.card(level=2)
    with pytest.raises(ValueError, match=r"ends in \.html or \.md"):
        model.card().save("card.pdf")


def test_hidden_signs_are_shown(tmp_path):
    table = SummaryTable("t\u202e", ("a", "if"), (("1", "x\x00"),))
    card = Card("T\ud800", (Section("S", ("one\ntwo\n\nthree\u2028", Bullets(("i",)), Code("run"), table)),))
    for name in ("card.html", "card.md"):
        card.save(tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "u202e" in text and not re.search("[\u202e\u2028\x00\ud800]", text)
    assert "<p>one two</p>\n<p>three</p>" in card.to_html()
    assert '<th scope="row">x\\u0000</th>' in card.to_html()
