"""``make demo``, at a smaller size: it runs, and what it leaves behind is whole and true."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import runpy
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hedgerow import LocalTask, Model

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        patch.syspath_prepend(EXAMPLES)
        patch.setattr(sys, "argv", ["demo.py", "--quick", "--output", str(folder)])
        runpy.run_path(str(EXAMPLES / "demo.py"), run_name="__main__")
    return folder, printed.getvalue()


def test_demo_prints_table_report_and_guarantee(output):
    _, text = output
    assert "LPDT-M" in text and "LPDT-V" in text and "non-private tree" in text
    assert "true record" in text and "NAMED" in text
    assert "Local privacy with epsilon = 2" in text and "Simulation" not in text
    assert "holds" in text and "VIOLATED" not in text


def test_demo_shares_a_task_between_two_servers(output):
    folder, text = output
    said = " ".join(text.split())  # lines are folded
    assert "took 110 sealed reports" in said and "without the protection" in said
    assert all((folder / "two_servers" / name).is_file() for name in ("leader.db", "helper.db"))


def test_demo_saves_a_task_and_a_model_that_can_be_read(output):
    folder, _ = output
    task = LocalTask.from_json((folder / "task.json").read_text())
    model = Model.from_json((folder / "model.json").read_text())
    assert model.task == task and model.n_reports == 6000 and not model.simulation


def test_demo_saves_all_methods(output):
    folder, _ = output
    with (folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len({row["method"] for row in rows}) == 7
    assert all(float(row["mse"]) > 0 for row in rows)


def test_demo_page_needs_nothing_else(output):
    folder, _ = output
    page = (folder / "index.html").read_text()
    sources = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            sources.extend(value for name, value in attrs if name in ("src", "href"))

    Reader().feed(page)
    assert len(sources) == 3 and all(s.startswith("data:image/svg+xml;base64,") for s in sources)
    assert not re.search(r"\$[a-z_]+", page)
