"""Curators who may do little, other sites, and copies of the database: what they must not bring about."""

import csv
import io
import threading
import time

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.top import TopResponse
from hedgerow.service import create_app
from hedgerow.service.audit import broken_at, read_audit
from hedgerow.service.backup import backup, restore
from hedgerow.service.curators import ENVIRONMENT, add_curator
from hedgerow.service.database import Database
from hedgerow.tasks.class_labels import class_grid
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.tree.task import LocalTask
from tests.service.conftest import MEDIA
from tests.service.test_service_people import ADMIN, actions, add, form, sign_in

CURATOR = {"Authorization": f"Bearer {ADMIN}"}


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    return f"sqlite:///{tmp_path}/hedgerow.db" if request.param == "sqlite" else request.getfixturevalue("postgres")


def publish(service, task, **words):
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", **words}
    return service.client.post("/v1/tasks", json=body, headers=CURATOR)


def test_sessions_of_the_environments_token_end_with_it(inside, url):
    """A token that leaked is replaced; who signed in with it must be out, on servers that are started anew."""
    from starlette.testclient import TestClient

    one, two = inside(url), inside(url)
    assert sign_in(one, ADMIN).status_code == 303
    cookies = dict(one.client.cookies)
    two.client.cookies.update(cookies)
    assert two.client.get("/dashboard", follow_redirects=False).status_code == 200
    for token in ("another-token-of-these-tests", None):
        app = create_app(url, clock=one.clock, curator_token=token)
        with TestClient(app, cookies=cookies) as changed:
            assert changed.get("/dashboard", follow_redirects=False).status_code == 303
    two.client.post("/dashboard/sign-out", data={"csrf": form(two, "/dashboard")})
    assert one.client.get("/dashboard", follow_redirects=False).status_code == 303


def test_a_session_in_the_database_is_not_one_of_the_environment(inside, url):
    """Who may write rows of sessions cannot make one of the environment's out of a cookie alone."""
    from hedgerow.service.curators import digest_of
    from hedgerow.service.schema import sessions

    service = inside(url)
    with service.service.database.write() as connection:
        row = {"digest": digest_of("cookie"), "curator": ENVIRONMENT.number, "expires": 1 << 40}
        connection.execute(sessions.insert().values(**row))
    service.client.cookies.set("hedgerow-session", "cookie", path="/dashboard")
    assert service.client.get("/dashboard", follow_redirects=False).status_code == 303


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 400), ("same-site", 400), ("same-origin", 303), ("none", 303), (None, 303)]
)
def test_no_other_site_signs_a_browser_in(inside, site, status):
    service = inside()
    headers = {} if site is None else {"Sec-Fetch-Site": site}
    answer = service.client.post("/dashboard/sign-in", data={"token": ADMIN}, headers=headers, follow_redirects=False)
    assert answer.status_code == status and ("set-cookie" in answer.headers) == (status == 303)


def test_a_form_of_millions_of_fields_is_not_taken_apart(inside, local_task):
    service = inside()
    sign_in(service, ADMIN)
    csrf = form(service, "/dashboard/publish")
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    body = f"csrf={csrf}".encode() + b"&a=b" * 100
    answer = service.client.post("/dashboard/publish", content=body, headers=headers)
    assert answer.status_code == 400 and "more fields" in answer.json()["detail"]


def test_who_may_not_publish_sends_no_body_to_be_read(inside, monkeypatch):
    service = inside()
    sign_in(service, add(service, "anna", "read"))
    csrf = form(service, "/dashboard")
    read = []
    receive = service.service.bodies.receive
    monkeypatch.setattr(service.service.bodies, "receive", lambda *given: read.append(1) or receive(*given))
    answer = service.client.post("/dashboard/publish", data={"csrf": csrf, "task": "x" * 1000})
    assert answer.status_code == 403 and read == []


def test_leaves_are_no_formulas_in_a_spreadsheet(inside):
    service = inside()
    names = ['=HYPERLINK("http://evil.example","x")', "@SUM(1)"]
    bounds = dict.fromkeys(names, (0, 1))
    task = LocalTask.design(
        epsilon=3.0, classes=["=1+1", "b"], features=names, feature_bounds=bounds, max_depth=2, response="unary"
    )
    service.publish(task)
    X = np.random.default_rng(0).random((300, 2))
    service.send(task, privatize_many(task, X, np.array(["=1+1", "b"])[(X[:, 0] > 0.5) * 1]))
    sign_in(service, ADMIN)
    text = service.client.get(f"/dashboard/tasks/{task.id}/leaves.csv").text
    rows = list(csv.reader(io.StringIO(text)))
    cells = [cell for row in rows for cell in row]
    assert any("HYPERLINK" in cell for cell in cells) and len(rows) == 5
    assert [c for c in cells if c[:1] in ("=", "+", "@", "-") and not _number(c)] == []


