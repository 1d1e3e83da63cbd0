"""When reports came: counts of crowds by whole hours, and nothing finer."""

import re
from types import SimpleNamespace

import pytest

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")

from hedgerow.commands.server import status_lines
from hedgerow.service.backup import backup, restore
from hedgerow.service.database import Database
from hedgerow.service.timeline import CROWD, HOUR

DAYS = {"opens": 1000, "closes": 1000 + 90 * 86_400}


def rows(database):
    with database.read() as connection:
        return connection.exec_driver_sql("SELECT task, until, n FROM timeline ORDER BY until").all()


@pytest.fixture(params=["sqlite", "postgres"])
def server(request, inside):
    made = inside() if request.param == "sqlite" else inside(request.getfixturevalue("postgres"))
    made.service.aggregator.turn()
    return made


def come(server, task, reports, at):
    """Send reports and aggregate them at a moment."""
    server.clock.now = float(at)
    if reports is not None:
        assert server.send(task, reports).status_code == 200
    server.service.aggregator.turn()


def test_a_count_is_written_when_an_hour_has_ended_with_a_crowd(server, local_task, holders, part, tmp_path):
    task = local_task()
    server.publish(task, **DAYS)
    reports = holders(task, 3 * CROWD)
    database = server.service.database
    come(server, task, part(reports, 0, CROWD + 5), 2000)
    assert rows(database) == []  # the hour has not ended
    come(server, task, None, HOUR + 1)
    assert rows(database) == [(1, HOUR, CROWD + 5)]
    come(server, task, part(reports, CROWD + 5, 2 * CROWD + 4), HOUR + 100)  # one too few
    come(server, task, None, 2 * HOUR + 1)
    assert len(rows(database)) == 1
    come(server, task, part(reports, 2 * CROWD + 4), 2 * HOUR + 100)  # enough now, but not at a full hour
    assert len(rows(database)) == 1
    come(server, task, None, 3 * HOUR)
    assert rows(database)[1:] == [(1, 3 * HOUR, 2 * CROWD - 5)]
    come(server, task, None, 4 * HOUR)
    assert len(rows(database)) == 2
    marks = [{"until": HOUR, "reports": CROWD + 5}, {"until": 3 * HOUR, "reports": 2 * CROWD - 5}]
    assert server.status(task)["timeline"] == marks

    backup(database, str(tmp_path / "copy"))
    with Database(f"sqlite:///{tmp_path}/new.db", "create") as new:
        restore(new, str(tmp_path / "copy"))
        assert rows(new) == rows(database)


def test_an_hour_seen_too_late_is_not_marked(server, local_task, holders):
    """After a restart or a fault nobody knows how many had come by the hour; the stretch goes on."""
    task = local_task()
    server.publish(task, **DAYS)
    come(server, task, holders(task, 2 * CROWD), HOUR + 1800)
    come(server, task, None, 3 * HOUR + 1800)
    assert rows(server.service.database) == []
    server.service.aggregator._looked = None  # a new process
    come(server, task, None, 4 * HOUR + 1)
    assert rows(server.service.database) == []
    come(server, task, None, 5 * HOUR + 1)
    assert rows(server.service.database) == [(1, 5 * HOUR, 2 * CROWD)]


def test_two_servers_count_once_and_deletion_leaves_nothing(server, local_task, holders):
    from hedgerow.service.timeline import mark

    task = local_task()
    server.publish(task, **DAYS)
    come(server, task, holders(task, CROWD), 2000)
    database = server.service.database
    for until in (HOUR, HOUR, 2 * HOUR):
        with database.write_uploads() as connection:
            mark(connection, until)
    assert rows(database) == [(1, HOUR, CROWD)]
    curator = SimpleNamespace(name="Ann")
    server.service.aim(server.service.collection(task.id), 500, 2000, curator)
    assert f"{CROWD} reports of 500 aimed at" in status_lines(server.status(task))[0]
    server.post(task, "close")
    server.service.delete(task.id, 3000, curator)
    assert rows(database) == []
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM targets").scalar() == 0


def test_no_table_keeps_a_finer_time_of_what_holders_did():
    """Times stand beside tasks, curators and servers, and in whole hours here; a new one needs a thought."""
    from hedgerow.service.schema import metadata

    timed = re.compile("time|created|expires|revoked|closed|deleted|until|collected|when|seconds|at$")
    found = {(t.name, c.name) for t in metadata.sorted_tables for c in t.columns if timed.search(c.name)}
    assert {name for name, _ in found} == {"audit", "batches", "curators", "peers", "sessions", "tasks", "timeline"}
