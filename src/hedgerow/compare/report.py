"""What ``hedgerow compare`` writes: a table and curves by trust model, and what may not be told to others."""

from __future__ import annotations

import csv
import io
import math
from html import escape

from hedgerow.chart import Curve, ErrorPicture, Point
from hedgerow.compare.comparison import Comparison
from hedgerow.compare.contestants import TRUST
from hedgerow.compare.scores import Summary, number, summarise
from hedgerow.compare.web import document, grid, legend, plain_table

__all__ = ["facts", "rows_csv", "to_html", "to_text", "warnings_of"]

_NAMES = {
    "local": "Local",
    "aggregate": "Aggregate",
    "semi": "Semi-feature local",
    "label": "Label",
    "central": "Central",
    "public": "Public only",
    "none": "No privacy",
}


def warnings_of(result: Comparison) -> list[str]:
    """Return what a reader must know before repeating any of these numbers."""
    out = [
        "Every score in this report was computed on private records WITHOUT any protection. The scores themselves may "
        "tell something about single records: do not publish them. To publish one, spend budget on it (see "
        "hedgerow.validate_privately), or use records that are public.",
        "A method, an epsilon or a parameter that is chosen by looking at this report is chosen from private data, and "
        "the guarantee of the final model does not cover that choice. Choose on records that will not be used again, "
        "on public data of the same kind, or by what is known beforehand.",
        "All models here were fitted with seeded noise: they are simulations. Fit the model that you publish anew, "
        "without a seed.",
    ]
    read = [what for what, origin in result.problem.origin.items() if "READ FROM" in origin]
    if read:
        out.insert(
            0,
            f"--bounds-from-data was given: {', '.join(read)} were READ FROM THE PRIVATE RECORDS. No guarantee below "
            "covers that. Before a real release, replace them by numbers that were known without the records.",
        )
    return out


def facts(result: Comparison) -> list[tuple[str, str]]:
    """Return what was declared, and where it came from."""
    p = result.problem
    public = 0 if p.y_public is None else len(p.y_public)
    label = f"{p.label_bounds[0]:g} to {p.label_bounds[1]:g}" if p.label_bounds else ", ".join(p.classes or ())
    return [
        ("records", f"{len(p.y)} private, {public} public, {p.X.shape[1]} features, target {p.target!r}"),
        ("splits", f"{result.repeats}, each with 80 % to learn from and 20 % to test on"),
        ("score", "mean squared error, lower is better" if p.metric == "mse" else "accuracy, higher is better"),
        ("label", f"{label} ({p.origin.get('label bounds') or p.origin.get('classes') or 'given by you'})"),
        *((what, origin) for what, origin in p.origin.items() if what not in ("label bounds", "classes")),
        *([("private features", ", ".join(p.private))] if p.private else []),
    ]


def _cells(result: Comparison) -> dict[str, dict[float | None, Summary]]:
    out: dict[str, dict[float | None, Summary]] = {name: {} for name in result.trust}
    for s in summarise(result.rows, "none"):
        out[s.method][s.epsilon] = s
    return out


def _lines(result: Comparison) -> list[tuple[str, str, list[str]]]:
    """Return trust model, method and one cell an epsilon; a dagger marks what one value for all would beat."""
    cells = _cells(result)
    floor = cells.get("one value for all", {}).get(None)
    out = []
    for trust in TRUST:
        for method in (m for m, t in result.trust.items() if t == trust):
            line = []
            for epsilon in result.epsilons:
                s = cells[method].get(epsilon) or cells[method].get(None)
                line.append("-" if s is None else _shown(s, floor, result.problem.better))
            out.append((trust, method, line))
    return out


def _shown(s: Summary, floor: Summary | None, better: str) -> str:
    spread = "" if math.isnan(s.deviation) else f" ± {number(s.deviation)}"
    sign = 1 if better == "lower" else -1
    useless = floor is not None and s.method != floor.method and sign * s.mean >= sign * floor.mean
    return f"{number(s.mean)}{spread}{'†' if useless else ''}"


_DAGGER = "† no better than giving everybody the same value."


