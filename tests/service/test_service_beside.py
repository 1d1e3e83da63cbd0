"""Two servers on one PostgreSQL write beside each other: each takes its turn for as long as a commit takes."""

import contextlib

import pytest

from hedgerow.service import removal, scrub
from hedgerow.service.known import SERVER
from hedgerow.service.sealing import move_piece
from hedgerow.service.sqlite_file import StoragePressure
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate
from tests.service.test_service_thief import pages

pytest.importorskip("sqlalchemy")
CURATOR = {"Authorization": "Bearer curator-token-of-these-tests"}
DUPLICATE = {"accepted": 0, "duplicates": 1, "failures": []}


@pytest.fixture
def pair(postgres, inside):
    return inside(postgres), inside(postgres)


def number_of(server, task):
    return server.service.collection(task.id).number


def count(server, table):
    with server.service.database.read() as connection:
        return connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()


def met(server, task, reports, **headers):
    """Let both servers have the task in memory, so that they decide by that."""
    for i, each in enumerate(server):
        assert each.send(
            task, Reports(task, reports.tokens[i : i + 1], reports.payloads[i : i + 1]), **headers
        ).is_success
        assert each.service.database.known.has(number_of(each, task))


@contextlib.contextmanager
def before_its_turn(server, action):
    """Let something happen once, after this server has written reports and before its turn has come."""
    database = server.service.database
    arrive = database.arrive
    done = []

    def arriving(*given):
        found = arrive(*given)
        if not done:
            done.append(None)
            done[0] = action()
        return found

    database.arrive = arriving
    yield done
    database.arrive = arrive
    assert done


def test_what_reaches_both_at_once_counts_once(pair, local_task, holders, part):
    one, other = pair
    task = local_task(max_depth=7)
    one.publish(task)
    reports = holders(task, 5)
    met(pair, task, reports)
    with before_its_turn(one, lambda: other.send(task, part(reports, 2, 4)).json()) as found:
        answer = one.send(task, part(reports, 3, 5)).json()
    assert found == [{"accepted": 2, "duplicates": 0, "failures": []}]
    assert answer == {"accepted": 1, "duplicates": 1, "failures": []}
    for server in pair:
        assert server.send(task, reports).json() == {"accepted": 0, "duplicates": 5, "failures": []}
        assert (
            server.service.total(server.service.collection(task.id)).to_bytes()
            == Aggregate(task).add(reports).to_bytes()
        )


def test_another_payload_under_an_id_that_the_other_took_fails(pair, local_task, holders, part):
    one, other = pair
    task = local_task(max_depth=7)
    one.publish(task)
    reports = holders(task, 5)
    met(pair, task, reports)
    changed = Reports(task, reports.tokens[2:3], reports.payloads[3:4])
    with before_its_turn(one, lambda: other.send(task, part(reports, 2, 3)).json()["accepted"]) as found:
        answer = one.send(task, changed).json()
    assert (found, [failure["code"] for failure in answer["failures"]]) == ([1], ["id-conflict"])


def test_a_token_is_spent_at_one_of_both(pair, local_task, holders, part):
    one, other = pair
    task = local_task(max_depth=7)
    one.publish(task, tokens=True)
    tokens = one.post(task, "tokens", {"count": 2, "quota": 3}).json()["tokens"]
    mine = [{"Authorization": f"Bearer {token}"} for token in tokens]
    reports = holders(task, 6)
    met(pair, task, reports, **mine[0])
    with before_its_turn(one, lambda: other.send(task, part(reports, 2, 3), **mine[0]).json()["accepted"]) as found:
        answer = one.send(task, part(reports, 3, 4), **mine[0]).json()
    assert (found, answer["code"]) == ([1], "token-spent")
    with before_its_turn(one, lambda: other.send(task, part(reports, 4, 5), **mine[1]).json()["accepted"]) as found:
        answer = one.send(task, part(reports, 5, 6), **mine[1]).json()
    assert (found, answer["accepted"]) == ([1], 1)  # there is enough left for both


