"""The holder against the real service: the SDK, the command line and the page send what the curator counts."""

import json
import shutil
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from hedgerow.cli import main
from hedgerow.features import NumericFeature
from hedgerow.holder import Client, Cost, Holder, ServiceError
from hedgerow.space import FeatureSpace
from hedgerow.tasks.announcement import Announcement
from hedgerow.tasks.keys import fingerprint, from_base64url
from hedgerow.tasks.partly_public import SemiTask
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Totals
from hedgerow.tasks.tree.task import LocalTask
from hedgerow.tasks.tree.tuning import PAPER

pytest.importorskip("cryptography")
uvicorn = pytest.importorskip("uvicorn")
create_app = pytest.importorskip("hedgerow.service.app").create_app
Database = pytest.importorskip("hedgerow.service.database").Database

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
CURATOR = {"Authorization": "Bearer curator-token-of-the-test", "Content-Type": "application/json"}


class Server:
    """A curator's service on loopback."""

    def __init__(self, folder):
        url = f"sqlite:///{folder / 'service.db'}"
        Database(url, "create").close()
        app = create_app(url, curator_token="curator-token-of-the-test")
        self.server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", ws="none"))
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        port = self.server.servers[0].sockets[0].getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"

    def call(self, path, body=None, method=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.base}{path}", data=data, headers=CURATOR, method=method)
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.loads(response.read() or b"null")

    def publish(self, task, **more):
        self.call(
            "/v1/tasks", {"task": task.to_dict(), "title": "Hours", "purpose": "To test", "curator": "Town", **more}
        )
        return f"{self.base}/join/{task.id}"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("service"))
    yield server
    server.server.should_exit = True
    server.thread.join(20)


def local_task(epsilon):
    return LocalTask.design(
        epsilon=epsilon, label_bounds=(0, 80), features=["age"], feature_bounds=(0, 99), target="hours", **PAPER
    )


def counted(server, task):
    return server.call(f"/v1/tasks/{task.id}/status")


def test_sdk_sends_once_and_is_told_of_copies(server, tmp_path):
    task = local_task(1.0)
    url = server.publish(task)
    holder = Holder(tmp_path, client=Client(attempts=2))
    answer = holder.answer(holder.fetch(url), {"age": 41, "hours": 12})
    assert holder.send(answer).accepted
    # The device forgets that it was acknowledged, as after a crash: the same bytes are a duplicate.
    holder.store.settle(task.id, server.base, "ready")
    (receipt,) = holder.resend().values()
    assert receipt.duplicate and not receipt.accepted
    assert len(Reports.from_bytes(task, answer.body)) == 1


@pytest.mark.parametrize("how", ["tokens", "passes"])
def test_a_one_time_token_is_for_one_report_however_often_it_is_sent(server, tmp_path, how):
    task = local_task(1.4 if how == "tokens" else 1.5)
    url = server.publish(task, **{how: True})
    (token,) = server.call(f"/v1/tasks/{task.id}/tokens", {"count": 1})["tokens"]
    holders = [Holder(tmp_path / name, client=Client(attempts=2)) for name in ("me", "somebody")]
    answers = [h.answer(h.fetch(url), {"age": 41, "hours": 12}) for h in holders]
    assert holders[0].send(answers[0], token=token).accepted
    holders[0].store.settle(task.id, server.base, "ready")
    assert next(iter(holders[0].resend().values())).duplicate
    try:
        refused = holders[1].send(answers[1], token=token).code
    except ServiceError as error:
        refused = error.code
    assert refused and counted(server, task)["accepted"] == 1


@pytest.mark.parametrize("step", ["blinded", "passed", "charged"])
def test_a_device_that_stops_at_any_step_loses_no_invitation(server, tmp_path, monkeypatch, step):
    task = local_task({"blinded": 1.6, "passed": 1.7, "charged": 1.8}[step])
    url = server.publish(task, passes=True)
    (token,) = server.call(f"/v1/tasks/{task.id}/tokens", {"count": 1})["tokens"]
    holder = Holder(tmp_path, client=Client(attempts=2))
    answer = holder.answer(holder.fetch(url), {"age": 41, "hours": 12})

    def stop(name):
        if name == step:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("hedgerow.holder.device.checkpoint", stop)
        with pytest.raises(KeyboardInterrupt):
            holder.send(answer, token=token)
    assert holder.send(answer, token=token).accepted
    assert counted(server, task)["accepted"] == 1
    kept = holder.store.kept_pass(task.id, server.base)
    assert kept.startswith("hp_")
    assert holder.store.blinding(task.id, server.base, lambda: b"x") == b""  # what joins both is forgotten


def test_closed_tasks_are_refused_by_the_server_too(server, tmp_path):
    task = local_task(1.1)
    url = server.publish(task)
    holder = Holder(tmp_path, client=Client(attempts=2))
    answer = holder.answer(holder.fetch(url), {"age": 41, "hours": 12})
    server.call(f"/v1/tasks/{task.id}/close", {}, "POST")
    try:
        outcome = holder.send(answer).code
    except ServiceError as error:
        outcome = error.code
    assert "clos" in outcome and holder.resend() == {}


