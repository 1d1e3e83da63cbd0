"""The results page on the local and the semi-feature local model."""

from __future__ import annotations

from hedgerow.chart.svg import Curve, Point, chart
from hedgerow.compare.scores import Summary
from hedgerow.compare.web import grid, legend
from hedgerow_experiments.claims.base import geometric
from hedgerow_experiments.data.public_facts import FACTS
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.page.common import by_epsilon, epsilons, mean_curve, multiples, section, tables, versus
from hedgerow_experiments.printed import beside_the_paper, over
from hedgerow_experiments.public import aggregate_page

__all__ = ["AGGREGATE", "LOCAL", "SEMI"]

_NAMES = {code: f"{facts.name} ({code})" for code, facts in FACTS.items()}


def _assisted(found: Evidence) -> tuple[str, str]:
    own = found.cells("frontier", method="AssistedForest")
    public = found.cells("frontier", method="public model")
    alike = [s for s in own if "->" not in s.dataset]
    ratios = by_epsilon(alike, public, fixed=True)
    if not ratios:
        return "", ""
    first = min(ratios)
    last = max(ratios)
    said = (
        f"AssistedForest's error is {versus(geometric(ratios[last]))} that of the best public model at epsilon "
        f"{last:g}, {versus(geometric(ratios[first]))} it at {first:g}, and at worst "
        f"{versus(max(map(max, ratios.values())))} it, where public and private records are alike."
    )
    charts = [_relative("Error over the public model's", alike, public, mean=True)]
    moved = [s for s in own if "->" in s.dataset]
    if moved:
        floor = {s.dataset: s.mean for s in public}
        worst = max(moved, key=lambda s: s.mean / floor[s.dataset])
        told = versus(worst.mean / floor[worst.dataset])
        said += f" Where they differ it is at worst {told} it ({worst.dataset}, epsilon {worst.epsilon:g})."
        names = ", ".join(dict.fromkeys(s.dataset for s in moved))
        charts.append(_relative(f"Public -> private: {names}", moved, public))
    text = (
        "<p>One private report a record, on top of the best model that the public tenth of the records gives. Below 1 "
        "the reports help. With a few thousand holders they help little: most of what local privacy can give here "
        "comes from public data.</p>"
    )
    return said, text + legend({"one data set": 6, "geometric mean": 1}) + grid(charts)


def _relative(title: str, own: list[Summary], public: list[Summary], *, mean: bool = False) -> str:
    """Return a chart of errors over the public model's, one curve a data set."""
    floor = {s.dataset: s.mean for s in public}
    curves = []
    for data in dict.fromkeys(s.dataset for s in own):
        points = [(float(s.epsilon or 0), s.mean / floor[data]) for s in own if s.dataset == data]
        curves.append(Curve(data, tuple(Point(e, v, v, v) for e, v in points), 6))
    if mean:
        curves.append(mean_curve("geometric mean", by_epsilon(own, public, fixed=True), 1))
    ticks = epsilons(own)
    return chart(curves, title=title, y_label="ratio", lines={"public model": 1.0}, x_ticks=ticks, log_y=not mean)