def test_nothing_is_taken_after_the_other_has_closed(pair, local_task, holders, part):
    one, other = pair
    task = local_task(max_depth=7)
    one.publish(task)
    reports = holders(task, 4)
    met(pair, task, reports)
    known_and_new = Reports(task, reports.tokens[[0, 2]], reports.payloads[[0, 2]])
    with before_its_turn(one, lambda: other.post(task, "close").status_code) as found:
        answer = one.send(task, known_and_new).json()
    assert found == [200]
    assert answer == {"accepted": 0, "duplicates": 1, "failures": [{**answer["failures"][0], "code": "task-closed"}]}
    assert one.send(task, part(reports, 3, 4)).json()["code"] == "task-closed"
    assert one.status(task)["accepted"] == 2


def test_who_scrubs_waits_for_those_who_write_before_their_turn(pair, local_task, holders, part):
    one, other = pair
    task = local_task(max_depth=7)
    one.publish(task)
    reports = holders(task, 3)
    met(pair, task, reports)

    def scrubs():
        with pytest.raises(StoragePressure):
            other.service.aggregator.scrub()

    with before_its_turn(one, scrubs):
        assert one.send(task, part(reports, 2, 3)).json()["accepted"] == 1
    other.service.aggregator.scrub()
    assert count(one, "arrivals") == 0
    for server in pair:
        assert server.send(task, reports).json()["duplicates"] == 3


@pytest.mark.parametrize("large", [False, True])
def test_what_comes_while_ids_are_merged_stays_known(pair, local_task, holders, part, large, monkeypatch):
    """At both servers, beside it; and it is merged the next time, with its place in the pages."""
    monkeypatch.setattr(scrub, "SEALED", 4 if large else 1 << 16)
    monkeypatch.setattr(scrub, "_PAGE", 2)
    one, other = pair
    task = local_task(max_depth=7)
    one.publish(task)
    reports = holders(task, 12)
    met(pair, task, reports)
    for i in range(2, 6):
        assert pair[i % 2].send(task, part(reports, i, i + 1)).json()["accepted"] == 1
    work = one.service.aggregator
    for server in pair:
        server.service.aggregator.segment(number_of(server, task))
    sent = [6]

    def rest():
        if sent[0] < 10:
            assert pair[sent[0] % 2].send(task, part(reports, sent[0], sent[0] + 1)).json()["accepted"] == 1
            work.segment(number_of(one, task))
            sent[0] += 1

    with one.service.database.write_large() as connection:
        scrub.scrub(one.service.database, connection, rest)
    work._clean = True
    late = count(one, "arrivals")
    assert 0 < late < 10 == sent[0]
    assert work._dirty()  # although all of it is added up
    for server in pair:
        assert server.send(task, part(reports, 0, 10)).json()["duplicates"] == 10
        view = server.service.database.known._views[number_of(server, task)]
        assert (view.certain, view.arrived) == (True, late)
    assert other.send(task, part(reports, 10, 11)).json()["accepted"] == 1
    work.scrub()
    assert count(one, "arrivals") == 0 and count(one, "report_ids") == int(large)
    for server in pair:
        assert server.send(task, part(reports, 0, 11)).json()["duplicates"] == 11
        assert server.send(task, part(reports, 11)).json() == (
            DUPLICATE if server is other else {**DUPLICATE, "accepted": 1, "duplicates": 0}
        )


def test_one_scrubs_at_a_time(pair, local_task, holders):
    one, other = pair
    task = local_task()
    one.publish(task)
    one.send(task, holders(task, 3))
    one.service.aggregator.segment(number_of(one, task))
    with other.service.database.write_large() as connection:
        assert connection is not None
        assert one.service.aggregator.scrub(wait=False) is False
        assert one.service.aggregator._dirty()
    assert one.service.aggregator.scrub(wait=False) is True
    assert count(one, "arrivals") == 0