def _number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("name", ["title", "curator", "purpose"])
@pytest.mark.parametrize("sign", ["\0", "\x1b[2J", "\u202e", "\x85", "\u2028"])
def test_words_are_what_they_look_like(inside, url, local_task, name, sign):
    """They stand in the audit log, in terminals and in letters; and PostgreSQL keeps no text with a NUL."""
    service = inside(url)
    answer = publish(service, local_task(), **{name: f"a{sign}b"})
    assert answer.status_code == 400 and answer.json()["code"] == "invalid-request"


def test_words_of_other_scripts_and_lines_are_taken(inside, local_task):
    service = inside()
    words = {"title": "نیم‌فاصله 👩‍🔬", "purpose": "One line,\r\nanother\tand more."}
    assert publish(service, local_task(), **words).status_code == 201
    for sign in ("\n", "\r", "\t"):
        assert publish(service, local_task(), title=f"a{sign}2026-11-18 00:00:00  anna  delete").status_code == 400


def test_no_line_of_the_printed_log_is_made_by_a_title(inside, local_task, tmp_path, capsys, monkeypatch):
    """Also of titles that were published before they were checked."""
    from hedgerow.cli import main
    from hedgerow.service import service as module

    monkeypatch.setattr(module, "check_words", lambda notice: None)
    service = inside(f"sqlite:///{tmp_path}/hedgerow.db")
    assert publish(service, local_task(), title="a\n2026-11-18 00:00:00  anna  delete\x1b[2J").status_code == 201
    assert main(["serve", "audit", "--database", f"sqlite:///{tmp_path}/hedgerow.db"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and "environment  publish" in lines[0] and all(line.isprintable() for line in lines)


@pytest.mark.parametrize("name", ["environment", "command line", "Leader Town", " anna", "anna ", "", "ａnna", "a\nb"])
def test_no_curator_is_called_as_the_log_calls_others(inside, name):
    service = inside()
    with service.service.database.write() as connection, pytest.raises(HedgerowError, match="'name' must be"):
        add_curator(connection, name, now=5)


def test_counters_are_for_whom_asks_in_measure(inside):
    """They ask the database for every open task: a stranger must not ask for them without end."""
    from starlette.testclient import TestClient

    service = inside(address_rate=0.1)
    stranger = TestClient(service.app, client=("203.0.113.9", 1))
    assert [stranger.get("/metrics").status_code for _ in range(4)] == [200, 200, 429, 429]
    own = TestClient(service.app, client=("127.0.0.1", 1))
    assert [own.get("/metrics").status_code for _ in range(4)] == [200] * 4


def test_a_restored_copy_knows_no_sessions_and_says_that_it_is_one(inside, url, local_task, tmp_path):
    service = inside(url)
    service.publish(local_task())
    sign_in(service, ADMIN)
    path = str(tmp_path / "copy.backup")
    with Database(url, "read") as database:
        backup(database, path)
    other = f"sqlite:///{tmp_path}/other.db"
    with Database(other, "create") as database:
        restore(database, path)
        with database.read() as connection:
            assert broken_at(connection) is None
            last = read_audit(connection)[0]
        assert (last.actor, last.action, last.detail) == ("command line", "restored", "1 tasks")
    copy = inside(other)
    copy.client.cookies.update(service.client.cookies)
    assert service.client.get("/dashboard", follow_redirects=False).status_code == 200
    assert copy.client.get("/dashboard", follow_redirects=False).status_code == 303
    assert actions(copy)[-1][1] == "restored"


def test_the_log_does_not_wait_for_who_adds_up(postgres, inside, local_task):
    """Nor the other way round: each has a lock of its own."""
    service, task = inside(postgres), local_task()
    service.publish(task)
    number = service.service.collection(task.id).number
    taken = []

    def close():
        start = time.perf_counter()
        service.service.note(ENVIRONMENT, "download", None, "model")
        taken.append(time.perf_counter() - start)

    with service.service.database.write_sums(number):
        thread = threading.Thread(target=close)
        thread.start()
        thread.join(3)
        assert taken and taken[0] < 3
    thread.join(30)


@pytest.mark.parametrize("path", ["/v1/tasks", "/v1/tasks/ID/reports"])
@pytest.mark.parametrize(("digit", "status"), [("0", 400), ("9", 413)])
def test_a_length_of_thousands_of_digits_is_a_length(inside, local_task, path, digit, status):
    """Python refuses to read so many digits, and the parser of requests lets zeros pass."""
    service, task = inside(), local_task()
    service.publish(task)
    headers = {**CURATOR, "Content-Length": digit * 5000, "Content-Type": MEDIA}
    answer = service.client.post(path.replace("ID", task.id), headers=headers)
    assert answer.status_code == status, answer.text


def test_a_failure_is_counted_and_has_the_headers_of_all_answers(inside, monkeypatch):
    service = inside()
    monkeypatch.setattr(service.service, "collections", lambda: 1 / 0)
    answer = service.client.get("/v1/tasks")
    assert answer.status_code == 500 and answer.json()["code"] == "internal"
    assert answer.headers.get_list("x-content-type-options") == ["nosniff"]
    assert service.service.requests["GET /v1/tasks", 500] == 1
    assert service.service.problems["internal"] == 1


@pytest.mark.parametrize("path", ["/dashboard/sign-in", "/dashboard/publish", "/dashboard", "/"])
def test_the_head_of_a_page_is_that_of_the_page(inside, path):
    service = inside()
    sign_in(service, ADMIN)
    got, head = service.client.get(path), service.client.head(path)
    assert (head.status_code, head.headers["content-type"]) == (200, got.headers["content-type"])


@pytest.mark.parametrize("path", ["", "/reports", "/status", "/witnesses"])
def test_a_database_that_is_gone_is_no_damaged_task_and_strangers_read_nothing_of_it(
    inside, local_task, tmp_path, path
):
    service, task = inside(), local_task()
    service.publish(task)
    service.service._forget(1)  # as of a server that was started since
    for file in tmp_path.glob("hedgerow.db*"):
        file.unlink()
    headers = {"Content-Type": MEDIA} | (CURATOR if path == "/status" else {})
    method = "POST" if path == "/reports" else "GET"
    answer = service.client.request(method, f"/v1/tasks/{task.id}{path}", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (507, "storage-full")
    assert str(tmp_path) not in answer.text


def test_labels_are_no_formulas_in_a_spreadsheet(inside):
    service = inside()
    classes = ("=1+1", "@SUM(1)", "-1", "+1", "-2+cmd|' /C calc'!A0")
    law = TopResponse(8.0, len(classes) - 1, tuple(range(len(classes))))
    task = LabelTask(class_grid(classes), law, "=HYPERLINK(1)", classes=classes)
    service.publish(task)
    sent = task.privatize(np.arange(200), np.array(classes)[np.arange(200) % len(classes)])
    assert service.send(task, sent).json()["accepted"] == 200
    sign_in(service, ADMIN)
    answer = service.client.get(f"/dashboard/tasks/{task.id}/data")
    cells = [cell for row in csv.reader(io.StringIO(answer.text)) for cell in row]
    assert "'=HYPERLINK(1)" in cells and {"-1", "+1"} <= set(cells)
    assert [c for c in cells if c[:1] in ("=", "+", "@", "-") and not _number(c)] == []
    raw = service.client.get(f"/v1/tasks/{task.id}/data", headers=CURATOR).text
    assert {row[1] for row in csv.reader(io.StringIO(raw))} == {task.target, *classes}, "programs get what was said"


def test_a_table_of_numbers_is_left_as_it_is():
    from hedgerow.service.dashboard.pages import _BEGIN

    for row in (b"0,-0.5", b"1,-1e-05", b"2,+1", b"3,abc", b"4,a-b", b"5,1e+30"):
        assert _BEGIN.search(b"record,y\n" + row + b"\n") is None
    for row in (b"0,=1", b"0,@a", b'0,"=1,2"', b"0,+a", b"0,-a", b"0,-1+cmd|x", b"0,\tx"):
        assert _BEGIN.search(b"record,y\n" + row + b"\n") is not None


def test_what_is_downloaded_is_kept_by_no_cache(inside, local_task):
    service, task = inside(), local_task()
    service.publish(task)
    service.send(task, privatize_many(task, np.zeros((30, 2)), np.zeros(30)))
    sign_in(service, ADMIN)
    for what in ("model.json", "leaves.csv"):
        answer = service.client.get(f"/dashboard/tasks/{task.id}/{what}")
        assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "status"), [("/tasks/x", 404), ("/tasks/ID/model.json", 409), ("/tasks/ID/data", 404)]
)
def test_a_refusal_is_a_page_for_people_and_a_document_for_programs(inside, local_task, path, status):
    service, task = inside(), local_task()
    service.publish(task)
    sign_in(service, ADMIN)
    address = "/dashboard" + path.replace("ID", task.id)
    document = service.client.get(address)
    page = service.client.get(address, headers={"Accept": "text/html,*/*;q=0.8"})
    assert (document.status_code, page.status_code) == (status, status)
    assert document.headers["content-type"] == "application/problem+json"
    assert document.json()["title"] in page.text and 'href="/dashboard"' in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert service.service.problems[document.json()["code"]] == 2


def test_a_page_of_a_refusal_says_when_to_come_again_and_shows_no_markup(inside, monkeypatch):
    from hedgerow.service.problems import Problem

    service = inside()
    sign_in(service, ADMIN)

    def busy(task_id):
        raise Problem("busy", "<script>alert(1)</script>")

    monkeypatch.setattr(service.service, "collection", busy)
    answer = service.client.get("/dashboard/tasks/x", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert "<script>alert" not in answer.text and "&lt;script&gt;" in answer.text


@pytest.mark.parametrize(
    "path", ["/dashboard/", "/v1/tasks/", "/healthz/", "//evil.example/", "/join/" + 64 * "0" + "/"]
)
def test_nobody_is_sent_to_a_host_that_the_request_names(inside, path):
    answer = inside().client.get(f"http://testserver{path}", headers={"Host": "evil.example"}, follow_redirects=False)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    assert "location" not in answer.headers
