"""The holder's device: one draw a task, paid before it leaves, the same bytes for ever."""

import dataclasses
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from hedgerow.errors import BudgetError, FormatError, HedgerowError
from hedgerow.features import NumericFeature
from hedgerow.grid import LabelGrid
from hedgerow.holder import Cost, Holder, Limits, ServiceError
from hedgerow.holder.client import read_url
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.partition import grow
from hedgerow.space import FeatureSpace
from hedgerow.tasks.announcement import canonical, task_text
from hedgerow.tasks.labels.task import LabelReports, LabelTask
from hedgerow.tasks.partly_public import CellReports, CellTask, FirstReports, SemiTask
from hedgerow.tasks.partly_public.reach import candidates
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.tree.task import LocalTask

pytest.importorskip("cryptography")
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hedgerow.tasks.tree.tuning import PAPER

ME = {"age": 41, "hours": 12.5}


def local_task(epsilon=1.0, **options):
    return LocalTask.design(
        epsilon=epsilon,
        label_bounds=(0, 80),
        features=["age"],
        feature_bounds=(0, 99),
        target="hours",
        **{**PAPER, **options},
    )


@pytest.fixture
def holder(tmp_path, waits):
    return Holder(tmp_path / "home", client=waits[1])


def join(holder, url, record=ME, **options):
    return holder.join(url, record, consent=lambda _: True, **options)


def test_a_report_arrives_and_is_paid_for(stub, holder):
    task = local_task()
    receipt = join(holder, stub.announce(task))
    assert receipt.accepted and not receipt.duplicate
    reports = Reports.from_bytes(task, stub.bodies[0])
    assert len(reports) == 1 and not reports.simulation
    ((_, path, headers, body),) = stub.posts
    assert path == f"/v1/tasks/{task.id}/reports" and body == stub.bodies[0]
    assert headers["Content-Type"] == "application/vnd.hedgerow.reports+bin; version=1"
    assert "Authorization" not in headers
    assert holder.store.spent() == holder.store.spent(stub.notices[task.id].public_key) == Cost(1_000_000)


def test_the_same_question_again_gives_the_same_bytes_whatever_the_record(stub, holder):
    url = stub.announce(local_task())
    first = holder.answer(holder.fetch(url), ME)
    second = holder.answer(holder.fetch(url), {"age": 99, "hours": 80})
    assert second.body == first.body and second.again and not first.again
    assert holder.send(first).accepted
    assert holder.send(second).duplicate
    assert len(set(stub.bodies)) == 1 and holder.store.spent() == Cost(1_000_000)


def test_nothing_is_spent_by_looking_or_by_declining(stub, holder):
    url, seen = stub.announce(local_task()), []
    assert holder.join(url, ME, consent=lambda answer: seen.append(answer.body)) is None
    assert holder.store.spent() == Cost(0) and not stub.posts
    assert join(holder, url).accepted and stub.bodies == seen  # the same draw, not a new one


def test_every_record_is_sent_with_bodies_of_one_length(stub, tmp_path, waits):
    """Whoever stays silent tells something: a missing value, a text, a label that is no number."""
    url = stub.announce(local_task())
    odd = ({"age": 41}, {"age": "old", "hours": 1}, {"age": 41, "hours": float("nan")}, {}, {"hours": 10**400})
    for number, record in enumerate(odd):
        join(Holder(tmp_path / str(number), client=waits[1]), url, record)
    assert len(stub.posts) == len(odd) and len({len(body) for body in stub.bodies}) == 1


def test_a_name_for_two_things_is_refused(stub, holder, monkeypatch):
    """Otherwise a label that is to be randomised would be sent in clear, as a feature or as a record's number."""
    monkeypatch.setattr("hedgerow.tasks.announcement._check_names", lambda task: None)  # a curator who cheats
    space = FeatureSpace((NumericFeature("age", 0, 99), NumericFeature("pay", 0, 9)))
    semi = SemiTask.design(space, epsilon=1.0, label_bounds=(0, 9), private_columns=["pay"], target="age")
    label = LabelTask(LabelGrid(0.0, 80.0, 16), LaplaceNoise(1.0, 16), target="record")
    for task in (semi, label):
        with pytest.raises(HedgerowError, match="do not answer"):
            join(holder, stub.announce(task), {"age": 3, "pay": 1, "record": 7})
    assert not stub.posts


