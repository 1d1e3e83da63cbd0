"""The page ``index.html``: what to use when, with the evidence, as one page without scripts."""

from __future__ import annotations

from html import escape

from hedgerow.compare.web import details, document, plain_table
from hedgerow_experiments.claims.base import HOLDS, NOT, OPEN, PARTLY
from hedgerow_experiments.claims.page import PAPERS, Checked, check_all, count
from hedgerow_experiments.data.public_facts import FACTS
from hedgerow_experiments.data.sources import SOURCES
from hedgerow_experiments.experiment import Files
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.page.central import CENTRAL, LABEL
from hedgerow_experiments.page.common import Section
from hedgerow_experiments.page.local import AGGREGATE, LOCAL, SEMI
from hedgerow_experiments.page.trust import trust
from hedgerow_experiments.page.which import about, answers, section, sentence
from hedgerow_experiments.status import HEAD, cells, status, summary

__all__ = ["SECTIONS", "page", "pages"]

SECTIONS: tuple[Section, ...] = (LOCAL, AGGREGATE, SEMI, LABEL, CENTRAL)
_CLASS = {HOLDS: "yes", PARTLY: "partly", NOT: "no", OPEN: "open"}

_LEAD = """<h1>What to use when, and what it costs</h1>
<p class="lead">Privacy costs accuracy. How much depends first on <b>whom you trust with a record</b>, then on how many
records there are, and only then on the method. Everything on this page was measured on public data sets, with code that
is in this repository.</p>"""

_RULES = """<h2>In short</h2>
<ul>
<li><b>Trust buys accuracy.</b> Take the model with the least trust that you can afford, and no less.</li>
<li><b>Public records first.</b> Where there are any, a good model of them is the thing to beat; in the local
model private reports only refine it (<a href="frontier.md">frontier</a>).</li>
<li><b>Features that are no secret should stay in clear.</b> Hiding them costs far more than hiding the
label (<a href="frontier.md">private labels, public features</a>).</li>
<li><b>One command says the same</b>: <code>hedgerow bench which --trust central --epsilon 1</code>.</li>
<li><b>Try it on your own records</b> with <code>hedgerow compare</code>, and do not publish what it prints.</li>
</ul>"""


def page(found: Evidence, checked: list[Checked]) -> str:
    """Return the page."""
    built = {s.key: s.build(found) for s in SECTIONS}
    measured = {s.key: section(found, s.key) for s in SECTIONS}
    told = {a.recommended.key: sentence(a) for a in reversed(answers(found))}  # at the least epsilon
    cards = "".join(_card(s, told.get(s.key) or built[s.key][0]) for s in SECTIONS)
    body = "".join(_section(s, *built[s.key], measured[s.key]) for s in SECTIONS)
    parts = [_LEAD, f'<div class="cards">{cards}</div>', _RULES, _price(found), body, _claims(checked)]
    parts += [_status(found), _data(), _how(found)]
    return document("Hedgerow: what to use when", "\n".join(parts), "Which private learner to use, with the evidence")


def _price(found: Evidence) -> str:
    said, body = trust(found)
    head = '<h2 id="price">What each trust model costs, on the same records</h2>'
    how = f"<p class=soft>How verdicts in the sections below are made: {escape(about(found))}</p>" if body else ""
    return f"{head}<p>{escape(said)}</p>{body}{how}" if body else ""


def _card(section: Section, headline: str) -> str:
    told = f"<p>{escape(headline)}</p>" if headline else ""
    return (
        f'<div class="card"><h3><a href="#{section.key}">{section.title}</a></h3>'
        f"<p><b>{escape(section.question)}</b></p><p>Use {section.use}.</p>{told}</div>"
    )


def _section(section: Section, headline: str, body: str, measured: str) -> str:
    links = ", ".join(f'<a href="{p}">{p.removesuffix(".md")}</a>' for p in section.pages)
    body = body or "<p>No committed results yet.</p>"
    return (
        f'<h2 id="{section.key}">{section.title}: {escape(section.question[0].lower() + section.question[1:-1])}</h2>'
        f"<p>Use {section.use}.</p>{measured}<p>{escape(headline)}</p>{body}"
        f"<p class=soft>All numbers and what to know when reading them: {links}.</p>"
    )


def _claims(checked: list[Checked]) -> str:
    rows = [
        (escape(PAPERS[p]), *(f'<span class="{_CLASS[w]}">{n}</span>' for w, n in count(checked, p).items()))
        for p in PAPERS
        if any(c.claim.paper == p for c in checked)
    ]
    listed = [
        (escape(c.claim.paper), escape(c.claim.where), escape(c.claim.text),
         f'<span class="{_CLASS[c.verdict.word]}">{c.verdict.word}</span>', escape(c.verdict.evidence))
        for c in checked
    ]  # fmt: skip
    return (
        '<h2 id="claims">What the papers claim, and what we found</h2>'
        "<p>Every claim was checked by code against the results behind this page "
        '(<a href="claims.md">all verdicts and the rule</a>).</p>'
        + plain_table(("paper", HOLDS, PARTLY, NOT, OPEN), rows, (0,))
        + details("All claims", plain_table(("paper", "where", "claim", "verdict", "evidence"), listed, (1, 2, 3, 4)))
    )


def _status(found: Evidence) -> str:
    known = status(found)
    rows = [[escape(text) for text in cells(one)] for one in known]
    return (
        '<h2 id="status">Every table and figure of the papers</h2>'
        f'<p>{escape(summary(found, known))} (<a href="status.md">How to read it</a>.)</p>'
        + details("All of them", plain_table(HEAD, rows, (0, 1, 2, 3, 6, 7, 9)))
    )


def _data() -> str:
    rows = []
    for code, facts in FACTS.items():
        source = SOURCES[code]
        label = f"{facts.label_bounds[0]:g} to {facts.label_bounds[1]:g}" if facts.label_bounds else "classes"
        where = escape(source.page)
        link = f'<a href="{where}">origin</a>' if " " not in where else where
        rows.append(
            (code, escape(facts.name), f"{label} <small>({escape(facts.why)})</small>", escape(source.steps), link)
        )
    table = plain_table(("code", "data set", "public range of the label", "preparation", "origin"), rows, (1, 2, 3, 4))
    return '<h2 id="data">Data sets</h2>' + details(f"The {len(rows)} data sets, and what is public about them", table)


def _how(found: Evidence) -> str:
    names = ", ".join(f"<code>{escape(n)}</code>" for n in found.experiments)
    return (
        "<footer><p>Written by <code>hedgerow bench page</code> from the committed results of "
        f"{names or 'no experiment'}. To run one again: <code>hedgerow bench run NAME</code>; it goes on where it was. "
        "Curves are means over splits, bands reach from the lower to the upper tenth of them; hover over a point for "
        "its number.</p></footer>"
    )


def pages(found: Evidence) -> Files:
    """Return ``index.html``."""
    return {"index.html": page(found, check_all(found)).encode()}
