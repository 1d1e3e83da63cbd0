"""A run can be killed at any moment, spread over processes, or run twice at once: the same results, each once."""

import dataclasses
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from hedgerow.compare.scores import Row, summarise
from hedgerow.errors import HedgerowError
from hedgerow_experiments.experiment import Experiment, Grid, Group, Key, Selection
from hedgerow_experiments.export import export, held_cells, load_rows, open_results
from hedgerow_experiments.progress import Progress
from hedgerow_experiments.results import Results
from hedgerow_experiments.runner import bundles, compute, missing, run
from hedgerow_experiments.tidy import best_rows, kept_rows, rows_of

TOY = Experiment(
    name="toy",
    title="A toy",
    paper="none",
    datasets=("A", "B", "C"),
    groups=(Group("trees", ("m", "n")), Group("free", epsilons=()), Group("extra", datasets=("A",), most=1)),
    epsilons=(1.0, math.inf),
    repeats=6,
    compute="toy_cells:compute",
    grids=(Grid(("m",), (("depth", (1, 2, 3)),)),),
)


@pytest.fixture
def cells(tmp_path, monkeypatch):
    """A module of cells that draw from their seed, and take a moment."""
    (tmp_path / "toy_cells.py").write_text(
        textwrap.dedent(
            """
            import os, time
            import numpy as np

            def compute(key, seed):
                time.sleep(float(os.environ.get("TOY_SECONDS", "0")))
                rng = np.random.default_rng(seed)
                if key.group == "trees":
                    return {"m": rng.random(3).tolist(), "n": {"a": rng.random(), "b": rng.random()}}
                return {key.group: rng.random()}
            """
        )
    )
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def table(folder):
    return export(TOY, folder)[0].read_bytes()


def test_every_cell_is_computed_once_and_nothing_again(cells, tmp_path):
    results = run(TOY, folder=tmp_path / "one", quiet=True)
    assert {Key.read(key) for key, _ in results} == set(TOY.keys())
    assert len(results) == 6 * 3 * 3 + 2  # two budgets and one without, and the extra in the first repeat of A
    assert (
        results.seeds == {k.write(): TOY.seed(k) for k in list(TOY.keys())} and len(set(results.seeds.values())) == 56
    )
    assert set(results.runs[0]["versions"]) >= {"numpy", "scikit-learn", "hedgerow"} and results.runs[0]["machine"]
    before = (tmp_path / "one" / "toy.jsonl").read_bytes()
    assert not missing(TOY, results)
    run(TOY, folder=tmp_path / "one", quiet=True)
    assert (tmp_path / "one" / "toy.jsonl").read_bytes() == before


def test_a_part_and_then_the_rest_is_the_whole(cells, tmp_path):
    run(TOY, folder=tmp_path / "whole", quiet=True)
    run(TOY, Selection(1, 3, ("B",), (math.inf,)), folder=tmp_path / "parts", quiet=True)
    assert {(k[0], k[1]) for k, _ in open_results(TOY, tmp_path / "parts")} == {("B", 3)}
    run(TOY, Selection(methods=("free",)), folder=tmp_path / "parts", quiet=True)
    run(TOY, folder=tmp_path / "parts", quiet=True)
    assert table(tmp_path / "parts") == table(tmp_path / "whole")


def test_one_process_two_processes_and_an_engine_give_the_same_table(cells, tmp_path):
    def mapper(function, items):
        with ThreadPoolExecutor(2) as pool:
            yield from reversed(list(pool.map(function, items)))

    run(TOY, folder=tmp_path / "one", quiet=True)
    run(TOY, folder=tmp_path / "two", jobs=2, quiet=True)
    run(TOY, folder=tmp_path / "engine", mapper=mapper, quiet=True)
    assert table(tmp_path / "one") == table(tmp_path / "two") == table(tmp_path / "engine")


def start(cells, folder, jobs, seconds="0.01"):
    """Start a real process that runs the toy."""
    script = cells / "run_toy.py"
    if not script.exists():
        source = "from pathlib import Path\nimport sys\nfrom hedgerow_experiments.experiment import *\n"
        source += "from math import inf\nfrom hedgerow_experiments.runner import run\n"
        source += f"TOY = {TOY!r}\n"
        source += (
            "if __name__ == '__main__':\n    run(TOY, folder=Path(sys.argv[1]), jobs=int(sys.argv[2]), quiet=True)\n"
        )
        script.write_text(source)
    environment = os.environ | {"TOY_SECONDS": seconds, "PYTHONPATH": os.pathsep.join([str(cells), *sys.path])}
    return subprocess.Popen([sys.executable, str(script), str(folder), str(jobs)], env=environment)


def lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_killed_again_and_again_ends_with_the_same_table(cells, tmp_path, jobs):
    run(TOY, folder=tmp_path / "whole", quiet=True)
    folder, path = tmp_path / "killed", tmp_path / "killed" / "toy.jsonl"
    for kill in range(2):
        process, goal = start(cells, folder, jobs, "0.05"), lines(path) + 5 + kill
        while lines(path) < goal and process.poll() is None:
            time.sleep(0.005)
        assert process.poll() is None, "finished before it was killed: nothing tested"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with path.open("ab") as file:  # and as if the kill had come in the middle of a line
            file.write(b'{"key":["A",5,"",1.0,"trees"],"value":{"m":[0.1,0.2')
    assert start(cells, folder, jobs, "0").wait() == 0
    assert table(folder) == table(tmp_path / "whole")
    counts = Counter(str(json.loads(line)["key"]) for line in path.read_bytes().splitlines() if line.endswith(b"}")
                     and b'"run"' not in line)  # fmt: skip
    assert set(counts.values()) == {1} and len(counts) == len(list(TOY.keys()))


def test_two_runs_at_once_count_nothing_twice(cells, tmp_path):
    run(TOY, folder=tmp_path / "whole", quiet=True)
    both = [start(cells, tmp_path / "both", 1, "0.02") for _ in range(2)]
    assert [p.wait() for p in both] == [0, 0]
    text = (tmp_path / "both" / "toy.jsonl").read_text().splitlines()
    counts = Counter(str(item["key"]) for item in map(json.loads, text) if "key" in item)
    assert set(counts.values()) == {1} and len(counts) == len(list(TOY.keys()))
    assert table(tmp_path / "both") == table(tmp_path / "whole")


def test_torn_and_foreign_lines_are_skipped_and_the_first_of_a_key_counts(tmp_path):
    path = tmp_path / "r.jsonl"
    results = Results(path)
    assert results.add(("A", 1), 1.0) and not results.add(("A", 1), 2.0)
    with path.open("ab") as file:
        file.write(b'{"key":["A",1],"value":9.0}\n[1]\nnothing\n{"key":["A",2]}\n{"key":["A",3],"value":3.0')
    again = Results(path)
    assert dict(again) == {("A", 1): 1.0}
    assert again.add(("A", 3), 4.0) and dict(Results(path)) == {("A", 1): 1.0, ("A", 3): 4.0}
    assert not results.add(("A", 3), 5.0), "what others wrote is seen before writing"
    with pytest.raises(ValueError, match="JSON"):
        again.add(("A", 4), math.nan)
    assert ("A", 4) not in Results(path)


def test_minutes_stop_a_run_and_bundles_share_what_they_say(cells, tmp_path):
    results = run(TOY, folder=tmp_path / "none", minutes=-1, quiet=True)
    assert len(results) == 0
    keys = list(TOY.keys(Selection(repeats=1)))
    assert bundles(TOY, keys)[0].keys == (
        Key("A", 0, "", 1.0, "trees"),
        Key("A", 0, "", math.inf, "trees"),
    )
    assert sum(len(b.keys) for b in bundles(TOY, keys)) == len(keys)
    assert [c.key for c in compute(bundles(TOY, keys)[0])] == list(keys[:2])


def test_progress_says_what_is_left_from_cells_of_the_same_kind(tmp_path):
    results = Results(tmp_path / "r.jsonl")
    results.add(Key("A", 0, "", 1.0, "m").write(), 0.0, seconds=10.0)
    results.add(Key("B", 0, "", 1.0, "m").write(), 0.0, seconds=1.0)
    todo = [Key(d, r, "", 1.0, "m") for r in (1, 2) for d in "AB"]
    assert Progress("toy", todo, results, 2, quiet=True).left() == pytest.approx(11.0)


def test_a_group_without_its_package_is_left_out(tmp_path):
    peer = Experiment("p", "", "", ("A",), (Group("x", needs="no_such_package.inside"), Group("y")), (1.0,), 1, "a:b")
    assert [k.group for k in missing(peer, Results(tmp_path / "p.jsonl"))] == ["y"]


def test_committed_files_are_enough_and_are_not_made_smaller(cells, tmp_path):
    run(TOY, folder=tmp_path, quiet=True)
    rows = rows_of(TOY, open_results(TOY, tmp_path))
    export(TOY, tmp_path)
    (tmp_path / "toy.jsonl").unlink()
    kept = load_rows(TOY, tmp_path)
    best = best_rows(rows, summarise(rows))
    assert len(best) < len(rows)
    assert [r._replace(value=0.0) for r in kept] == [r._replace(value=0.0) for r in best]
    assert [r.value for r in kept] == pytest.approx([r.value for r in best], rel=1e-9)
    assert [s.parameter for s in summarise(kept)] == [s.parameter for s in summarise(rows)]
    run(TOY, Selection(repeats=1), folder=tmp_path, quiet=True)
    with pytest.raises(HedgerowError, match="would be lost"):
        export(TOY, tmp_path)
    assert load_rows(TOY, tmp_path) and export(TOY, tmp_path, replacing=True)


