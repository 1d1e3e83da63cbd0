"""The LPDT tables and figures on small data of our own: resumable, nothing counted twice, splits as stated."""

import json

import numpy as np
import pandas as pd
import pytest

from hedgerow.bench import lpdt, lpdt_figures, lpdt_methods, lpdt_studies
from hedgerow.bench.datasets import load_dataset
from hedgerow.bench.lpdt_methods import GROUPS, Stream, Tabulated, trees
from hedgerow.bench.lpdt_table import against_hindsight, markdown, paper_figures, summarise
from hedgerow.bench.results import Results
from hedgerow.bench.splits import split, widened
from hedgerow.simulate import simulate_aggregate


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A data set under the name HOU, with a text column, and reference figures beside it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(300), "b": rng.random(300), "c": rng.choice(["x", "y", "z"], 300)})
    frame["target"] = 3 * frame["a"] + (frame["c"] == "x") + rng.normal(0, 0.1, 300)
    (tmp_path / "data").mkdir()
    (tmp_path / "reference").mkdir()
    frame.to_csv(tmp_path / "data" / "HOU.csv.gz", index=False)
    lines = ["dataset,epsilon,method,mse", "HOU,,DT,1.0", "HOU,4.0,LPDT-M,0.5", "HOU,4,LPDT-V,1e-9"]
    (tmp_path / "reference" / "lpdt_mse.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(lpdt_methods, "EPSILONS", (1.0, 4.0))
    return load_dataset("HOU")


def test_splits_are_one_seven_two_and_use_public_ranges_only(data):
    parts = split(data, 0)
    assert [len(p.y) for p in (parts.public, parts.private, parts.test)] == [30, 210, 60]
    assert parts.label_bounds == widened(parts.public.y)
    assert parts.space.high[0] == parts.public.X["a"].max()
    assert parts.categories == {"c": ["x", "y", "z"]}
    rows = [set(p.X.index) for p in (parts.public, parts.private, parts.test)]
    assert len(set.union(*rows)) == 300 == sum(map(len, rows))
    assert set(split(data, 1).public.X.index) != rows[0]
    assert set(split(data, 0).public.X.index) == rows[0]


def test_every_group_gives_one_error_for_each_parameter(data):
    parts = split(data, 0)
    for name, group in GROUPS.items():
        if name == "ours":
            continue
        for method, by_epsilon in group(parts, Stream(0)).items():
            family = "HIST" if "HIST" in method else method.split("-")[0]
            for errors in by_epsilon.values():
                assert len(errors) == len(lpdt_methods.GRIDS[family])
                assert np.isfinite(errors).all() and min(errors) >= 0


def test_ours_runs(data, monkeypatch):
    monkeypatch.setattr(lpdt_methods, "EPSILONS", (4.0,))
    errors = GROUPS["ours"](split(data, 0), Stream(0))
    assert list(errors) == ["ours"] and 0 <= errors["ours"]["4"][0] < np.var(data.y) * 3


def test_fast_path_has_the_law_of_the_protocol(data):
    """Leaf means of the table's fast path and of simulate_aggregate: 6 standard errors, a chance below 1e-8."""
    parts = split(data, 0)
    tree = next(t for t, _ in trees(parts, "max_edge") if t.partition.n_leaves == 2)
    fast = [lpdt_studies.lpdt_model(tree, 4.0, 0.5, Stream(s)) for s in range(300)]
    slow = [
        simulate_aggregate(fast[0].task, parts.private.X, parts.private.y, randomness=s).model() for s in range(300)
    ]
    sums = [np.array([m.sums for m in models], dtype=float) for models in (fast, slow)]
    gap = sums[0].mean(axis=0) - sums[1].mean(axis=0)
    assert (np.abs(gap) < 6 * np.sqrt((sums[0].var(axis=0) + sums[1].var(axis=0)) / 300)).all()
    assert (np.abs(np.log(sums[0].std(axis=0) / sums[1].std(axis=0))) < 6 * np.sqrt(2 / 600)).all()


def test_equal_partitions_are_evaluated_once_and_stand_for_all_their_places(data):
    grown = trees(split(data, 0), "cart")
    places = sorted(p for _, where in grown for p in where)
    assert places == list(range(len(lpdt_methods.LEAF_SIZES) * len(lpdt_methods.DEPTHS)))
    assert len(grown) < len(places) and all(isinstance(t, Tabulated) for t, _ in grown)


def test_a_killed_run_goes_on_and_counts_nothing_twice(data, tmp_path):
    path = tmp_path / "out" / "lpdt.jsonl"
    lpdt.run(Results(path), ["HOU"], 2, ["dt"], quiet=True)
    whole = path.read_text()
    first, second = whole.splitlines()
    path.write_text(first + "\n" + second[: len(second) // 2])  # killed in the middle of a line
    lpdt.run(Results(path), ["HOU"], 2, ["dt"], quiet=True)
    lpdt.run(Results(path), ["HOU"], 2, ["dt"], quiet=True)
    lines = [line for line in path.read_text().splitlines() if line not in (first, second)]
    assert len(lines) == 1 and second.startswith(lines[0])
    assert len(list(Results(path))) == 2
    with path.open("a") as file:
        file.write(first.replace('"DT"', '"XX"') + "\n")  # the same key again: the first counts
    table = summarise(Results(path))
    assert table["HOU", "DT", ""].repeats == 2
    errors = np.array([json.loads(line)["value"]["DT"][""] for line in (first, second)])
    assert table["HOU", "DT", ""].mean == pytest.approx(errors.mean(axis=0).min())


def test_table_command_writes_figures_beside_the_papers(data, tmp_path, capsys):
    out = tmp_path / "out" / "lpdt.md"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "lpdt.notes.md").write_text("A remark.\n")
    command = ["table", "--repeats", "2", "--datasets", "HOU", "--methods", "lpdt", "dt", "--out", str(out)]
    assert lpdt.main(command) == 0
    text = out.read_text()
    assert "A remark." in text and "1 of 2 cells met." in text
    assert "met" in text and "**missed**" in text
    assert paper_figures()["HOU", "DT", ""] == 1.0
    summary = pd.read_csv(out.with_suffix(".csv"))
    assert {"LPDT-M", "LPDT-V+public", "LPDT-M+blend", "DT", "DT-pub"} <= set(summary["method"])
    assert (summary["repeats"] == 2).all()
    assert markdown(Results(out.with_suffix(".jsonl")), "A remark.") == text
    assert not list(out.parent.glob(".*")), "nothing half-written is left behind"


def test_ours_is_compared_on_the_splits_that_all_were_run_on(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    grid = len(lpdt_methods.GRIDS["LPDT"])
    for repeat, error in ((0, 2.0), (1, 100.0)):
        results.add(("HOU", repeat, "lpdt"), {"LPDT-M+blend": {"1": [error] * grid}})
        results.add(("HOU", repeat, "cell"), {"CELL-V": {"1": [error + 1] * grid}})
    results.add(("HOU", 0, "ours"), {"ours": {"1": [3.0]}})
    row = next(line for line in against_hindsight(results) if line.startswith("| HOU"))
    assert "1.50" in row


def _unreachable(*_, **__):
    raise OSError("no route to host")


def test_a_missing_data_set_is_one_clear_line(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # no ../shared/data, no cache, and an origin that cannot be reached
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("urllib.request.urlopen", _unreachable)
    assert lpdt.main(["table", "--repeats", "1", "--datasets", "ABA", "--out", str(tmp_path / "x.md")]) == 2
    error = capsys.readouterr().err
    assert "HEDGEROW_DATA" in error and len(error.splitlines()) == 1


def test_figures_are_drawn(tmp_path, capsys):
    assert lpdt.main(["figures", "--only", "1", "2a", "--repeats", "2", "--out", str(tmp_path)]) == 0
    files = capsys.readouterr().out.split()
    assert len(files) == 6 and all((tmp_path / f.split("/")[-1]).stat().st_size > 500 for f in files)
    page = (tmp_path / "lpdt_figures.md").read_text()
    assert "Figure 2(a)" in page and "Figure 3" not in page
    points = pd.read_csv(tmp_path / "lpdt_figure_2a.csv")
    deep = points[points["x"] == 6].set_index("series")["mean"]
    assert deep["epsilon = 3"] > deep["epsilon = 8"], "less budget, more error at depth 6"


def test_every_figure_has_its_axes():
    assert set(lpdt_figures._AXES) == set(lpdt_studies.STUDIES) == set(lpdt_figures._CAPTIONS) - {"1"}