def test_limits_of_a_curator_and_of_all(stub, tmp_path, waits):
    holder = Holder(tmp_path, client=waits[1], limits=Limits(per_curator=2.0, total=3.0))
    other = Ed25519PrivateKey.from_private_bytes(bytes(32))
    join(holder, stub.announce(local_task(1.5)))
    with pytest.raises(BudgetError, match=r"this curator .* may learn epsilon = 2 .*has epsilon = 1.5"):
        join(holder, stub.announce(local_task(0.500001)))
    join(holder, stub.announce(local_task(0.5)))
    assert len(stub.bodies) == 2
    holder = Holder(tmp_path, client=waits[1])  # opened again: the limits are those of the file
    url = stub.announce(local_task(1.2), key=other)
    with pytest.raises(FormatError, match="used the key"):  # another key at this address
        join(holder, url)
    url = url.replace("127.0.0.1", "localhost")
    with pytest.raises(BudgetError, match="all curators together"):
        join(holder, url)
    assert len(stub.bodies) == 2 and holder.store.spent() == Cost(2_000_000)


def test_limits_are_never_renewed_silently(stub, tmp_path, waits):
    holder = Holder(tmp_path, client=waits[1], limits=Limits(per_curator=1.0, total=3.0))
    join(holder, stub.announce(local_task(1.0)))
    with pytest.raises(BudgetError, match="never renewed silently"):
        Holder(tmp_path, limits=Limits(per_curator=1.0, total=30.0))
    again = Holder(tmp_path, client=waits[1], limits=Limits(per_curator=9.0, total=3.0))
    url = stub.announce(local_task(0.25))
    with pytest.raises(BudgetError):  # what a curator may learn was fixed when it was first answered
        join(again, url)
    key = stub.notices[local_task(0.25).id].public_key
    with pytest.raises(HedgerowError, match="reason"):
        again.store.set_limit(key, Cost.limit(2.0, 0), "")
    again.store.set_limit(key, Cost.limit(2.0, 0), "a second study")
    assert join(again, url).accepted
    (change,) = again.store.changes()
    assert "from epsilon = 1" in change and change.endswith("a second study")


def test_costs_round_up_and_limits_down():
    guarantee = local_task(0.1000001).guarantee
    assert Cost.of(guarantee) == Cost(100_001)
    assert Cost.limit(0.1999999, 0) == Cost(199_999)
    with pytest.raises(BudgetError, match="infinite"):
        Cost.of(local_task(float("inf")).guarantee)


def test_one_report_for_two_curators_counts_once_in_all(stub, holder):
    task, other = local_task(), Ed25519PrivateKey.from_private_bytes(bytes(32))
    join(holder, stub.announce(task))
    receipt = join(holder, stub.announce(task, key=other).replace("127.0.0.1", "localhost"))
    assert receipt.duplicate and len(set(stub.bodies)) == 1
    keys = [k.public_key().public_bytes_raw() for k in (stub.key, other)]
    assert [holder.store.spent(k) for k in keys] == [Cost(1_000_000)] * 2 and holder.store.spent() == Cost(1_000_000)


def test_a_changed_task_is_refused(stub, holder):
    task = local_task()
    url = stub.announce(task)
    good = stub.notices[task.id]

    class Forged:
        def to_json(self):
            return good.to_json().replace('"closes":1', '"closes":2')

    stub.notices[task.id] = Forged()
    with pytest.raises(FormatError, match="signature does not hold"):
        holder.fetch(url)
    stub.notices[task.id] = Holder  # not even JSON
    stub.notices[task.id] = type("Other", (), {"to_json": lambda _: stub.notices["other"].to_json()})()
    stub.announce(local_task(2.0))
    stub.notices["other"] = stub.notices[local_task(2.0).id]
    with pytest.raises(FormatError, match="not " + task.id[:12]):
        holder.fetch(url)


def test_a_pinned_key_is_the_only_one(stub, holder):
    url = stub.announce(local_task())
    mine, theirs = (
        k.public_key().public_bytes_raw() for k in (stub.key, Ed25519PrivateKey.from_private_bytes(bytes(32)))
    )
    assert not holder.fetch(url, trusted_key=mine).first_contact
    assert holder.fetch(url).first_contact
    with pytest.raises(FormatError, match="trusted key"):
        holder.fetch(url, trusted_key=theirs)
    join(holder, url)
    assert not holder.fetch(url).first_contact


