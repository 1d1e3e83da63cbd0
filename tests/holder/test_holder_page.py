"""The page in a real browser: what is shown is what is sent, once, and nothing else leaves."""

import contextlib
import gzip
import json
from pathlib import Path

import pytest

from hedgerow.grid import LabelGrid
from hedgerow.holder.page import ASSETS, HEADERS, SCRIPTS, asset, routes
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.reports import Reports
from tests.holder.browser import RECORD, Visit, answer_all, fill, local_task, needs_chromium

HERE = Path(__file__).parent


@needs_chromium
@pytest.mark.parametrize("response", ["bits", "subset"])  # vectors have the bytes of all four
def test_the_bytes_shown_are_the_one_body_posted(stub, context, response):
    task = local_task(response=response)
    visit = Visit(context).open(stub.announce(task, title="Hours <script>alert(1)</script>"))
    assert "as its curator signed it" in visit.status
    fill(visit, RECORD)
    visit.page.get_by_role("button", name="Randomise").click()
    visit.wait("Nothing has been sent yet")
    shown = visit.shown()
    assert not stub.posts
    assert "12.6875" in visit.page.locator("#truth").inner_text()
    visit.page.get_by_role("button", name="Send these").click()
    visit.wait("The curator has your report")
    (post,) = stub.posts
    assert post[3] == shown and post[1] == f"/v1/tasks/{task.id}/reports"
    assert post[2]["Content-Type"] == "application/vnd.hedgerow.reports+bin; version=1"
    reports = Reports.from_bytes(task, shown)
    assert len(reports) == 1 and not reports.simulation
    assert visit.complaints == []
    # Everything the page ever asked for: itself, its files, the task, and this one upload.
    asked = [(r.method, r.url.removeprefix(stub.base)) for r in visit.requests]
    assert sorted(asked) == sorted(
        [
            ("GET", f"/join/{task.id}"),
            ("GET", "/static/holder/holder.css"),
            *(("GET", f"/static/holder/{name}") for name in SCRIPTS),
            ("GET", f"/v1/tasks/{task.id}"),
            ("POST", f"/v1/tasks/{task.id}/reports"),
        ]
    )
    for method, path, headers, body in stub.requests:
        sent = f"{path} {headers}".encode() + (body if method == "GET" else b"")
        assert not any(value.encode() in sent for value in ("41.125", "12.6875", "other"))


@needs_chromium
def test_answering_again_sends_the_same_bytes(stub, context):
    task = local_task()
    url = stub.announce(task)
    visit = Visit(context).open(url)
    fill(visit, RECORD)
    visit.page.get_by_role("button", name="Randomise").click()
    visit.wait("Nothing has been sent yet")
    shown = visit.shown()
    visit = Visit(context).open(url)  # closed before sending, opened again
    assert visit.shown() == shown and not visit.page.locator("#form").is_visible()
    assert "41.125" not in visit.page.content()
    stub.instead = [(-1, None, {}), (503, {}, {})]  # arrived, but the answer is lost; then busy
    visit.page.get_by_role("button", name="Send these").click()
    visit.wait("counts once")
    visit.page.get_by_role("button", name="Send the same bytes again").click()
    visit.wait("counts once")
    assert {p[3] for p in stub.posts} == {shown}
    stored = visit.page.evaluate("JSON.stringify(localStorage)")
    assert shown.hex() in stored and "41.125" not in stored and "12.6875" not in stored


