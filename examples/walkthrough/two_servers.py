"""Nobody sees a record: a leader and a helper as two processes with two databases, and devices that answer both."""

from __future__ import annotations

import contextlib
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

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import Ridge

from hedgerow.collector import card_at, collect, generate_key, servers_of
from hedgerow.curator import Server
from hedgerow.holder import Holder
from hedgerow.service.database import Database
from hedgerow.service.shared.operator import set_operator
from hedgerow.service.shared.peers import add_peer
from hedgerow.sums.design import Chain
from walkthrough.collection import ask, wait
from walkthrough.population import LABEL_BOUNDS, TARGET, Homes

OPERATORS = {"leader": "The town", "helper": "The consumers' club"}
WARNING = (
    "Both servers ran on this machine, so this was a demonstration without the protection: whoever runs both can read "
    "every record's cells. It is worth what it promises only if two organisations run them that would not conspire."
)


@dataclass(frozen=True)
class Shared:
    """What came of a collection by two servers."""

    n: int
    bytes_each: int
    seconds: float
    sums: npt.NDArray[np.int64]
    noise: float
    files: dict[str, Path]
    words: str


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def server(role: str, folder: Path, token: str) -> Iterator[str]:
    """Run one of the two servers, with a database of its own; yield its address."""
    file = folder / f"{role}.db"
    for old in folder.glob(f"{role}.db*"):
        old.unlink()
    port = _free()
    origin = f"http://127.0.0.1:{port}"
    url = f"sqlite:///{file}"
    with Database(url, "create") as database, database.write() as connection:
        # As 'hedgerow serve init' and 'serve operator' do.
        set_operator(connection, OPERATORS[role], origin, now=int(time.time()))
    command = [sys.executable, "-m", "hedgerow.cli", "serve", "--port", str(port), "--database", url]
    with (folder / f"{role}.log").open("w") as log:
        environment = {**os.environ, "HEDGEROW_CURATOR_TOKEN": token}
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        wait(port, process)
        yield origin
    finally:
        process.terminate()
        process.wait(60)


def _send(port: int, task_id: str, body: bytes) -> None:
    media = "application/vnd.hedgerow.reports+bin; version=1"
    status, answer = ask(port, "POST", f"/v1/tasks/{task_id}/reports", body, Content_Type=media)
    if status != 200 or json.loads(answer)["accepted"] != 1:
        raise RuntimeError(f"a report was not accepted: {status} {answer!r}")


def share(pilot: Homes, homes: Homes, folder: Path, *, epsilon: float) -> Shared:
    """Collect noisy sums from all homes through two servers, neither of which sees a record."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("collector.key"), *folder.glob("device/*")):
        old.unlink()
    token = "hc_" + secrets.token_urlsafe(16)
    with server("leader", folder, token) as leader, server("helper", folder, secrets.token_urlsafe(16)) as helper:
        for role, other in (("leader", helper), ("helper", leader)):
            with Database(f"sqlite:///{folder / f'{role}.db'}") as database, database.write() as connection:
                add_peer(connection, card_at(other), now=int(time.time()))  # as 'hedgerow serve peers --add' does
        key = generate_key(folder / "collector.key")
        chain = Chain.of(
            pilot.X,
            pilot.y,
            epsilon=epsilon,
            delta=1e-6,
            label_bounds=LABEL_BOUNDS,
            n_holders=len(homes),
            target=TARGET,
            servers=servers_of(leader, helper, key),
            public_model=Ridge(),
        )
        task = chain.first()
        address = Server(leader, token)
        address.publish(task, purpose="To show two servers.", curator="The example", title="Electricity of homes")
        start = time.perf_counter()
        words = _one_device(leader, task.id, homes, folder)
        reports = task.privatize(homes.X.iloc[1:], homes.y[1:])
        port = int(leader.rpartition(":")[2])
        bodies = [type(reports).collect(task, [report]).to_bytes() for report in reports]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda body: _send(port, task.id, body), bodies))
        _, totals = collect(address, task.id, key)
        if collect(address, task.id, key)[1] != totals:
            raise RuntimeError("a second collection has other noise than the first")
        seconds = time.perf_counter() - start
    files = {role: folder / f"{role}.db" for role in OPERATORS}
    noise = float(2 * task.variance) ** 0.5
    return Shared(totals.n_reports, len(bodies[0]), seconds, np.array(totals.sums), noise, files, words)


def _one_device(leader: str, task_id: str, homes: Homes, folder: Path) -> str:
    """Let the first home answer as a device does: it checks three signatures, and asks the helper who it is."""
    holder = Holder(folder / "device")
    invitation = holder.fetch(f"{leader}/join/{task_id}")
    record = {**homes.X.iloc[0].to_dict(), TARGET: float(homes.y[0])}
    receipt = holder.send(holder.answer(invitation, record))
    if not receipt.accepted:
        raise RuntimeError(f"the device's report was not accepted: {receipt}")
    return invitation.describe()
