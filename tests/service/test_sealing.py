"""Ids of tasks that have many: known at every step of their way, to every server, whatever crashes."""

import contextlib
import random
import threading
from concurrent.futures import Future

import pytest
import sqlalchemy as sa

from hedgerow.service import aggregator, database, known, scrub, sealing
from hedgerow.service.curators import digest_of
from hedgerow.service.digests import keys_of
from hedgerow.service.ids import LARGE, SMALL, keyed
from hedgerow.service.intake import take
from hedgerow.service.schema import LEVEL
from hedgerow.service.writer import Writer
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    return f"sqlite:///{tmp_path}/hedgerow.db" if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture
def small(monkeypatch):
    """Few ids are many: two in a row, four runs a level, eight merged at a time; three tokens a piece."""
    monkeypatch.setattr(aggregator, "_REST", 0)
    monkeypatch.setattr(scrub, "SEALED", 8)
    monkeypatch.setattr(sealing, "_TOKENS", 3)
    monkeypatch.setattr(sealing, "_FAN", 4)
    monkeypatch.setattr(sealing, "_MERGED", 8)
    for name in ("_SQLITE", "_POSTGRES"):
        sql = getattr(database, name)
        large = str(getattr(database, f"{name}_ROW"))
        monkeypatch.setitem(sql, "seal", sql["seal"].replace(large, "48"))
        monkeypatch.setattr(database, f"{name}_ROW", 48)


def count(service, table):
    with service.service.database.read() as connection:
        return connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()


def runs(service):
    """Return the sizes of the runs, by number."""
    with service.service.database.read() as connection:
        query = "SELECT run, sum(length(ids)) / 24 FROM report_ids GROUP BY run ORDER BY run"
        return {int(run): int(n) for run, n in connection.exec_driver_sql(query)}


def view_of(service, task):
    own = service.service.database
    with own.write_uploads() as connection:
        return own.known.look(connection, service.service.collection(task.id).number)


def test_tokens_are_known_after_every_piece(url, small, inside, local_task, holders, part, ids_in, monkeypatch):
    """A crash after each piece, and another server that looks only now and then."""
    service, other, task = inside(url), inside(url), local_task(max_depth=7)
    service.publish(task, tokens=True)
    tokens = service.post(task, "tokens", {"count": 10, "quota": 1}).json()["tokens"]
    reports = holders(task, 20)

    def sent(to, i, token):
        return to.send(task, part(reports, i, i + 1), Authorization=f"Bearer {tokens[token]}").json()

    for i in range(10):
        assert sent(service, i, i)["accepted"] == 1
    assert sent(other, 0, 0)["duplicates"] == 1

    def crash(connection):
        raise KeyboardInterrupt

    for pieces in (4, 3, 2, 1, 0):
        with monkeypatch.context() as patch:
            done = iter([sealing.move_piece] * (pieces != 4) + [crash])
            patch.setattr(aggregator, "move_piece", lambda connection, done=done: next(done)(connection))
            with pytest.raises(KeyboardInterrupt):
                service.service.aggregator.turn()
        assert count(service, "sealing") == pieces
        assert ids_in(service.service.database) == 10
        for each in (service, other) if pieces % 2 else (service,):
            for i in range(10):
                assert sent(each, i, i)["duplicates"] == 1
                assert sent(each, 10 + i, i)["code"] == "token-spent"
    with service.service.database.read() as connection:
        assert connection.exec_driver_sql("SELECT max(remaining) FROM upload_tokens").scalar() == 0


