"""Two servers on one PostgreSQL: what one counts or moves does not change under its hands by what the other does."""

import contextlib
import threading
import time
from functools import partial

import pytest

from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.service import aggregator, removal, scrub, sealing, segments
from hedgerow.service.kinds import Kind
from hedgerow.service.sqlite_file import Overtaken, StoragePressure
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.reports import Reports
from tests.service.test_passes import Guest

sa = pytest.importorskip("sqlalchemy")
CURATOR = {"Authorization": "Bearer curator-token-of-these-tests"}
SECONDS = 1.5  # for the other server to be done, where nothing makes it wait


@contextlib.contextmanager
def meanwhile(server, words, action):
    """Let another server act once, right after a statement of this one; wait for it for a while."""
    found = []
    acting = threading.Thread(target=lambda: found.append(action()))

    def after(connection, cursor, statement, parameters, context, executemany):
        if acting.ident is None and all(word in statement for word in words):
            acting.start()
            acting.join(SECONDS)

    engine = server.service.database.engine
    sa.event.listen(engine, "after_cursor_execute", after)
    yield found
    sa.event.remove(engine, "after_cursor_execute", after)
    if acting.ident is not None:
        acting.join(60)


@pytest.fixture
def pair(postgres, inside):
    return inside(postgres), inside(postgres)


def test_an_invitation_is_exchanged_once_at_both(pair, local_task):
    one, task = pair[0], local_task()
    one.publish(task, passes=True)
    (invitation,) = one.post(task, "tokens", {}).json()["tokens"]
    guests = [Guest(server, task, invitation) for server in pair]
    with meanwhile(one, ("SELECT", "exchanges"), lambda: guests[1].exchange().status_code) as found:
        codes = [guests[0].exchange().status_code]
    assert sorted(codes + found) == [200, 403]


def test_no_more_reports_than_the_task_takes_while_the_other_adds_up(pair, local_task, holders, part):
    one, other = pair
    task = local_task()
    one.publish(task, max_reports=10)
    reports = holders(task, 20)
    assert one.send(task, part(reports, 0, 9)).json()["accepted"] == 9
    number = other.service.collection(task.id).number
    with meanwhile(one, ("SELECT", "partials"), lambda: other.service.aggregator.segment(number)) as found:
        answer = one.send(task, part(reports, 9)).json()
    assert (answer["accepted"], found) == (1, [9])
    assert one.status(task)["accepted"] == 10


def test_records_are_given_out_once_by_both(pair):
    one, other = pair
    task = LabelTask(LabelGrid(0.0, 80.0, 16), LaplaceNoise(1.0, 16), target="hours")
    one.publish(task, tokens=True)
    with meanwhile(one, ("SELECT max", "last_record"), lambda: other.post(task, "tokens", {}).json()) as found:
        mine = one.post(task, "tokens", {}).json()
    assert sorted(answer["records"] for answer in (mine, *found)) == [[[0, 0]], [[1, 1]]]


@pytest.fixture
def sealed(pair, local_task, holders, part, monkeypatch):
    """A closed task whose ids stand in two runs, which are to be merged; and what merges them at the other server."""
    monkeypatch.setattr(scrub, "SEALED", 8)
    monkeypatch.setattr(sealing, "_FAN", 2)
    one, other = pair
    task = local_task()
    one.publish(task)
    reports = holders(task, 20)
    for start in (0, 10):
        one.send(task, part(reports, start, start + 10))
        one.service.aggregator.segment(one.service.collection(task.id).number)
        one.service.aggregator.scrub()
    one.post(task, "close")
    database = other.service.database

    def merge():
        with database.write_large() as connection:
            return sealing.merge_piece(database, connection)

    return task, merge


def ids_left(server):
    with server.service.database.read() as connection:
        return connection.exec_driver_sql("SELECT count(*) FROM report_ids").scalar()


def test_what_one_forgets_the_other_does_not_bring_back(pair, sealed):
    one, other = pair
    task, merge = sealed
    number = one.service.collection(task.id).number
    with meanwhile(other, ("SELECT report_ids.run, ",), lambda: one.service.aggregator._forget(number)) as found:
        assert merge()
    assert (found, ids_left(one)) == ([True], 0)


