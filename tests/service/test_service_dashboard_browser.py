"""The dashboard in a real browser: by keyboard alone, live without reloading, nothing refused by its own policy."""

import shutil
import socket
import threading
import time
import urllib.request

import numpy as np
import pytest

from hedgerow.service.curators import ENVIRONMENT
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.tree.task import LocalTask

pytest.importorskip("starlette")
sync_api = pytest.importorskip("playwright.sync_api")
uvicorn = pytest.importorskip("uvicorn")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
TOKEN = "hc_token-of-the-browser-test"


@pytest.fixture
def served(tmp_path):
    from hedgerow.service.app import create_app
    from hedgerow.service.database import Database

    url = f"sqlite:///{tmp_path}/b.db"
    Database(url, "create").close()
    app = create_app(url, curator_token=TOKEN)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield app.state.service, f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(30)


@pytest.fixture
def page():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.set_default_timeout(20_000)
        yield page
        browser.close()


def test_progress_and_tree_appear_while_reports_come_in(served, page):
    service, base = served
    X = np.random.default_rng(0).random((600, 1))
    task = LocalTask.design(
        X[:100],
        X[:100, 0],
        epsilon=4.0,
        label_bounds=(0, 1),
        max_depth=1,
        response="unary",
        title="Hours of sleep",
        rule="max_edge",
        min_samples_leaf=20,
    )
    now = int(time.time())
    service.publish(task, simulation=True, now=now, publisher=ENVIRONMENT, title=None, purpose="To test",
                    curator="Town", tokens=False, opens=now - 1, closes=now + 600)  # fmt: skip
    complaints = []
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: complaints.append(str(e)))

    page.goto(f"{base}/dashboard")
    page.keyboard.type(TOKEN)  # the field has the focus
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Hours of sleep").focus()
    page.keyboard.press("Enter")
    page.get_by_text("0 reports accepted").wait_for()
    page.evaluate("document.body.dataset.loaded = 'once'")  # gone if the page were loaded again

    body = privatize_many(task, X[100:], X[100:, 0], randomness=1).to_bytes()
    media = {"Content-Type": "application/vnd.hedgerow.reports+bin; version=1"}
    urllib.request.urlopen(urllib.request.Request(f"{base}/v1/tasks/{task.id}/reports", body, media)).close()
    page.get_by_text("500 reports accepted").wait_for()
    page.get_by_role("heading", name="The tree so far").wait_for()
    assert page.evaluate("document.body.dataset.loaded") == "once"
    assert page.locator(".leaf svg[role=img]").count() == task.n_leaves
    assert page.locator("svg.chart:not(.timeline)[role=img]").count() == 1
    assert page.locator("svg.timeline rect").count() == 1
    for width in (375, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    page.get_by_text("Close the collection").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Close it now").focus()
    page.keyboard.press("Enter")
    page.locator(".state.closed").wait_for()
    assert complaints == []
