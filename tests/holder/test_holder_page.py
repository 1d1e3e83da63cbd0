"""The page in a real browser: what is shown is what is sent, once, and nothing else leaves."""

import base64
import contextlib
import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

from hedgerow.content import canonical
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.grid import LabelGrid
from hedgerow.holder.page import ASSETS, HEADERS, SCRIPTS, asset, routes
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.mechanisms.words import percent
from hedgerow.partition import grow
from hedgerow.space import FeatureSpace
from hedgerow.tasks.announcement import task_text
from hedgerow.tasks.labels.task import LabelReports, LabelTask
from hedgerow.tasks.partly_public import CellReports, CellTask, FirstReports, SemiTask
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.tree.task import LocalTask
from vectors.assisted import make_task
from vectors.pilot import make_pilot
from vectors.rounds import make_first, model_tree

HERE = Path(__file__).parent
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


def local_task(epsilon=1.0, response="bits", **options):
    partition = grow("max_edge", SPACE, None, None, max_depth=3)
    steps = 16 if response == "bits" else 2
    return LocalTask(epsilon, LabelGrid(0.0, 80.0, steps), partition, response, target="hours", **options)


@pytest.fixture(scope="module")
def chromium():
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


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


@pytest.fixture
def context(chromium):
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    context.set_default_timeout(90_000)  # a busy machine is no mistake of the page
    yield context
    context.close()


def fill(visit, values):
    for label, value in values.items():
        box = visit.page.get_by_label(label, exact=True)
        if box.evaluate("e => e.tagName") == "SELECT":
            box.select_option(value)
        else:
            box.fill(value)


RECORD = {"age": "41.125", "kind of home": "<b>other</b>", "hours": "12.6875"}


@needs_chromium
@pytest.mark.parametrize("response", ["bits", "unary", "k_ary", "subset"])
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


def odds_rows(visit):
    """Return the lines of the table of odds: group, true, sent, chance."""
    rows = visit.page.locator("#odds tbody tr").all()
    return [row.locator("td").all_inner_texts() for row in rows]


@needs_chromium
@pytest.mark.parametrize(("randomizer", "parameter"), [("subset", 3), ("levels", 5)])
def test_a_public_model_runs_on_the_page_and_one_message_leaves(stub, context, randomizer, parameter):
    task = make_task(2.0, (6, 5), randomizer, parameter, "tdlk", 9.0, 3)
    visit = Visit(context).open(stub.announce(task))
    told = visit.page.locator("#facts").inner_text()
    for part in ("A public model, which came with this task, predicts rent on this device", "One of 2 trees is drawn"):
        assert part in told
    odds = [j.hold if randomizer == "subset" else j.response.truth for j in task.encoding.joint]
    assert " to ".join(percent(p / 2**64) for p in sorted(odds)) in told
    assert "all of these values together" in told and "Epsilon 2" in told
    record = {"age": "41.125", "home": "Büro ☂", "pay": "2.5", "rent": "12.6875"}
    fill(visit, record)
    visit.page.get_by_role("button", name="Randomise").click()
    visit.wait("Nothing has been sent yet")
    shown = visit.shown()
    assert not stub.posts and set(marks(visit).values()) == {"stays here"} and len(marks(visit)) == 4
    # What the page works out is what Python works out, and the table is about the message that is shown.
    prediction, leaves = task.place(task.space.encode_record(record)[None, :])
    tree, report = int(shown[60]), Reports.from_bytes(task, shown)
    assert f"predicts {prediction[0]:.5g}" in visit.page.locator("#odds").inner_text()
    rows = odds_rows(visit)
    if randomizer == "subset":
        scores = task.encoding._unpack(report.payloads)[0].tolist()
        words = [["below", "not named", "above"][score + 1] for score in scores[: task.encoding.leaves[tree]]]
        own = words.pop(int(leaves[0, tree]))
        assert [row[2] for row in rows] == [own, *words] and rows[0][0].endswith("(yours)")
        assert sum(row[2] != "not named" for row in rows) == 3
    else:
        assert {row[2] for row in rows} <= {"named", "not named"} and any(row[1] == "yours" for row in rows)
    visit.page.get_by_role("button", name="Send these").click()
    visit.wait("The curator has your report")
    (post,) = stub.posts
    assert post[3] == shown and len(report) == 1 and not report.simulation
    kept = visit.page.evaluate("JSON.stringify(localStorage)")
    for _, path, headers, _ in stub.requests:
        assert not any(value in f"{path} {headers} {kept}" for value in ("41.125", "12.6875", f"{prediction[0]:.5g}"))
    again = Visit(context).open(stub.announce(task))
    assert again.shown() == shown and "predicts" not in again.page.locator("#odds").inner_text()
    assert visit.complaints == again.complaints == []


