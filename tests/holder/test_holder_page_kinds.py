"""Every kind of task on the page in a real browser: what is said of it, and that one message leaves."""

import base64
import json

import pytest

from hedgerow.content import canonical
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.mechanisms.words import percent
from hedgerow.partition import grow
from hedgerow.tasks.announcement import task_text
from hedgerow.tasks.labels.task import LabelReports, LabelTask
from hedgerow.tasks.partly_public import CellReports, CellTask, FirstReports, SemiTask
from hedgerow.tasks.reports import Reports
from tests.holder.browser import SPACE, Visit, answer_all, fill, marks, needs_chromium, odds_rows
from vectors.assisted import make_task
from vectors.pilot import make_pilot
from vectors.rounds import make_first, model_tree


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
