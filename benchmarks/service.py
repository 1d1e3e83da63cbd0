"""Load on the curator's service: ``python -m benchmarks.service [--quick] [--seconds S] [-o FILE]``.

A real server process on loopback, a client process on the same machine, acknowledged after commit. Each storage is
interleaved with the same server with storage switched off, so that the ratio is fair on a noisy machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.timing import Row
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.tree.task import LocalTask

RESULTS = Path(__file__).parent / "results" / "service.json"
TOKEN = "hc_token-of-the-benchmark"
MEDIA = "application/vnd.hedgerow.reports+bin; version=1"


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextlib.contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Run Debian's PostgreSQL in a folder, as a user that is not root; yield its URL."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found:
        raise FileNotFoundError("PostgreSQL's server is not installed")
    data, port = folder / "data", free_port()
    user = "postgres" if os.geteuid() == 0 else None
    folder.chmod(0o755)
    data.mkdir()
    if user:
        shutil.chown(data, user, user)
    subprocess.run(
        [found[-1] / "initdb", "-D", data, "-A", "trust", "-U", "hedgerow", "-E", "UTF8"],
        user=user,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
    )
    options = ["-p", str(port), "-k", "", "-c", "listen_addresses=127.0.0.1", "-c", "max_wal_size=4GB"]
    server = subprocess.Popen(
        [found[-1] / "postgres", "-D", data, *options], user=user, stderr=subprocess.DEVNULL, cwd="/"
    )
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
    """``hedgerow serve`` in its own process."""

    def __init__(self, database: str, *options: str) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        arguments = ["serve", "--port", str(self.port), "--database", database, *options]
        env = {**os.environ, "HEDGEROW_CURATOR_TOKEN": TOKEN, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "hedgerow.cli", *arguments]
        make = [sys.executable, "-m", "hedgerow.cli", "serve", "init", "--if-missing", "--database", database]
        subprocess.run(make, env=env, stdout=subprocess.DEVNULL, check=True)
        self.process = subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)

    def __enter__(self) -> Server:
        for _ in range(600):
            with contextlib.suppress(OSError), urllib.request.urlopen(self.address + "/healthz"):
                break
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    @property
    def cpu(self) -> float:
        """CPU seconds so far (Linux; 0 elsewhere)."""
        path = Path(f"/proc/{self.process.pid}/stat")
        if not path.exists():
            return 0.0
        fields = path.read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def control(address: str, path: str, body: object = None) -> dict[str, object]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request) as answer:
        return dict(json.load(answer))


def make_task(depth: int) -> LocalTask:
    return LocalTask.design(
        epsilon=2.0, label_bounds=(0, 1), features=2, feature_bounds=(0, 1), max_depth=depth, response="unary"
    )


def requests(task: LocalTask, total: int, size: int) -> list[bytes]:
    """Return whole HTTP requests with reports that were never sent before."""
    pool = privatize_many(task, np.random.default_rng(0).random((1000, 2)), np.zeros(1000)).payloads
    made = []
    for i in range(0, total, size):
        tokens = np.frombuffer(os.urandom(12 * size), dtype=np.uint8).reshape(size, 12)
        body = Reports(task, tokens, pool[(i + np.arange(size)) % 1000]).to_bytes()
        head = (
            f"POST /v1/tasks/{task.id}/reports HTTP/1.1\r\nHost: localhost\r\n"
            f"Content-Type: {MEDIA}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        made.append(head.encode() + body)
    return made


class Client(asyncio.Protocol):
    """Sends one request after the other over one connection."""

    def __init__(self, todo: list[bytes], done: asyncio.Future[None], counts: list[int]) -> None:
        self.todo, self.done, self.counts, self.buffer = todo, done, counts, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.next()

    def next(self) -> None:
        if self.todo:
            self.transport.write(self.todo.pop())  # type: ignore[attr-defined]
        else:
            self.transport.close()
            if not self.done.done():
                self.done.set_result(None)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) if found else 0
        if not found or len(rest) < length:
            return
        if not head.startswith(b"HTTP/1.1 200"):
            self.done.set_exception(RuntimeError(self.buffer.decode()))
            return
        self.counts[0] += int(rest.split(b'"accepted":')[1].split(b",")[0])
        self.buffer = b""
        self.next()


async def blast(port: int, todo: list[bytes], connections: int) -> tuple[int, float]:
    """Send everything; return the reports accepted and the seconds taken."""
    loop, counts = asyncio.get_running_loop(), [0]
    start = time.perf_counter()
    waits = []
    for _ in range(connections):
        done: asyncio.Future[None] = loop.create_future()
        await loop.create_connection(lambda d=done: Client(todo, d, counts), "127.0.0.1", port)  # type: ignore[misc]
        waits.append(done)
    await asyncio.gather(*waits)
    return counts[0], time.perf_counter() - start


def client(port: int, total: int, size: int, connections: int, depth: int) -> None:
    """Entry of the client process: prepare, send, print."""
    import uvloop

    todo = requests(make_task(depth), total, size)
    accepted, seconds = uvloop.run(blast(port, todo, connections))
    print(json.dumps({"accepted": accepted, "seconds": seconds}))


def rate(server: Server, total: int, size: int, connections: int, depth: int) -> float:
    """Return reports a second, as a client process sees them."""
    arguments = [str(v) for v in (server.port, total, size, connections, depth)]
    command = [sys.executable, "-m", "benchmarks.service", "--client", *arguments]
    done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert done["accepted"] == total, done
    return total / float(done["seconds"])


def measure(name: str, database: str, plan: dict[str, int], rounds: int, limit: float) -> list[Row]:
    """Interleave a database and no storage; return rates, their ratio, and the server's CPU time."""
    rates: dict[str, list[float]] = {"on": [], "off": []}
    cpu: dict[str, list[float]] = {"on": [], "off": []}
    body = {
        "task": make_task(plan["depth"]).to_dict(),
        "purpose": "To test",
        "curator": "Town",
        "closes": 1 << 37,
        "opens": 0,
    }
    for i in range(rounds):
        for kind, options in (("on", ()), ("off", ("--no-storage",))):
            with Server(database, *options) as server:
                control(server.address, "/v1/tasks", body)
                rate(server, plan["size"] * 20, plan["size"], 4, plan["depth"])
                before = server.cpu
                rates[kind].append(rate(server, **plan))
                cpu[kind].append((server.cpu - before) / plan["total"] * 1e6)
        text = ", ".join(f"{k} {v[-1]:,.0f}/s" for k, v in rates.items())
        print(f"  {name}, round {i + 1}: {text}; load {os.getloadavg()[0]:.1f}", flush=True)
    on, off = statistics.median(rates["on"]), statistics.median(rates["off"])
    return [
        Row(f"{name}, reports a second", on, "1/s", limit, at_least=True),
        Row(f"{name}, best round", max(rates["on"]), "1/s"),
        Row(f"{name}, ratio to storage switched off", on / off, "x"),
        Row(f"{name}, server's CPU a report", statistics.median(cpu["on"]), "us"),
        Row(f"{name}, the same with storage switched off", statistics.median(cpu["off"]), "us"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer reports, one round")
    parser.add_argument("--client", nargs=5, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="+", choices=("sqlite", "postgres", "single"))
    parser.add_argument("--depth", type=int, default=6, help="of the tree; 6: 64 leaves, 34 bytes a report")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.client:
        client(*options.client)
        return
    rounds, scale = (1, 0.2) if options.quick else (3, 1.0)
    batch = {"total": int(200_000 * scale), "size": 100, "connections": 16, "depth": options.depth}
    single = {"total": int(20_000 * scale), "size": 1, "connections": 256, "depth": options.depth}
    rows, chosen = [], options.only or ("sqlite", "postgres", "single")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "sqlite" in chosen:
            rows += measure("SQLite, batches of 100", f"sqlite:///{folder}/batches.db", batch, rounds, 20_000)
        if "single" in chosen:
            rows += measure("SQLite, single reports", f"sqlite:///{folder}/single.db", single, rounds, 2_500)
        if "postgres" in chosen:
            place = folder / "postgres"
            place.mkdir()
            folder.chmod(0o755)
            with postgres(place) as url:
                rows += measure("PostgreSQL, batches of 100", url, batch, rounds, 30_000)
    for row in rows:
        print(row)
    from benchmarks.__main__ import machine

    saved = {
        "machine": machine() | {"nice": os.nice(0)},
        "quick": options.quick,
        "rows": [asdict(r) | {"met": r.met} for r in rows],
    }
    options.output.write_text(json.dumps(saved, indent=1) + "\n")
    print(f"saved to {options.output}")


if __name__ == "__main__":
    main()
