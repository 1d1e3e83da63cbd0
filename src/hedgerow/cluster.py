"""The Dask client that is there already, if there is one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["ambient_client"]


@contextmanager
def ambient_client() -> Iterator[Any]:
    """Yield the client that the caller works with, or None; it is left as it is.

    That is the newest one of this process. Within a task of a cluster it is a client of that cluster, and the task
    makes room for others while it waits.
    """
    if "distributed" not in sys.modules:  # then nobody has made one
        yield None
        return
    from distributed import get_client, get_worker, worker_client

    try:
        get_worker()
    except ValueError:
        pass
    else:
        with worker_client() as own:
            yield own
        return
    try:
        found = get_client()
    except ValueError:
        found = None
    yield found