def test_closed_and_unopened_tasks_cost_nothing(stub, holder):
    for window in ({"closes": 1}, {"opens": 1 << 36}):
        url = stub.announce(local_task(), **window)
        with pytest.raises(ServiceError, match="Nothing was spent"):
            join(holder, url)
    assert holder.store.spent() == Cost(0)


def test_the_same_bytes_are_sent_until_an_answer_comes(stub, holder, waits):
    task = local_task()
    url = stub.announce(task)
    answer = holder.answer(holder.fetch(url), ME)
    stub.instead = [(503, {}, {"Retry-After": "7"}), (-1, None, {}), (500, b"oops", {})]
    assert holder.send(answer).duplicate  # the server had taken it when the connection broke
    assert {p[3] for p in stub.posts} == {answer.body} and len(stub.posts) == 4
    assert len(waits[0]) == 3 and waits[0][0] >= 3.5 and holder.store.spent() == Cost(1_000_000)


def test_an_unreachable_server_leaves_the_report_for_later(stub, holder):
    answer = holder.answer(holder.fetch(stub.announce(local_task())), ME)
    stub.instead = [(503, {"code": "busy", "detail": "too many"}, {})] * 4
    with pytest.raises(ServiceError, match="503 busy: too many"):
        holder.send(answer)
    assert holder.store.spent() == Cost(1_000_000)  # it may have been read on the way
    ((_, receipt),) = holder.resend().items()
    assert receipt.accepted and stub.bodies == [answer.body] and holder.resend() == {}


def problem(status, code):
    """Return a refusal of a curator's service."""
    return (
        status,
        {"type": f"urn:hedgerow:problem:{code}", "code": code, "status": status, "title": "Closed\x1b[2J"},
        {},
    )


@pytest.mark.parametrize("code", ["task-closed", "task-deleted"])
def test_a_refusal_for_good_is_final_and_said_at_once(stub, holder, waits, code):
    answer = holder.answer(holder.fetch(stub.announce(local_task())), ME)
    stub.instead = [problem(410, code)]
    with pytest.raises(ServiceError, match=f"410 {code}: Closed  ?.2J") as caught:
        holder.send(answer)
    assert caught.value.code == code
    assert waits[0] == []
    assert holder.resend() == {}


@pytest.mark.parametrize(
    "answer",
    [
        (403, b"<html>captive portal", {}),
        (404, {"code": "task-closed", "status": 404}, {}),
        (410, {"type": "https://proxy.example/task-closed", "code": "task-closed", "status": 410}, {}),
        (410, {"type": "urn:hedgerow:problem:task-closed", "code": "task-deleted", "status": 410}, {}),
        (403, {"type": "urn:hedgerow:problem:task-closed", "code": "task-closed", "status": 410}, {}),
        problem(404, "task-unknown"),
        problem(409, "task-not-open"),
        problem(410, "task-ended"),
        problem(403, "token-unknown"),
        problem(400, "malformed-batch"),
    ],
)
def test_a_refusal_that_may_pass_does_not_end_a_paid_report(stub, holder, answer):
    """A proxy's, a restored database's, a wrong clock's: the same bytes are sent again until the signed end."""
    made = holder.answer(holder.fetch(stub.announce(local_task())), ME)
    stub.instead = [answer]
    with pytest.raises(ServiceError, match=str(answer[0])):
        holder.send(made)
    ((_, receipt),) = holder.resend().items()
    assert receipt.accepted
    assert stub.bodies == [made.body]
    assert holder.resend() == {}


def test_after_the_signed_end_a_report_is_tried_once_more(stub, tmp_path, waits):
    now = [1000.0]
    holder = Holder(tmp_path / "home", client=waits[1], clock=lambda: now[0])
    made = holder.answer(holder.fetch(stub.announce(local_task(), closes=2000)), ME)
    stub.instead = [(404, b"", {})]
    with pytest.raises(ServiceError):
        holder.send(made)
    now[0] = 2000.0
    stub.instead = [problem(410, "task-ended")]
    (error,) = holder.resend().values()
    assert error.code == "task-ended"
    assert holder.resend() == {}
    assert holder.store.spent() == Cost(1_000_000)