ENDED = "The curator has closed this task: it takes no more reports. Nothing was drawn, sent or spent."


def closed_task(server, epsilon):
    task = local_task(epsilon)
    url = server.publish(task)
    server.call(f"/v1/tasks/{task.id}/close", {}, "POST")
    return task, url


def test_a_closed_task_costs_a_device_nothing(server, tmp_path):
    task, url = closed_task(server, 2.1)
    holder = Holder(tmp_path, client=Client(attempts=2))
    with pytest.raises(ServiceError) as refused:
        holder.join(url, {"age": 41, "hours": 12}, consent=lambda _: True)
    assert (str(refused.value), refused.value.code) == (ENDED, "task-closed")
    assert holder.store.kept(task.id) is None and holder.store.spent() == Cost(0)


def test_a_report_that_was_drawn_before_the_closing_is_sent_only_if_it_was_paid_for(server, tmp_path):
    task = local_task(2.2)
    url = server.publish(task)
    paid, unpaid = (Holder(tmp_path / name, client=Client(attempts=2)) for name in ("paid", "unpaid"))
    record = {"age": 41, "hours": 12}
    assert paid.join(url, record, consent=lambda _: True).accepted
    paid.store.settle(task.id, server.base, "ready")  # its receipt was lost
    assert unpaid.join(url, record, consent=lambda _: False) is None
    server.call(f"/v1/tasks/{task.id}/close", {}, "POST")
    assert paid.join(url, record, consent=lambda _: True).duplicate
    with pytest.raises(ServiceError, match="closed this task"):
        unpaid.join(url, record, consent=lambda _: True)
    assert unpaid.store.spent() == Cost(0)


def test_a_closed_task_costs_nothing_by_the_command(server, tmp_path, capsys, monkeypatch):
    _, url = closed_task(server, 2.3)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for record in (["age=41", "hours=12"], []):  # nobody is asked for a record, either
        assert main(["join", url, *record, "--home", str(tmp_path), "--yes"]) == 2
        assert capsys.readouterr().err == f"hedgerow join: {ENDED}\n"
    assert Holder(tmp_path).store.spent() == Cost(0)


@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="chromium is not installed")
def test_a_closed_task_costs_nothing_on_the_page(server):
    api = pytest.importorskip("playwright.sync_api")
    sent = []
    _, url = closed_task(server, 2.4)
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(locale="en-GB")
        page.set_default_timeout(90_000)
        page.on("request", lambda request: sent.append(request.method))
        page.goto(url)
        page.wait_for_function("() => document.getElementById('status').textContent.includes('no more reports')")
        assert page.locator("#status").inner_text() == ENDED
        assert page.get_by_role("button", name="Randomise").count() == 0
        assert page.evaluate("() => Object.keys(localStorage)") == []
        browser.close()
    assert "POST" not in sent


def test_two_rounds_through_the_service(server, tmp_path):
    space = FeatureSpace((NumericFeature("age", 0, 99), NumericFeature("pay", 0, 9)))
    first = SemiTask.design(space, epsilon=2.0, label_bounds=(0, 80), private_columns=["pay"], target="hours")
    holders = [Holder(tmp_path / str(i), client=Client(attempts=2)) for i in range(12)]
    records = [{"age": 8 * i, "pay": i % 9, "hours": 5 * i} for i in range(12)]
    url = server.publish(first)
    for holder, record in zip(holders, records, strict=True):
        assert holder.join(url, record, consent=lambda _: True).accepted
    server.call(f"/v1/tasks/{first.id}/close", {}, "POST")
    grown = server.call(f"/v1/tasks/{first.id}/second", {"max_depth": 1, "n_bins": 2, "n_private": 1})
    second = Announcement.from_dict(grown).verify()
    url = f"{server.base}/join/{second.id}"
    for holder, record in zip(holders, records, strict=True):
        assert holder.join(url, record, consent=lambda _: True).accepted
        assert holder.store.spent() == Cost(2_000_000)
    assert server.call(f"/v1/tasks/{second.id}/status")["accepted"] == 12