def test_what_one_deletes_the_other_does_not_bring_back(pair, sealed, monkeypatch):
    """The other's turn comes after the first step of the deletion, and takes long."""
    one, other = pair
    task, merge = sealed
    some_of = removal.some_of

    def later(*which):
        time.sleep(SECONDS / 3)  # until the other has begun
        return some_of(*which)

    monkeypatch.setattr(removal, "some_of", later)
    slow = meanwhile(other, ("SELECT report_ids.run, ",), lambda: time.sleep(2 * SECONDS))
    with slow, meanwhile(one, ("DELETE FROM sealing",), merge) as found:
        assert one.client.delete(f"/v1/tasks/{task.id}", headers=CURATOR).status_code == 200
    assert (found, ids_left(one)) == ([True], 0)


def test_a_report_is_in_one_job_of_two_leaders(inside, postgres, tmp_path):
    """The other leader makes and finishes a job of the very reports that this one has just looked at."""
    from tests.service.shared import Pair
    from tests.service.test_service_shared import answers, published

    pair = Pair(inside, {"leader": postgres, "helper": f"sqlite:///{tmp_path}/helper.db"})
    other = inside(postgres)
    other.service.shared.caller = pair.services["leader"].shared.caller
    task = published(pair)
    pair.leader.send(task, answers(task, 12)[0])
    turn = partial(other.service.shared.turn, other.service.collection(task.id))
    with meanwhile(pair.leader, ("SELECT", "FROM uploads", "ORDER BY"), turn) as found, pytest.raises(StoragePressure):
        pair.leader.service.shared.turn(pair.leader.service.collection(task.id))
    assert found == [12]
    pair.verify(task)
    assert [n for n, _ in pair.batches(task)] == [12, 12]
    assert sum(path.endswith("/jobs") for _, path in pair.wire.asked) == 1
    assert pair.leader.status(task)["refused"] == {}


def test_who_is_overtaken_goes_on_with_the_rest_of_the_turn(pair, local_task, holders):
    one, other = pair
    tasks = [local_task("first"), local_task("second")]
    for task in tasks:
        one.publish(task)
        one.send(task, holders(task, 5))
    work = one.service.aggregator
    numbers = [one.service.collection(task.id).number for task in tasks]
    one.service.refuse(0, "busy", 3)
    with other.service.database.write_sums(numbers[0], alone=True):
        work._work()
    assert [work.waiting(number) for number in numbers] == [5, 0]
    assert not one.service._refused  # the counts are kept
    work._rest_until = 0.0
    work._work()
    assert [work.waiting(number) for number in numbers] == [0, 0]
    assert not work._dirty()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_sums_that_others_have_replaced_are_not_written(request, inside, local_task, holders, kind):
    service = inside(request.getfixturevalue("postgres") if kind == "postgres" else None)
    task = local_task()
    service.publish(task)
    work = service.service.aggregator
    number = service.service.collection(task.id).number
    for _ in range(2):  # there are none at first
        service.send(task, holders(task, 5, seed=_))
        with service.service.database.read() as connection:
            late = segments.Segment.of(connection, *work.look(number), number, 10)
        assert (late.n, work.segment(number)) == (5, 5)
        with pytest.raises(Overtaken):
            service.service.writer.add_up(number, late.store)
    assert service.status(task)["aggregated"] == 10


def test_uploads_go_first_while_reports_are_added_up(pair, monkeypatch):
    """Three times as long as adding up took, but not beyond what the rest leaves of a turn; and only if some wait."""
    work = pair[0].service.aggregator
    work.every = 1.0
    waits = []
    monkeypatch.setattr(work._stop, "wait", waits.append)
    work._pause(0.01, 0.5)
    assert waits == []  # nobody waits
    monkeypatch.setattr(work.writer, "waiting", 1)
    work._pause(0.01, 0.5)
    work._pause(0.01, 0.02)
    assert waits == pytest.approx([0.03, 0.01])
    work._pause(0.01, 0.005)  # there is more than a turn can work off
    work._pause(0.01, 0.0)
    assert len(waits) == 2
    monkeypatch.setattr(work.writer, "waiting", 0)


