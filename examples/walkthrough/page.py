"""The page: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass
from html import escape
from string import Template

import pandas as pd

from walkthrough.device import Account, CellLine
from walkthrough.population import TARGET
from walkthrough.study import ORDER, OURS

_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hedgerow: learning from homes that nobody looked into</title>
<style>
:root { --ink:#1f2933; --muted:#5d6976; --line:#e1e6ea; --green:#2f7d4f; --soft:#eef6f0; --paper:#fff }
* { box-sizing: border-box }
body { margin:0; background:#f6f8f7; color:var(--ink); font:16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif }
main { max-width:860px; margin:0 auto; padding:1.5rem 1rem 4rem }
h1 { font-size:1.75rem; line-height:1.2; margin:.5rem 0 .75rem }
h2 { font-size:1.2rem; margin:0 0 .5rem }
section { background:var(--paper); border:1px solid var(--line); border-radius:12px; padding:1.1rem; margin:1.1rem 0 }
p { margin:.5rem 0 }
.muted { color:var(--muted); font-size:.92rem }
blockquote { margin:.75rem 0; padding:.6rem .9rem; background:var(--soft);
  border-left:4px solid var(--green); border-radius:6px }
img { width:100%; max-width:620px; height:auto; display:block; margin:.5rem auto }
.wide { overflow-x:auto }
.wide img { min-width:760px; max-width:none }
table { border-collapse:collapse; width:100%; font-size:.9rem; font-variant-numeric:tabular-nums; margin:.5rem 0 }
th, td { padding:.35rem .4rem; border-bottom:1px solid var(--line); text-align:right; white-space:nowrap }
th:first-child, td:first-child { text-align:left; white-space:normal }
thead th { color:var(--muted); font-weight:600 }
tr.ours td { font-weight:650; color:var(--green) }
tr.own td { background:var(--soft) }
.two { display:grid; grid-template-columns:repeat(auto-fit, minmax(260px, 1fr)); gap:1rem }
.two h3 { margin:.2rem 0 .4rem; font-size:1rem }
.two td:last-child { text-align:right; white-space:normal }
code { font:.85rem/1.5 ui-monospace, monospace; background:#f2f4f5; padding:.1rem .3rem; border-radius:4px }
.chip { display:inline-block; min-width:3.4em; padding:.05rem .4rem; border-radius:99px; border:1px solid var(--line);
  color:var(--muted); text-align:center }
.chip.named { background:var(--green); border-color:var(--green); color:#fff; font-weight:600 }
</style></head><body><main>
<p class="muted">Hedgerow &middot; what <code>make demo</code> did just now, on made-up people</p>
<h1>Learning how much electricity homes use, without looking into any home</h1>
<p>$n homes each sent one noisy report of $size bytes. Nobody saw a record: not the curator, not anyone on the way.
The tree was shaped on a public pilot of $n_pilot volunteers and filled from the reports.</p>

<section><h2>The guarantee</h2>
<blockquote>$guarantee</blockquote>
<p>In other words: whatever your home is like, what it sent could nearly as well have come from any other home. Someone
who thought it even odds between two records can be at most <b>$sure</b> sure after seeing the report. This holds
whatever else they know. It does not hide <i>that</i> a home sent a report, and a second report would cost as much
again.</p>
<p class="muted">$audit</p></section>

<section><h2>The tree</h2>
<p>Each leaf has the mean of its homes ($target), a 90&nbsp;% interval for it, which allows for the noise of privacy and
for chance, and its share of all homes.</p>
<div class="wide"><img alt="The tree with the mean and interval of each leaf" src="$tree"></div>
<p>The pilot's volunteers use a quarter less than other people. The shape of the tree can be taken from them,
the figures cannot; the private reports put them right.</p>
<img alt="Leaf means from private reports, from the pilot, and the truth" src="$leaves"></section>

<section><h2>What privacy costs</h2>
<p>Mean squared error on $n_test homes that took no part, mean of $repeats runs.</p>
<img alt="Test error against epsilon" src="$curve">
<div class="wide"><table>$table</table></div>
<p class="muted">All trees have the same depth. LPDT is as its paper has it: a noisy bit for every leaf, a noisy label,
and reports alone. Leaning on public means weighs the pilot in where reports are mostly noise; ours does so too, and
sends one report of (leaf, end of the label) with the whole epsilon. The last line keeps us honest: with a pilot that
is a fair sample, public data alone would do this well, and private reports pay only where they are many or the
budget is large.</p></section>

<section><h2>What one device sent</h2>
<div class="two"><div><h3>The true record (stays at home)</h3><table>$record</table></div>
<div><h3>The report (all that left)</h3><p><code>$hex</code></p><p>$words</p></div></div>
<table><thead><tr><th>Leaf</th><th>label<br>$low</th><th>label<br>$high</th><th>belief</th></tr></thead>$cells</table>
<p class="muted">The shaded row is the truth. The label is first rounded at random to an end of its range, up with a
chance of $rounding, which keeps its mean. Then the report names cells, the filled ones; each figure says how likely
that cell was to be named. &ldquo;Belief&rdquo; is what someone who held all cells for equally likely may think after
seeing the report: a named cell has become $factor times as likely as one that was not.</p></section>

<p class="muted">Beside this page: <code>task.json</code> (what was published), <code>model.json</code>,
<code>results.csv</code>. Noise comes from the operating system, so that every run differs a little.</p>
</main></body></html>
""")


