"""The dashboard shows what the library computes, to curators only, and does nothing that a form did not ask for."""

import json
import re

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("jinja2")

from starlette.testclient import TestClient

from hedgerow.digits import with_interval
from hedgerow.service.app import create_app
from hedgerow.service.dashboard.session import LIFETIME
from hedgerow.service.database import Database
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.totals import Aggregate
from hedgerow.tasks.tree.task import LocalTask
from hedgerow.tasks.tree.tuning import PAPER

TOKEN = "hc_token-of-the-dashboard-test"
MEDIA = {"Content-Type": "application/vnd.hedgerow.reports+bin; version=1"}
NOW = 1_700_000_000


class Clock:
    now = NOW

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def client(tmp_path, clock):
    url = f"sqlite:///{tmp_path}/d.db"
    Database(url, "create").close()
    app = create_app(url, clock=clock, curator_token=TOKEN)
    with TestClient(app, base_url="http://curator.test") as client:
        yield client


def records(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    return X, (X[:, 0] > 0.5) * 0.8


def published(client, **design):
    X, y = records(seed=9)
    options = {"epsilon": 4.0, "label_bounds": (0, 1), "max_depth": 2, "response": "unary", **design}
    task = LocalTask.design(X, y, title="Sleep & <b>coffee</b>", **{**PAPER, **options})
    body = {
        "task": task.to_dict(),
        "purpose": "To test",
        "curator": "Town",
        "opens": NOW - 10,
        "closes": NOW + 86_400,
        "simulation": True,
    }
    answer = client.post("/v1/tasks", json=body, headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 201, answer.text
    return task


def send(client, task, n=400):
    X, y = records(n)
    reports = privatize_many(task, X, y, randomness=1)
    assert client.post(f"/v1/tasks/{task.id}/reports", content=reports.to_bytes(), headers=MEDIA).status_code == 200
    return reports


def sign_in(client):
    assert client.post("/dashboard/sign-in", data={"token": TOKEN}).status_code == 200


def form_token(page):
    return re.search(r'name="csrf" value="([^"]+)"', page).group(1)


def test_strangers_see_nothing(client, clock):
    task = published(client)
    pages = ["", f"/tasks/{task.id}", f"/tasks/{task.id}/live", f"/tasks/{task.id}/model.json"]
    for page in pages:
        answer = client.get(f"/dashboard{page}", follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/dashboard/sign-in")
    assert client.post("/dashboard/sign-in", data={"token": "wrong"}).status_code == 403
    assert client.get("/dashboard", follow_redirects=False).status_code == 303
    sign_in(client)
    assert client.get("/dashboard", follow_redirects=False).status_code == 200
    clock.now = NOW + LIFETIME
    assert client.get("/dashboard", follow_redirects=False).status_code == 303


def test_task_shows_counts_means_and_verdict_of_the_library(client):
    task = published(client)
    reports = send(client, task)
    sign_in(client)
    assert ">400 <small>" in client.get("/dashboard").text
    page = client.get(f"/dashboard/tasks/{task.id}").text
    model = Aggregate(task).add(reports).model()
    for row in model.table():
        assert f"mean {with_interval(row['mean'], row['low'], row['high'])}" in page
    assert model.shift().verdict in page
    assert str(task.guarantee) in page
    assert "<b>coffee</b>" not in page and "&lt;b&gt;coffee" in page
    assert page.count('class="share"') == task.n_leaves


def test_downloads_are_the_model_of_the_acknowledged_reports(client):
    task = published(client)
    reports = send(client, task)
    sign_in(client)
    model = Aggregate(task).add(reports).model()
    assert json.loads(client.get(f"/dashboard/tasks/{task.id}/model.json").text) == model.to_dict()
    table = client.get(f"/dashboard/tasks/{task.id}/leaves.csv").text.splitlines()
    assert len(table) == 1 + task.n_leaves and table[0].startswith("leaf,cell,share")


def test_classes_are_shown_by_name(client):
    X, y = records(seed=9)
    names = np.where(y > 0, "awake", "asleep")
    task = LocalTask.design(
        X,
        names,
        epsilon=4.0,
        classes=["asleep", "awake"],
        max_depth=1,
        response="unary",
        rule="max_edge",
        min_samples_leaf=20,
    )
    body = {
        "task": task.to_dict(),
        "purpose": "To test",
        "curator": "Town",
        "opens": NOW,
        "closes": NOW + 10,
        "simulation": True,
    }
    client.post("/v1/tasks", json=body, headers={"Authorization": f"Bearer {TOKEN}"})
    reports = privatize_many(task, X, names, randomness=1)
    client.post(f"/v1/tasks/{task.id}/reports", content=reports.to_bytes(), headers=MEDIA)
    sign_in(client)
    page = client.get(f"/dashboard/tasks/{task.id}").text
    assert re.search(r"asleep \d+%, awake \d+%", page)


def test_refusals_are_counted_by_reason(client, clock):
    task = published(client)
    send(client, task, 3)
    client.post(f"/v1/tasks/{task.id}/reports", content=b"rubbish", headers=MEDIA)
    sign_in(client)
    page = client.get(f"/dashboard/tasks/{task.id}").text
    assert "The body is not a batch of reports to this task" in page


def test_forged_bulk_raises_an_alarm(client):
    task = published(client)
    reports = send(client, task)
    forged = reports.to_bytes()[: -len(reports.payloads.tobytes())] + b"\xff" * reports.payloads.size
    if task.n_leaves * 2 % 8:
        pytest.skip("unused bits would give the forgery away at once")
    body = bytearray(forged)
    start = len(forged) - reports.payloads.size - 12 * len(reports)
    body[start : start + 12 * len(reports)] = np.random.default_rng(5).bytes(12 * len(reports))
    assert client.post(f"/v1/tasks/{task.id}/reports", content=bytes(body), headers=MEDIA).json()["accepted"] == 400
    while client.app.state.service.aggregator.turn():
        pass
    sign_in(client)
    page = client.get(f"/dashboard/tasks/{task.id}").text
    assert re.search(r'class="bad" role="alert">[^<]*set bits: seen', page)


def test_closing_needs_the_form_of_this_session(client):
    task = published(client)
    sign_in(client)
    close = f"/dashboard/tasks/{task.id}/close"
    assert client.post(close, data={"csrf": "guessed"}).status_code == 400
    assert client.post(close).status_code == 400
    page = client.get(f"/dashboard/tasks/{task.id}").text
    assert "open until" in page and 'hx-trigger="every 2s"' in page
    closed = client.post(close, data={"csrf": form_token(page)}).text
    assert "closed 14 November 2023" in closed and "Close it now" not in closed
    assert "hx-trigger" not in closed


def test_signing_out_ends_the_session(client):
    sign_in(client)
    client.post("/dashboard/sign-out", data={"csrf": form_token(client.get("/dashboard").text)})
    assert client.get("/dashboard", follow_redirects=False).status_code == 303


def test_pages_load_from_here_only_and_are_not_kept(client):
    published(client)
    sign_in(client)
    answer = client.get("/dashboard")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert answer.headers["cache-control"] == "no-store"
    assert "style=" not in answer.text and "<style" not in answer.text and "onclick" not in answer.text
    for name in re.findall(r'(?:src|href)="(/dashboard/static/[^"]+)"', answer.text):
        assert client.get(name).status_code == 200
    assert client.get("/dashboard/static/..%2fpages.py").status_code == 404
    cookie = client.post("/dashboard/sign-in", data={"token": TOKEN}, follow_redirects=False).headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and TOKEN not in cookie


def test_unknown_task_is_a_problem_document(client):
    sign_in(client)
    answer = client.get("/dashboard/tasks/" + "0" * 64)
    assert answer.status_code == 404 and answer.json()["code"] == "task-unknown"


def form_of(client, task):
    page = client.get(f"/dashboard/tasks/{task.id}").text
    return re.search(r'name="csrf" value="([^"]+)"', page)[1]


def test_a_target_is_kept_shown_and_foretold(client, clock):
    task = published(client)
    send(client, task)
    sign_in(client)
    path = f"/dashboard/tasks/{task.id}"
    assert client.post(f"{path}/target", data={"target": "1000"}).status_code == 400  # not from the page
    csrf = form_of(client, task)
    clock.now = NOW + 43_190  # half of the window has passed
    page = client.post(f"{path}/target", data={"csrf": csrf, "target": "1,000"}).text
    assert "400 of the 1,000 reports that you aim at (40%)." in page
    assert "would be reached about 16 November 2023, 04:13 UTC, after the collection has ended" in page
    assert re.search(r"When the collection ends there should be 7\d\d to 8\d\d reports", page)
    assert re.search(r"600 \(to your target\)</th>", page)
    for wrong in ("0", "-5", "1e6", "٣", "9" * 400, "1" + "0" * 13, "<b>"):
        assert client.post(f"{path}/target", data={"csrf": csrf, "target": wrong}).status_code == 400
    assert 'value="1,000"' in client.get(path).text
    page = client.post(f"{path}/target", data={"csrf": csrf, "target": " "}).text
    assert "that you aim at" not in page
    page = client.post(f"{path}/target", data={"csrf": csrf, "target": "1000000000000"}).text
    assert "is not reached within a hundred years" in page
    assert "target" in client.get("/dashboard/audit").text


def test_the_timeline_is_drawn_from_counts_of_hours(client, clock):
    task = published(client)
    service = client.app.state.service
    service.aggregator.turn()
    send(client, task)
    service.aggregator.turn()
    sign_in(client)
    path = f"/dashboard/tasks/{task.id}"
    assert client.get(path).text.count('class="bar young"') == 1  # nothing is counted yet
    clock.now = NOW - NOW % 3600 + 3600
    service.aggregator.turn()
    page = client.get(path).text
    assert page.count('class="bar"') == 1 and "young" not in page
    assert "14 November 2023, 22:13 UTC to 14 November 2023, 23:00 UTC: 400 reports</title>" in page
