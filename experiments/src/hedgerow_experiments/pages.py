"""The pages of results, written from what is committed: ``hedgerow bench page``, a step of ``make docs``.

An experiment names the function that makes its pages: it takes an :class:`~hedgerow_experiments.found.Evidence` and
returns files by name. A page in the folder ``kept`` of the results takes the place of one that would be made: it was
written from raw results that are not committed, and stands until its experiment is run again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hedgerow_experiments.experiment import Files, call
from hedgerow_experiments.export import replace, summary_csv
from hedgerow_experiments.found import KEPT, Evidence
from hedgerow_experiments.registry import all_experiments

__all__ = ["pages", "write_pages"]

_OVER_ALL = (
    "hedgerow_experiments.claims.page:pages",
    "hedgerow_experiments.status:pages",
    "hedgerow_experiments.page.index:pages",
)
"""Pages that are about all experiments."""


def pages() -> list[Callable[[Evidence], Files]]:
    """Return all functions that make pages, each once: experiments may share one."""
    named = (e.page for e in all_experiments().values() if e.page)
    return [call(name) for name in dict.fromkeys((*named, *_OVER_ALL))]


def write_pages(folder: Path, to: Path) -> list[Path]:
    """Write the pages, and a summary of each experiment, from the results in a folder; return their paths."""
    found = Evidence.load(folder)
    files: Files = {}
    for make in pages():
        files |= make(found)
    files |= {f"{name}.csv": summary_csv(found.summaries(name)) for name in found.experiments}
    files |= {path.name: path.read_bytes() for path in sorted((folder / KEPT).glob("*.*"))}
    for name, content in files.items():
        replace(to / name, content)
    return [to / name for name in files]
