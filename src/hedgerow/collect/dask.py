"""The engine for a cluster: Dask maps over pieces of files and adds partial totals up in a tree.

Totals are exact integers, so that it does not matter which worker adds what, in which order, or twice because a
worker was lost: the result equals that of the other engines bit for bit. Files must be visible to all workers and
to the client under the same names. Needs ``pip install 'hedgerow[dask]'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hedgerow.cluster import ambient_client
from hedgerow.collect.dedupe import Bits, Copies, Source, judge, new_key, repeats, spread
from hedgerow.collect.files import open_reports, pieces
from hedgerow.collect.memory import Records, add_source, simulate_part
from hedgerow.errors import HedgerowError
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.sources import as_source
from hedgerow.tasks.base import Task
from hedgerow.tasks.registry import read_task
from hedgerow.tasks.totals import Totals
from hedgerow.tasks.trimmed import Groups

__all__ = ["aggregate", "aggregate_files", "aggregate_groups", "connect", "fit", "mapper", "simulate"]

T = TypeVar("T")
R = TypeVar("R")

PIECES = 4  # blocks of a file that one task adds
BRANCHES = 8  # partial totals that one task adds
GROUPS = 128  # tasks that spread ids out, at most
BUCKET_ROWS = 1 << 21  # ids that one task compares
_RETRIES = 3  # of a task whose worker was lost; Dask has no retries by default


@contextmanager
def connect(scheduler: str | None = None, *, workers: int | None = None) -> Iterator[Any]:
    """Yield a Dask client: of the cluster at ``scheduler``; else the ambient one; else of processes on this machine.

    With a number of ``workers`` it is a cluster of its own in any case.
    """
    if scheduler is None and workers is None:
        with ambient_client() as client:
            if client is not None:
                yield client
                return
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise HedgerowError("--engine dask needs Dask: pip install 'hedgerow[dask]'.") from None
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=20)
        except (OSError, ValueError) as error:
            raise HedgerowError(f"no Dask scheduler answers at {scheduler!r}: {error}") from error
        with client:
            yield client
        return
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def aggregate(task: Task, paths: Sequence[str], *, client: Any = None, copies: str = "drop") -> Totals:
    """Add up the reports in files on a cluster.

    Parameters
    ----------
    task : Task
        What the reports answer.
    paths : sequence of str
        Files of reports, visible to client and workers.
    client : distributed.Client, optional
        The cluster; by default that of the ambient client, or else processes on this machine.
    copies : {"drop", "refuse", "count"}
        See :func:`hedgerow.collect.memory.aggregate`.
    """
    if client is None:
        with connect() as own:
            return aggregate_files(task, paths, client=own, copies=copies)[0]
    return aggregate_files(task, paths, client=client, copies=copies)[0]


def fit(estimator: Any, X: Any, y: Any, *, client: Any = None, X_public: Any = None, y_public: Any = None) -> Any:
    """Fit a PrivateAnova estimator on a cluster: what it is on one machine, bit for bit with the same seed.

    Parameters
    ----------
    estimator : PrivateAnovaRegressor or PrivateAnovaClassifier
        What to fit; it is returned.
    X, y
        Files with the name of their label (visible to client and workers), an Arrow dataset, or a Dask collection.
    client : distributed.Client, optional
        The cluster; by default that of the ambient client, or else processes on this machine. Its workers see private
        records.
    X_public, y_public
        As ``fit`` takes them; they stay with the client.
    """
    source = as_source(X, y)
    if source is None:
        raise HedgerowError(
            f"'X' must be files, an Arrow dataset or a Dask collection, for a cluster. Got {type(X).__name__} instead: "
            "what is in memory is fitted by estimator.fit(X, y)."
        )
    if not hasattr(estimator, "spool"):
        raise HedgerowError(
            f"{type(estimator).__name__} is fitted in memory, by its fit(X, y); on a cluster are PrivateAnovaRegressor "
            "and PrivateAnovaClassifier."
        )
    if estimator.spool is not None:
        raise HedgerowError("'spool' is for one machine: a cluster repeats what a lost worker did. Leave it out.")
    if client is None:
        with connect() as own:
            return fit(estimator, source, y, client=own, X_public=X_public, y_public=y_public)
    source.client = client
    return estimator.fit(source, y, X_public, y_public)


def aggregate_files(task: Task, paths: Sequence[str], *, client: Any, copies: str = "drop") -> tuple[Totals, int]:
    """Return the totals, and how many copies were left out."""
    futures, n_copies = _submitted(client, task, paths, copies, _add)
    return Totals.from_bytes(task, _tree(client, task.to_json(), futures)), n_copies


def aggregate_groups(
    task: Task, paths: Sequence[str], key: bytes | None, n_groups: int, *, client: Any, copies: str = "drop"
) -> tuple[list[Totals], int]:
    """Add up groups of reports on a cluster: :func:`.files.aggregate_groups`, bit for bit."""
    futures, n_copies = _submitted(client, task, paths, copies, _add_groups, key, n_groups)
    text = task.to_json()
    while len(futures) > 1:
        futures = [
            client.submit(_merge_groups, text, group, pure=False, retries=_RETRIES)
            for group in _groups(futures, BRANCHES)
        ]
    parts: dict[int, bytes] = futures[0].result() if futures else {}
    nothing = task.totals().to_bytes()
    return [Totals.from_bytes(task, parts.get(g, nothing)) for g in range(n_groups)], n_copies


def _submitted(
    client: Any, task: Task, paths: Sequence[str], copies: str, add: Callable[..., Any], *more: Any
) -> tuple[list[Any], int]:
    """Let workers ``add`` the pieces of files; return the futures, and how many copies are left out."""
    names = [str(path) for path in paths]
    sources = [open_reports(task, name) for name in names]
    found = _find_copies(client, task, names, sources, copies)
    text = task.to_json()
    futures = []
    for group in _groups(pieces(task, sources), PIECES):
        work = [
            (i, names[i], rows.start, rows.stop, found.keep(at, at + rows.stop - rows.start)) for at, i, rows in group
        ]
        futures.append(client.submit(add, text, work, *more, pure=False, retries=_RETRIES))
    return futures, found.n_copies


def simulate(
    task: Task, parts: Sequence[Records], randomness: Randomness | int | None = None, *, client: Any
) -> Totals:
    """Draw the aggregate of a population in parts on a cluster: :func:`.memory.simulate`, bit for bit."""
    source = as_randomness(randomness)
    text = task.to_json()
    futures = [
        client.submit(_simulate, text, part, source, i, pure=False, retries=_RETRIES) for i, part in enumerate(parts)
    ]
    return Totals.from_bytes(task, _tree(client, text, futures))


def mapper(client: Any, *, waiting: int = 2) -> Callable[[Callable[[T], R], Iterable[T]], Iterator[R]]:
    """Return a function like ``executor.map`` that yields results as they come, in any order.

    Items are taken from the iterable only as workers can take them: ``waiting`` a thread.
    """

    def run(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        from distributed import as_completed

        feed = iter(items)
        window = waiting * max(1, sum(client.nthreads().values()))
        done = as_completed(_submit(client, function, islice(feed, window)))
        for future in done:
            yield future.result()
            for more in _submit(client, function, islice(feed, 1)):
                done.add(more)

    return run


def _submit(client: Any, function: Callable[..., Any], items: Iterable[Any]) -> list[Any]:
    return [client.submit(function, item, pure=False, retries=_RETRIES) for item in items]


def _groups(items: Iterable[T], size: int) -> Iterator[list[T]]:
    feed = iter(items)
    while group := list(islice(feed, size)):
        yield group


def _tree(client: Any, text: str, futures: list[Any]) -> bytes:
    """Add partial totals up, some at a time, on the workers."""
    if not futures:
        return _task(text).totals().to_bytes()
    while len(futures) > 1:
        futures = [
            client.submit(_merge, text, group, pure=False, retries=_RETRIES) for group in _groups(futures, BRANCHES)
        ]
    total: bytes = futures[0].result()
    return total


@lru_cache(maxsize=8)
def _task(text: str) -> Task:
    return read_task(text)


@lru_cache(maxsize=16)
def _open(text: str, path: str) -> Source:
    return open_reports(_task(text), path)


Work = list[tuple[int, str, int, int, npt.NDArray[np.bool_] | None]]
"""Number and path of a file, the rows from and to, and which of them count."""


def _add(text: str, work: Work) -> bytes:
    total = _task(text).totals()
    for _, path, start, stop, keep in work:
        add_source(total, _open(text, path).reports(start, stop), keep)
    return total.to_bytes()


def _add_groups(text: str, work: Work, key: bytes | None, n_groups: int) -> dict[int, bytes]:
    """Return the totals of groups that have reports."""
    task = _task(text)
    groups = Groups(task, n_groups, key or b"")
    for i, path, start, stop, keep in work:
        part = groups if key is not None else groups.parts[i]
        add_source(part, _open(text, path).reports(start, stop), keep)
    return {g: total.to_bytes() for g, total in enumerate(groups.parts) if total.n_reports}


def _merge_groups(text: str, found: list[dict[int, bytes]]) -> dict[int, bytes]:
    numbers = {g for parts in found for g in parts}
    return {g: _merge(text, [parts[g] for parts in found if g in parts]) for g in numbers}


def _merge(text: str, parts: list[bytes]) -> bytes:
    task = _task(text)
    total = task.totals()
    for part in parts:
        total = total + Totals.from_bytes(task, part)
    return total.to_bytes()


def _simulate(text: str, part: Records, source: Randomness, i: int) -> bytes:
    return simulate_part(_task(text), part, source, i).to_bytes()


def _find_copies(client: Any, task: Task, names: list[str], sources: list[Source], copies: str) -> Copies:
    """Find copies as :func:`.dedupe.find_copies` does: ids travel to the worker that compares their part."""
    total = sum(len(source) for source in sources)
    if copies == "count" or total < 2:
        return Copies(total)
    n_parts = min(256, 1 << (total // BUCKET_ROWS).bit_length())
    text = task.to_json()
    key = new_key()
    spread_out = []
    blocks = list(pieces(task, sources))
    # Every part of every group is a task of its own: few groups, or the scheduler has more to do than the workers.
    for group in _groups(blocks, max(PIECES, -(-len(blocks) // GROUPS))):
        work = [(names[i], rows.start, rows.stop, at) for at, i, rows in group]
        spread_out.append(client.submit(_spread, text, work, n_parts, key, pure=False, retries=_RETRIES))
    found = []
    for part in range(n_parts):
        own = [client.submit(_pick, future, part, pure=False, retries=_RETRIES) for future in spread_out]
        found.append(client.submit(_repeats, own, pure=False, retries=_RETRIES))
    dropped = Bits(total)
    involved = Bits(total)
    for again, first in client.gather(found):
        dropped.set(again)
        involved.set(np.concatenate([again, first]))
    return judge(sources, dropped, involved, copies=copies)


def _spread(text: str, work: list[tuple[str, int, int, int]], n_parts: int, key: Any) -> list[tuple[Any, Any]]:
    """Return (ordinals, tokens) of each part."""
    tokens = np.concatenate([_open(text, path).tokens(start, stop) for path, start, stop, _ in work])
    ordinals = np.concatenate([np.arange(at, at + stop - start) for _, start, stop, at in work])
    if n_parts == 1:
        return [(ordinals, tokens)]
    part = spread(tokens, n_parts, key)
    order = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part, minlength=n_parts))[:-1]
    return list(zip(np.split(ordinals[order], ends), np.split(tokens[order], ends), strict=True))


def _pick(parts: list[tuple[Any, Any]], i: int) -> tuple[Any, Any]:
    return parts[i]


def _repeats(parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Return the ordinals of copies, and of the reports they are copies of."""
    ordinals, tokens = (np.concatenate(column) for column in zip(*parts, strict=True))
    again, first = repeats(tokens, ordinals)
    return ordinals[again], ordinals[np.unique(first)]