def test_ids_are_known_after_every_piece_of_a_merge(url, small, inside, local_task, holders, part, ids_in, monkeypatch):
    """A crash after each piece, runs that come in between, and another server that looks only now and then."""
    service, other, task = inside(url), inside(url), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 90)
    work = service.service.aggregator
    with monkeypatch.context() as patch:
        patch.setattr(aggregator, "merge_piece", lambda *_: False)
        for start in range(0, 60, 12):
            assert service.send(task, part(reports, start, start + 12)).json()["accepted"] == 12
            work.turn()
    assert runs(service) == {0: 12, 12: 12, 24: 12, 36: 12, 48: 12}

    def crash(*_):
        raise KeyboardInterrupt

    sizes = []
    sent = 60
    while len(runs(service)) != 1 + (sent - 60) // 10:
        with monkeypatch.context() as patch:
            done = iter([sealing.merge_piece, crash])
            patch.setattr(aggregator, "merge_piece", lambda *both, done=done: next(done)(*both))
            with pytest.raises(KeyboardInterrupt):
                work.turn()
        sizes.append(runs(service)[LEVEL + 48])
        assert ids_in(service.service.database) == sent
        for each in (service, other) if len(sizes) % 3 == 0 else (service,):
            each.service.database.known._views.clear()  # without a sieve: all of them are looked up
            assert each.send(task, part(reports, 0, sent)).json()["duplicates"] == sent
            changed = Reports(task, reports.tokens[:2], reports.payloads[2:4])
            assert [f["code"] for f in each.send(task, changed).json()["failures"]] == ["id-conflict"] * 2
        if len(sizes) in (2, 4):
            assert service.send(task, part(reports, sent, sent + 10)).json()["accepted"] == 10
            sent += 10
    assert sizes == sorted(sizes) and len(sizes) > 4 and sizes[-1] == 60
    assert list(runs(service).values()) == [10, 10, 60]


def test_merged_runs_are_merged_again(small, inside, local_task, holders, part, ids_in):
    service, task = inside(), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 200)
    for start in range(0, 200, 8):
        assert service.send(task, part(reports, start, start + 8)).json()["accepted"] == 8
        service.service.aggregator.turn()
    assert runs(service) == {192: 8, LEVEL + 152: 32, LEVEL + 184: 32, 2 * LEVEL + 120: 128}
    service.service.database.known._views.clear()
    assert service.send(task, reports).json()["duplicates"] == 200
    assert ids_in(service.service.database) == 200


def test_a_batch_is_sealed_in_pieces_as_at_once(small, inside, local_task, holders, monkeypatch):
    """Of SQLite: no statement holds megabytes of ids, and each id is there once."""
    monkeypatch.setattr(database, "_PIECE", 2)  # of two ids
    service, task = inside(), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 13)
    service.send(task, reports)
    statements = []
    old = database.Database.seal

    def note(connection, cursor, statement, parameters, context, executemany):
        statements.append(parameters["ids"])

    def seal(self, connection, *rest):
        sa.event.listen(connection, "before_cursor_execute", note)
        old(self, connection, *rest)
        sa.event.remove(connection, "before_cursor_execute", note)

    monkeypatch.setattr(database.Database, "seal", seal)
    service.service.aggregator.scrub()
    assert [len(ids) // 24 for ids in statements] == [4, 4, 4, 1]
    assert runs(service) == {0: 13} and count(service, "report_ids") == 7
    service.service.database.known._views.clear()
    assert service.send(task, reports).json()["duplicates"] == 13


def test_what_is_sealed_is_not_read_again(small, inside, local_task, holders, part, monkeypatch):
    service, task = inside(), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 20)
    service.send(task, part(reports, 0, 10))
    before = view_of(service, task)
    with monkeypatch.context() as patch:
        patch.setattr(known.View, "catch_up", None)
        service.service.aggregator.scrub()
        after = view_of(service, task)
    assert after is before and len(after.young) == 0 and after.sealed == 10 and after.certain
    assert service.send(task, part(reports, 0, 12)).json() == {"accepted": 2, "duplicates": 10, "failures": []}


def test_a_sieve_is_large_once_ids_have_left_and_lacks_none_of_them(url, small, inside, local_task, holders, part):
    """Also on a server that has not seen them leave: until then it has a small one, with half of them in it."""
    service, other, task = inside(url), inside(url), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 24)
    service.send(task, part(reports, 0, 10))
    other.send(task, part(reports, 10, 12))
    assert {view_of(each, task).sieve.size for each in (service, other)} == {SMALL}
    service.send(task, part(reports, 12, 20))
    service.service.aggregator.turn()
    for each in (service, other):
        view = view_of(each, task)
        assert view.sieve.size == LARGE and view.certain and held(each, task, reports) == 20
        assert each.send(task, part(reports, 0, 20)).json()["duplicates"] == 20


