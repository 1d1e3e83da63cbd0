"""A database that is removed, replaced or silent under a running service: nothing is acknowledged that is not kept."""

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import threading
import time

import pytest

from hedgerow.service.database import Database, StorageError


def reasons(caplog):
    """Return what the log says of the database."""
    return " ".join(record.fields["reason"] for record in caplog.records if record.getMessage() == "storage")


def test_nothing_is_acknowledged_into_a_file_that_was_removed(inside, local_task, holders, tmp_path, caplog):
    service, task = inside(), local_task()
    service.publish(task)
    assert service.client.get("/healthz").status_code == 200
    (tmp_path / "hedgerow.db").rename(tmp_path / "elsewhere.db")
    time.sleep(1.1)  # for which the last good probe speaks
    answer = service.send(task, holders(task, 5))
    assert (answer.status_code, answer.json()["code"]) == (507, "storage-full")
    assert "removed" not in answer.text and "hedgerow.db" not in answer.text  # where it is, strangers are not told
    assert "removed" in reasons(caplog)
    assert service.client.get("/healthz").status_code == 507
    assert service.client.get("/livez").status_code == 200
    (tmp_path / "elsewhere.db").rename(tmp_path / "hedgerow.db")
    assert service.send(task, holders(task, 5, seed=1)).json()["accepted"] == 5


def test_a_file_in_the_place_of_the_database_is_not_taken_for_it(inside, local_task, holders, tmp_path, caplog):
    service, task = inside(), local_task()
    service.publish(task)
    shutil.copy(tmp_path / "hedgerow.db", tmp_path / "copy.db")
    os.replace(tmp_path / "copy.db", tmp_path / "hedgerow.db")
    answer = service.send(task, holders(task, 5))
    assert answer.status_code == 507
    assert "replaced" in reasons(caplog)


def test_the_file_is_for_its_owner_only(tmp_path):
    Database(f"sqlite:///{tmp_path}/x.db", "create").close()
    assert stat.S_IMODE(os.stat(tmp_path / "x.db").st_mode) == 0o600


def test_reading_changes_nothing(tmp_path):
    url = f"sqlite:///{tmp_path}/x.db"
    Database(url, "create").close()
    before = (tmp_path / "x.db").read_bytes()
    with Database(url, "read") as database:
        with pytest.raises(StorageError), database.write() as connection:
            connection.exec_driver_sql("DELETE FROM settings")
        with database.read() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM tasks").scalar() == 0
    assert (tmp_path / "x.db").read_bytes() == before


def test_options_of_an_sqlite_url_are_not_ignored(tmp_path):
    with pytest.raises(ValueError, match="takes no options"):
        Database(f"sqlite:///{tmp_path}/x.db?mode=memory", "create")


class Silent:
    """A PostgreSQL server all of whose processes are stopped: its connections stay open, and nothing answers."""

    def __init__(self, server):
        self.first = server.pid

    def _signal(self, what):
        children = subprocess.run(["pgrep", "-P", str(self.first)], capture_output=True, text=True, check=False)
        for pid in [self.first, *map(int, children.stdout.split())]:
            with contextlib.suppress(ProcessLookupError):  # a connection's process ends with it, at any moment
                os.kill(pid, what)

    def __enter__(self):
        self._signal(signal.SIGSTOP)

    def __exit__(self, *_):
        self._signal(signal.SIGCONT)


@pytest.fixture
def impatient(monkeypatch):
    from hedgerow.service import postgres as module

    monkeypatch.setattr(module, "ANSWER_SECONDS", 1.0)
    monkeypatch.setattr(module, "CONNECT_SECONDS", 2)
    module._bounded.cache_clear()
    yield
    module._bounded.cache_clear()


@pytest.mark.usefixtures("impatient")
def test_a_postgres_that_hangs_is_given_up_and_used_again(inside, local_task, holders, postgres, postgres_server):
    service, task = inside(postgres), local_task()
    service.publish(task)
    reports = holders(task, 5)
    with Silent(postgres_server):
        start = time.monotonic()
        answer = service.send(task, reports)
        assert (answer.status_code, answer.json()["code"]) == (503, "storage-busy"), answer.text
        assert service.client.get("/livez").status_code == 200
        assert service.client.get("/healthz").status_code == 503
        assert time.monotonic() - start < 12
    for _ in range(100):
        answer = service.send(task, reports)
        if answer.status_code == 200:
            break
        time.sleep(0.1)
    assert service.status(task)["accepted"] == 5  # once, whether or not the first try was committed


@pytest.mark.usefixtures("impatient")
def test_stopping_does_not_wait_for_a_postgres_that_hangs(local_task, holders, postgres, postgres_server, monkeypatch):
    from hedgerow.service import service as module
    from hedgerow.service.service import Service
    from hedgerow.service.settings import Settings

    monkeypatch.setattr(module, "STOP_SECONDS", 3.0)
    Database(postgres, "create").close()
    service = Service(Database(postgres), settings=Settings(aggregate_seconds=0.05)).start()
    time.sleep(0.3)
    with Silent(postgres_server):
        ending = threading.Thread(target=service.stop)
        start = time.monotonic()
        ending.start()
        ending.join(20)
        assert not ending.is_alive()
        assert time.monotonic() - start < 6


def test_what_arrives_is_scrubbed_while_reports_keep_coming(inside, local_task, holders, part, monkeypatch):
    from hedgerow.service import aggregator

    monkeypatch.setattr(aggregator, "_MANY", 40)
    monkeypatch.setattr(aggregator, "_SEGMENT", 10)
    service, task = inside(), local_task()
    service.publish(task)
    reports = holders(task, 300)
    waiting = [part(reports, i, i + 10) for i in range(0, 300, 10)]
    step = service.service.aggregator.segment
    most = []

    def busy(number, size):
        """Aggregate a segment, while the next one arrives."""
        done = step(number, size)
        if waiting:
            service.send(task, waiting.pop())
        with service.service.database.read() as connection:
            most.append(connection.exec_driver_sql("SELECT count(*) FROM arrivals").scalar())
        return done

    service.send(task, waiting.pop())
    monkeypatch.setattr(service.service.aggregator, "segment", busy)
    while waiting:
        service.service.aggregator.turn()  # it takes what was there when it began
    service.service.aggregator.turn()
    assert max(most) <= 6  # commits of ten reports each; all thirty if nothing is scrubbed until the end
    assert service.status(task)["aggregated"] == 300
