"""The page asks in the holder's language, reads numbers as it writes them, and draws what could have been sent."""

import pytest

from hedgerow import LocalTask, Schema
from hedgerow.schema import NumberColumn, WholeNumberColumn, YesNoColumn
from hedgerow.tasks.reports import Reports
from tests.holder.browser import Visit, needs_chromium

HOSTILE = "How long? <img src=x onerror=alert(1)><b>Really</b>"
SCHEMA = Schema(
    (
        WholeNumberColumn("age", 0, 99, unit="<i>Jahre</i>", question={"en": "How old?", "de": "Wie alt sind Sie?"}),
        YesNoColumn("smokes", "0", "1", question={"de": "Rauchen Sie?"}),
    ),
    NumberColumn("hours", 0, 80, question={"en": HOSTILE, "de": HOSTILE}),
)
TASK = LocalTask.design(schema=SCHEMA, epsilon=2.0, max_depth=2, response="k_ary")


@pytest.fixture
def german(chromium):
    context = chromium.new_context(viewport={"width": 375, "height": 812}, locale="de-DE")
    context.set_default_timeout(90_000)
    yield context
    context.close()


@needs_chromium
def test_the_page_asks_in_the_language_of_the_browser(stub, german):
    visit = Visit(german).open(stub.announce(TASK))
    page = visit.page
    assert page.evaluate("document.documentElement.lang") == "de" and "geprüft" in visit.status
    form = page.locator("#form").inner_text()
    for part in ("Wie alt sind Sie?", "eine ganze Zahl von 0 bis 99, in <i>Jahre</i>, zum Beispiel 33", "Rauchen Sie?"):
        assert part in form
    # What a curator writes is text: no element comes of it.
    assert HOSTILE in form and page.locator("main img, main b, main i").count() == 0
    page.get_by_label("Wie alt sind Sie?").fill("150")
    assert "150 liegt über 99 und zählt als 99" in page.locator("#form").inner_text()
    page.get_by_label("Rauchen Sie?").select_option("ja")
    page.locator("#f2").fill("1.234")
    page.get_by_role("button", name="verwürfeln").click()
    visit.wait("Es wurde nichts gezogen")
    page.get_by_role("button", name="verwürfeln").click()  # still not: it cannot be meant so
    visit.wait("Es wurde nichts gezogen")
    page.locator("#f2").fill("12,5")
    page.get_by_role("button", name="verwürfeln").click()
    visit.wait("Berichtigen Sie sie")
    page.get_by_role("button", name="verwürfeln").click()
    visit.wait("Noch wurde nichts gesendet")
    assert "12.5" in page.locator("#truth").inner_text()
    picture = page.locator("#picture").inner_text()
    assert "Ihre wahre Antwort" in picture and picture.count("gesendet") >= 2
    assert page.locator("#picture svg rect").count() == 2 and page.evaluate("document.body.scrollWidth") <= 375
    shown = visit.shown()
    page.get_by_role("button", name="senden").click()
    visit.wait("Vielen Dank")
    (post,) = stub.posts
    assert post[3] == shown and len(Reports.from_bytes(TASK, shown)) == 1 and visit.complaints == []


@needs_chromium
def test_a_switch_of_language_asks_nobody_and_keeps_what_was_typed(stub, german):
    visit = Visit(german).open(stub.announce(TASK))
    page = visit.page
    page.get_by_label("Wie alt sind Sie?").fill("41")
    before = len(visit.requests)
    page.locator("#language").select_option("fr")
    assert "un nombre entier de 0 à 99" in page.locator("#form").inner_text()
    assert page.get_by_label("How old?").input_value() == "41"  # no French question: the English one
    assert page.get_by_role("button", name="Brouiller").is_visible() and "vérifiée" in visit.status
    assert len(visit.requests) == before and visit.complaints == []