def held(service, task, reports):
    """Return how many of the reports the sieve of a task takes for known."""
    return len(view_of(service, task).sieve.may_hold(keyed(keys_of([t.tobytes() for t in reports.tokens]))))


@pytest.mark.parametrize("most", [0, 100])
def test_a_server_that_missed_some_ids_reads_them(url, small, inside, local_task, holders, part, monkeypatch, most):
    """They came to another server, which has sealed them already: at once if they are few, else by another thread."""
    monkeypatch.setattr(known, "_MISSED", most)
    service, other, task = inside(url), inside(url), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 30)
    service.send(task, part(reports, 0, 5))
    assert view_of(service, task).certain
    other.send(task, part(reports, 5, 10))
    other.service.aggregator.turn()
    assert runs(other) == {0: 10}
    other.send(task, part(reports, 10, 12))
    assert service.send(task, part(reports, 0, 13)).json() == {"accepted": 1, "duplicates": 12, "failures": []}
    assert view_of(service, task).certain == (most > 0)
    service.service.aggregator.turn()  # reads those that are lacking
    assert view_of(service, task).certain and held(service, task, reports) == 13
    assert service.send(task, part(reports, 0, 14)).json() == {"accepted": 1, "duplicates": 13, "failures": []}


def test_what_was_merged_unseen_is_read_by_another_thread(url, small, inside, local_task, holders, part):
    """Also where only a part of it was: of four batches two are seen, and two are lacking in the merged run."""
    service, other, task = inside(url), inside(url), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 50)
    for start in (0, 10):
        service.send(task, part(reports, start, start + 10))
        service.service.aggregator.turn()
    assert view_of(service, task).covered == 20
    for start in (20, 30):
        other.send(task, part(reports, start, start + 10))
        other.service.aggregator.turn()
    assert list(runs(other)) == [LEVEL + 30]
    assert service.send(task, part(reports, 0, 41)).json() == {"accepted": 1, "duplicates": 40, "failures": []}
    assert not view_of(service, task).certain
    service.service.aggregator.turn()
    assert view_of(service, task).certain and held(service, task, reports) == 41
    assert service.send(task, part(reports, 0, 42)).json() == {"accepted": 1, "duplicates": 41, "failures": []}


@pytest.mark.parametrize("batches", [1, 4])
def test_a_sieve_follows_what_left_while_it_was_made(small, inside, local_task, holders, part, monkeypatch, batches):
    """Under load some always do. Where four batches were merged, what is lacking is read once more, and added."""
    monkeypatch.setattr(known, "_MISSED", 0)
    service, other, task = inside(), inside(), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 70)
    service.send(task, part(reports, 0, 20))
    service.service.aggregator.turn()
    found = service.service.database.known
    assert not found._offered  # what it brought itself it knows
    found._views.clear()  # as after a start
    assert not view_of(service, task).certain and found.offer()
    for start in range(20, 20 + 10 * batches, 10):
        other.send(task, part(reports, start, start + 10))
        other.service.aggregator.turn()
    monkeypatch.setattr(known, "_MISSED", 100)
    sent = 20 + 10 * batches
    taken = service.send(task, part(reports, 0, sent + 1)).json()
    assert taken == {"accepted": 1, "duplicates": sent, "failures": []}
    view = view_of(service, task)
    assert view.covered == (20 if batches == 4 else 30)
    if batches == 4:
        assert not view.certain and found.offer()
    assert view_of(service, task).certain and held(service, task, reports) == sent + 1