@needs_chromium
def test_a_pilot_is_answered_on_the_page_and_one_byte_about_the_error_leaves(stub, context):
    task = make_pilot(2.0, (-11.25, -4.0, 4.0, 11.25), "tdlk", 3)
    visit = Visit(context).open(stub.announce(task))
    told = visit.page.locator("#facts").inner_text()
    p, q = (float(x) for x in (task.encoding.response.p, task.encoding.response.q))
    for part in (
        "A public model, which came with this task, predicts rent on this device; the message is about how wrong it is",
        "How wrong the public model is for you, in one of 5 bins",
        f"Yours is named with probability {percent(p)}, else any other",
        "all of these values together",
        "Epsilon 2",
    ):
        assert part in told
    assert "tree" not in told and "They stay on this device" in visit.page.locator("#stays").inner_text()
    record = {"age": "41.125", "home": "Büro ☂", "pay": "2.5", "rent": "59.6875"}
    fill(visit, record)
    visit.page.get_by_role("button", name="Randomise").click()
    visit.wait("Nothing has been sent yet")
    shown = visit.shown()
    assert not stub.posts and marks(visit) == dict.fromkeys(record, "stays here")
    (prediction,) = task.public_model.predict_within(task.space.encode_record(record)[None, :], task.label_bounds)
    own, sent = int(task.bins(59.6875 - prediction)), shown[60]
    bins = ["below -11.25", "from -11.25 to below -4", "from -4 to below 4", "from 4 to below 11.25", "from 11.25"]
    assert f"predicts {prediction:.5g}" in visit.page.locator("#odds").inner_text()
    assert visit.page.locator("#odds th").first.inner_text() == "rent minus the prediction"
    assert bins[own] in visit.page.locator("#truth").inner_text()
    wanted = []
    for j in [own, *(j for j in range(5) if j != own)]:
        chance = p if j == own else q
        name, yours = (f"{bins[j]} (yours)", "yours") if j == own else (bins[j], "")
        said, chance = ("named", chance) if j == sent else ("not named", 1 - chance)
        wanted.append([name, yours, said, percent(chance)])
    assert odds_rows(visit) == wanted
    visit.page.get_by_role("button", name="Send these").click()
    visit.wait("The curator has your report")
    (post,) = stub.posts
    report = Reports.from_bytes(task, shown)
    assert post[3] == shown and len(shown) == 61 and len(report) == 1 and not report.simulation
    kept = visit.page.evaluate("JSON.stringify(localStorage)")
    for _, path, headers, _ in stub.requests:
        assert not any(value in f"{path} {headers} {kept}" for value in ("41.125", "59.6875", f"{prediction:.5g}"))
    again = Visit(context).open(stub.announce(task))
    assert again.shown() == shown and "predicts" not in again.page.locator("#odds").inner_text()
    assert "yours" not in again.page.locator("#odds").inner_text().lower().replace("your bin", "")
    assert visit.complaints == again.complaints == []


