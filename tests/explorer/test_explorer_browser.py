"""The page of one prediction in a real browser: by keyboard, on a phone, nothing asked of anybody, names as text."""

import shutil

import numpy as np
import pandas as pd
import pytest

from hedgerow import LPDTClassifier, PrivateAnovaRegressor
from hedgerow.explorer import Explorer
from tests.explorer.test_explorer import hostile

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open a page at a width; at the end nothing was complained of and nothing was asked for."""
    complaints = []
    pages = []

    def run(explorer, width=375):
        explorer.save(tmp_path / "page.html")
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.set_default_timeout(20_000)
        page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.on("dialog", lambda d: complaints.append(d.message))
        page.on("request", lambda r: complaints.append(r.url) if not r.url.endswith("page.html") else None)
        page.goto((tmp_path / "page.html").as_uri())
        page.locator("#curve svg").wait_for()
        pages.append(page)
        return page

    yield run
    for page in pages:
        page.close()
    assert complaints == []


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.uniform(0, 50, 2000), "where": rng.choice(["north", "south"], 2000)})
    return X, (X["age"] / 10 + 2 * (X["where"] == "south")).to_numpy()


@pytest.mark.parametrize("width", [320, 375, 1280])
def test_a_record_is_tried_by_keyboard_alone(opened, people, width):
    X, y = people
    model = PrivateAnovaRegressor(
        4.0, label_bounds=(0, 7), feature_bounds={"age": (0, 50)}, categories={"where": ["north", "south"]},
        random_state=0,
    ).fit(X, y)  # fmt: skip
    page = opened(model.explorer(), width)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "range"
    page.keyboard.press("End")
    page.keyboard.press("Tab")  # the number beside it
    assert page.evaluate("document.activeElement.value") == "50"
    page.keyboard.press("Control+a")
    page.keyboard.type("40")
    page.locator("#f1").focus()
    page.keyboard.type("south")
    record = pd.DataFrame({"age": [40.0], "where": ["south"]})
    (point,) = model.predict(record)
    (low,), (high,) = model.predict_interval(record)
    status = page.get_by_role("status")
    assert float(status.locator("#prediction").inner_text()) == pytest.approx(point, rel=1e-3)
    words = status.locator("#interval").inner_text()
    assert [float(word) for word in words.split(":")[1].split(",")[0].split(" to ")] == pytest.approx([low, high], 1e-3)
    assert page.get_by_role("row", name="age").count() >= 1
    page.get_by_role("button", name="Back to the start").press("Enter")
    assert page.locator("#f0").input_value() == "25"


def test_classes_have_their_chances_and_a_leaf_its_rule(opened, people):
    X, y = people
    classes = np.where(y > 4, "late", "early")
    model = LPDTClassifier(6.0, random_state=0).fit(X, classes, X_public=X[:300], y_public=classes[:300])
    page = opened(model.explorer())
    page.locator("#f0").fill("49")
    assert page.locator("#prediction").inner_text().startswith("late (")
    assert "age >= " in page.locator("#parts").inner_text()
    shown = page.get_by_role("combobox", name="Shown below for").input_value()
    assert model.classes_[int(shown)] == "late"


def test_names_are_text(opened):
    page = opened(Explorer(hostile()))
    assert page.locator("img").count() == 0 and page.locator("legend").first.inner_text().startswith("</script>")
    assert page.locator("h1").inner_text().startswith("One prediction: </script>")


def test_it_prints_what_was_tried(opened, people):
    page = opened(Explorer(hostile()))
    page.emulate_media(media="print")
    assert page.locator("button").is_hidden() and page.locator("#f0").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
