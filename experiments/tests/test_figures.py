"""Figures and small charts: what is drawn is what was measured, and drawing again gives the same file."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from hedgerow.chart.svg import Curve, Point, chart, ticks
from hedgerow.compare.scores import Summary
from hedgerow.compare.web import document, legend
from hedgerow_experiments.figures import boxes, curves, privacy_curves, save, tree_picture
from hedgerow_experiments.forms import to_html
from hedgerow_experiments.tables import tabulate


def cell(data, method, epsilon, *values, x=None):
    return Summary(data, "", method, epsilon, x, "mse", "", dict(enumerate(values)))


CELLS = [
    *(cell(d, m, e, e + k, e + k + 1, e + k + 2) for d in "AB" for k, m in enumerate(("x", "y")) for e in (1.0, 2.0)),
    cell("A", "DT", None, 0.5, 0.7),
]


def test_privacy_curves_have_a_panel_a_data_set_a_curve_a_method_and_ends_as_lines():
    figure = privacy_curves(CELLS)
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title() for ax in shown] == ["A", "B"]
    one = {line.get_label(): line for line in shown[0].lines}
    assert one["x"].get_xydata().tolist() == [[1.0, 2.0], [2.0, 3.0]]
    assert [line.get_ydata()[0] for line in shown[0].lines if line.get_linestyle() == "--"] == [0.6]
    low, high = shown[0].collections[0].get_paths()[0].vertices[:, 1].min(), shown[0].collections[0].get_paths()[0]
    assert low == pytest.approx(1.2) and high.vertices[:, 1].max() == pytest.approx(3.8)
    assert shown[0].get_xscale() == shown[0].get_yscale() == "log"
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["x", "y", "DT"]
    import matplotlib.pyplot as plt

    plt.close(figure)


def test_parameter_curves_take_the_abscissa_of_the_cell(tmp_path):
    cells = [cell("A", "m", 4.0, 1.0, 2.0, x=x) for x in (3.0, 1.0, 2.0)]
    figure = curves(cells, series=lambda s: f"epsilon {s.epsilon:g}", x_label="depth")
    (line,) = figure.axes[0].lines
    assert line.get_xdata().tolist() == [1.0, 2.0, 3.0] and line.get_label() == "epsilon 4"
    svg, png = save(figure, tmp_path / "deep" / "p.2")
    assert (svg.name, png.name) == ("p.2.svg", "p.2.png") and png.read_bytes().startswith(b"\x89PNG")


def test_a_figure_drawn_again_is_the_same_file(tmp_path):
    files = [save(privacy_curves(CELLS), tmp_path / str(i)) for i in range(2)]
    assert [f.read_bytes() for f in files[0]] == [f.read_bytes() for f in files[1]]


def test_boxes_show_quartiles(tmp_path):
    figure = boxes({"public": np.arange(101.0), "private": [1.0, 2.0, 3.0]}, y_label="fare")
    medians = [line.get_ydata()[0] for line in figure.axes[0].lines]
    assert 50.0 in medians and 2.0 in medians and 5.0 in medians and 95.0 in medians
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == ["public", "private"]
    save(figure, tmp_path / "b")


def test_tree_picture(tmp_path):
    from hedgerow.partition import grow
    from hedgerow.space import FeatureSpace

    Z = np.random.default_rng(0).random((100, 2))
    space = FeatureSpace.from_bounds((0, 1), ["a", "b"])
    tree = grow("cart", space, Z, Z[:, 0], max_depth=2, min_samples_leaf=5)
    figure = tree_picture(tree, np.arange(tree.n_leaves), title="splits")
    text = save(figure, tmp_path / "t")[0].read_text()
    assert "splits" in text


def parsed(svg):
    return ET.fromstring(svg)


def test_chart_places_points_on_its_scales():
    line = Curve("m", (Point(1, 10, 5, 20), Point(4, 10, 5, 20), Point(2, 40, 30, 50)), 3)
    svg = chart([line], title="A & B", lines={"end <1>": 10.0}, limits=(0, 100))
    root = parsed(svg)
    dots = [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter("circle")]
    assert [d[0] for d in dots] == sorted(d[0] for d in dots)
    assert dots[1][0] == pytest.approx((dots[0][0] + dots[2][0]) / 2, abs=0.2)  # log scale: 1, 2, 4
    assert dots[0][1] == dots[2][1] > dots[1][1]  # larger is higher up
    texts = [t.text for t in root.iter("text")]
    assert "A & B" in texts and "end <1>" in texts and root.find("g").get("class") == "c3"
    assert "m: 40  at 2 (30 to 50)" in svg


def test_chart_keeps_what_leaves_the_scale_at_its_edge():
    lines = [Curve("m", (Point(1, 5, 5, 5), Point(2, 500, 400, 600)), 0)]
    tops = [float(c.get("cy")) for c in parsed(chart(lines, limits=(0, 10))).iter("circle")]
    assert tops[1] == 38 and parsed(chart([])).find("g") is None


def test_names_of_lines_that_are_close_do_not_cover_each_other():
    root = parsed(chart([Curve("m", (Point(1, 5, 5, 5),), 0)], lines={"a": 5.0, "b": 5.1}, limits=(0, 100)))
    anchors = {t.text: t.get("text-anchor") for t in root.iter("text") if t.text in "ab"}
    assert anchors == {"a": "end", "b": "start"}


@pytest.mark.parametrize(("low", "high", "log"), [(0, 1, False), (0.3, 7e5, True), (-5, 5, False), (2, 3, True)])
def test_ticks_are_few_and_inside(low, high, log):
    found = ticks(low, high, log)
    assert 1 <= len(found) <= 7 and all(low - 1e-9 <= v <= high * (1 + 1e-9) for v in found) and found == sorted(found)


def test_pages_need_nothing_from_elsewhere_and_escape_what_they_show():
    cells = [cell("<A>", "x & y", 1.0, 1.0, 2.0, 3.0), cell("<A>", "z", 1.0, 2.0, 3.0, 4.0)]
    page = document("T<", to_html(tabulate(cells)) + legend({"<b>": 1}))
    assert not re.search(r"https?://|<script|<link|@import|url\(", page)
    assert "&lt;A&gt;" in page and "x &amp; y" in page and "<title>T&lt;</title>" in page and "&lt;b&gt;" in page
    assert "<b>2</b>" in page and "<u>3</u>" in page and "rank sum" in page
    assert "prefers-color-scheme: dark" in page and 'name="viewport"' in page