@needs_chromium
def test_a_damaged_public_model_is_refused(stub, context):
    """Signed by a curator who cheats or errs: nothing in it may run, or lead a walk astray."""
    task = make_task(2.0, (6, 5), "subset", 3, "tdlk", 9.0, 3)
    good = json.loads(task_text(task))
    page = Visit(context).open(stub.announce(task)).page

    def outcome(field, change):
        data = bytearray(base64.b64decode(good[field]))
        change(data)
        bad = {**good, field: base64.b64encode(bytes(data)).decode()}
        script = "async (t) => { const h = await import('/static/holder/holder.js'); await h.readTask(t); }"
        try:
            page.evaluate(script, canonical(bad))
        except Exception as error:
            return str(error)
        return "accepted"

    def damage(data, before, after):
        at = bytes(data).index(before)
        data[at : at + len(before)] = after

    assert outcome("public_model", lambda data: None) == "accepted"
    feature = task.trees.arrays()["feature"].tobytes()
    for field, change in (
        ("public_model", lambda data: data.pop()),
        ("public_model", lambda data: data.append(0)),
        ("public_model", lambda data: damage(data, b"HDGP", b"HDGQ")),
        ("public_model", lambda data: damage(data, b"HDGP\x01", b"HDGP\x02")),
        ("public_model", lambda data: damage(data, b"linear", b"pickle")),
        (
            "trees",
            lambda data: damage(data, feature, b"\xff\xff" + feature[2:]),
        ),  # a root that is a leaf
        ("trees", lambda data: damage(data, feature, b"\x63\x00" + feature[2:])),  # a column that is not there
        ("trees", lambda data: damage(data, feature, feature[:-2] + b"\x00\x00")),  # an inner node without children
    ):
        assert "public model" in outcome(field, change)


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
def test_label_tasks_and_tokens_from_the_link(stub, context):
    task = LabelTask(LabelGrid(0.0, 80.0, 16), LaplaceNoise(1.0, 16), target="hours")
    visit = Visit(context).open(stub.announce(task, tokens=True) + "#token=abc&record=17")
    assert "#" not in visit.page.url
    shown = answer_all(visit, {"hours": "12"})
    assert LabelReports.from_bytes(task, shown).records.tolist() == [17]
    assert marks(visit) == {"record": "sent in clear", "hours": "stays here"}
    assert stub.posts[0][2]["Authorization"] == "Bearer abc" and stub.posts[0][3] == shown


@needs_chromium
def test_two_rounds(stub, context):
    first = SemiTask.design(SPACE, epsilon=1.5, label_bounds=(0, 80), target="hours")
    second = CellTask(first, grow("max_edge", SPACE, None, None, max_depth=3), "k_ary")
    visit = Visit(context).open(stub.announce(second))
    fill(visit, {"age": "41", "kind of home": "house"})
    visit.page.get_by_role("button", name="Randomise").click()
    visit.wait("did not answer the first")
    visit = Visit(context).open(stub.announce(first))
    visit.page.get_by_label("Keep age private").uncheck()
    one = FirstReports.from_bytes(first, answer_all(visit, {"age": "41", "kind of home": "house", "hours": "9"}))
    assert one.private.tolist() == [[False, True]] and one.Z[0, 0] == 41
    assert marks(visit) == {"age": "sent in clear", "kind of home": "stays here", "hours": "stays here"}
    visit = Visit(context).open(stub.announce(second))
    two = CellReports.from_bytes(second, answer_all(visit, {"age": "41", "kind of home": "house"}))
    two.check_labels(one)
    assert (
        "epsilon 1.5 from this browser"
        in Visit(context).open(stub.announce(second)).page.locator("#facts").inner_text()
    )


@needs_chromium
def test_two_tabs_cannot_answer_a_second_round_twice(stub, context):
    first = SemiTask.design(SPACE, epsilon=1.5, label_bounds=(0, 80), target="hours", private_columns=["age"])
    tree = grow("max_edge", SPACE, None, None, max_depth=3)
    values = {"age": "41", "kind of home": "house"}
    answer_all(Visit(context).open(stub.announce(first)), {**values, "hours": "9"})
    tabs = [Visit(context).open(stub.announce(CellTask(first, tree, response))) for response in ("k_ary", "bits")]
    for tab in tabs:
        fill(tab, values)
    hold = "id => void navigator.locks.request(`hedgerow:${id}`, () => new Promise((done) => (window.letGo = done)))"
    tabs[0].page.evaluate(hold, first.id)
    tabs[1].page.get_by_role("button", name="Randomise").click()
    pending = "async id => (await navigator.locks.query()).pending.some((lock) => lock.name === `hedgerow:${id}`)"
    tabs[1].page.wait_for_function(pending, arg=first.id)  # it waits for its turn
    assert not tabs[1].page.locator("#review").is_visible()
    tabs[0].page.evaluate("window.letGo()")
    tabs[1].wait("Nothing has been sent yet")
    tabs[0].page.get_by_role("button", name="Randomise").click()
    tabs[0].wait("answered already under another task")
    assert len(stub.posts) == 1


