"""A thief with the disk, or with psql, after reports were added up: nothing tells what came with what, or when.

Two histories are played, each in a database of its own. The same reports, the same tokens; but the reports come in
another order and each with another token, one at a time and aggregated at once, which is the worst for them. If the
thief sees the same in both, nothing that he sees depends on the order or on who held which token.
"""

import itertools
import secrets
import shutil

import numpy as np
import pytest

from hedgerow.service import aggregator
from hedgerow.service.curators import digest_of
from hedgerow.service.digests import keys_of
from hedgerow.service.schema import exchanges
from hedgerow.tasks.partly_public import SemiTask
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate
from tests.service.test_passes import Guest

N = 8
# The order of arrival, and by how much tokens are shifted against reports.
HISTORIES = ((range(N), 0), (range(N - 1, -1, -1), 3))
TOKENS = [f"{i:043d}" for i in range(N)]
KINDS = ("summed", "kept")


def collection(kind, local_task, holders):
    """A task, the bodies that its holders send, and what must be gone after aggregation."""
    if kind == "summed":
        task = local_task(max_depth=7)
        reports = holders(task, N)
        bodies = [Reports(task, reports.tokens[i : i + 1], reports.payloads[i : i + 1]).to_bytes() for i in range(N)]
        return task, bodies, [row.tobytes() for row in reports.payloads]
    # The first of two rounds: its reports are the result, and stay with their ids.
    task = SemiTask.design(
        ["age", "income"], epsilon=4.0, label_bounds=(0, 1), feature_bounds=(0, 1), private_columns=["income"]
    )
    X = np.random.default_rng(0).random((N, 2))
    reports = task.privatize(X, X[:, 0])
    return task, [Reports.collect(task, [report]).to_bytes() for report in reports], []


