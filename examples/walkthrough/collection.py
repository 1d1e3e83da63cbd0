"""Collect for real: the curator's service as a process of its own, devices that send over HTTP."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow import Aggregate, LocalTask, Model, Report, Reports, privatize
from hedgerow.tasks.announcement import Announcement
from walkthrough.population import Homes

_MEDIA = "application/vnd.hedgerow.reports+bin; version=1"


@dataclass(frozen=True)
class Collected:
    """What came of a collection."""

    model: Model
    accepted: int
    seconds: float
    database: Path
    token: str
    page: str


@contextlib.contextmanager
def service(database: Path, token: str) -> Iterator[int]:
    """Run ``hedgerow serve`` on a free port; yield the port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "hedgerow.cli",
        "serve",
        "--port",
        str(port),
        "--database",
        f"sqlite:///{database}",
    ]
    environment = {**os.environ, "HEDGEROW_CURATOR_TOKEN": token}
    make = [*command[:4], "init", "--if-missing", "--database", command[-1]]
    subprocess.run(make, env=environment, stdout=subprocess.DEVNULL, check=True)
    with (database.parent / "service.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        wait(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(30)


def wait(port: int, process: subprocess.Popen[bytes], seconds: float = 180.0) -> None:
    """Wait until a service answers."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError):
            if ask(port, "GET", "/healthz")[0] == 200:
                return
        time.sleep(0.1)
    raise RuntimeError("the service did not start; see service.log")


def ask(port: int, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    """Send one request; return status and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def devices(port: int, task_id: str, homes: Homes, numbers: range) -> list[Report]:
    """Let some homes answer, each over a connection of its own; return what they sent."""
    announced = Announcement.from_json(ask(port, "GET", f"/v1/tasks/{task_id}")[1])
    announced.verify()  # a task that was changed on the way is not answered
    task, sent = announced.task, []
    for i in numbers:
        report = privatize(task, homes.X.iloc[i].to_dict(), float(homes.y[i]))
        body = Reports.collect(task, [report]).to_bytes()
        status, answer = ask(port, "POST", f"/v1/tasks/{task_id}/reports", body, Content_Type=_MEDIA)
        if status != 200 or json.loads(answer)["accepted"] != 1:
            raise RuntimeError(f"a report was not accepted: {status} {answer!r}")
        sent.append(report)
    return sent


def collect(task: LocalTask, homes: Homes, folder: Path, *, title: str) -> Collected:
    """Publish the task, let every home send its report, close, and fetch the model."""
    folder.mkdir(parents=True, exist_ok=True)
    database, token = folder / "collection.db", "hc_" + secrets.token_urlsafe(16)
    for old in folder.glob("collection.db*"):
        old.unlink()
    curator = {"Authorization": f"Bearer {token}"}
    with service(database, token) as port:
        words = {"title": title, "purpose": "To show how homes use electricity.", "curator": "The example"}
        body: dict[str, Any] = {"task": task.to_dict(), **words}
        status, answer = ask(port, "POST", "/v1/tasks", json.dumps(body).encode(), **curator)
        if status != 201:
            raise RuntimeError(f"the task was not published: {status} {answer!r}")
        start = time.perf_counter()
        shares = [range(k, len(homes), 4) for k in range(4)]
        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(lambda numbers: devices(port, task.id, homes, numbers), shares))
        seconds = time.perf_counter() - start
        ask(port, "POST", f"/v1/tasks/{task.id}/close", b"{}", **curator)
        accepted = json.loads(ask(port, "GET", f"/v1/tasks/{task.id}/status", **curator)[1])["accepted"]
        model = Model.from_json(ask(port, "GET", f"/v1/tasks/{task.id}/model", **curator)[1])
    sent = Reports.collect(task, [report for part in parts for report in part])
    if model.sums != Aggregate(task).add(sent).model().sums:
        raise RuntimeError("the service's model is not that of the reports that were sent")
    return Collected(model, accepted, seconds, database, token, f"/dashboard/tasks/{task.id}")