@needs_chromium
def test_two_rounds_with_a_public_model_report_its_error(stub, context):
    first = make_first(1.5, "tdlk", 8.0, 16, 3)
    second = CellTask(first, model_tree(), "bits")
    visit = Visit(context).open(stub.announce(first))
    told = visit.page.locator("#facts").inner_text()
    assert "A public model, which came with this task, predicts rent on this device; how wrong it is for you" in told
    assert "The error of the public model (rent minus its prediction) with random noise" in told
    assert "a number from -20 to 60" in visit.page.locator("#form").inner_text()  # the label's range, not the error's
    record = {"age": "41.125", "home": "Büro ☂", "pay": "2.5", "rent": "59.6875"}
    visit.page.get_by_label("Keep home private").uncheck()
    one = FirstReports.from_bytes(first, answer_all(visit, record))
    (prediction,) = first.assist.predict(first.space.encode_record(record)[None, :])
    assert f"predicts {prediction:.5g}" in visit.page.locator("#odds").inner_text()
    assert "the error of the public prediction of rent is sent as" in visit.page.locator("#picture").inner_text()
    assert one.private.tolist() == [[True, False, True, True]]  # whether pay is missing is as private as pay
    assert marks(visit)["rent"] == "stays here"
    visit = Visit(context).open(stub.announce(second))
    two = CellReports.from_bytes(second, answer_all(visit, {k: v for k, v in record.items() if k != "rent"}))
    two.check_labels(one)
    assert visit.complaints == []


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
    result = page.evaluate(script, data)
    assert result["wrong"] == [] and result["refused"] == sum(not case[-1] for case in data["cases"]) >= 3000


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


@needs_chromium
def test_a_task_of_two_servers_is_sealed_for_both_in_the_browser(stub, context):
    pytest.importorskip("pyhpke")
    from dataclasses import replace

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from hedgerow.sealing import Role
    from hedgerow.tasks.keys import base64url, public_bytes
    from hedgerow.tasks.sums.examples import example_task
    from tests.aggregate.parties import run, servers

    keys = {role: Ed25519PrivateKey.from_private_bytes(bytes([role]) * 32) for role in (Role.LEADER, Role.HELPER)}
    leader = replace(servers().leader, origin=stub.base, signing_key=public_bytes(keys[Role.LEADER]))
    helper = replace(servers().helper, operator="<b>Club</b>", signing_key=public_bytes(keys[Role.HELPER]))
    task = example_task(1.0, servers(leader=leader, helper=helper), 7)
    link = stub.announce(task)
    visit = Visit(context).open(link)
    assert "not agreed" in visit.status or "damaged" in visit.status  # nobody has countersigned it
    stub.witnesses = {
        role.name.lower(): base64url(key.sign(task.protocol.statement(role))) for role, key in keys.items()
    }
    visit = Visit(context).open(link)
    assert "as its curator signed it" in visit.status
    assert "Town and <b>Club</b> would have to conspire" in visit.page.locator("#facts").inner_text()
    fill(visit, {"x": "0.25", "y": "0.75"})
    visit.page.get_by_role("button", name="Randomise").click()
    visit.wait("Nothing has been sent yet")
    shown = visit.shown()
    names = visit.page.locator("#parts .name").all_inner_texts()
    assert "sealed for Town" in names[-2] and "sealed for <b>Club</b>" in names[-1]
    visit.page.get_by_role("button", name="Send these").click()
    visit.wait("The curator has your report")
    (post,) = stub.posts
    assert post[3] == shown and visit.complaints == []
    (report,) = Reports.from_bytes(task, shown)
    ours, theirs = run(task.protocol, [(report.id, report.payload)])
    assert ours.batch.n == theirs.batch.n == 1
    sums = task.protocol.prio3.unshard([ours.batch.total, theirs.batch.total])
    assert sum(sums) == task.weight