def play(inside, url, task, bodies, order, shift, monkeypatch):
    """Collect one report after the other, each aggregated (and scrubbed) before the next comes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    monkeypatch.setattr(aggregator, "_REST", 0, raising=False)
    service = inside(url)
    service.service._key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    service.publish(task, tokens=True)
    drawn = itertools.chain(TOKENS)
    with monkeypatch.context() as patch:
        patch.setattr(secrets, "token_urlsafe", lambda n: next(drawn))
        tokens = service.post(task, "tokens", {"count": N}).json()["tokens"]
    for i in order:
        mine = {"Authorization": f"Bearer {tokens[(i + shift) % N]}"}
        assert service.send(task, bodies[i], **mine).json()["accepted"] == 1
        service.service.aggregator.turn()
    return service


# SQLite: every byte of every file.


def disk(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def without_counters(data):
    """Return a SQLite file without what counts changes in its header (sqlite.org/fileformat.html, 1.3)."""
    masked = bytearray(data)
    for start, stop in ((24, 28), (40, 44), (92, 100)):
        masked[start:stop] = bytes(stop - start)
    return bytes(masked)


@pytest.mark.parametrize("kind", KINDS)
def test_sqlite_two_histories_leave_the_same_file(kind, inside, local_task, holders, tmp_path, monkeypatch):
    task, bodies, gone = collection(kind, local_task, holders)
    files = []
    for i, (order, shift) in enumerate(HISTORIES):
        folder = tmp_path / str(i)
        folder.mkdir()
        play(inside, f"sqlite:///{folder}/hedgerow.db", task, bodies, order, shift, monkeypatch)
        found = disk(folder)
        assert found.pop("hedgerow.db-wal", b"") == b""
        assert not [name for name, data in found.items() if any(payload in data for payload in gone)]
        files.append(found)
    one, two = (without_counters(found["hedgerow.db"]) for found in files)
    assert one == two


def test_sqlite_forgets_after_a_crash_at_any_moment(inside, local_task, holders, tmp_path, monkeypatch):
    """The disk as it is after each step, given to a new service: one turn later the payloads are gone."""
    task, bodies, gone = collection("summed", local_task, holders)
    service = inside()
    service.publish(task)
    copies = []

    def copy(name):
        folder = tmp_path / name
        folder.mkdir()
        for path in tmp_path.glob("hedgerow.db*"):
            shutil.copy(path, folder)
        copies.append(folder)

    for body in bodies:
        service.send(task, body)
    copy("taken")
    with monkeypatch.context() as patch:
        patch.setattr(aggregator, "settle", lambda database: copy("scrubbed"), raising=False)
        patch.setattr(aggregator, "scrub", _copying(aggregator, copy), raising=False)
        service.service.aggregator.turn()
    assert len(copies) == 3
    expected = service.get(task, "model").text
    for folder in copies:
        assert any(payload in data for payload in gone for data in disk(folder).values())
        again = inside(f"sqlite:///{folder}/hedgerow.db")
        again.service.aggregator.turn()
        assert not any(payload in data for payload in gone for data in disk(folder).values())
        assert again.get(task, "model").text == expected
        assert again.send(task, bodies[3]).json() == {"accepted": 0, "duplicates": 1, "failures": []}


def _copying(module, copy):
    real = module.scrub

    def scrub(*given):
        copy("aggregated")
        return real(*given)

    return scrub


# PostgreSQL: rows with what the server knows of them, pages as they are, files.


YOUNG = ("arrivals", "known", "partials", "segments", "uploads", "refusals")


def pages(cursor, relation):
    numbers = f"generate_series(0, pg_relation_size('{relation}') / 8192 - 1)"
    return [page for (page,) in cursor.execute(f"SELECT get_raw_page('{relation}', i) FROM {numbers} i").fetchall()]


def rows_and_stamps(cursor, table):
    """Return all rows with their place and the numbers of their commands, and the transactions that wrote them."""
    query = f"SELECT xmin::text, ctid::text, cmin::text, xmax::text, t.*::text FROM {table} t"
    found = cursor.execute(query).fetchall()
    return [row[1:] for row in found], {row[0] for row in found}


def line_pointers(cursor, table):
    """Return where each row, dead or alive, lies in its page, and its bytes."""
    found = []
    for page in pages(cursor, table):
        query = "SELECT lp, lp_off, lp_flags, lp_len, t_ctid::text, t_data FROM heap_page_items(%s) ORDER BY lp"
        found.append(cursor.execute(query, [page]).fetchall())
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_postgres_two_histories_look_the_same(kind, postgres, inside, local_task, holders, monkeypatch):
    import psycopg

    task, bodies, gone = collection(kind, local_task, holders)
    views = []
    for url, (order, shift) in zip((postgres, another(postgres)), HISTORIES, strict=True):
        play(inside, url, task, bodies, order, shift, monkeypatch)
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            cursor = connection.cursor()
            cursor.execute("CREATE EXTENSION pageinspect")
            stamps, view = set(), {}
            for (table,) in cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall():
                view[table], written = rows_and_stamps(cursor, table)
                view[table, "pages"] = line_pointers(cursor, table)
                if table in YOUNG:
                    stamps |= written
            assert len(stamps) == 1, f"the young tables were written by {len(stamps)} transactions"
            views.append(view)
            # All relations of the database: indexes, TOAST, and the catalogues with their samples of values.
            cursor.execute("ANALYZE")
            kinds = "relkind IN ('r', 't', 'i') AND relpersistence = 'p'"
            names = cursor.execute(f"SELECT oid::regclass::text FROM pg_class WHERE {kinds}").fetchall()
            stored = b"".join(page for (name,) in names for page in pages(cursor, name))
            assert not [payload for payload in gone if payload in stored]
    assert views[0] == views[1]


def test_postgres_keeps_no_payload_in_its_files(postgres, inside, local_task, holders, monkeypatch):
    """With the settings that the guide asks for (``wal_recycle=off``) and after a checkpoint."""
    from pathlib import Path

    import psycopg

    task, bodies, gone = collection("summed", local_task, holders)
    play(inside, postgres, task, bodies, *HISTORIES[0], monkeypatch)
    with psycopg.connect(postgres.replace("+psycopg", ""), autocommit=True) as connection:
        (folder,) = connection.execute("SHOW data_directory").fetchone()
        connection.execute("SELECT pg_switch_wal()")
        connection.execute("CHECKPOINT")
    found = [p for p in Path(folder).rglob("*") if p.is_file() and _holds(p, gone)]
    assert found == []


def _holds(path, secrets_):
    try:
        data = path.read_bytes()
    except FileNotFoundError:  # the server is at work
        return False
    return any(secret in data for secret in secrets_)


def another(address):
    """Make a second database beside the first."""
    import psycopg

    base, name = address.rsplit("/", 1)
    with psycopg.connect(base.replace("+psycopg", "") + "/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}b")
    return f"{base}/{name}b"


# Both.


@pytest.fixture(params=["sqlite", "postgres"])
def service(request, inside, monkeypatch):
    monkeypatch.setattr(aggregator, "_REST", 0, raising=False)
    return inside(None if request.param == "sqlite" else request.getfixturevalue("postgres"))


def test_what_is_sealed_is_still_known(service, local_task, holders, part, ids_in, monkeypatch):
    """Many ids of one task are moved: once is still once, and a spent token stays spent."""
    from hedgerow.service import scrub

    monkeypatch.setattr(scrub, "SEALED", 8)
    task = local_task(max_depth=7)  # no two reports are alike
    service.publish(task, tokens=True)
    (token,) = service.post(task, "tokens", {"quota": 20}).json()["tokens"]
    mine, reports = {"Authorization": f"Bearer {token}"}, holders(task, 30)
    for start, stop in ((0, 5), (5, 9), (9, 12), (12, 20)):
        assert service.send(task, part(reports, start, stop), **mine).json()["accepted"] == stop - start
        service.service.aggregator.turn()
    with service.service.database.read() as connection:
        assert connection.exec_driver_sql("SELECT sum(length(ids)) FROM report_ids").scalar() == 20 * 24
        assert connection.exec_driver_sql("SELECT remaining FROM upload_tokens").scalar() == 0
    assert ids_in(service.service.database) == 20
    assert service.send(task, part(reports, 0, 20), **mine).json()["duplicates"] == 20
    assert service.send(task, part(reports, 20), **mine).json()["code"] == "token-spent"
    other = Reports(task, reports.tokens[:2], reports.payloads[2:4])
    assert [f["code"] for f in service.send(task, other, **mine).json()["failures"]] == ["id-conflict"] * 2
    expected = Aggregate(task).add(part(reports, 0, 20)).to_bytes()
    assert service.service.total(service.service.collection(task.id)).to_bytes() == expected


def test_a_payload_of_a_group_does_not_stand_where_its_id_does(service, local_task, holders):
    """While they wait, ids and payloads of one commit are each in an order of their own."""
    task = local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 50)
    service.send(task, reports)
    with service.service.database.read() as connection:
        body = bytes(connection.exec_driver_sql("SELECT body FROM uploads").scalar())
        ids = bytes(connection.exec_driver_sql("SELECT ids FROM arrivals").scalar())
    assert [body[i : i + reports.payloads.shape[1]] for i in range(0, len(body), reports.payloads.shape[1])] == sorted(
        row.tobytes() for row in reports.payloads
    )
    assert [ids[i : i + 16] for i in range(0, len(ids), 24)] == sorted(keys_of([t.tobytes() for t in reports.tokens]))


def test_a_backup_tells_no_more_than_the_scrubbed(service, local_task, holders, part, tmp_path):
    """Three reports, each with a token of its own, are still waiting; the backup has ids and tokens sorted."""
    from hedgerow.service.backup import backup, restore
    from hedgerow.service.database import Database

    task = local_task()
    service.publish(task, tokens=True)
    reports, tokens = holders(task, 3), service.post(task, "tokens", {"count": 3}).json()["tokens"]
    for i, token in enumerate(tokens):
        assert service.send(task, part(reports, i, i + 1), Authorization=f"Bearer {token}").json()["accepted"] == 1
    backup(service.service.database, str(tmp_path / "copy"))
    with Database(f"sqlite:///{tmp_path}/new.db", "create") as new:
        assert restore(new, str(tmp_path / "copy"))["arrivals"] == 0
        with new.read() as connection:
            ids, spent = connection.exec_driver_sql("SELECT ids, tokens FROM known").one()
    assert [ids[i : i + 16] for i in range(0, 72, 24)] == sorted(keys_of([t.tobytes() for t in reports.tokens]))
    assert [spent[i : i + 32] for i in range(0, 120, 40)] == sorted(map(digest_of, tokens))


@pytest.mark.parametrize("step", ["scrub", "settle"])
def test_a_crash_while_scrubbing_loses_and_doubles_nothing(service, local_task, holders, step, monkeypatch):
    task = local_task()
    service.publish(task)
    reports = holders(task, 200)
    service.send(task, reports)
    real = getattr(aggregator, step)

    def crash(*arguments):
        real(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(aggregator, step, crash)
        with pytest.raises(KeyboardInterrupt):
            service.service.aggregator.turn()
    expected = Aggregate(task).add(reports).to_bytes()
    for _ in range(2):
        assert service.service.total(service.service.collection(task.id)).to_bytes() == expected
        assert service.send(task, reports).json() == {"accepted": 0, "duplicates": 200, "failures": []}
        service.service.aggregator.turn()


def test_a_reader_is_waited_for_and_sees_one_moment(service, local_task, holders):
    """TRUNCATE, and the cutting of the log, would pull the floor from under a reader (a backup, say)."""
    from hedgerow.service.database import StoragePressure

    task = local_task()
    service.publish(task)
    service.send(task, holders(task, 5))
    database = service.service.database
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM tasks").scalar() == 1  # the moment is chosen here
        with pytest.raises(StoragePressure):
            service.service.aggregator.turn()
        assert connection.exec_driver_sql("SELECT count(*) FROM uploads").scalar() == 1
    assert service.status(task)["aggregated"] == 5
    service.service.aggregator.turn()
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM arrivals").scalar() == 0


def test_a_task_that_is_over_leaves_nothing_behind(service, local_task, holders, part, tmp_path, monkeypatch):
    from hedgerow.service import scrub

    monkeypatch.setattr(scrub, "SEALED", 8)
    task = local_task()
    service.publish(task)
    reports = holders(task, 20)
    for start in (0, 10):
        service.send(task, part(reports, start, start + 10))
        service.service.aggregator.turn()
    service.post(task, "close")
    service.clock.now += service.service.settings.remember_seconds
    service.service.aggregator.turn()
    ids = keys_of([t.tobytes() for t in reports.tokens])
    stored = all_stored(service.service.database, tmp_path, [*YOUNG, "report_ids", "report_ids_pkey", "upload_tokens"])
    assert not [key for key in ids if key in stored]
    assert service.status(task)["aggregated"] == 20


def all_stored(database, folder, names):
    """Return the bytes of SQLite's files, or of PostgreSQL's pages of tables."""
    if database.sqlite:
        return b"".join(disk(folder).values())
    import psycopg

    with psycopg.connect(str(database.url).replace("+psycopg", ""), autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE EXTENSION IF NOT EXISTS pageinspect")
        return b"".join(page for name in names for page in pages(cursor, name))


@pytest.mark.parametrize("how", ["forgotten", "deleted"])
def test_nothing_tells_which_invitations_were_exchanged(service, local_task, tmp_path, how):
    task, database = local_task(), service.service.database
    service.publish(task, passes=True, groups=3, max_reports=144)
    tokens = service.post(task, "tokens", {"count": 3}).json()["tokens"]
    for token in tokens[:2]:
        assert Guest(service, task, token).exchange().status_code == 200
    with database.read() as connection:
        (secret,) = connection.exec_driver_sql("SELECT key FROM pass_keys").scalars()
        (dealing,) = connection.exec_driver_sql("SELECT group_key FROM tasks").scalars()
    names = ["exchanges", "exchanges_pkey", "upload_tokens", "upload_tokens_pkey", "pass_keys", "tasks", "pg_statistic"]
    if not database.sqlite:
        with database.write() as connection:
            connection.exec_driver_sql("ANALYZE")  # copies samples, of what it may, into the catalogue
    gone = [digest_of(token) for token in tokens]
    if how == "deleted":
        gone += [bytes(secret[-32:]), bytes(dealing)]
    stored = all_stored(database, tmp_path, names)
    assert all(each in stored for each in gone)
    service.post(task, "close")
    if how == "deleted":
        curator = {"Authorization": "Bearer curator-token-of-these-tests"}
        assert service.client.delete(f"/v1/tasks/{task.id}", headers=curator).status_code == 200
    else:
        service.clock.now += service.service.settings.remember_seconds
        service.service.aggregator.turn()
    stored = all_stored(database, tmp_path, names)
    assert [each in stored for each in gone] == [False] * len(gone)


def test_nothing_tells_which_invitation_was_exchanged_first(inside, local_task, tmp_path):
    """On SQLite: in a page rows lie in the order in which they were written."""
    seen = []
    task = local_task()
    service = inside()
    service.publish(task, passes=True)
    tokens = service.post(task, "tokens", {"count": 30}).json()["tokens"]
    rows = [(1, digest_of(token), bytes(32)) for token in tokens]
    database = service.service.database
    for order in (rows, sorted(rows), rows[::-1]):
        with database.write() as connection:
            connection.execute(exchanges.delete())
        for row in order:
            with database.write() as connection:
                connection.execute(exchanges.insert().values(row))
        database.exchanged = True
        service.service.aggregator.scrub()
        data = (tmp_path / "hedgerow.db").read_bytes()
        seen.append(sorted(range(len(rows)), key=lambda i: data.index(rows[i][1] + bytes(32))))
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("small", [0, 1 << 20])
def test_postgres_does_not_tell_which_invitation_was_exchanged_first(postgres, inside, local_task, monkeypatch, small):
    import psycopg

    from hedgerow.service import scrub

    monkeypatch.setattr(scrub, "_SMALL", small)
    monkeypatch.setattr(aggregator, "_REST", 0)
    service, task = inside(postgres), local_task()
    service.service.aggregator.scrub()
    service.publish(task, passes=True)
    tokens = service.post(task, "tokens", {"count": 4}).json()["tokens"]
    for token in sorted(tokens, key=digest_of, reverse=True):
        assert Guest(service, task, token).exchange().status_code == 200
    service.service.aggregator.turn()  # though no report has come
    with psycopg.connect(postgres.replace("+psycopg", ""), autocommit=True) as connection:
        query = "SELECT xmin::text, invitation FROM exchanges ORDER BY ctid"
        stamps, digests = zip(*connection.execute(query).fetchall(), strict=True)
        assert len(set(stamps)) == 1 and list(digests) == sorted(map(digest_of, tokens))
        service.service.aggregator.scrub()
        again = connection.execute(query).fetchall()
        assert ({stamp for stamp, _ in again} == set(stamps)) == (small == 0)
