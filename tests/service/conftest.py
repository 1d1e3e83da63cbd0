"""A service in this process or in its own, on SQLite or a real PostgreSQL."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")
httpx = pytest.importorskip("httpx")

from hedgerow.tasks.holder import privatize_many  # noqa: E402
from hedgerow.tasks.reports import Reports  # noqa: E402
from hedgerow.tasks.tree.task import LocalTask  # noqa: E402
from hedgerow.tasks.tree.tuning import PAPER  # noqa: E402

MEDIA = "application/vnd.hedgerow.reports+bin; version=1"
TOKEN = "curator-token-of-these-tests"
WORDS = {"purpose": "To test", "curator": "Town"}
CURATOR = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(autouse=True)
def _tables(request, monkeypatch):
    """Run the steps of Alembic once for each kind of database; where they are tested, each time."""
    if request.path.name != "test_migrate.py":
        from hedgerow.service import database
        from tests.service import tables

        monkeypatch.setattr(database, "upgrade", tables.upgrade)


def made(url):
    """Make the database, if it is not there; return its URL."""
    from hedgerow.service.database import Database

    Database(url, "create").close()
    return url


class Clock:
    def __init__(self, now=1000.0):
        self.now, self.readings = now, 0

    def __call__(self):
        self.readings += 1
        return self.now


class Inside:
    """A service in this process, with a clock that the test turns."""

    def __init__(self, url, **options):
        from starlette.testclient import TestClient

        from hedgerow.service import create_app
        from hedgerow.service.settings import Settings

        self.clock = Clock()
        settings = Settings(**{"aggregate_seconds": 3600, "guess_seconds": 0.0, **options})
        self.app = create_app(made(url), clock=self.clock, curator_token=TOKEN, settings=settings)
        self.service = self.app.state.service
        self.client = TestClient(self.app, raise_server_exceptions=False)
        self.tokens = {}

    def publish(self, task, **words):
        """Publish; where reports name their record and nothing is said of tokens, have one for all records."""
        numbered = task.question().numbered and "tokens" not in words
        body = {"task": task.to_dict(), "opens": 1000, "closes": 2000, **WORDS, "tokens": numbered, **words}
        answer = self.client.post("/v1/tasks", json=body, headers=CURATOR)
        assert answer.status_code == 201, answer.text
        if numbered:
            token = self.post(task, "tokens", {"quota": 1 << 40}).json()["tokens"][0]
            self.tokens[task.id] = {"Authorization": f"Bearer {token}"}
        return answer.json()

    def send(self, task, reports, **headers):
        body = reports if isinstance(reports, bytes) else reports.to_bytes()
        headers = headers or self.tokens.get(task.id, {})
        return self.client.post(
            f"/v1/tasks/{task.id}/reports", content=body, headers={"Content-Type": MEDIA, **headers}
        )

    def get(self, task, what):
        return self.client.get(f"/v1/tasks/{task.id}/{what}", headers=CURATOR)

    def post(self, task, what, body=None):
        return self.client.post(f"/v1/tasks/{task.id}/{what}", json=body or {}, headers=CURATOR)

    def status(self, task):
        return self.get(task, "status").json()


@pytest.fixture
def inside(tmp_path):
    """Make services in this process; each is stopped at the end."""
    with contextlib.ExitStack() as stack:

        def make(url=None, **options):
            made = Inside(url or f"sqlite:///{tmp_path}/hedgerow.db", **options)
            stack.enter_context(made.client)
            return made

        yield make


@pytest.fixture
def ids_in():
    """Count the ids that a database knows."""

    def count(database):
        with database.read() as connection:
            packed = "SELECT coalesce(sum(length(ids)), 0) FROM "
            tables = ("arrivals", "known", "report_ids")
            return sum(int(connection.exec_driver_sql(packed + table).scalar()) for table in tables) // 24

    return count


@pytest.fixture
def local_task():
    def make(title="", **options):
        chosen = {"epsilon": 2.0, "max_depth": 3, "response": "unary", **options}
        return LocalTask.design(
            label_bounds=(0, 1), features=2, feature_bounds=(0, 1), title=title, **{**PAPER, **chosen}
        )

    return make


@pytest.fixture
def holders():
    """Honest reports with secure noise."""

    def make(task, n, seed=0):
        X = np.random.default_rng(seed).random((n, 2))
        return privatize_many(task, X, X[:, 0])

    return make


@pytest.fixture
def part():
    def cut(reports, start, stop=None):
        rows = slice(start, stop)
        return Reports(reports.task, reports.tokens[rows], reports.payloads[rows], reports.simulation)

    return cut


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Outside:
    """``hedgerow serve`` in its own process."""

    def __init__(self, url, log, *, limit=None, program=("-m", "hedgerow.cli"), options=()):
        self.options = options
        self.url, self.log, self.port, self.process, self.limit = url, log, free_port(), None, limit
        self.program = program
        self.address = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(base_url=self.address, timeout=60, verify=False)

    def start(self):
        command = [sys.executable, *self.program, "serve", "--port", str(self.port), "--database", self.url]
        command += self.options
        env = {
            **os.environ,
            "HEDGEROW_CURATOR_TOKEN": TOKEN,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        made(self.url)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, env=env, stderr=log, stdout=log, preexec_fn=self.limit)
        for _ in range(600):
            with contextlib.suppress(httpx.HTTPError):
                self.client.get("/healthz")
                return self
            assert self.process.poll() is None, Path(self.log).read_text()
            time.sleep(0.05)
        raise AssertionError("the service did not start")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.client.close()
        self.client = httpx.Client(base_url=self.address, timeout=60, verify=False)
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)


@pytest.fixture
def outside(tmp_path):
    """Make services in processes of their own; each is stopped at the end."""
    made = []

    def make(url=None, **options):
        made.append(Outside(url or f"sqlite:///{tmp_path}/hedgerow.db", tmp_path / "log", **options))
        return made[-1].start()

    yield make
    for server in made:
        server.stop()
        server.client.close()


def _binaries():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    path = shutil.which("pg_ctl")
    return found[-1].parent if found else Path(path).parent if path else None


class Address(str):
    """Where a PostgreSQL server is, and which process it is."""

    pid: int


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory):
    """Run PostgreSQL's server as a user that is not root; skip where it is not installed."""
    psycopg = pytest.importorskip("psycopg")
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL's server is not installed")
    user = None
    if os.geteuid() == 0:
        import pwd

        try:
            user = pwd.getpwnam("postgres").pw_name
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and there is no user 'postgres'")
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        folder.chmod(0o755)
        data = folder / "data"
        data.mkdir()
        if user:
            shutil.chown(data, user, user)
        quiet = {"user": user, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}
        subprocess.run([binaries / "initdb", "-D", data, "-A", "trust", "-U", "hedgerow", "-N"], check=True, **quiet)
        options = [
            "-p",
            str(port),
            "-k",
            "",
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "fsync=off",
            "-c",
            "wal_recycle=off",
        ]
        server = subprocess.Popen([binaries / "postgres", "-D", data, *options], **quiet)
        try:
            for _ in range(400):
                with contextlib.suppress(psycopg.OperationalError):
                    psycopg.connect(host="127.0.0.1", port=port, user="hedgerow", dbname="postgres").close()
                    break
                time.sleep(0.05)
            address = Address(f"hedgerow@127.0.0.1:{port}")
            address.pid = server.pid
            yield address
        finally:
            server.send_signal(signal.SIGQUIT)  # at once: the data is thrown away
            server.wait(30)


