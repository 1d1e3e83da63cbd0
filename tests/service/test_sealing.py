"""Ids on their way to rows of their own: known at every step, to every server, whatever crashes."""

import random
import threading

import pytest

from hedgerow.service import aggregator, scrub, sealing
from hedgerow.service.curators import digest_of
from hedgerow.service.intake import keys_of, take
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    return f"sqlite:///{tmp_path}/hedgerow.db" if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture
def small(monkeypatch):
    """Few ids are many; pieces of three."""
    monkeypatch.setattr(aggregator, "_REST", 0)
    monkeypatch.setattr(scrub, "SEALED", 8)
    monkeypatch.setattr(sealing, "_PIECE", 3)


def left(service):
    with service.service.database.read() as connection:
        return connection.exec_driver_sql("SELECT count(*) FROM sealing").scalar()


def view_of(service, task):
    database = service.service.database
    with database.write_uploads() as connection:
        return database.known.look(connection, service.service.collection(task.id).number)


def test_ids_and_tokens_are_known_after_every_piece(url, small, inside, local_task, holders, part, ids_in, monkeypatch):
    """A crash after each piece, and another server that looks only now and then."""
    service, other, task = inside(url), inside(url), local_task(max_depth=7)
    service.publish(task, tokens=True)
    (token,) = service.post(task, "tokens", {"quota": 12}).json()["tokens"]
    mine, reports = {"Authorization": f"Bearer {token}"}, holders(task, 14)
    for start in (0, 6):
        assert service.send(task, part(reports, start, start + 6), **mine).json()["accepted"] == 6
    assert other.send(task, part(reports, 0, 1), **mine).json()["duplicates"] == 1

    def crash(database, connection):
        raise KeyboardInterrupt

    for pieces in (4, 3, 2, 1, 0):
        with monkeypatch.context() as patch:
            done = iter([sealing.move_piece] * (pieces != 4) + [crash])
            patch.setattr(aggregator, "move_piece", lambda *both, done=done: next(done)(*both))
            with pytest.raises(KeyboardInterrupt):
                service.service.aggregator.turn()
        assert left(service) == pieces
        assert ids_in(service.service.database) == 12
        for each in (service, other) if pieces % 2 else (service,):
            assert each.send(task, part(reports, 0, 12), **mine).json()["duplicates"] == 12
            changed = Reports(task, reports.tokens[:2], reports.payloads[2:4])
            assert [f["code"] for f in each.send(task, changed, **mine).json()["failures"]] == ["id-conflict"] * 2
            assert each.send(task, part(reports, 12), **mine).json()["code"] == "token-spent"
    with service.service.database.read() as connection:
        assert connection.exec_driver_sql("SELECT remaining FROM upload_tokens").scalar() == 0


def test_what_is_set_aside_is_not_read_again(small, inside, local_task, holders, part):
    service, task = inside(), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 20)
    service.send(task, part(reports, 0, 10))
    before = view_of(service, task)
    young = before.young
    service.service.aggregator.scrub()
    after = view_of(service, task)
    assert after is before and after.moving is young and len(after.young) == 0 and after.sieve is not None
    service.service.aggregator.turn()
    assert len(view_of(service, task).moving) == 0
    assert service.send(task, part(reports, 0, 12)).json() == {"accepted": 2, "duplicates": 10, "failures": []}


def test_a_server_that_missed_some_ids_looks_all_of_them_up(url, small, inside, local_task, holders, part):
    """They came to another server, which has moved them already: no sieve here can hold them."""
    service, other, task = inside(url), inside(url), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 30)
    service.send(task, part(reports, 0, 5))
    assert view_of(service, task).sieve is not None
    other.send(task, part(reports, 5, 10))
    other.service.aggregator.turn()
    assert left(other) == 0
    other.send(task, part(reports, 10, 12))
    assert service.send(task, part(reports, 0, 13)).json() == {"accepted": 1, "duplicates": 12, "failures": []}
    assert view_of(service, task).sieve is None
    service.service.aggregator.turn()  # reads all of them
    sieve = view_of(service, task).sieve
    assert sieve is not None and len(sieve.may_hold(keys_of([t.tobytes() for t in reports.tokens]))) == 13
    assert service.send(task, part(reports, 0, 14)).json() == {"accepted": 1, "duplicates": 13, "failures": []}


def test_a_sieve_that_came_too_late_is_not_used(small, inside, local_task, holders, part):
    service, task = inside(), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 40)
    for start in (0, 10):
        service.send(task, part(reports, start, start + 10))
        service.service.aggregator.turn()
    known = service.service.database.known
    known._views.clear()  # as after a start
    assert view_of(service, task).sieve is None
    assert known.offer_sieve()
    service.send(task, part(reports, 20, 21))  # takes it
    known._views.clear()
    assert view_of(service, task).sieve is None
    assert known.offer_sieve()
    other = inside()
    other.send(task, part(reports, 21, 30))
    other.service.aggregator.turn()
    assert service.send(task, part(reports, 0, 31)).json() == {"accepted": 1, "duplicates": 30, "failures": []}
    assert view_of(service, task).sieve is None


