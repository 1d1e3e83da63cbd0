"""Files that are committed: every table and figure can be made again from them, without the raw results.

For an experiment NAME and a folder, by default ``experiments/results``:

* ``NAME.jsonl``: raw results as they came (not committed: large);
* ``data/NAME.csv.gz``: one line a repeat (of the chosen parameters, where there is a grid);
* ``data/NAME.json``: what they were made with, how many, how long it took.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hedgerow.compare.scores import Row, Summary
from hedgerow.errors import HedgerowError
from hedgerow_experiments.experiment import Experiment, Key
from hedgerow_experiments.fingerprint import fingerprints
from hedgerow_experiments.results import Results
from hedgerow_experiments.tidy import in_order, kept_rows

__all__ = [
    "FOLDER",
    "committed",
    "export",
    "held_cells",
    "load_rows",
    "open_results",
    "raw_path",
    "read_rows",
    "replace",
    "summary_csv",
    "write_rows",
]

FOLDER = Path("experiments/results")

_HEAD = ("dataset", "setting", "method", "epsilon", "x", "parameter", "repeat", "metric", "value")
_CODE = "code"


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """Write rows as gzipped CSV; the same rows give the same bytes.

    The last column, the code that a row was computed by, is there if that is known of any.
    """
    rows = list(rows)
    known = any(r.code for r in rows)
    text = io.StringIO(newline="")
    out = csv.writer(text, lineterminator="\n")
    out.writerow([*_HEAD, _CODE] if known else _HEAD)
    for r in rows:
        out.writerow([r.dataset, r.setting, r.method, _text(r.epsilon), _text(r.x), r.parameter, r.repeat, r.metric,
                      f"{r.value:.10g}", *([r.code] if known else [])])  # fmt: skip
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="", compresslevel=9) as file:
        file.write(text.getvalue().encode())
    replace(path, packed.getvalue())


def read_rows(name: str, path: Path) -> list[Row]:
    """Return the rows of a committed file."""
    with gzip.open(path, "rt", newline="") as file:
        lines = csv.reader(file)
        if tuple(next(lines, ())) not in (_HEAD, (*_HEAD, _CODE)):
            raise HedgerowError(f"{path} is not a file of results: its columns must be {', '.join(_HEAD)}.")
        return [
            Row(
                name,
                dataset,
                setting,
                method,
                _number(epsilon),
                _number(x),
                parameter,
                int(repeat),
                metric,
                float(value),
                *code,
            )
            for dataset, setting, method, epsilon, x, parameter, repeat, metric, value, *code in lines
        ]


def summary_csv(summaries: Iterable[Summary]) -> bytes:
    """Return one line for each cell of the tables."""
    text = io.StringIO(newline="")
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["dataset", "setting", "method", "epsilon", "x", "metric", "parameter", "repeats", "mean",
                  "standard_error", "low", "high"])  # fmt: skip
    for s in summaries:
        numbers = [s.mean, s.error, *s.quantiles()]
        shown = ["" if math.isnan(v) else f"{v:.6g}" for v in numbers]
        out.writerow([s.dataset, s.setting, s.method, _text(s.epsilon), _text(s.x), s.metric, s.parameter,
                      len(s.values), *shown])  # fmt: skip
    return text.getvalue().encode()


def replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_bytes(content)
    os.replace(partial, path)


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def _number(text: str) -> float | None:
    return float(text) if text else None


def raw_path(experiment: Experiment, folder: Path = FOLDER) -> Path:
    """Return where raw results are kept."""
    return folder / f"{experiment.name}.jsonl"


def open_results(experiment: Experiment, folder: Path = FOLDER) -> Results:
    """Return the raw results of an experiment."""
    return Results(raw_path(experiment, folder))


def committed(name: str, folder: Path = FOLDER) -> Path:
    """Return where the rows of an experiment are kept."""
    return folder / "data" / f"{name}.csv.gz"


def load_rows(experiment: Experiment, folder: Path = FOLDER) -> list[Row]:
    """Return the rows of an experiment: from raw results if there are any here, else from the committed file."""
    results = open_results(experiment, folder)
    if len(results):
        return kept_rows(experiment, results)
    path = committed(experiment.name, folder)
    return read_rows(experiment.name, path) if path.exists() else []


def export(
    experiment: Experiment, folder: Path = FOLDER, *, replacing: bool = False, adding: bool = False
) -> list[Path]:
    """Write the committed files of an experiment from its raw results; return their paths.

    A file that holds results which the raw ones lack (made elsewhere, on a larger machine) is kept, unless one is
    ``replacing`` it, or ``adding`` to it: then results of cells that were not computed here stay as they are.
    """
    results = open_results(experiment, folder)
    if not len(results):
        raise HedgerowError(f"no results of {experiment.name} in {folder}: run 'hedgerow bench run {experiment.name}'.")
    rows = kept_rows(experiment, results)
    paths = [committed(experiment.name, folder), folder / "data" / f"{experiment.name}.json"]
    made = _made_with(experiment, results)
    if adding:
        rows = _added(experiment, rows, paths[0])
        made = _both(made, paths[1])
    elif not replacing:
        _check_nothing_lost(experiment, rows, paths[0])
    write_rows(rows, paths[0])
    replace(paths[1], (json.dumps(made, indent=1) + "\n").encode())
    return paths


def held_cells(experiment: Experiment, folder: Path = FOLDER, *, fresh: bool = False) -> set[Key]:
    """Return the cells that the committed file holds, as far as its rows name them: by data, split, setting and group.

    An experiment whose rows name methods within a group is computed anew; its new rows take the place of the old. So is
    one that keeps the best parameters only: more splits may choose others, of which the file has nothing. ``fresh``
    leaves out cells of other code.
    """
    if experiment.keep != "all":
        return set()
    path = committed(experiment.name, folder)
    rows = read_rows(experiment.name, path) if path.exists() else []
    if fresh:
        codes = fingerprints(experiment)
        rows = [row for row in rows if row.code and row.code == codes.get(row.method)]
    return {Key(row.dataset, row.repeat, row.setting, row.epsilon or 0.0, row.method) for row in rows}


def _added(experiment: Experiment, rows: list[Row], path: Path) -> list[Row]:
    """Return new rows, and those of the file that are of other cells.

    A cell is replaced with all that it told: one that failed before has a score now, and has not failed. Where the best
    parameters are kept, all splits of a cell are replaced together: those of different parameters do not mix.
    """
    if not path.exists():
        return rows
    before = read_rows(experiment.name, path)
    have = {_place(row) for row in rows}
    others = [row for row in before if _place(row) not in have]
    if experiment.keep != "all":
        own = {row.cell for row in rows}
        lost = [row for row in others if row.cell in own]
        if lost:
            raise HedgerowError(
                f"{experiment.name} keeps the rows of the best parameters over all splits: a cell can be added only "
                f"with all the splits that the file has of it. Split {lost[0].repeat} of {lost[0].method} on "
                f"{lost[0].dataset} was not run: run it too."
            )
    return sorted([*rows, *others], key=in_order)


def _place(row: Row) -> tuple[Any, ...]:
    """Return which cell a row is of, whatever it tells of it."""
    return row.dataset, row.setting, row.method, row.epsilon, row.x, row.repeat


_COUNTS = ("cells", "cpu_seconds", "cells_with_time")


def _both(made: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return what the file was made with before, and now.

    A cell that two runs computed counts twice; a run that the file knows counts with what is new of it only, however
    often it is written.
    """
    if not path.exists():
        return made
    before = json.loads(path.read_text())
    known = {_name(run): run for run in before.get("runs", [])}
    sums = {name: before.get(name, 0) for name in _COUNTS}
    for run in made["runs"]:
        told = known.get(_name(run), dict.fromkeys(_COUNTS, 0))
        for name in _COUNTS:
            sums[name] += run[name] - told.get(name, run[name])  # a run of before runs were counted: all of it
    sums["cpu_seconds"] = round(sums["cpu_seconds"], 1)
    fresh = {_name(run): run for run in made["runs"]}
    return {**made, **sums, "runs": list({**known, **fresh}.values())}


def _name(run: dict[str, Any]) -> tuple[str, str]:
    """Return what tells a run from others."""
    return str(run.get("command")), str(run.get("started"))


def _check_nothing_lost(experiment: Experiment, rows: list[Row], path: Path) -> None:
    if path.exists():
        have = {(*row.cell, row.repeat) for row in rows}
        lost = [row for row in read_rows(experiment.name, path) if (*row.cell, row.repeat) not in have]
        if lost:
            raise HedgerowError(
                f"{path} holds {len(lost)} results that are not in {raw_path(experiment, path.parents[1])}, such as "
                f"{lost[0].method} on {lost[0].dataset}: they would be lost. Write to another folder with --out, or "
                "say --add or --replace."
            )


def _made_with(experiment: Experiment, results: Results) -> dict[str, Any]:
    counts = [results.counts(place) for place in range(len(results.runs))]
    return {
        "experiment": experiment.name,
        "cells": len(results),
        "cpu_seconds": round(math.fsum(results.seconds.values()), 1),
        "cells_with_time": len(results.seconds),
        "runs": [
            {**run, **dict(zip(_COUNTS, found, strict=True))} for run, found in zip(results.runs, counts, strict=True)
        ],
    }