def test_a_backlog_is_worked_off_in_larger_segments(pair, local_task, holders, monkeypatch):
    """Of small ones each takes a commit, and a server that is behind would fall behind further."""
    one, task = pair[0], local_task()
    one.publish(task)
    monkeypatch.setattr(aggregator, "_SMALL_SEGMENT", 4)
    monkeypatch.setattr(aggregator, "_SEGMENTS", 5)
    monkeypatch.setattr(aggregator, "_SEGMENT", 12)
    work = one.service.aggregator
    reports = holders(task, 100)
    for n, size in ((10, 4), (40, 8), (100, 12)):
        taken = []
        for i in range(0, n, 2):
            one.send(task, Reports(task, reports.tokens[i : i + 2], reports.payloads[i : i + 2]))
        old = segments.waiting_of
        with monkeypatch.context() as patch:
            patch.setattr(
                segments, "waiting_of", lambda *given, old=old, taken=taken: taken.append(old(*given)) or taken[-1]
            )
            work.turn()
        assert {sum(row.n for row in rows) for rows in taken[:-1]} == {size}
        reports = holders(task, 100, seed=n)


def test_a_server_at_rest_scrubs_without_waiting(pair, local_task, holders):
    """Whoever took the last reports; while some wait to be added up, it is not done so soon again."""
    one, other = pair
    task = local_task()
    one.publish(task)
    work = one.service.aggregator
    work.turn()
    work._rest_until = time.monotonic() + 3600  # the last one took long
    other.send(task, holders(task, 3))
    work.turn()
    assert work._dirty()
    work.turn()
    assert not work._dirty()
    with one.service.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM arrivals").scalar() == 0


def test_housekeeping_does_not_wait_for_who_is_in_the_way(pair, local_task, holders, monkeypatch):
    """The other server holds its turn for longer than this one waits for the tables."""
    one, other = pair
    task = local_task()
    one.publish(task)
    one.send(task, holders(task, 5))
    aggregator = one.service.aggregator
    monkeypatch.setattr(aggregator, "_task", lambda number: 0)  # it would wait for the other, too
    one.service.refuse(0, "busy", 3)
    with other.service.database.write() as connection:
        connection.exec_driver_sql("LOCK TABLE uploads IN SHARE MODE")
        aggregator._work()
    assert not one.service._refused
    assert aggregator._dirty()  # it will be tried again


@pytest.mark.parametrize("kind", ["sums", "labels"])
def test_what_one_deletes_the_other_does_not_add_up(pair, local_task, holders, kind):
    """Deleted while the other has sums, or rows, in a transaction that is not yet committed: nothing of it is left."""
    one, other = pair
    grid = LabelGrid(0.0, 80.0, 16)
    task = local_task() if kind == "sums" else LabelTask(grid, LaplaceNoise(1.0, 16), target="hours")
    one.publish(task, **({} if kind == "sums" else {"tokens": True}))
    if kind == "sums":
        assert one.send(task, holders(task, 20)).json()["accepted"] == 20
    else:
        (token,) = one.post(task, "tokens", {}).json()["tokens"]
        reports = task.privatize([0], [3.0])
        assert one.send(task, reports, Authorization=f"Bearer {token}").json()["accepted"] == 1
    one.post(task, "close")
    number = other.service.collection(task.id).number

    def delete():
        return one.client.delete(f"/v1/tasks/{task.id}", headers=CURATOR).status_code

    with meanwhile(other, ("DELETE FROM uploads",), delete) as found:
        other.service.aggregator.segment(number)
    assert found == [200]
    with one.service.database.read() as connection:
        for table in ("partials", "segments", "uploads"):
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == 0, table


def test_nothing_is_added_up_of_a_task_that_was_deleted(inside, local_task, holders, monkeypatch):
    """SQLite: the payloads were read, and only then the task goes."""
    service, task = inside(), local_task()
    service.publish(task)
    service.send(task, holders(task, 20))
    service.post(task, "close")
    number = service.service.collection(task.id).number
    aggregate = Kind.aggregate

    def after(*given):
        monkeypatch.undo()
        assert service.client.delete(f"/v1/tasks/{task.id}", headers=CURATOR).status_code == 200
        return aggregate(*given)

    monkeypatch.setattr(Kind, "aggregate", after)
    with pytest.raises(Overtaken, match="deleted"):
        service.service.aggregator.segment(number)
