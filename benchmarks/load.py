"""A client that keeps a server busy: ``python -m benchmarks.load PORT,... REQUESTS SIZE CONNECTIONS DEPTH``.

It prepares whole requests of reports that were never sent before, sends them over some connections, each connection
waiting for an answer before its next request, and prints how long all of it and each request took.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import dataclass, field

import numpy as np

from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.tree.task import LocalTask

MEDIA = "application/vnd.hedgerow.reports+bin; version=1"


def make_task(depth: int) -> LocalTask:
    """Return a task of unary reports: a depth of 6 gives 64 leaves and 34 bytes a report."""
    return LocalTask.design(
        epsilon=2.0, label_bounds=(0, 1), features=2, feature_bounds=(0, 1), max_depth=depth, response="unary"
    )


def requests(task: LocalTask, count: int, size: int) -> list[bytes]:
    """Return whole HTTP requests with reports that were never sent before."""
    pool = privatize_many(task, np.random.default_rng(0).random((1000, 2)), np.zeros(1000)).payloads
    made = []
    for i in range(count):
        tokens = np.frombuffer(os.urandom(12 * size), dtype=np.uint8).reshape(size, 12)
        body = Reports(task, tokens, pool[(i * size + np.arange(size)) % 1000]).to_bytes()
        head = (
            f"POST /v1/tasks/{task.id}/reports HTTP/1.1\r\nHost: localhost\r\n"
            f"Content-Type: {MEDIA}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        made.append(head.encode() + body)
    return made


@dataclass
class Seen:
    """What was answered so far."""

    accepted: int = 0
    seconds: list[float] = field(default_factory=list)


class Client(asyncio.Protocol):
    """Sends one request after the other over one connection."""

    def __init__(self, todo: list[bytes], done: asyncio.Future[None], seen: Seen) -> None:
        self.todo = todo
        self.done = done
        self.seen = seen
        self.buffer = b""
        self.start = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.next()

    def next(self) -> None:
        if self.todo:
            self.start = time.perf_counter()
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
        self.seen.seconds.append(time.perf_counter() - self.start)
        self.seen.accepted += int(rest.split(b'"accepted":')[1].split(b",")[0])
        self.buffer = b""
        self.next()


async def blast(ports: list[int], todo: list[bytes], connections: int) -> dict[str, float]:
    """Send everything, shared evenly among the ports."""
    loop = asyncio.get_running_loop()
    seen = Seen()
    start = time.perf_counter()
    spent = time.process_time()
    waits = []
    for i in range(connections):
        done: asyncio.Future[None] = loop.create_future()
        port = ports[i % len(ports)]
        await loop.create_connection(lambda d=done: Client(todo, d, seen), "127.0.0.1", port)  # type: ignore[misc]
        waits.append(done)
    await asyncio.gather(*waits)
    return {
        "accepted": seen.accepted,
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - spent,
        "p99": float(np.quantile(seen.seconds, 0.99)),
    }


def main() -> None:
    """Prepare, send, print."""
    import uvloop

    ports = [int(port) for port in sys.argv[1].split(",")]
    count, size, connections, depth = map(int, sys.argv[2:6])
    todo = requests(make_task(depth), count, size)
    print(json.dumps(uvloop.run(blast(ports, todo, connections))))


if __name__ == "__main__":
    main()
