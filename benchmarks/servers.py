"""Servers in processes of their own: the service, the bare handler it is compared with, PostgreSQL."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from benchmarks.contention import cpu_of

TOKEN = "hc_token-of-the-benchmark"


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextlib.contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Run Debian's PostgreSQL in a folder, as a user that is not root; yield its URL."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found:
        raise FileNotFoundError("PostgreSQL's server is not installed")
    data = folder / "data"
    port = free_port()
    user = "postgres" if os.geteuid() == 0 else None
    folder.chmod(0o755)
    data.mkdir()
    if user:
        shutil.chown(data, user, user)
    make = [found[-1] / "initdb", "-D", data, "-A", "trust", "-U", "hedgerow", "-E", "UTF8"]
    quiet = subprocess.DEVNULL
    subprocess.run(make, user=user, check=True, stdout=quiet, stderr=quiet, cwd="/")
    options = ["-p", str(port), "-k", "", "-c", "listen_addresses=127.0.0.1", "-c", "max_wal_size=4GB"]
    server = subprocess.Popen([found[-1] / "postgres", "-D", data, *options], user=user, stderr=quiet, cwd="/")
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield f"postgresql+psycopg://hedgerow@127.0.0.1:{port}/postgres"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


class Server:
    """A process that answers uploads on a port of this machine."""

    def __init__(self, *command: str) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        words = [word.replace("PORT", str(self.port)) for word in command]
        self.process = subprocess.Popen([sys.executable, *words], env=environment(), stderr=subprocess.DEVNULL)

    def __enter__(self) -> Server:
        for _ in range(600):
            with contextlib.suppress(OSError), urllib.request.urlopen(self.address + "/healthz"):
                return self
            time.sleep(0.05)
        raise RuntimeError("the server did not start")

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    @property
    def cpu(self) -> float:
        """CPU seconds so far (Linux)."""
        return cpu_of(self.process.pid)

    @property
    def megabytes(self) -> float:
        """Memory of the process beyond the page cache (Linux)."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024

    def control(self, path: str, body: object = None) -> dict[str, object]:
        """Ask something as the curator."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request) as answer:
            return dict(json.load(answer))


_GROUPS = Path("/sys/fs/cgroup/cpu")  # of Linux's first kind of groups
_PERIOD = 2_000  # microseconds: whoever is held while others wait for it keeps them waiting no longer; by hand


def can_hold() -> bool:
    """Whether processes can be held to a share of a core here."""
    return (_GROUPS / "cgroup.procs").exists() and os.access(_GROUPS, os.W_OK)


@contextlib.contextmanager
def hold(server: Server, cores: float, number: int) -> Iterator[None]:
    """Let a server have so much of a core and no more."""
    group = _GROUPS / f"hedgerow-benchmark-{number}"
    group.mkdir(exist_ok=True)
    (group / "cpu.cfs_period_us").write_text(str(_PERIOD))
    (group / "cpu.cfs_quota_us").write_text(str(round(_PERIOD * cores)))
    (group / "cgroup.procs").write_text(str(server.process.pid))
    try:
        yield
    finally:
        (_GROUPS / "cgroup.procs").write_text(str(server.process.pid))
        group.rmdir()


def environment() -> dict[str, str]:
    """Return the environment of servers: numerical libraries with one thread, and a curator's token."""
    return {**os.environ, "HEDGEROW_CURATOR_TOKEN": TOKEN, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def bare() -> Server:
    """Return the handler that only reads."""
    return Server("-m", "benchmarks.bare", "PORT")


def service(database: str) -> Server:
    """Return the service, on a database that is made if it is not there."""
    make = [sys.executable, "-m", "hedgerow.cli", "serve", "init", "--if-missing", "--database", database]
    subprocess.run(make, env=environment(), stdout=subprocess.DEVNULL, check=True)
    return Server("-m", "hedgerow.cli", "serve", "--port", "PORT", "--database", database)
