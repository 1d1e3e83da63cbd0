"""A browser that visits the page: what it asked for, what it complained about, what it shows."""

import os
import shutil

import pytest

from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.grid import LabelGrid
from hedgerow.partition import grow
from hedgerow.space import FeatureSpace
from hedgerow.tasks.tree.task import LocalTask

CHROMIUM = os.environ.get("HEDGEROW_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
needs_chromium = pytest.mark.skipif(not os.access(CHROMIUM, os.X_OK), reason="chromium is not installed")
SPACE = FeatureSpace(
    (
        NumericFeature("age", 0, 99),
        CategoricalFeature("kind of home", ("flat", "house", "<b>other</b>")),
    )
)
RECORD = {"age": "41.125", "kind of home": "<b>other</b>", "hours": "12.6875"}


def local_task(epsilon=1.0, response="bits", **options):
    partition = grow("max_edge", SPACE, None, None, max_depth=3)
    steps = 16 if response == "bits" else 2
    return LocalTask(epsilon, LabelGrid(0.0, 80.0, steps), partition, response, target="hours", **options)


class Visit:
    """A page with everything it asked the network for, and everything it complained about."""

    def __init__(self, context):
        self.page, self.requests, self.complaints = context.new_page(), [], []
        self.page.on("request", lambda r: self.requests.append(r))
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))

    def open(self, url):
        self.page.goto(url)
        self.page.wait_for_function("() => !document.getElementById('status').textContent.startsWith('Fetching')")
        return self

    @property
    def status(self):
        return self.page.locator("#status").inner_text()

    def shown(self):
        """Return the bytes on the page."""
        return bytes.fromhex("".join(self.page.locator("#parts .hex").all_inner_texts()).replace(" ", ""))

    def wait(self, text):
        self.page.wait_for_function("t => document.getElementById('status').textContent.includes(t)", arg=text)


def fill(visit, values):
    for label, value in values.items():
        box = visit.page.get_by_label(label, exact=True)
        if box.evaluate("e => e.tagName") == "SELECT":
            box.select_option(value)
        else:
            box.fill(value)


def odds_rows(visit):
    """Return the lines of the table of odds: group, true, sent, chance."""
    rows = visit.page.locator("#odds tbody tr").all()
    return [row.locator("td").all_inner_texts() for row in rows]


def marks(visit):
    """Return what the page says about each true value: that it stays, or that it is sent as it is."""
    names = visit.page.locator("#truth dt").all_inner_texts()
    tags = [value.locator(".tag").all_inner_texts() for value in visit.page.locator("#truth dd").all()]
    return {name: tag[0] for name, tag in zip(names, tags, strict=True) if tag}


def answer_all(visit, record=None):
    fill(visit, RECORD if record is None else record)
    visit.page.get_by_role("button", name="Randomise").click()
    visit.wait("Nothing has been sent yet")
    visit.page.get_by_role("button", name="Send these").click()
    visit.wait("The curator has your report")
    return visit.shown()
