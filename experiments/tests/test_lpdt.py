"""The LPDT tables and figures on small data of our own: resumable, nothing counted twice, splits as stated."""

import dataclasses
import io

import numpy as np
import pandas as pd
import pytest

from hedgerow.cli import main
from hedgerow.compare.scores import Row
from hedgerow.tasks.tree.simulate import simulate_aggregate
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.splits import split, widened
from hedgerow_experiments.experiment import Key, Selection
from hedgerow_experiments.export import load_rows
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.lpdt import figures as lpdt_figures
from hedgerow_experiments.lpdt import page as lpdt_page
from hedgerow_experiments.lpdt import studies as lpdt_studies
from hedgerow_experiments.lpdt import trips_and_seconds
from hedgerow_experiments.lpdt.declared import DEPTHS, FIGURES, LEAF_SIZES, REPORTS, TABLE_2, TABLE_6
from hedgerow_experiments.lpdt.methods import GROUPS, Stream, Tabulated, _data, _split, trees
from hedgerow_experiments.lpdt.page import against_hindsight, by_cell
from hedgerow_experiments.runner import run


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A data set under the name HOU, with a text column."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(300), "b": rng.random(300), "c": rng.choice(["x", "y", "z"], 300)})
    frame["target"] = 3 * frame["a"] + (frame["c"] == "x") + rng.normal(0, 0.1, 300)
    (tmp_path / "data").mkdir()
    frame.to_csv(tmp_path / "data" / "HOU.csv.gz", index=False)
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path / "data"))
    _split.cache_clear()
    _data.cache_clear()
    yield load_dataset("HOU")
    _split.cache_clear()
    _data.cache_clear()


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
    for experiment in (TABLE_2, REPORTS):
        for group in experiment.groups:
            found = GROUPS[group.name](parts, 4.0, Stream(0))
            assert set(found) == set(group.shown)
            for method, errors in found.items():
                assert len(errors) == len(experiment.grid(method).points())
                assert np.isfinite(errors).all() and min(errors) >= 0
    assert found["ours"][0] < np.var(data.y) * 3


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
    assert places == list(range(len(LEAF_SIZES) * len(DEPTHS)))
    assert len(grown) < len(places) and all(isinstance(t, Tabulated) for t, _ in grown)


def test_the_page_has_our_figures_beside_the_papers(data, tmp_path, capsys):
    out = tmp_path / "out"
    (out / "data").mkdir(parents=True)
    (out / "lpdt.notes.md").write_text("A remark.\n")
    printed = ["lpdt-table2,,HOU,DT,,1,", "lpdt-table2,,HOU,LPDT-M,4,50,", "lpdt-table2,,HOU,LPDT-V,4,1e-9,"]
    head = "experiment,setting,dataset,method,epsilon,value,deviation"
    (out / "data" / "printed.csv").write_text("\n".join([head, *printed]) + "\n")
    options = ["--repeats", "2", "--datasets", "HOU", "--methods", "lpdt", "dt", "--epsilons", "1,4", "--quiet"]
    assert main(["bench", "run", "lpdt-table2", *options, "--out", str(out)]) == 0
    found = Evidence.load(out)
    text = lpdt_page.pages(found)["lpdt.md"].decode()
    assert "A remark." in text and "1 of 2 cells met." in text
    assert "met" in text and "**missed**" in text
    assert lpdt_page.printed(found)["HOU", "DT", ""] == 1.0
    cells = found.cells("lpdt-table2")
    assert {"LPDT-M", "LPDT-V+public", "LPDT-M+blend", "DT", "DT-pub"} <= {s.method for s in cells}
    assert {len(s.values) for s in cells} == {2}
    assert not list(out.glob(".*")), "nothing half-written is left behind"


def test_the_best_parameter_is_the_one_of_least_mean(data, tmp_path):
    results = run(TABLE_2, Selection(2, None, ("HOU",), None, ("DT",)), folder=tmp_path, quiet=True)
    errors = np.array([value["DT"] for _, value in results])
    cell = by_cell(load_rows(TABLE_2, tmp_path))["HOU", "DT", ""]
    assert cell.mean == pytest.approx(errors.mean(axis=0).min())
    assert cell.parameter == f"depth={DEPTHS[errors.mean(axis=0).argmin()]}"


def test_ours_is_compared_on_the_splits_that_all_were_run_on():
    def row(method, repeat, error):
        return Row("x", "HOU", "", method, 1.0, None, "", repeat, "mse", error)

    rows = [row("ours", 0, 3.0)]
    for repeat, error in ((0, 2.0), (1, 100.0)):
        rows += [row("LPDT-M+blend", repeat, error), row("CELL-V", repeat, error + 1)]
    line = next(line for line in against_hindsight(rows) if line.startswith("| HOU"))
    assert "1.50" in line


def test_figures_are_drawn(tmp_path):
    few = dataclasses.replace(FIGURES, groups=FIGURES.groups[:1], repeats=2)
    run(few, folder=tmp_path, quiet=True)
    files = lpdt_figures.pages(Evidence({FIGURES.name: load_rows(few, tmp_path)}))
    page = files["lpdt_figures.md"].decode()
    assert "Figure 2(a)" in page and "Figure 3" not in page
    assert all(len(files[f"lpdt_figure_{n}.{end}"]) > 500 for n in ("1", "2a") for end in ("png", "svg"))
    points = pd.read_csv(io.BytesIO(files["lpdt_figure_2a.csv"]))
    deep = points[points["x"] == 6].set_index("series")["mean"]
    assert deep["epsilon = 3"] > deep["epsilon = 8"], "less budget, more error at depth 6"


def test_seconds_of_every_method_are_measured(data):
    for group in TABLE_6.groups:
        key = Key("HOU", 0, "", 0.0 if group.name == "DT" else 2.0, group.name)
        assert 0 < trips_and_seconds.seconds(key, 1)[group.name] < 10


def test_taxi_trips_are_split_by_payment(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.random((500, 2)), rng.random(500)
    monkeypatch.setattr(trips_and_seconds, "_taxi", lambda: (X[:100], y[:100], X[100:] + 5, y[100:]))
    trips_and_seconds._trips.cache_clear()
    parts = trips_and_seconds._trips(0)
    assert [len(p.y) for p in (parts.public, parts.private, parts.test)] == [100, 320, 80]
    assert parts.space.high.max() <= 1 and parts.label_bounds == widened(y[:100])
    assert set(trips_and_seconds.taxi(Key("TAX", 0, "", 4.0, "hist"), 1)) == {"PHIST", "APHIST"}
    trips_and_seconds._trips.cache_clear()


def test_every_figure_has_its_axes():
    figures = set(lpdt_studies.STUDIES)
    assert set(lpdt_figures._AXES) == figures == set(FIGURES.settings) <= set(lpdt_figures._CAPTIONS)