def test_committed_files_grow_by_cells_that_were_not_computed_before(cells, tmp_path):
    """Raw results do not travel; another machine goes on from the rows."""
    toy = dataclasses.replace(TOY, keep="all")
    run(toy, Selection(repeats=1), folder=tmp_path, quiet=True)
    export(toy, tmp_path)
    first = load_rows(toy, tmp_path)
    (tmp_path / "toy.jsonl").unlink()
    run(toy, Selection(repeats=1, first=1), folder=tmp_path, quiet=True)
    export(toy, tmp_path, adding=True)
    (tmp_path / "toy.jsonl").unlink()
    both = load_rows(toy, tmp_path)
    assert len(both) == 2 * len(first)
    assert {row.repeat for row in both} == {0, 1}
    kept = {row._replace(value=0.0) for row in both}
    assert {row._replace(value=0.0) for row in first} <= kept


def test_cells_of_the_best_parameters_are_added_whole_or_not_at_all(cells, tmp_path):
    run(TOY, Selection(repeats=3), folder=tmp_path, quiet=True)
    export(TOY, tmp_path)
    (tmp_path / "toy.jsonl").unlink()
    before = load_rows(TOY, tmp_path)
    run(TOY, Selection(repeats=2, first=2, datasets=("A",)), folder=tmp_path, quiet=True)
    with pytest.raises(HedgerowError, match=r"Split 0 of .* on A was not run"):
        export(TOY, tmp_path, adding=True)
    run(TOY, Selection(repeats=4, datasets=("A",)), folder=tmp_path, quiet=True)
    own = [row for row in kept_rows(TOY, open_results(TOY, tmp_path)) if row.dataset == "A"]
    export(TOY, tmp_path, adding=True)
    (tmp_path / "toy.jsonl").unlink()
    after = load_rows(TOY, tmp_path)
    assert [r._replace(value=0.0) for r in after if r.dataset == "A"] == [r._replace(value=0.0) for r in own]
    assert [r for r in after if r.dataset != "A"] == [r for r in before if r.dataset != "A"]
    assert held_cells(TOY, tmp_path) == set()  # nothing of other parameters is there to go on from


def test_a_run_counts_once_however_often_it_is_written(cells, tmp_path):
    toy = dataclasses.replace(TOY, keep="all")

    def made():
        known = json.loads((tmp_path / "data" / "toy.json").read_text())
        assert sum(run["cells"] for run in known["runs"]) == known["cells"] == known["cells_with_time"]
        return known["cells"], len(known["runs"])

    run(toy, Selection(repeats=1), folder=tmp_path, quiet=True)
    export(toy, tmp_path, adding=True)
    first = made()
    export(toy, tmp_path, adding=True)
    assert made() == first
    run(toy, Selection(repeats=2), folder=tmp_path, quiet=True)
    export(toy, tmp_path, adding=True)
    assert made() == (len(open_results(toy, tmp_path)), 2)
    (tmp_path / "toy.jsonl").unlink()
    run(toy, Selection(repeats=1), folder=tmp_path, quiet=True)  # the same cells once more: paid for once more
    export(toy, tmp_path, adding=True)
    assert made() == (len(list(toy.keys(Selection(repeats=2)))) + first[0], 3)


def test_cells_that_a_file_holds_are_not_computed_again(cells, tmp_path):
    toy = dataclasses.replace(TOY, keep="all", tidy="hedgerow_experiments.tidy:by_metric")
    every = missing(toy, Results(tmp_path / "none.jsonl"))
    assert missing(toy, Results(tmp_path / "none.jsonl"), held=set(every[:2])) == every[2:]


@pytest.mark.parametrize("choose", ["lowest", "highest", "none"])
def test_searching_lists_before_they_become_rows_changes_nothing(cells, tmp_path, choose):
    toy = dataclasses.replace(TOY, choose=choose)
    results = [*run(toy, folder=tmp_path, quiet=True), (("A", 7, "", 1.0, "trees"), {"m": [0.5, 0.5, 0.5]})]
    rows = rows_of(toy, results)
    assert kept_rows(toy, results) == best_rows(rows, summarise(rows, choose))
    assert kept_rows(dataclasses.replace(toy, keep="all"), results) == rows
    tied = [(("A", r, "", 1.0, "trees"), {"m": [0.5, 0.5, 0.5]}) for r in range(2)]
    assert {r.parameter for r in kept_rows(toy, tied)} == {s.parameter for s in summarise(rows_of(toy, tied), choose)}


def test_only_parameters_of_all_repeats_compete():
    rows = [Row("e", "A", "", "m", 1.0, None, p, r, "mse", v) for p, r, v in
            [("a", 0, 2.0), ("a", 1, 2.0), ("b", 0, 0.0), ("c", 0, 3.0), ("c", 1, 4.0)]]  # fmt: skip
    assert [s.parameter for s in summarise(rows)] == ["a"]
    assert [s.parameter for s in summarise(rows, "highest")] == ["c"]
    assert [s.parameter for s in summarise(rows, "none")] == ["a", "c"]