def to_text(result: Comparison, *, markdown: bool = True) -> str:
    """Return the report as Markdown, or as plain columns for a terminal."""
    head = ["trust", "method", *(f"epsilon {e:g}" for e in result.epsilons)]
    rows = [[_NAMES[t], m, *line] for t, m, line in _lines(result)]
    if markdown:
        table = ["| " + " | ".join(r) + " |" for r in (head, ["---"] * len(head), *rows)]
        bullets = [f"- **{k}**: {v}" for k, v in facts(result)]
        notes = [f"> **{w}**\n" if "READ FROM" in w else f"> {w}\n" for w in warnings_of(result)]
        said = [f"- **{m}**: {g}" for m, g in result.guarantees.items() if g]
        left = [f"- {m} {why}." for m, why in result.left_out.items()]
        parts = ["# What privacy costs on these records\n", *notes, *bullets, "", *table, "", _DAGGER, "",
                 f"## What is promised (at epsilon {result.epsilons[0]:g})\n", *said,
                 *(["", "## Left out\n", *left] if left else [])]  # fmt: skip
        return "\n".join(parts) + "\n"
    widths = [max(len(r[i]) for r in (head, *rows)) for i in range(len(head))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in (head, *rows)]
    left = [f"left out: {m} {why}" for m, why in result.left_out.items()]
    declared = [f"{k}: {v}" for k, v in facts(result)]
    return "\n".join([*declared, "", *lines, _DAGGER, *left, "", *(f"NOTE: {w}" for w in warnings_of(result))]) + "\n"


def rows_csv(result: Comparison) -> str:
    """Return one line a fit, with the warnings as comments on top."""
    out = io.StringIO(newline="")
    for warning in warnings_of(result):
        out.write(f"# {warning}\n")
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["trust", "method", "epsilon", "repeat", "metric", "value"])
    for r in result.rows:
        rows.writerow([r.setting, r.method, "" if r.epsilon is None else f"{r.epsilon:g}", r.repeat, r.metric,
                       f"{r.value:.8g}"])  # fmt: skip
    return out.getvalue()


def _charts(result: Comparison) -> str:
    """Return one chart a trust model, all on the same scale, with the ends as lines."""
    cells = _cells(result)
    ends = {m: cells[m][None].mean for m in ("one value for all", "public model", "boosting") if cells.get(m)}
    values = [s.mean for line in cells.values() for s in line.values()]
    worst = ends.get("one value for all", max(values))
    log = result.problem.better == "lower" and min(values) > 0
    limits = (0.85 * min(values), 1.2 * worst) if log else (min(*values, worst), 1.0)
    out = []
    for trust in ("local", "aggregate", "semi", "label", "central"):
        names = [m for m, t in result.trust.items() if t == trust]
        curves = [
            Curve(m, tuple(Point(e, s.mean, *s.quantiles()) for e, s in cells[m].items() if e is not None), i)
            for i, m in enumerate(names)
        ]
        if curves:
            drawn = ErrorPicture(
                "epsilon",
                tuple(curves),
                result.problem.metric,
                _NAMES[trust],
                ends,
                log_y=log,
                limits=limits,
                ticks=result.epsilons,
            )
            out.append(drawn.svg() + legend({m: i for i, m in enumerate(names)}))
    return grid(out)


def to_html(result: Comparison) -> str:
    """Return the report as one page."""
    warn = "".join(f"<p>{'<b>' if 'READ FROM' in w else ''}{escape(w)}</p>" for w in warnings_of(result))
    declared = plain_table(("declared", "value and origin"), [(escape(k), escape(v)) for k, v in facts(result)], (1,))
    head = ("trust", "method", *(f"epsilon {e:g}" for e in result.epsilons))
    rows = [(_NAMES[t], escape(m), *map(escape, line)) for t, m, line in _lines(result)]
    meaning = [(_NAMES[t], escape(TRUST[t])) for t in TRUST if t in result.trust.values()]
    said = [(escape(m), escape(g)) for m, g in result.guarantees.items() if g]
    left = "".join(f"<li>{escape(m)} {escape(why)}.</li>" for m, why in result.left_out.items())
    body = [
        "<h1>What privacy costs on these records</h1>",
        f'<div class="warn">{warn}</div>',
        "<h2>What was declared</h2>", declared,
        "<h2>Error by trust model</h2>" if result.problem.metric == "mse" else "<h2>Accuracy by trust model</h2>",
        "<p class=soft>All charts have one scale (a logarithmic one for errors); curves that leave it are drawn at its "
        "edge. Bands: from the lower to the upper tenth of the splits. Dashed: methods without a private budget.</p>",
        _charts(result),
        "<h2>All numbers</h2>", plain_table(head, rows, (1,)),
        f"<p class=soft>Mean ± standard deviation over splits. {_DAGGER}</p>",
        "<h2>Whom you trust</h2>", plain_table(("model", "meaning"), meaning, (1,)),
        f"<h2>What is promised, at epsilon {result.epsilons[0]:g}</h2>",
        plain_table(("method", "guarantee"), said, (1,)),
        f"<h2>Left out</h2><ul>{left}</ul>" if left else "",
    ]  # fmt: skip
    return document("What privacy costs on these records", "\n".join(body))