def test_an_offer_that_does_not_fit_is_not_used(small, inside, local_task, holders, part, monkeypatch):
    """It was made for a view that is gone: the one in its place knows less, and would take old ids for new ones."""
    monkeypatch.setattr(known, "_MISSED", 0)
    service, other, task = inside(), inside(), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 50)
    service.send(task, part(reports, 0, 10))
    service.service.aggregator.turn()
    assert view_of(service, task).covered == 10
    other.send(task, part(reports, 10, 20))
    other.service.aggregator.turn()
    found = service.service.database.known
    view_of(service, task)
    found._offered.clear()
    assert found.offer() and found._offered[1].since == 10
    found._views.clear()
    assert service.send(task, part(reports, 0, 21)).json() == {"accepted": 1, "duplicates": 20, "failures": []}
    assert view_of(service, task).covered == 0 and found.offer()
    assert view_of(service, task).certain and held(service, task, reports) == 21


def test_a_server_without_work_follows_the_others(small, inside, local_task, holders, part, monkeypatch):
    """So that its first report does not have to be looked up among all that came meanwhile."""
    monkeypatch.setattr(aggregator, "_PAUSES", 0)
    monkeypatch.setattr(known, "_MISSED", 20)
    service, other, task = inside(), inside(), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 70)
    service.send(task, part(reports, 0, 1))
    for start in range(1, 41, 10):
        other.send(task, part(reports, start, start + 10))
        other.service.aggregator.turn()
        service.service.aggregator.turn()
    asked = []
    monkeypatch.setattr(database.Database, "sealed", lambda self, connection, task, keys: asked.extend(keys) or {})
    assert service.send(task, part(reports, 41, 51)).json()["accepted"] == 10
    assert asked == []


def test_what_others_took_is_read_before_anything_is_added_up(small, inside, local_task, holders, part, monkeypatch):
    """Adding up takes a while, in which all that comes would be looked up."""
    monkeypatch.setattr(known, "_MISSED", 0)
    service, other, task = inside(), inside(), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 30)
    service.send(task, part(reports, 0, 1))
    other.send(task, part(reports, 1, 20))
    other.service.aggregator.turn()
    assert service.send(task, part(reports, 20, 21)).json()["accepted"] == 1
    assert not view_of(service, task).certain
    seen = []
    work = service.service.aggregator
    monkeypatch.setattr(work, "_task", lambda number: seen.append(view_of(service, task).certain) or 0)
    work.turn()
    assert seen == [True]


def test_a_server_that_starts_has_read_all_ids(url, small, inside, local_task, holders, part, monkeypatch):
    service, task = inside(url), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 60)
    for start in range(0, 50, 10):
        service.send(task, part(reports, start, start + 10))
        service.service.aggregator.turn()
    late = inside(url)
    late.service.database.known.prepare()
    asked = []
    before = database.Database.sealed
    monkeypatch.setattr(
        database.Database, "sealed", lambda self, *args: asked.append(len(args[2])) or before(self, *args)
    )
    assert late.send(task, part(reports, 50, 60)).json()["accepted"] == 10
    assert asked == []
    assert late.send(task, part(reports, 0, 60)).json()["duplicates"] == 60
    assert asked == [60]


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


def test_what_comes_while_others_have_their_turn_shares_the_commit(inside, local_task, holders, part, monkeypatch):
    """And what follows it, a change of another kind, is done after it, in order."""
    service, task = inside(), local_task()
    service.publish(task)
    collection, reports = service.service.collection(task.id), holders(task, 3)
    writer = Writer(service.service.database)
    first, second = (
        collection.kind.upload(1, collection.kind.read(part(reports, i, i + 1).to_bytes()), None, None) for i in (0, 1)
    )
    done = []

    class Loop:
        def is_closed(self):
            return False

        def call_soon_threadsafe(self, settle, answers):
            done.append([outcome.accepted for _, outcome, _ in answers])

    loop = Loop()
    open_turn = writer.database.write_uploads

    @contextlib.contextmanager
    def turn(numbers):
        with open_turn(numbers) as connection:
            writer._queue.put((second, None, loop))
            writer._queue.put((lambda: done.append("change"), Future()))
            yield connection

    with monkeypatch.context() as patch:
        patch.setattr(writer.database, "write_uploads", turn)
        following = writer._commit([(first, None, loop)])
    assert done == [[1, 1]] and writer.commits == 1
    writer._do(*following)
    assert done == [[1, 1], "change"]