@pytest.fixture
def postgres(postgres_server):
    """Return the URL of a new, empty database."""
    import psycopg

    name = f"t{time.monotonic_ns()}"
    with psycopg.connect(f"postgresql://{postgres_server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"postgresql+psycopg://{postgres_server}/{name}"


class Load:
    """Devices that send batches, each again and again until it is acknowledged, and then never more."""

    def __init__(self, server, task, bodies, threads=4):
        self.server, self.task, self.todo, self.receipts = server, task, list(enumerate(bodies)), {}
        self.lock, self.errors = threading.Lock(), []
        self.threads = [threading.Thread(target=self._run, daemon=True) for _ in range(threads)]

    def start(self):
        for thread in self.threads:
            thread.start()
        return self

    def join(self, seconds=300):
        end = time.monotonic() + seconds
        for thread in self.threads:
            thread.join(max(0.0, end - time.monotonic()))
        assert not self.errors, self.errors[:3]
        assert not any(t.is_alive() for t in self.threads), "the load did not end"

    def _run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        with contextlib.closing(connection):
            self._send_all(connection)

    def _send_all(self, connection):
        while True:
            with self.lock:
                if not self.todo:
                    return
                i, body = self.todo.pop()
            while i not in self.receipts:
                try:
                    path = f"/v1/tasks/{self.task.id}/reports"
                    connection.request("POST", path, body, {"Content-Type": MEDIA})
                    answer = connection.getresponse()
                    content = answer.read()
                except (OSError, http.client.HTTPException):
                    connection.close()  # it connects again by itself
                    time.sleep(0.02)
                    continue
                if answer.status == 200:
                    self.receipts[i] = json.loads(content)
                elif answer.status == 503:
                    time.sleep(0.05)
                else:
                    self.errors.append(content)
                    return


@pytest.fixture
def load():
    return Load
