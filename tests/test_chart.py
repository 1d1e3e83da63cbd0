"""Error against epsilon and people: one picture, as SVG for pages and as a figure."""

import xml.etree.ElementTree as ET

import pytest

from hedgerow.chart import Curve, ErrorPicture, Point, figure_of

HOSTILE = '<script>alert("1")</script> $x$'


def picture(**options):
    one = Curve(HOSTILE, tuple(Point(x, 10 / x, 8 / x, 12 / x) for x in (0.5, 1.0, 2.0)), 0)
    two = Curve("other", tuple(Point(x, 5.0, 5.0, 5.0) for x in (0.5, 2.0)), 1)
    return ErrorPicture("epsilon", (one, two), "error", HOSTILE, {"public <only>": 4.0}, {"asked": 1.0}, **options)


def test_svg_holds_names_as_text_and_every_point():
    root = ET.fromstring(picture().svg())
    assert not [node for node in root.iter() if node.tag.endswith("script")]
    said = [node.text for node in root.iter("title")]
    assert f"{HOSTILE}: 20 error at 0.5 (16 to 24)" in said and "public <only>: 4" in said and "asked" in said
    assert root.get("aria-label") == HOSTILE


def test_the_figure_has_the_same_curves_lines_and_marks():
    pytest.importorskip("matplotlib")
    figure = figure_of([picture(), picture(log_y=True, limits=(1.0, 30.0), ticks=(0.5, 1.0, 2.0))])
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [HOSTILE, "other", "public <only>", "asked"]
    first = figure.axes[0].get_lines()[0]
    assert first.get_ydata().tolist() == [20.0, 10.0, 5.0]
    assert figure.axes[1].get_ylim() == (1.0, 30.0) and figure.axes[1].get_yscale() == "log"
    figure.draw_without_rendering()


def test_curves_are_told_apart_without_colour():
    pytest.importorskip("matplotlib")
    lines = figure_of([picture()]).axes[0].get_lines()
    assert lines[0].get_marker() != lines[1].get_marker()
