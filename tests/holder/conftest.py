"""A small curator's server for the holder's tests: it answers as told and remembers what it was sent."""

import json
import shutil
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.holder.browser import ARGUMENTS, CHROMIUM


class Stub:
    """Announcements by id, uploads as received, and answers to give instead of taking the report."""

    def __init__(self):
        self.notices, self.requests, self.bodies, self.instead, self.refuse = {}, [], [], [], None
        stub = self
        self.witnesses = {}

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def reply(self, status, content, kind="application/json", headers=()):
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **dict(headers)}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def interrupted(self):
                """Give a prepared answer, if there is one."""
                if not stub.instead:
                    return False
                status, content, headers = stub.instead.pop(0)
                if status == 0:
                    self.close_connection = True
                    self.connection.close()
                else:
                    self.reply(status, content, "application/problem+json", headers)
                return True

            def do_GET(self):
                stub.requests.append(("GET", self.path, dict(self.headers), b""))
                if self.path.startswith(("/join/", "/static/holder/")):
                    return self.static()
                if self.interrupted():
                    return None
                if self.path.endswith("/witnesses"):
                    return self.reply(200, stub.witnesses)
                notice = stub.notices.get(self.path.rsplit("/", 1)[-1])
                if notice is None:
                    return self.reply(404, {"code": "no-such-task", "title": "There is no such task", "status": 404})
                return self.reply(200, notice.to_json().encode())

            def static(self):
                from hedgerow.holder.page import ASSETS, HEADERS, asset

                name = "holder.html" if self.path.startswith("/join/") else self.path.rsplit("/", 1)[-1]
                if name not in ASSETS:
                    return self.reply(404, {})
                return self.reply(200, asset(name), ASSETS[name], HEADERS)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                stub.requests.append(("POST", self.path, dict(self.headers), body))
                again = body in stub.bodies
                if stub.refuse:
                    failure = {"index": 0, "id": "00", "code": stub.refuse}
                    return self.reply(200, {"accepted": 0, "duplicates": 0, "failures": [failure]})
                if stub.instead and stub.instead[0][0] == -1:  # take it, and lose the answer
                    stub.instead.pop(0)
                    stub.bodies.append(body)
                    self.close_connection = True
                    return self.connection.close()
                if self.interrupted():
                    return None
                stub.bodies.append(body)
                return self.reply(200, {"accepted": int(not again), "duplicates": int(again), "failures": []})

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def announce(self, task, **changes):
        """Publish a task and return the link to its page."""
        from hedgerow.tasks.announcement import Announcement

        key = changes.pop("key", self.key)
        words = {"title": "Hours at work", "purpose": "Plan buses", "curator": "Town", "opens": 0, "closes": 1 << 37}
        notice = Announcement.sign(task, key, **{**words, **changes})
        self.notices[notice.id] = notice
        return f"{self.base}/join/{notice.id}"

    @property
    def key(self):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(bytes(range(32)))

    @property
    def posts(self):
        return [r for r in self.requests if r[0] == "POST"]


@pytest.fixture(autouse=True)
def in_english(monkeypatch):
    """Speak English, whatever the locale of who runs the tests."""
    monkeypatch.setenv("LC_ALL", "C")


@pytest.fixture
def stub():
    pytest.importorskip("cryptography")
    server = Stub()
    yield server
    server.server.shutdown()
    server.server.server_close()


@pytest.fixture(scope="module")
def chromium():
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def context(chromium):
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    context.set_default_timeout(90_000)  # a busy machine is no mistake of the page
    yield context
    context.close()


@pytest.fixture
def node(tmp_path):
    """Run a script in Node on a copy of the page's modules, changed if asked to; return what it prints, as JSON."""
    from hedgerow.holder.page import SCRIPTS, asset

    command = shutil.which("node")
    if command is None:
        pytest.skip("node is not installed")

    def run(script, data, before="", after=""):
        sources = {name: asset(name).decode() for name in SCRIPTS}
        assert not before or sum(before in source for source in sources.values()) == 1
        (tmp_path / "package.json").write_text('{"type": "module"}')
        for name, source in sources.items():
            (tmp_path / name).write_text(source.replace(before, after) if before else source)
        (tmp_path / "data.json").write_text(json.dumps(data))
        (tmp_path / "run.js").write_text((Path(__file__).parent / script).read_text())
        arguments = [command, str(tmp_path / "run.js"), (tmp_path / "holder.js").as_uri(), str(tmp_path / "data.json")]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def vectors_file():
    return Path(__file__).parent / "holder_vectors.json.gz"


@pytest.fixture(scope="session")
def refusals_file():
    return Path(__file__).parent / "holder_refusals.json.gz"


@pytest.fixture
def waits():
    """Seconds that a client would have waited; and a client that does not."""
    from hedgerow.holder import Client

    slept = []
    return slept, Client(attempts=4, timeout=5, sleep=slept.append)


@pytest.fixture
def now():
    return time.time()