@needs_chromium
def test_the_report_is_kept_and_paid_for_before_it_leaves(stub, context):
    context.add_init_script("""
        const before = window.fetch;
        window.atPost = [];
        window.fetch = (...all) => {
          if (all[1]?.method === "POST") window.atPost.push({ ...localStorage });
          return before(...all);
        };
    """)
    task = local_task()
    visit = Visit(context).open(stub.announce(task))
    fill(visit, RECORD)
    visit.page.get_by_role("button", name="Randomise").click()
    visit.wait("Nothing has been sent yet")
    stub.instead = [(403, {"code": "closed"}, {})]
    visit.page.get_by_role("button", name="Send these").click()
    visit.wait("Not acknowledged: the server answered 403 closed")
    (seen,) = visit.page.evaluate("window.atPost")
    spent = seen["hedgerow:spent"]
    ((_, booked),) = json.loads(spent).items()
    assert booked == {task.id: {"epsilon": 1_000_000, "delta": 0}}
    assert json.loads(seen[f"hedgerow:report:{task.id}"])["body"] == visit.shown().hex()


@needs_chromium
def test_a_changed_task_is_refused(stub, context):
    task = local_task()
    url = stub.announce(task)
    good = stub.notices[task.id].to_json()
    for before, after in (
        ('"closes":1', '"closes":2'),
        ('"title":"', '"title":"X'),
        ('\\"epsilon\\":1.0', '\\"epsilon\\":2.0'),
    ):
        assert before in good
        stub.notices[task.id] = type("Forged", (), {"to_json": lambda _, b=before, a=after: good.replace(b, a)})()
        visit = Visit(context).open(url)
        assert "signature does not hold" in visit.status and not visit.page.locator("#form").is_visible()


@needs_chromium
def test_what_cannot_be_answered_safely_is_refused(stub, context, monkeypatch):
    monkeypatch.setattr("hedgerow.tasks.announcement._check_names", lambda task: None)  # a curator who cheats
    twice = LabelTask(LabelGrid(0.0, 80.0, 16), LaplaceNoise(1.0, 16), target="record")
    for task, reason in ((twice, "calls both"), (local_task(float("inf")), "no privacy at all")):
        visit = Visit(context).open(stub.announce(task))
        assert reason in visit.status and not visit.page.locator("#form").is_visible()
    closed = Visit(context).open(stub.announce(local_task(), closes=1))
    fill(closed, RECORD)
    closed.page.get_by_role("button", name="Randomise").click()
    closed.wait("Nothing was drawn")
    context.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no'); } })"
    )
    assert "keeps no data" in Visit(context).open(stub.announce(local_task(1.5))).status


@needs_chromium
def test_a_browser_without_the_signature_says_so(stub, context):
    context.add_init_script(
        "crypto.subtle.importKey = () => Promise.reject(new DOMException('no', 'NotSupportedError'))"
    )
    visit = Visit(context).open(stub.announce(local_task()))
    assert "cannot check the signature" in visit.status
    assert visit.page.locator("#form").is_visible()


@needs_chromium
def test_another_key_at_this_address_is_refused(stub, context):
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    answer_all(Visit(context).open(stub.announce(local_task())))
    other = Ed25519PrivateKey.from_private_bytes(bytes(32))
    visit = Visit(context).open(stub.announce(local_task(2.0), key=other))
    assert "used another key before" in visit.status


@needs_chromium
def test_the_budget_of_a_curator_ends(stub, context):
    answer_all(Visit(context).open(stub.announce(local_task(3.0))))
    visit = Visit(context).open(stub.announce(local_task(1.5)))
    fill(visit, RECORD)
    visit.page.get_by_role("button", name="Randomise").click()
    visit.wait("this curator would have epsilon 4.5, more than epsilon 4")
    assert len(stub.posts) == 1