def test_what_never_reached_the_disk_is_not_acknowledged(pair, local_task, holders, part):
    """The other's commit was seen before it was flushed; then the database crashed, and it is gone."""
    one, other = pair
    task = local_task(max_depth=7)
    one.publish(task)
    reports = holders(task, 3)
    met(pair, task, reports)
    assert other.send(task, part(reports, 2, 3)).json()["accepted"] == 1
    database = one.service.database

    def fails():
        with database.write_uploads() as connection:
            database.known.look(connection, number_of(one, task))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    with database.write() as connection:
        for table in ("arrivals", "uploads"):
            connection.exec_driver_sql(f"DELETE FROM {table} WHERE seq = (SELECT max(seq) FROM {table})")
    assert one.send(task, part(reports, 2, 3)).json()["accepted"] == 1


def test_what_a_server_takes_back_does_not_stay_in_the_pages(pair, local_task, holders, part):
    """Decided again, all of it was known: nothing of it is aggregated, and it is scrubbed all the same."""
    import psycopg

    one, other = pair
    task = local_task(max_depth=7)
    one.publish(task)
    reports = holders(task, 3)
    met(pair, task, reports)
    for server in pair:
        server.service.aggregator.turn()
    assert other.send(task, part(reports, 2, 3)).json()["accepted"] == 1
    other.service.aggregator.turn()
    other.service.aggregator.scrub()
    work = one.service.aggregator
    assert not work._dirty()
    with before_its_turn(one, lambda: None):
        assert one.send(task, part(reports, 2, 3)).json() == DUPLICATE
    assert work._dirty()
    work.scrub()
    url = one.service.database.url.render_as_string(hide_password=False).replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE EXTENSION pageinspect")
        assert not [page for table in ("uploads", "arrivals") for page in pages(cursor, table)]
    assert not work._dirty()


def test_numbers_of_arrivals_are_of_one_server(pair, local_task, holders, part):
    """And of another one after a failure: whether the first was on the disk nobody knows."""
    one, other = pair
    task = local_task(max_depth=7)
    one.publish(task)
    reports = holders(task, 6)
    met(pair, task, reports)
    one.send(task, part(reports, 2, 3))
    with pytest.raises(KeyboardInterrupt), one.service.database.write_uploads():
        raise KeyboardInterrupt
    one.send(task, part(reports, 3, 4))
    other.send(task, part(reports, 4, 5))
    with one.service.database.read() as connection:
        numbers = [
            divmod(seq, 1 << SERVER) for (seq,) in connection.exec_driver_sql("SELECT seq FROM arrivals ORDER BY seq")
        ]
    servers = [server for server, _ in numbers]
    assert [n for _, n in numbers] == [1, 2, 1, 2, 1]
    assert servers[0] == servers[1] < servers[2] == servers[3] < servers[4]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_is_scrubbed_during_a_deletion_is_deleted(request, inside, local_task, holders, kind, monkeypatch):
    """Ids and tokens leave for the large tables after these were emptied."""
    monkeypatch.setattr(scrub, "SEALED", 4)
    service = inside(request.getfixturevalue("postgres") if kind == "postgres" else None)
    task = local_task(max_depth=7)
    service.publish(task, tokens=True)
    (token,) = service.post(task, "tokens", {"quota": 8}).json()["tokens"]
    assert service.send(task, holders(task, 8), Authorization=f"Bearer {token}").json()["accepted"] == 8
    service.post(task, "close")
    some_of, last = removal.some_of, removal._LARGE[-1][0]

    def late(table, *given):
        if table is last:
            service.service.aggregator.scrub()
            assert count(service, "report_ids") == 1 and count(service, "sealing") == 1
            service.service.writer.run_in_turn(move_piece)
        return some_of(table, *given)

    monkeypatch.setattr(removal, "some_of", late)
    assert service.client.delete(f"/v1/tasks/{task.id}", headers=CURATOR).status_code == 200
    for table in ("arrivals", "known", "report_ids", "sealing", "upload_tokens", "uploads"):
        assert count(service, table) == 0, table
