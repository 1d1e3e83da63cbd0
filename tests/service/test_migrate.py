"""Databases of other versions: brought up to date in one piece, or left alone."""

import sqlite3

import pytest

pytest.importorskip("starlette")
sa = pytest.importorskip("sqlalchemy")
pytest.importorskip("alembic")

from hedgerow.errors import FormatError  # noqa: E402
from hedgerow.service import migrate, schema  # noqa: E402
from hedgerow.service.curators import digest_of, list_curators  # noqa: E402
from hedgerow.service.database import Database, StorageError  # noqa: E402
from hedgerow.service.digests import keys_of  # noqa: E402
from hedgerow.service.ids import keyed  # noqa: E402
from hedgerow.service.timeline import mark, marks_of, target_of  # noqa: E402

TOKEN = "hc_a-token-of-before"


def steps_until(connection, last):
    """Make the tables of an earlier version."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext

    scripts = migrate._scripts()
    with EnvironmentContext(Config(), scripts) as environment:
        environment.configure(connection=connection, fn=lambda revision, _: scripts._upgrade_revs(last, revision))
        environment.run_migrations()


def at_version_1(engine):
    """Make a database as the first version made it: its own table of the version, tokens among the settings."""
    with engine.begin() as connection:
        steps_until(connection, "0001")
        connection.exec_driver_sql("DROP TABLE alembic_version")
        connection.exec_driver_sql("CREATE TABLE schema_version (version INTEGER NOT NULL)")
        connection.exec_driver_sql("INSERT INTO schema_version VALUES (1)")
        connection.exec_driver_sql(f"INSERT INTO settings VALUES ('curator:{digest_of(TOKEN).hex()}', '1')")
        connection.exec_driver_sql(
            "INSERT INTO tasks (id, announcement, simulation, created, finished) VALUES ('a', '{}', false, 1, false)"
        )


@pytest.fixture(params=["sqlite", "postgres"])
def old(request, tmp_path):
    url = f"sqlite:///{tmp_path}/x.db" if request.param == "sqlite" else request.getfixturevalue("postgres")
    engine = sa.create_engine(url)
    at_version_1(engine)
    engine.dispose()
    return url


def test_the_previous_version_is_brought_up_to_date(old):
    with Database(old) as database, database.read() as connection:
        assert database.version_before == 1
        assert connection.exec_driver_sql("SELECT id, deleted FROM tasks").all() == [("a", None)]
        (curator,) = list_curators(connection)
        assert curator.scopes == {"publish", "read", "close", "admin"}
        assert connection.exec_driver_sql("SELECT count(*) FROM settings").scalar() == 0
        assert "schema_version" not in sa.inspect(connection).get_table_names()
    with Database(old) as database:
        assert database.version_before == migrate.VERSION


def test_collections_of_before_there_were_timelines_go_on(tmp_path):
    url = f"sqlite:///{tmp_path}/x.db"
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        steps_until(connection, "0004")
        connection.exec_driver_sql("INSERT INTO partials VALUES (1, 3, 70, x'00', x'', 3)")
    engine.dispose()
    with Database(url) as database:
        assert database.version_before == 4
        with database.write_uploads() as connection:
            assert (marks_of(connection, 1), target_of(connection, 1)) == ((), None)
            mark(connection, 3600)
            assert marks_of(connection, 1) == ((3600, 70),)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_ids_that_had_a_row_each_are_known_in_runs(request, tmp_path, kind):
    url = f"sqlite:///{tmp_path}/x.db" if kind == "sqlite" else request.getfixturevalue("postgres")
    engine = sa.create_engine(url)
    keys = keys_of([bytes([i, 0]) for i in range(200)])
    marks = [key[:8] for key in keys]
    with engine.begin() as connection:
        steps_until(connection, "0008")
        row = sa.table("report_ids", sa.column("task"), sa.column("key"), sa.column("mark"))
        pairs = [*zip([7] * 170, keys, marks, strict=False), *zip([8] * 30, keys[170:], marks[170:], strict=True)]
        connection.execute(row.insert(), [dict(zip(("task", "key", "mark"), pair, strict=True)) for pair in pairs])
        for task, n in ((7, 170), (8, 30)):
            values = {"task": task, "version": 1, "sealed": n, "ids": b"", "tokens": b""}
            connection.execute(schema.known.insert().values(**values))
    engine.dispose()
    with Database(url) as database:
        assert database.version_before == 8
        with database.write_uploads() as connection:
            _, views = database.known.refresh(connection, [7, 8])
            assert views[7].marks(connection, keyed(keys)) == dict(zip(keys[:170], marks, strict=False))
            assert views[8].marks(connection, keyed(keys)) == dict(zip(keys[170:], marks[170:], strict=True))
            assert views[7].certain
            assert connection.exec_driver_sql("SELECT count(*) FROM report_ids").scalar() == 3 + 1
            assert "ids_by_row" not in sa.inspect(connection).get_table_names()


def test_samples_that_postgres_took_of_invitations_are_forgotten(postgres):
    engine = sa.create_engine(postgres)
    samples = "SELECT count(*) FROM pg_stats WHERE tablename = 'exchanges' AND attname <> 'task'"
    with engine.begin() as connection:
        steps_until(connection, "0009")
        rows = [{"task": 1, "invitation": bytes([i]) * 32, "blinded": bytes([i]) * 32} for i in range(50)]
        connection.execute(schema.exchanges.insert(), rows)
        connection.exec_driver_sql("ANALYZE")
        assert connection.exec_driver_sql(samples).scalar() == 2
    engine.dispose()
    with Database(postgres) as database, database.write() as connection:
        assert connection.exec_driver_sql(samples).scalar() == 0
        connection.exec_driver_sql("ANALYZE")
        assert connection.exec_driver_sql(samples).scalar() == 0
        assert connection.exec_driver_sql("SELECT count(*) FROM exchanges").scalar() == 50


def test_databases_whose_first_step_made_runs_go_on(tmp_path):
    url = f"sqlite:///{tmp_path}/x.db"
    with Database(url, "create") as database, database.write() as connection:
        connection.execute(schema.report_ids.insert().values(task=1, run=0, first=bytes(16), ids=bytes(24)))
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0008'")
    with Database(url) as database, database.read() as connection:
        assert database.version_before == 8
        assert connection.execute(sa.select(schema.report_ids)).all() == [(1, 0, bytes(16), bytes(24))]


def test_whoever_only_reads_changes_nothing(old):
    with pytest.raises(FormatError, match="brings it up to date"):
        Database(old, "read")
    engine = sa.create_engine(old)
    with engine.connect() as connection:
        assert "schema_version" in sa.inspect(connection).get_table_names()
    engine.dispose()


def test_a_step_that_fails_leaves_the_version_before(old, monkeypatch):
    from alembic import op

    made = op.create_table

    def failing(name, *columns, **options):
        if name == "audit":
            op.execute("SELECT no_such_column FROM tasks")
        return made(name, *columns, **options)

    monkeypatch.setattr(op, "create_table", failing)
    with pytest.raises(StorageError):
        Database(old)
    monkeypatch.undo()
    engine = sa.create_engine(old)
    with engine.connect() as connection:
        names = sa.inspect(connection).get_table_names()
        assert "schema_version" in names
        assert "curators" not in names
    engine.dispose()
    with Database(old) as database:
        assert database.version_before == 1


@pytest.mark.parametrize("mode", ["create", "change", "read"])
def test_only_a_server_brings_a_database_up_to_date(old, mode):
    """Servers of the version before may be running."""
    with pytest.raises(migrate.OlderSchema, match="start 'hedgerow serve' once"):
        Database(old, mode)
    with Database(old) as database:
        assert database.version_before == 1


def test_no_command_brings_a_database_up_to_date(old, tmp_path, capsys):
    from hedgerow.cli import main
    from hedgerow.service.backup import backup

    (tmp_path / "card.json").write_text("{}")
    with Database(f"sqlite:///{tmp_path}/another.db", "create") as another:
        backup(another, str(tmp_path / "copy"))
    for words in (
        ("init",),
        ("curators", "--add", "anna"),
        ("curators", "--revoke", "anna"),
        ("operator", "--name", "Town", "--origin", "https://town.example"),
        ("peers", "--add", str(tmp_path / "card.json")),
        ("restore", str(tmp_path / "copy")),
    ):
        assert main(["serve", *words, "--database", old]) == 2
        assert "has schema version 1" in capsys.readouterr().err
    assert main(["serve", "init", "--if-missing", "--database", old]) == 0
    assert "nothing was changed" in capsys.readouterr().out
    said = ("--name", "Town", "--origin", "https://town.example")
    assert main(["serve", "operator", "--if-missing", *said, "--database", old]) == 0
    assert "nothing was changed" in capsys.readouterr().out
    with Database(old) as database:
        assert database.version_before == 1


@pytest.fixture(params=["sqlite", "postgres"])
def new(request, tmp_path):
    return f"sqlite:///{tmp_path}/x.db" if request.param == "sqlite" else request.getfixturevalue("postgres")


def as_of(url, step):
    """Do as a later version would that brings the database up to date."""
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{step}'")
    engine.dispose()


def test_a_server_notices_that_its_database_was_brought_to_another_version(new, inside, local_task, holders, part):
    server = inside(new)
    task = local_task()
    server.publish(task)
    reports = holders(task, 3)
    assert server.send(task, part(reports, 0, 1)).json()["accepted"] == 1
    as_of(new, "0099")
    for answer in (server.send(task, part(reports, 1, 2)), server.post(task, "close"), server.client.get("/healthz")):
        assert (answer.status_code, answer.json()["code"]) == (503, "storage-changed")
    with pytest.raises(StorageError, match="0099 under the running service"):
        server.service.aggregator.turn()
    as_of(new, f"{migrate.VERSION:04d}")
    assert server.send(task, reports).json() == {"accepted": 2, "duplicates": 1, "failures": []}


def test_no_step_is_made_while_somebody_writes(postgres):
    engine = sa.create_engine(postgres)
    with Database(postgres, "create") as database, database.write(), engine.begin() as other:
        as_of(postgres, f"{migrate.VERSION - 1:04d}")
        other.exec_driver_sql("SET LOCAL lock_timeout = 100")
        with pytest.raises(sa.exc.OperationalError, match="lock timeout"):
            migrate.upgrade(other)
        other.rollback()
    engine.dispose()


@pytest.mark.parametrize("mode", ["use", "create", "change", "read"])
def test_a_newer_database_is_left_alone(tmp_path, mode):
    url = f"sqlite:///{tmp_path}/x.db"
    with Database(url, "create") as database, database.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0099'")
    with pytest.raises(FormatError, match="upgrade hedgerow"):
        Database(url, mode)


@pytest.mark.parametrize("mode", ["use", "change", "read"])
def test_nothing_but_init_makes_a_database(tmp_path, mode):
    with pytest.raises(StorageError, match="hedgerow serve init"):
        Database(f"sqlite:///{tmp_path}/x.db", mode)
    assert not list(tmp_path.iterdir())
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE mine (a)").connection.close()
    with pytest.raises(StorageError, match="nothing of hedgerow"):
        Database(f"sqlite:///{tmp_path}/other.db", mode)


def test_an_empty_database_of_postgres_is_not_taken_for_ours(postgres):
    with pytest.raises(StorageError, match="hedgerow serve init"):
        Database(postgres)
    Database(postgres, "create").close()
    Database(postgres).close()


def test_the_steps_make_the_tables_that_the_program_uses(tmp_path):
    def tables(engine):
        with engine.connect() as connection:
            rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
            return {name: " ".join(text.replace('"', "").split()) for name, text in rows}

    Database(f"sqlite:///{tmp_path}/x.db", "create").close()
    plain = sa.create_engine("sqlite://")
    schema.metadata.create_all(plain)
    made = tables(sa.create_engine(f"sqlite:///{tmp_path}/x.db"))
    wanted = tables(plain)
    assert {name: made[name] for name in wanted} == wanted
    assert set(made) - set(wanted) == {"alembic_version", "audit_no_delete", "audit_no_update"}


def test_postgres_does_not_try_to_compress_what_is_random(postgres):
    """Payloads and ids are random bytes. Trying took most of the time of a scrubbing, for which uploads wait."""
    query = (
        "SELECT attrelid::regclass || '.' || attname, attstorage FROM pg_attribute a JOIN pg_class c "
        "ON c.oid = a.attrelid WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace "
        "AND attname IN ('body', 'ids') AND NOT attisdropped"
    )
    with Database(postgres, "create") as database, database.write() as connection:
        found = dict(connection.exec_driver_sql(query).all())
    assert set(found.values()) == {"e"}, found
    names = (
        "answers.body arrivals.ids jobs.body known.ids report_ids.ids sealed_segments.body segments.body uploads.body"
    )
    assert sorted(found) == names.split()