def test_a_commit_that_fails_leaves_nothing_in_memory(inside, local_task, holders):
    """Beside a copy that came too late: the transaction looks at its own arrivals, which are undone."""
    service, task = inside(), local_task()
    service.publish(task)
    collection, body = service.service.collection(task.id), holders(task, 1).to_bytes()

    def upload(late):
        made = collection.kind.upload(collection.number, collection.kind.read(body), None, None)
        made.late = late
        return made

    def undone(group):
        with database.write_uploads() as connection:
            take(database, connection, group)
            raise KeyboardInterrupt

    database = service.service.database
    with pytest.raises(KeyboardInterrupt):
        undone([upload("task-ended"), upload("")])
    with database.write_uploads() as connection:
        (again,) = take(database, connection, [upload("task-ended")])
    assert (again.refused, again.duplicates) == ("task-ended", 0)
    with database.write_uploads() as connection:
        (sent,) = take(database, connection, [upload("")])
    assert sent.accepted == 1


def test_a_token_is_spent_once_where_a_late_copy_came_along(inside, local_task, holders, part):
    service, task = inside(), local_task(max_depth=7)
    service.publish(task, tokens=True)
    (token,) = service.post(task, "tokens", {"quota": 2}).json()["tokens"]
    collection, reports = service.service.collection(task.id), holders(task, 2)

    def upload(i, late=""):
        body = part(reports, i, i + 1).to_bytes()
        made = collection.kind.upload(collection.number, collection.kind.read(body), None, digest_of(token))
        made.late = late
        return made

    database = service.service.database
    with database.write_uploads() as connection:
        take(database, connection, [upload(0), upload(0, "task-ended")])
    with database.write_uploads() as connection:
        (second,) = take(database, connection, [upload(1)])
    assert second.accepted == 1


def test_a_token_of_many_reports_goes_on(small, inside, local_task, holders, part):
    """What was taken off its number is not counted a second time."""
    service, task = inside(), local_task(max_depth=7)
    service.publish(task, tokens=True)
    (token,) = service.post(task, "tokens", {"quota": 20}).json()["tokens"]
    mine, reports = {"Authorization": f"Bearer {token}"}, holders(task, 21)
    for start, stop in ((0, 10), (10, 11), (11, 20)):
        assert service.send(task, part(reports, start, stop), **mine).json()["accepted"] == stop - start
        if start == 0:
            service.service.aggregator.scrub()
            view_of(service, task)
            service.service.aggregator.turn()
    assert service.send(task, part(reports, 20), **mine).json()["code"] == "token-spent"


def test_two_servers_that_seal_all_the_time_count_once(url, small, inside, local_task, holders, part):
    """Senders at both, in no order and twice; both add up, scrub and move what they can."""
    servers, task, n = [inside(url), inside(url)], local_task(max_depth=4), 600
    servers[0].publish(task, tokens=True)
    tokens = servers[0].post(task, "tokens", {"count": 2, "quota": 1000}).json()["tokens"]
    reports = holders(task, n)
    accepted, over = [], threading.Event()

    def send(server, start):
        with_token = {"Authorization": f"Bearer {tokens[2 * start // n]}"}
        answer = {"code": "storage-busy"}
        while answer.get("code") == "storage-busy":  # worth a retry, says the service: another server is writing
            answer = server.send(task, part(reports, start, start + 10), **with_token).json()
        assert answer["accepted"] + answer["duplicates"] == 10, answer
        accepted.append(answer["accepted"])

    def sender(seed):
        drawn = random.Random(seed)
        for _ in range(30):
            send(drawn.choice(servers), drawn.randrange(0, n, 10))

    def work(server):
        while not over.is_set():
            server.service.aggregator._try(server.service.aggregator.turn)

    workers = [threading.Thread(target=work, args=(server,)) for server in servers]
    senders = [threading.Thread(target=sender, args=(seed,)) for seed in range(3)]
    for thread in (*workers, *senders):
        thread.start()
    for thread in senders:
        thread.join()
    for start in range(0, n, 10):
        send(servers[start % 20 // 10], start)
    over.set()
    for thread in workers:
        thread.join()
    assert sum(accepted) == n
    for server in servers:
        assert [
            server.send(task, part(reports, s, s + 300), Authorization=f"Bearer {tokens[s // 300]}").json()
            for s in (0, 300)
        ] == [{"accepted": 0, "duplicates": 300, "failures": []}] * 2
        collection = server.service.collection(task.id)
        assert server.service.total(collection).to_bytes() == Aggregate(task).add(reports).to_bytes()
        view = view_of(server, task)
        with server.service.database.read() as connection:
            rows = connection.exec_driver_sql("SELECT digest, remaining FROM upload_tokens").all()
        assert [left - view.spent(bytes(digest)) for digest, left in rows] == [700, 700]