@pytest.mark.parametrize(
    "answer",
    [
        (-1, None, {}),
        problem(503, "storage-busy"),
        problem(429, "too-many-requests"),
        problem(404, "task-unknown"),
        (410, {"type": "https://proxy.example/task-ended", "code": "task-ended", "status": 410}, {}),
        (404, b"", {}),
    ],
)
def test_after_the_signed_end_a_server_out_of_reach_does_not_end_a_paid_report(stub, tmp_path, waits, answer):
    now = [1000.0]
    holder = Holder(tmp_path / "home", client=waits[1], clock=lambda: now[0])
    made = holder.answer(holder.fetch(stub.announce(local_task(), closes=2000)), ME)
    for now[0] in (1000.0, 2000.0, 2000.0 + 30 * 86_400 - 1):
        stub.instead = [answer] * waits[1].attempts
        with pytest.raises(ServiceError):
            raise next(iter(holder.resend().values())) if now[0] > 1000 else holder.send(made)
        assert len(holder.store.waiting()) == 1
        stub.instead.clear()
    now[0] += 1
    stub.instead = [answer] * waits[1].attempts
    assert len(holder.resend()) == 1  # once more, and then no more
    assert holder.resend() == {}
    assert holder.store.kept(made.invitation.notice.id).body == made.body


def test_after_the_signed_end_a_lost_receipt_is_given_again(stub, tmp_path, waits):
    now = [1000.0]
    holder = Holder(tmp_path / "home", client=waits[1], clock=lambda: now[0])
    made = holder.answer(holder.fetch(stub.announce(local_task(), closes=2000)), ME)
    stub.instead = [(503, {}, {})] * waits[1].attempts
    with pytest.raises(ServiceError):
        holder.send(made)
    now[0] = 2000.0
    stub.instead = [(503, {}, {})] * waits[1].attempts
    holder.resend()
    assert next(iter(holder.resend().values())).final


def test_a_failure_of_the_report_is_told(stub, holder):
    stub.refuse = "too-late"
    receipt = join(holder, stub.announce(local_task()))
    assert not receipt.final and receipt.code == "too-late" and holder.resend() == {}


@pytest.mark.parametrize("reply", [b"", b"[]", {"accepted": 1}, {"accepted": 2, "duplicates": 0, "failures": []}])
def test_a_strange_receipt_is_no_receipt(stub, holder, reply):
    answer = holder.answer(holder.fetch(stub.announce(local_task())), ME)
    stub.instead = [(200, reply, {})]
    with pytest.raises(ServiceError, match="receipt"):
        holder.send(answer)
    assert next(iter(holder.resend().values())).accepted


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(stub, holder, status):
    url = stub.announce(local_task())
    answer = holder.answer(holder.fetch(url), ME)
    stub.instead = [(status, {}, {"Location": f"{stub.base}/elsewhere"})] * 2
    with pytest.raises(ServiceError, match=str(status)):
        holder.send(answer)
    with pytest.raises(ServiceError, match=str(status)):
        holder.fetch(url)
    assert not [r for r in stub.requests if "elsewhere" in r[1]]


def test_what_is_no_token_is_refused_before_anything_is_paid_or_kept(stub, holder):
    """Kept beside the report it would stop all that wait whenever they are sent again."""
    url = stub.announce(local_task(), tokens=True)
    answer = holder.answer(holder.fetch(url), ME)
    for token in ("hu_abc\r\nX-Other: 1", "hu_\u201cabc\u201d"):
        with pytest.raises(HedgerowError, match="not a token"):
            holder.send(answer, token=token)
    assert holder.store.waiting() == [] and holder.store.spent().epsilon == 0 and stub.posts == []


def test_tokens_are_asked_for_and_kept_for_retries(stub, holder):
    url = stub.announce(local_task(), tokens=True)
    answer = holder.answer(holder.fetch(url), ME)
    with pytest.raises(HedgerowError, match="token"):
        holder.send(answer)
    stub.instead = [(503, {}, {})] * 4
    with pytest.raises(ServiceError):
        holder.send(answer, token="abc")
    assert next(iter(holder.resend().values())).accepted
    assert {p[2]["Authorization"] for p in stub.posts} == {"Bearer abc"}


def test_label_tasks(stub, holder):
    task = LabelTask(LabelGrid(0.0, 80.0, 16), LaplaceNoise(1.0, 16))
    join(holder, stub.announce(task), {"record": "17", "y": "12.5"})
    reports = LabelReports.from_bytes(task, stub.bodies[0])
    assert reports.records.tolist() == [17] and not reports.simulation
    gauss = LabelTask(LabelGrid(0.0, 80.0, 8), GaussianNoise(1.0, 8, 1e-7))
    join(holder, stub.announce(gauss), {"record": 3, "y": 12.5})
    assert holder.store.spent() == Cost(2_000_000, 100_000_000)


