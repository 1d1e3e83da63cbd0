"""No page of the dashboard writes a number with a power of ten, whatever the units and whoever wrote the task."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("jinja2")

from hedgerow.service.dashboard.pace import Pace, outlook
from hedgerow.service.dashboard.pages import _templates
from hedgerow.service.dashboard.timeline import draw
from hedgerow.service.dashboard.views import Line, TaskView, detail
from hedgerow.service.overview import Overview
from hedgerow.service.shared.seen import ServerSeen
from hedgerow.tasks.forecast import Forecast
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.tree.task import LocalTask
from hedgerow.tasks.tree.tuning import PAPER

POWER = re.compile(r"[0-9]e[+-]?[0-9]")


class Reader(HTMLParser):
    """Collects what people see or hear; ids and addresses stand in code and in other attributes."""

    def __init__(self):
        super().__init__()
        self.text, self.skip = [], 0

    def handle_starttag(self, tag, attributes):
        self.skip += tag in ("code", "style")
        self.text += [value for name, value in attributes if name in ("aria-label", "title", "alt") and value]

    def handle_endtag(self, tag):
        self.skip -= tag in ("code", "style")

    def handle_data(self, data):
        self.text += [] if self.skip else [data]


def seen(name, **content):
    reader = Reader()
    reader.feed(_templates().get_template(name).render(signed_in=True, csrf="", **content))
    return " ".join(reader.text)


def pages(view):
    return seen("task.html", task=view, live=False) + seen("live.html", task=view, live=True)


@pytest.mark.parametrize("unit", [1e-9, 1e-4, 1.0, 1e7, 1e18])
def test_units_of_any_size_are_written_out(inside, unit):
    server = inside()
    X = np.random.default_rng(0).random((300, 2)) * unit
    options = {"epsilon": 4.0, "label_bounds": (0, unit), "max_depth": 2, "response": "unary"}
    task = LocalTask.design(X, X[:, 0], **{**PAPER, **options})
    server.publish(task, simulation=True, title="Numbers")
    assert server.send(task, privatize_many(task, X, X[:, 0], randomness=1)).status_code == 200
    view = detail(Overview(server.service, server.service.collection(task.id), 1500.0))
    text = pages(view)
    assert not POWER.search(text), POWER.search(text)
    for row in view.trees[0].rows():
        assert text.count(row["strip"].text) == 4  # the interval in numbers, to be seen and to be heard, on both pages
        numbers = [float(part.replace(",", "")) for part in re.findall(r"[-0-9.,]+", row["strip"].text)]
        width = row["high"] - row["low"]
        np.testing.assert_allclose(numbers, [row["mean"], row["low"], row["high"]], rtol=1e-12, atol=0.005 * width)


@pytest.mark.parametrize("value", [0.0, 1e-300, -3.3e-7, 1.2e4, 9.99e22, 1.7e308])
def test_hostile_values_in_every_field(value):
    words = f"about {value:g} or {value!r} or {value:.3e}"
    row = {"share": 0.5, "share_sd": 0.1, "cell": words, "strip": None, "classes": {"a": 0.5}}
    view = TaskView("id", "t", words, "open", "open", 10**18, 3, "", words, True, False)
    many = draw([(3600, 10**18)], 10**18 + 1, 0, 10**9)
    aim = outlook(10**12, 10**11, Pace(1, 1e9), 1e9, 0.0)
    server = ServerSeen(role="leader", operator="x", origin="o", here=True, state=words, sees=words)
    view = replace(
        view,
        manipulation=(Line(words),),
        forecasts=(Forecast(3, 0, value, value),),
        rows=(row,),
        refused=(("r", 10**18),),
        timeline=many,
        aim=aim,
        servers=(server,),
    )
    text = pages(view) + seen("tasks.html", tasks=[view])
    assert not POWER.search(text), POWER.search(text)
    assert f"{10**18:,}" in text


def test_templates_write_numbers_by_the_one_rule():
    folder = resources.files("hedgerow.service.dashboard").joinpath("templates")
    for file in folder.iterdir():
        assert not re.search(r"%[.0-9]*[ge]\b|:[.0-9]*[ge]\}", file.read_text()), file.name