@needs_chromium
def test_wrong_values_are_pointed_at(stub, context):
    visit = Visit(context).open(stub.announce(local_task()))
    fill(visit, {"age": "old"})
    visit.page.get_by_role("button", name="Randomise").click()
    visit.wait("missing")
    assert visit.page.evaluate("document.activeElement.id") == "f0"
    invalid = visit.page.locator("[aria-invalid=true]")
    assert invalid.count() == 3
    told = []
    for i in range(3):  # each is told what it counts as, by a text that screen readers find
        error = invalid.nth(i).get_attribute("aria-describedby").split()[1]
        told.append(visit.page.locator(f"#{error}").inner_text())
    assert told == ["not a number: counts as 49.5", "not chosen: counts as flat", "empty: counts as 40"]
    fill(visit, {"age": "41"})
    visit.page.get_by_role("button", name="Randomise").click()
    visit.page.wait_for_function("() => document.querySelectorAll('[aria-invalid=true]').length === 2")
    assert "41" not in visit.page.evaluate("JSON.stringify(localStorage)")  # nothing was drawn yet
    visit.page.get_by_role("button", name="Randomise").click()  # they are meant
    visit.wait("Nothing has been sent yet")
    assert len(Reports.from_bytes(local_task(), visit.shown())) == 1


@needs_chromium
def test_everything_works_from_the_keyboard_and_has_a_name(stub, context):
    visit = Visit(context).open(stub.announce(local_task()))
    page = visit.page
    for control in page.locator("input, select, button").all():
        if control.is_visible():
            name = control.evaluate("e => e.labels?.[0]?.textContent || e.textContent")
            assert name
    page.locator("#f0").focus()
    page.keyboard.type("41")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.type("12")
    page.keyboard.press("Enter")
    visit.wait("Nothing has been sent yet")
    assert page.evaluate("document.activeElement.id") == "review"
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "send":
            break
    page.keyboard.press("Enter")
    visit.wait("The curator has your report")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # nothing hangs over on a phone


@needs_chromium
def test_chromium_makes_the_same_bytes(stub, context, vectors_file):
    page = Visit(context).open(stub.announce(local_task())).page
    data = json.loads(gzip.decompress(vectors_file.read_bytes()))
    check = (HERE / "holder_check.mjs").read_text().replace("export async function", "async function")
    script = f"async (data) => {{ {check}; return checkVectors(await import('/static/holder/holder.js'), data); }}"
    result = page.evaluate(script, data)
    assert result["wrong"] == [] and result["checked"] == len(data["vectors"]) >= 500


@needs_chromium
def test_chromium_refuses_what_python_refuses(stub, context, refusals_file):
    page = Visit(context).open(stub.announce(local_task())).page
    data = json.loads(gzip.decompress(refusals_file.read_bytes()))
    check = (HERE / "holder_refusals.mjs").read_text().replace("export async function", "async function")
    script = f"async (data) => {{ {check}; return checkRefusals(await import('/static/holder/holder.js'), data); }}"
    data["cases"] = data["cases"][::7]  # Node, of the same engine, judges all of them in test_holder_refusals.py
    result = page.evaluate(script, data)
    assert result["wrong"] == [] and result["refused"] == sum(not case[-1] for case in data["cases"]) >= 600


def test_the_files_are_fenced_in():
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "form-action 'none'" in policy
    page = asset("holder.html").decode()
    assert (
        "<style" not in page and " style=" not in page and " on" not in page.replace(" on ", " ").replace(" once", " ")
    )
    assert page.count("<script") == 1 and 'src="../static/holder/holder.js"' in page
    script = "".join(asset(name).decode() for name in SCRIPTS)
    for word in ("innerHTML", "eval(", "new Function", "document.write", "Math.random", "http://", "https://"):
        assert word not in script.replace("http://www.w3.org/2000/svg", "")


def test_routes_serve_the_page():
    pytest.importorskip("starlette")
    pytest.importorskip("httpx")
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

    client = TestClient(Starlette(routes=routes()))
    page = client.get(f"/join/{'0' * 64}")
    assert page.status_code == 200 and page.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]
    for name, kind in ASSETS.items():
        got = client.get(f"/static/holder/{name}")
        assert got.content == asset(name) and got.headers["content-type"] == kind
    assert client.get("/static/holder/secrets.txt").status_code == 404
    with contextlib.suppress(Exception):
        assert client.get("/static/holder/../holder.js").status_code == 404