def test_tasks_that_run_a_public_model_on_the_device(stub, holder):
    design = pytest.importorskip("hedgerow.local.assisted.design").design_assisted
    ridge = pytest.importorskip("sklearn.linear_model").Ridge()
    rng = np.random.default_rng(0)
    X = rng.random((120, 2))
    task = design(X, X[:, 0], epsilon=1.0, label_bounds=(0, 1), n_holders=1000, public_model=ridge, n_trees=2)
    assert join(holder, stub.announce(task), {"x0": 0.2, "x1": 0.9, "y": 0.3}).accepted
    assert len(Reports.from_bytes(task, stub.bodies[0])) == 1
    assert "public model" in holder.fetch(stub.announce(task)).describe()
    pilot = pytest.importorskip("hedgerow.local.assisted.pilot").design_pilot
    before = pilot(X, X[:, 0], epsilon=1.0, label_bounds=(0, 1), public_model=ridge)
    assert join(holder, stub.announce(before), {"x0": 0.2, "x1": 0.9, "y": 0.3}).accepted
    assert len(Reports.from_bytes(before, stub.bodies[-1])) == 1
    assert holder.store.spent() == Cost(2_000_000)  # a second report of the same person is paid for


def semi_tasks(epsilon=1.5):
    space = FeatureSpace((NumericFeature("age", 0, 99), NumericFeature("pay", 0, 9)))
    first = SemiTask.design(space, epsilon=epsilon, label_bounds=(0, 10), private_columns=["pay"], target="hours")
    second = CellTask(first, grow("max_edge", space, None, None, max_depth=2))  # cuts both features
    return first, second


def test_two_rounds_cost_once_and_use_one_label(stub, holder):
    first, second = semi_tasks()
    record = {"age": 41, "pay": 3, "hours": 4}
    url = stub.announce(second)
    with pytest.raises(HedgerowError, match="did not answer the first"):
        join(holder, url, record)
    join(holder, stub.announce(first), record)
    # What was sent in clear counts as it was sent: a record that has changed since makes no device silent.
    assert join(holder, url, {"age": 99, "pay": 3}).accepted
    assert join(holder, url, {"age": 41, "pay": 9}).duplicate
    one, two = FirstReports.from_bytes(first, stub.bodies[0]), CellReports.from_bytes(second, stub.bodies[1])
    may = candidates(second.partition, np.array([[41.0, 3.0]]), np.array([[False, True]]))
    assert np.array_equal(np.unpackbits(two.candidates, axis=1, count=second.n_cells, bitorder="little"), may)
    two.check_labels(one)
    assert len(set(stub.bodies)) == 2 and holder.store.spent() == Cost(1_500_000)


def test_a_first_round_takes_one_second_round(stub, holder):
    first, second = semi_tasks()
    record = {"age": 41, "pay": 3, "hours": 4}
    join(holder, stub.announce(first), record)
    join(holder, stub.announce(second), record)
    with pytest.raises(BudgetError, match="answered already"):
        join(holder, stub.announce(CellTask(first, second.partition, "bits")), record)
    other = Ed25519PrivateKey.from_private_bytes(bytes(32))
    fresh, later = semi_tasks(1.0)
    join(holder, stub.announce(fresh), record)
    with pytest.raises(HedgerowError, match="not sent to this curator"):
        join(holder, stub.announce(later, key=other).replace("127.0.0.1", "localhost"), record)
    assert len(stub.bodies) == 3


def test_a_second_round_with_another_first_round_under_the_same_id_is_refused(stub, holder):
    """Signed by its curator, as all of it is: a first round at epsilon 0.1 and a second that says 200."""
    (first, second), (loud, _) = semi_tasks(0.1), semi_tasks(200.0)
    record = {"age": 41, "pay": 3, "hours": 4}
    join(holder, stub.announce(first), record)
    stub.announce(second)
    content = json.loads(task_text(second))
    text = canonical({**content, "first": {**loud.to_dict(), "id": first.id}})
    forged = dataclasses.replace(stub.notices[second.id], task_text=text)
    forged = dataclasses.replace(forged, signature=stub.key.sign(forged.signed_bytes))
    stub.notices[forged.id] = forged
    with pytest.raises(FormatError, match="does not match its id"):
        join(holder, f"{stub.base}/join/{forged.id}", record)
    assert len(stub.bodies) == 1 and holder.store.spent() == Cost(100_000)


