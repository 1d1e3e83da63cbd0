"""A page in one file: our style sheet, no scripts, no fonts, nothing from elsewhere; light, dark and small screens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from hedgerow.chart.picture import COLOURS

__all__ = ["details", "document", "grid", "legend", "plain_table"]

_DARK = ("#5bb5f0", "#ff9d5c", "#3ddbab", "#e58ed0", "#f0c850", "#a79bf0", "#9fd8ff", "#ff8fb1")

STYLE = f"""
:root {{ color-scheme: light dark; --bg: #fff; --fg: #1d2620; --soft: #5c6a61; --line: #dbe3dc; --card: #f4f7f4;
  --accent: #2e7d32; --good: #1b7f3b; --bad: #b3261e; --so: #8a6d00;
  {" ".join(f"--c{i}: {c};" for i, c in enumerate(COLOURS))} }}
@media (prefers-color-scheme: dark) {{ :root {{ --bg: #121713; --fg: #e3ebe4; --soft: #9fb0a4; --line: #2c362f;
  --card: #1a211c; --accent: #7fcf86; --good: #6fd68a; --bad: #ff8a80; --so: #e6c04a;
  {" ".join(f"--c{i}: {c};" for i, c in enumerate(_DARK))} }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--bg); color: var(--fg); font: 16px/1.55 system-ui, -apple-system, "Segoe UI",
  Roboto, "Helvetica Neue", sans-serif; }}
main {{ max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.1rem 4rem; }}
h1 {{ font-size: 1.9rem; line-height: 1.2; margin: .4rem 0 .6rem; }}
h2 {{ font-size: 1.35rem; margin: 2.6rem 0 .5rem; line-height: 1.25; }}
h3 {{ font-size: 1.05rem; margin: 1.4rem 0 .3rem; }}
p, li {{ max-width: 44rem; }}
a {{ color: var(--accent); }}
.lead {{ font-size: 1.12rem; color: var(--soft); }}
.soft, figcaption, .legend {{ color: var(--soft); font-size: .9rem; }}
.cards {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(13.5rem, 1fr)); gap: .9rem; margin: 1.2rem 0; }}
.card {{ background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1rem;
  overflow-wrap: anywhere; }}
.card h3 {{ margin-top: 0; }} .card p {{ margin: .35rem 0; }}
.grid {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17.5rem, 100%), 1fr)); gap: .8rem; }}
.chart {{ width: 100%; height: auto; display: block; }}
.chart text {{ fill: var(--fg); font: 11px system-ui, sans-serif; }}
.chart .title {{ font-weight: 600; font-size: 12.5px; }}
.chart .tick, .chart .note {{ fill: var(--soft); font-size: 10.5px; }}
.chart .grid {{ stroke: var(--line); fill: none; stroke-width: 1; }}
.chart .end {{ stroke: var(--soft); fill: none; stroke-width: 1.2; stroke-dasharray: 4 3; }}
.chart .line {{ fill: none; stroke: currentColor; stroke-width: 1.9; stroke-linejoin: round; }}
.chart circle, .chart rect {{ fill: currentColor; }} .chart .band {{ fill: currentColor; opacity: .14; }}
{" ".join(f".c{i} {{ color: var(--c{i}); }}" for i in range(8))}
.legend {{ display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: .5rem 0; padding: 0; list-style: none; }}
.legend i {{ display: inline-block; width: 1.1rem; height: .22rem; border-radius: 2px; background: currentColor;
  vertical-align: middle; margin-right: .35rem; }} .legend span {{ color: var(--fg); }}
.scroll {{ overflow-x: auto; -webkit-overflow-scrolling: touch; }}
table {{ border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; margin: .5rem 0; }}
th, td {{ padding: .28rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; }} td.text, th.text {{ text-align: left; white-space: normal; }}
thead th {{ border-bottom: 2px solid var(--line); }} tr.foot td {{ font-style: italic; color: var(--soft); }}
td small {{ color: var(--soft); }}
details {{ border: 1px solid var(--line); border-radius: .5rem; padding: .45rem .8rem; margin: .8rem 0; }}
summary {{ cursor: pointer; font-weight: 600; }}
.warn {{ border-left: .3rem solid var(--so); background: var(--card); padding: .7rem 1rem; border-radius: .3rem; }}
.yes {{ color: var(--good); font-weight: 600; }} .no {{ color: var(--bad); font-weight: 600; }}
.partly, .open {{ color: var(--so); font-weight: 600; }}
code {{ background: var(--card); border: 1px solid var(--line); border-radius: .25rem; padding: 0 .25rem;
  font-size: .9em; }}
footer {{ margin-top: 3rem; color: var(--soft); font-size: .88rem; }}
@media print {{ details > * {{ display: block; }} }}
"""


def document(title: str, body: str, description: str = "") -> str:
    """Return a whole page."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<meta name="description" content="{escape(description or title)}">\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def grid(items: Iterable[str]) -> str:
    """Return small multiples side by side."""
    return f'<div class="grid">{"".join(f"<figure style=margin:0>{item}</figure>" for item in items)}</div>'


def legend(names: Mapping[str, int]) -> str:
    """Return what the colours mean."""
    items = "".join(f'<li class="c{c % 8}"><i></i><span>{escape(n)}</span></li>' for n, c in names.items())
    return f'<ul class="legend">{items}</ul>'


def details(summary: str, content: str, *, open_: bool = False) -> str:
    """Return something folded."""
    return f"<details{' open' if open_ else ''}><summary>{escape(summary)}</summary>\n{content}\n</details>"


def plain_table(head: Sequence[str], rows: Iterable[Sequence[str]], text: Sequence[int] = ()) -> str:
    """Return a table of cells that are HTML already; columns in ``text`` are words."""

    def line(tag: str, cells: Sequence[str]) -> str:
        marks = (' class="text"' if i in text else "" for i in range(len(cells)))
        return "<tr>" + "".join(f"<{tag}{m}>{c}</{tag}>" for m, c in zip(marks, cells, strict=True)) + "</tr>"

    body = "".join(line("td", row) for row in rows)
    return f'<div class="scroll"><table><thead>{line("th", head)}</thead><tbody>{body}</tbody></table></div>'