def _trees(found: Evidence) -> str:
    trees = found.cells("lpdt-table2", method=("LPDT-M", "LPDT-V"))
    lost = by_epsilon(trees, found.cells("lpdt-table2", method="DT-pub"), fixed=True)
    if not lost:
        return ""
    worse = ", ".join(f"{sum(r > 1 for r in rs)} of {len(rs)} data sets at epsilon {e:g}" for e, rs in lost.items())
    text = f"<p>The LPDT paper's trees. A plain tree on the public tenth of the records is better on {worse}."
    blend = by_epsilon(
        found.cells("lpdt-table2", method=("LPDT-M+blend", "LPDT-V+blend")),
        found.cells("lpdt-table2", method="DT-pub"), fixed=True,
    )  # fmt: skip
    if blend:
        told = ", ".join(
            f"{versus(geometric(r))} the public tree's at epsilon {e:g}" for e, r in blend.items() if e >= 4
        )
        text += (
            " Blending public and private leaf means by precision, the default of <code>LPDTRegressor</code>, mends "
            f"that: its error is {told}."
        )
    text += "</p>"
    shown = ("LPDT-V", "LPDT-V+blend", "PHIST")
    cells = found.cells("lpdt-table2", method=(*shown, "DT", "DT-pub"))
    columns = ["LPDT-M", "LPDT-V", "LPDT-M+blend", "LPDT-V+blend", "PHIST", "APHIST", "DECONV", "DT", "DT-pub"]
    rerun = [
        (f"Epsilon {e:g}: test MSE", beside_the_paper(
            found.cells("lpdt-table2"), found.printed("lpdt-table2"), epsilon=e, columns=columns, compete=columns[:7],
            family=lambda m: m.split("-")[0]))
        for e in epsilons(trees)
    ]  # fmt: skip
    return (
        text
        + multiples(cells, shown, ("DT", "DT-pub"), names=_NAMES)
        + tables(rerun, "Tables 2, 5 and 7 of the LPDT paper, rerun")
    )


def _local(found: Evidence) -> tuple[str, str]:
    said, body = _assisted(found)
    return said, body + _trees(found)


_SEMI = ("HistOfTree-ME", "HistOfTree-CART", "AdHistOfTree-ME", "AdHistOfTree-CART", "ParDT", "Hist", "KRR")
_MASKS = {"aligned": "The same features are private for all", "personal": "Everybody chooses what is private"}


def _semi(found: Evidence) -> tuple[str, str]:
    floor = found.cells("histoftree", method="DT")
    charts = []
    rerun = []
    for mask, title in _MASKS.items():
        cells = over(found.cells("histoftree", setting=(mask, "both"), method=_SEMI), floor)
        if not cells:
            continue
        one = [s._replace(values={0: 1.0}, epsilon=None, method="DT") for s in floor]
        curves = [
            mean_curve(m, by_epsilon([s for s in cells if s.method == m], one, fixed=True), i)
            for i, m in enumerate(_SEMI)
        ]
        drawn = [c for c in curves if c.points]
        charts.append(chart(drawn, title=title, y_label="MSE over DT's", log_y=True, x_ticks=(1, 2, 4)))
        columns = [m for m in _SEMI if any(s.method == m for s in cells)]
        rerun += [
            (f"{title}, epsilon {e:g}: MSE over DT's", beside_the_paper(
                cells, found.printed("histoftree", mask), epsilon=e, columns=columns,
                family=lambda m: m.removeprefix("Ad").split("-")[0]))
            for e in epsilons(cells)
        ]  # fmt: skip
    if not charts:
        return "", ""
    text = "<p>Geometric means over ten data sets, over the error of a tree without privacy (DT).</p>"
    legends = legend({m: i for i, m in enumerate(_SEMI)})
    folded = tables(rerun, "Tables 1 to 3 of the HistOfTree paper, rerun")
    return _semi_headline(found), text + legends + grid(charts) + folded


def _semi_headline(found: Evidence) -> str:
    own = found.cells("histoftree", setting="aligned", method=_SEMI[:2])
    naive: list[Summary] = found.cells("histoftree", setting=("aligned", "both"), method=_SEMI[4:])
    ratios = by_epsilon(own, naive)
    told = ", ".join(f"{versus(geometric(r))} at epsilon {e:g}" for e, r in ratios.items())
    return f"HistOfTree's error beside the best of the naive methods: {told}." if ratios else ""


LOCAL = section("local", "Local", ("frontier.md", "lpdt.md", "lpdt_figures.md"), _local)


def _aggregate(found: Evidence) -> tuple[str, str]:
    """Return what sums are worth; the page of the experiment has the tables."""
    return aggregate_page.headline(found), ""


AGGREGATE = section("aggregate", "Aggregate", ("aggregate.md",), _aggregate)
SEMI = section("semi", "Semi-feature local", ("histoftree.md",), _semi)