def test_two_second_rounds_at_once_are_answered_once(stub, holder):
    first, second = semi_tasks()
    record = {"age": 41, "pay": 3, "hours": 4}
    join(holder, stub.announce(first), record)
    seconds = [second, CellTask(first, second.partition, "bits")] * 3
    invitations = [holder.fetch(stub.announce(task)) for task in seconds]
    ready = threading.Barrier(len(seconds))

    def answer(invitation):
        ready.wait()
        try:
            return Holder(holder.home).answer(invitation, record).body
        except BudgetError:
            return None

    with ThreadPoolExecutor(len(seconds)) as pool:
        bodies = list(pool.map(answer, invitations))
    assert len({body for body in bodies if body}) == 1 and bodies.count(None) == 3


def test_files_are_for_their_owner_only(holder):
    assert stat.S_IMODE((holder.home / "holder.sqlite").stat().st_mode) == 0o600
    assert stat.S_IMODE(holder.home.stat().st_mode) == 0o700


def test_other_files_are_refused(tmp_path):
    (tmp_path / "holder.sqlite").write_bytes(b"not a database, but long enough to look like a file" * 20)
    with pytest.raises(HedgerowError):
        Holder(tmp_path)


def test_links():
    task = "0" * 64
    for good in (f"https://a.b/join/{task}", f"https://a.b/v1/tasks/{task}", f"https://A.b/join/{task}/#token=x"):
        assert read_url(good).task_url == f"https://a.b/v1/tasks/{task}"
    assert read_url(f"https://a.b/c/join/{task}").base == "https://a.b/c"
    assert read_url(f"http://[::1]:80/join/{task}").base == "http://[::1]:80"
    bad = ["", "x", f"ftp://a/join/{task}", "https://a/join/0", f"https:///join/{task}", f"file:///join/{task}"]
    for url in [*bad, f"http://a.b/join/{task}", f"https://me:pw@a.b/join/{task}"]:
        with pytest.raises(HedgerowError):
            read_url(url)
    assert read_url(f"http://a.b/join/{task}", insecure=True).base == "http://a.b"


STEPS = ("drawn", "kept", "charged", "sent")
SCRIPT = """
    import os, signal, sys
    from hedgerow.holder import Client, Holder, device
    home, url, step, age = sys.argv[1:]
    def checkpoint(name):
        if name == step:
            os.kill(os.getpid(), signal.SIGKILL)
    device.checkpoint = checkpoint
    holder = Holder(home, client=Client(attempts=1, timeout=5))
    print(holder.join(url, {"age": int(age), "hours": 3}, consent=lambda _: True).final)
"""


def run(home, url, step, age):
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(home), url, step, str(age)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ}, check=False)


@pytest.mark.parametrize("step", STEPS)
def test_killed_between_any_two_steps_there_is_one_report_and_it_is_paid(stub, tmp_path, step):
    url = stub.announce(local_task())
    killed = run(tmp_path, url, step, 10)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    store = Holder(tmp_path).store
    sent = len(stub.bodies)
    assert sent == (step == "sent") and store.spent().epsilon == 1_000_000 * (step in ("charged", "sent"))
    again = run(tmp_path, url, "none", 90)
    assert again.stdout.strip() == "True", again.stderr
    assert len(set(stub.bodies)) == 1 and store.spent() == Cost(1_000_000)
    kept = store.kept(local_task().id)
    assert kept is not None and kept.body == stub.bodies[0]
    assert not list(Path(tmp_path).glob(".holder*"))


def test_a_second_draw_is_never_kept(tmp_path):
    store = Holder(tmp_path).store
    bodies = [store.keep("task", Cost(1), lambda b=b: (b, None)).body for b in (b"first", b"second")]
    assert bodies == [b"first", b"first"]


def test_two_processes_at_once_send_one_report(stub, tmp_path):
    url = stub.announce(local_task())
    Holder(tmp_path)
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path), url, "none"]
    runs = [subprocess.Popen([*command, str(age)], stdout=subprocess.PIPE, text=True) for age in (10, 50, 90)]
    assert [r.communicate()[0].strip() for r in runs] == ["True"] * 3
    assert len(set(stub.bodies)) == 1 and Holder(tmp_path).store.spent() == Cost(1_000_000)