@dataclass(frozen=True)
class Story:
    """All that the page tells."""

    guarantee: str
    audit: str
    account: Account
    table: pd.DataFrame
    fixed: dict[str, float]
    images: dict[str, str]
    sizes: dict[str, int]


def render(story: Story) -> str:
    """Return the page."""
    account = story.account
    images = {name: _uri(svg) for name, svg in story.images.items()}
    sizes = {name: f"{value:,}" for name, value in story.sizes.items()}
    factor = math.exp(account.epsilon)
    return _PAGE.substitute(
        images,
        **sizes,
        guarantee=escape(story.guarantee),
        audit=escape(story.audit),
        sure=f"{100 * factor / (1 + factor):.1f}&nbsp;%",
        target=escape(TARGET),
        table=_results(story.table, story.fixed),
        record=_record(account),
        hex=account.report.hex(" "),
        words=_words(account),
        cells="".join(_cell_row(line) for line in account.lines),
        low=f"{account.ends[0]:g}",
        high=f"{account.ends[1]:g}",
        rounding=f"{account.rounding:.0%}",
        factor=f"{factor:.2f}",
    )


def _uri(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def _results(table: pd.DataFrame, fixed: dict[str, float]) -> str:
    epsilons = sorted(table["epsilon"].unique())
    head = "".join(f"<th>&epsilon;&nbsp;=&nbsp;{e:g}</th>" for e in epsilons)
    rows = [f"<thead><tr><th></th>{head}</tr></thead>"]
    for name in ORDER:
        if name in fixed:
            cells = f"<td>{fixed[name]:.1f}</td>" * len(epsilons)
        else:
            errors = table[table["method"] == name].set_index("epsilon")["mse"]
            cells = "".join(f"<td>{errors[e]:.1f}</td>" for e in epsilons)
        mark = ' class="ours"' if name == OURS else ""
        rows.append(f"<tr{mark}><td>{escape(name)}</td>{cells}</tr>")
    return "".join(rows)


def _record(account: Account) -> str:
    items = {**account.record, TARGET: f"{account.label:.1f}"}
    return "".join(f"<tr><td>{escape(k)}</td><td>{escape(str(v))}</td></tr>" for k, v in items.items())


def _words(account: Account) -> str:
    named = "; ".join(f"<b>{escape(name)}</b>" for name in account.named) or "<b>no cell at all</b>"
    head = len(account.report) - len(account.payload)
    return (
        f"The first {head} bytes say which task is answered and tell this report from others at random. "
        f"The last {len(account.payload)} are the message. It names: {named}."
    )


def _cell_row(line: CellLine) -> str:
    chips = "".join(
        f'<td><span class="chip{" named" if named else ""}">{chance:.0%}</span></td>'
        for named, chance in zip(line.named, line.chance, strict=True)
    )
    mark = ' class="own"' if line.own else ""
    return f"<tr{mark}><td>{line.leaf}: {escape(line.cell)}</td>{chips}<td>{line.belief:.0%}</td></tr>"
