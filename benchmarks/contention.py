"""What servers that share a PostgreSQL do to each other: the database's CPU, and how often a commit waits."""

from __future__ import annotations

import os
import threading
from pathlib import Path

_EVERY = 0.02  # seconds between two looks: less than a commit of batches takes; by hand


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process so far (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Watch:
    """Looks at the database's connections while the block runs.

    Attributes
    ----------
    cpu : float
        CPU seconds of the processes that serve connections.
    waiting : float
        The share of looks at which a connection waited for a lock.
    """

    def __init__(self, url: str) -> None:
        self.url = url.replace("+psycopg", "")
        self.cpu = 0.0
        self.waiting = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        import psycopg

        query = "SELECT pid, wait_event_type FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> %s"
        first: dict[int, float] = {}
        last: dict[int, float] = {}
        looks = waits = 0
        with psycopg.connect(self.url, autocommit=True) as connection:
            while not self._end.wait(_EVERY):
                rows = connection.execute(query, [connection.info.backend_pid]).fetchall()
                looks += 1
                waits += any(kind == "Lock" for _, kind in rows)
                now = {pid: cpu_of(pid) for pid, _ in rows}
                first = now | first
                last |= now
        self.cpu = sum(last.values()) - sum(first.values())
        self.waiting = waits / max(1, looks)