def test_command_line(server, tmp_path, capsys):
    task = local_task(1.2)
    url = server.publish(task)
    command = ["join", url, "age=41", "hours=12.5", "--home", str(tmp_path)]
    assert main([*command, "--show"]) == 0
    shown = capsys.readouterr().out
    assert "Hours, asked by Town" in shown and "epsilon = 1.2" in shown and "bytes that would leave" in shown
    assert main([*command, "--yes", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["accepted"] and summary["again"] and summary["micro_epsilon"] == 1_200_000
    assert bytes.fromhex(summary["body"])[:16].hex(" ") in shown
    assert main([*command, "--yes"]) == 0
    assert "counts once" in capsys.readouterr().out


def key_of_passes(server, task):
    key = from_base64url(server.call(f"/v1/tasks/{task.id}")["pass_key"], 256, "pass_key")
    return (
        f"Invitations are exchanged under the key {fingerprint(key)}. Everybody who was invited must see this same key."
    )


@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="chromium is not installed")
@pytest.mark.parametrize("passes", [False, True])
def test_page_sends_the_bytes_it_showed_and_nothing_else(server, passes):
    api = pytest.importorskip("playwright.sync_api")
    task = local_task(1.9 if passes else 1.3)
    url, sent = server.publish(task, passes=passes), []
    if passes:
        (token,) = server.call(f"/v1/tasks/{task.id}/tokens", {"count": 1})["tokens"]
        url = f"{url}#token={token}"
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.set_default_timeout(90_000)
        page.on("request", lambda request: sent.append(request))
        page.goto(url)
        page.get_by_label("age", exact=True).fill("41.125")
        page.get_by_label("hours", exact=True).fill("12.6875")
        page.get_by_role("button", name="Randomise").click()
        page.get_by_role("button", name="Send these").wait_for()
        wanted = [key_of_passes(server, task)] if passes else []
        assert page.locator("#passes").all_text_contents() == wanted
        shown = bytes.fromhex("".join(page.locator("#parts .hex").all_inner_texts()).replace(" ", ""))
        page.get_by_role("button", name="Send these").click()
        page.wait_for_function("() => document.getElementById('status').textContent.includes('has your report')")
        posts = [request for request in sent if request.method == "POST"]
        bodies = [request.post_data_buffer for request in posts]
        assert bodies[-1] == shown and [len(body) for body in bodies[:-1]] == [256] * passes
        if passes:
            shown_tokens = [request.all_headers()["authorization"] for request in posts]
            assert shown_tokens[0] == f"Bearer {token}" and shown_tokens[1].startswith("Bearer hp_")
        for request in sent:
            spoken = request.url + str(request.all_headers())
            assert "41.125" not in spoken and "12.6875" not in spoken
            assert request.method == "POST" or not request.post_data_buffer
            assert request.url.startswith(server.base)
        browser.close()
    assert Reports.from_bytes(task, shown).to_bytes() == shown


def public_records():
    """Return arguments of a design: a few public records, what is known of their features, and a small model."""
    pd = pytest.importorskip("pandas")
    boosting = pytest.importorskip("sklearn.ensemble").GradientBoostingRegressor(n_estimators=10, random_state=0)
    rng = np.random.default_rng(0)
    frame = {"age": rng.uniform(0, 99, 200), "home": rng.choice(["flat", "house"], 200)}
    hours = 0.3 * frame["age"] + 9 * (frame["home"] == "house") + rng.normal(size=200)
    known = {"feature_bounds": (0, 99), "categories": {"home": ["flat", "house"]}, "label_bounds": (0, 80)}
    return (pd.DataFrame(frame), hours), {**known, "public_model": boosting, "target": "hours"}


def answer_on_page(url):
    """Fill in the page, send, and return the bytes that it showed."""
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.set_default_timeout(90_000)
        page.goto(url)
        page.get_by_label("age", exact=True).fill("41.125")
        page.get_by_label("home", exact=True).select_option("house")
        page.get_by_label("hours", exact=True).fill("12.6875")
        page.get_by_role("button", name="Randomise").click()
        page.get_by_role("button", name="Send these").wait_for()
        shown = bytes.fromhex("".join(page.locator("#parts .hex").all_inner_texts()).replace(" ", ""))
        page.get_by_role("button", name="Send these").click()
        page.wait_for_function("() => document.getElementById('status').textContent.includes('has your report')")
        browser.close()
    return shown


@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="chromium is not installed")
@pytest.mark.parametrize("epsilon", [1.0, 3.5])  # the design chooses subsets, then levels
def test_page_answers_a_task_with_a_public_model_and_the_aggregate_counts_it(server, epsilon):
    design = pytest.importorskip("hedgerow.local.assisted.design").design_assisted
    public, options = public_records()
    task = design(*public, epsilon=epsilon, n_holders=1000, n_trees=3, **options)
    assert task.randomizer == ("subset" if epsilon < 2 else "levels")
    shown = answer_on_page(server.publish(task))
    assert counted(server, task)["accepted"] == 1
    model = server.call(f"/v1/tasks/{task.id}/model")
    assert model == json.loads(Totals(task).add(Reports.from_bytes(task, shown)).model().to_json())


@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="chromium is not installed")
def test_page_and_command_line_answer_a_pilot_and_the_totals_count_both(server, tmp_path, capsys):
    design = pytest.importorskip("hedgerow.local.assisted.pilot").design_pilot
    public, options = public_records()
    task = design(*public, epsilon=2.0, **options)
    url = server.publish(task)
    bodies = [answer_on_page(url)]
    assert main(["join", url, "age=41", "home=flat", "hours=12.5", "--home", str(tmp_path), "--yes", "--json"]) == 0
    bodies.append(bytes.fromhex(json.loads(capsys.readouterr().out)["body"]))
    assert counted(server, task)["accepted"] == 2
    totals = Totals(task)
    for body in bodies:
        totals.add(Reports.from_bytes(task, body))
    model = server.call(f"/v1/tasks/{task.id}/model")
    assert model == json.loads(totals.model().to_json()) and not totals.simulation
