"""Runs experiments: what is missing is computed, by one process or several, and kept as it comes."""

from __future__ import annotations

import importlib.util
import itertools
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from hedgerow_experiments.experiment import Experiment, Key, Selection, call
from hedgerow_experiments.export import FOLDER, open_results
from hedgerow_experiments.facts import facts
from hedgerow_experiments.fingerprint import fingerprints
from hedgerow_experiments.progress import Progress
from hedgerow_experiments.results import Results

__all__ = ["Bundle", "Computed", "Mapper", "compute", "missing", "outdated", "run"]

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Bundle(NamedTuple):
    """Cells that one worker computes one after the other, because they share work (a split, a tree)."""

    experiment: Experiment
    keys: tuple[Key, ...]


class Computed(NamedTuple):
    """One cell that was computed."""

    key: Key
    value: Any
    seed: int
    seconds: float


Mapper = Callable[[Callable[[Bundle], list[Computed]], Iterable[Bundle]], Iterable[list[Computed]]]
"""Like ``executor.map``; answers may come in any order, since each says what it is about."""


def compute(bundle: Bundle) -> list[Computed]:
    """Compute the cells of a bundle, on one thread; what runs, where and in which order does not change a result."""
    from threadpoolctl import threadpool_limits

    function = call(bundle.experiment.compute)
    done = []
    with threadpool_limits(1):
        for key in bundle.keys:
            seed = bundle.experiment.seed(key)
            start = time.process_time()
            value = function(key, seed)
            done.append(Computed(key, value, seed, time.process_time() - start))
    return done


def missing(
    experiment: Experiment,
    results: Results,
    wanted: Selection | None = None,
    held: Collection[Key] = (),
    *,
    fresh: bool = False,
) -> list[Key]:
    """Return the cells that were not computed yet, in order, leaving out those that need a package not installed.

    ``held`` are cells that were computed elsewhere. If all are to be ``fresh``, cells of other code are missing, too.
    """
    left_out = {g.name for g in experiment.groups if g.needs and not _installed(g.needs)}
    codes = fingerprints(experiment) if fresh else None
    found = [k for k in experiment.keys(wanted) if not _there(k, results, codes) and k not in held]
    return [k for k in found if k.group not in left_out]


def _there(key: Key, results: Results, codes: Mapping[str, str] | None) -> bool:
    """Return whether a cell need not be computed; with ``codes``, one of other code is."""
    raw = key.write()
    return raw in results and (codes is None or results.codes.get(raw) == codes[key.group])


def outdated(experiment: Experiment, results: Results, wanted: Selection | None = None) -> list[Key]:
    """Return the cells that were computed by other code, or by code that is not known."""
    codes = fingerprints(experiment)
    return [k for k in experiment.keys(wanted) if k.write() in results and not _there(k, results, codes)]


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def bundles(experiment: Experiment, keys: Iterable[Key]) -> list[Bundle]:
    """Put cells that share work together, in the order of their first cells."""
    found: dict[tuple[Any, ...], list[Key]] = {}
    for key in keys:
        found.setdefault(tuple(getattr(key, part) for part in experiment.bundle), []).append(key)
    return [Bundle(experiment, tuple(some)) for some in found.values()]


def run(
    experiment: Experiment,
    wanted: Selection | None = None,
    *,
    folder: Path = FOLDER,
    jobs: int = 1,
    minutes: float | None = None,
    mapper: Mapper | None = None,
    command: str = "",
    quiet: bool = False,
    held: Collection[Key] = (),
    fresh: bool = False,
) -> Results:
    """Compute what is missing and return all results.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    wanted : Selection, optional
        Which part of it; by default all.
    folder : Path
        Where results are kept. Lines are written by this process alone, as bundles are finished; a run that is killed
        at any moment goes on where it stopped and ends with the same results, since a seed depends on its key alone.
    jobs : int, default=1
        Processes.
    minutes : float, optional
        Begin nothing new after so long.
    mapper : callable, optional
        Called like ``executor.map`` in place of ``jobs`` processes here: an engine can spread bundles over machines.
    command : str
        Kept with the versions and the machine.
    quiet : bool
        No progress on stderr.
    held : collection of Key
        Cells that need not be computed: a file has them.
    fresh : bool
        Compute cells of other code anew. Each keeps its old result until then.
    """
    results = open_results(experiment, folder)
    codes = fingerprints(experiment)
    todo = missing(experiment, results, wanted, held, fresh=fresh)
    if not todo:
        return results
    results.add_run(facts(command))
    stop = None if minutes is None else time.monotonic() + 60 * minutes
    progress = Progress(experiment.name, todo, results, jobs, quiet=quiet)
    feed = _feed(bundles(experiment, todo), results, stop, codes if fresh else None)
    for done in (mapper or _local(jobs))(compute, feed):
        for cell in done:
            code = codes[cell.key.group]
            results.add(
                cell.key.write(), cell.value, seed=cell.seed, seconds=cell.seconds, code=code, anew=fresh
            )  # fmt: skip
        progress.step(done)
    progress.finish()
    return results


def _feed(
    todo: list[Bundle], results: Results, stop: float | None, codes: Mapping[str, str] | None
) -> Iterator[Bundle]:
    """Yield bundles as they are asked for, without cells that another process finished meanwhile."""
    for bundle in todo:
        if stop is not None and time.monotonic() > stop:
            return
        results.refresh()
        keys = tuple(k for k in bundle.keys if not _there(k, results, codes))
        if keys:
            yield bundle._replace(keys=keys)


def _local(jobs: int) -> Mapper:
    return map if jobs == 1 else lambda function, items: _pool(jobs, function, items)


def _pool(jobs: int, function: Callable[[Bundle], list[Computed]], items: Iterable[Bundle]) -> Iterator[list[Computed]]:
    """Yield answers as they come; only a few bundles are handed out ahead."""
    todo = iter(items)
    with (
        _one_thread(),
        ProcessPoolExecutor(jobs, get_context("spawn"), _watch_parent, (os.getpid(),)) as pool,
    ):
        pending = {pool.submit(function, item) for item in itertools.islice(todo, jobs + 1)}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
                pending |= {pool.submit(function, item) for item in itertools.islice(todo, 1)}


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let processes that are started meanwhile use one thread each."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _watch_parent(parent: int) -> None:
    """End this worker when the process that writes results is gone: a kill leaves nothing behind that still runs."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
