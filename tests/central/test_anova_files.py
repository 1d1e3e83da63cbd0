"""Fits of files, datasets and collections: bit for bit those of the same records in memory, or the same errors."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from hedgerow import DiPriMeForestRegressor, Ledger, PrivateAnovaClassifier, PrivateAnovaRegressor, Schema, tables
from hedgerow.central.anova import recipe
from hedgerow.central.anova.accounting import GaussianPurse
from hedgerow.errors import BoundsError, FormatError, HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.sources import as_source

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ds = pytest.importorskip("pyarrow.dataset")

RNG = np.random.default_rng(5)
N = 700
A = RNG.normal(0.4, 0.4, N)  # many outside their bounds
A[::50] = np.nan
KIND = RNG.choice(["a", "b", "strange", None], N, p=[0.5, 0.3, 0.1, 0.1])
B = RNG.random(N)
Y = np.where(np.isnan(A), 0.5, A) + (KIND == "b") + RNG.normal(0, 0.1, N)
Y[5] = np.nan
CLASS = np.where(Y > 0.6, "high", np.where(Y < 0.2, "low", "medium"))
TABLE = pa.table({"a": A, "kind": pa.array(KIND, pa.string(), from_pandas=True), "b": B, "y": Y, "class": CLASS})
KNOWN = {"feature_bounds": (0, 1), "categories": {"kind": ["a", "b"]}, "random_state": 3}
REG = {**KNOWN, "label_bounds": (-1, 3)}
CLS = {**KNOWN, "classes": ["low", "medium", "high"]}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(tables, "ROWS", 97)


@pytest.fixture
def folder(tmp_path):
    for i, start in enumerate(range(0, N, 300)):
        part = TABLE.select(["a", "kind", "b", "y"]).slice(start, 300)
        pq.write_table(part.select(["y", "b", "a", "kind"]) if i else part, tmp_path / f"{i}.parquet")
    return tmp_path


def same(one, other):
    return one.model_.to_json() == other.model_.to_json() and one.guarantee_ == other.guarantee_


def regression(**options):
    return PrivateAnovaRegressor(**{"epsilon": 1.0, **REG, **options})


@pytest.fixture(scope="module")
def whole():
    return regression().fit(TABLE.select(["a", "kind", "b"]), TABLE["y"])


def test_parquet_files_are_fitted_as_in_memory(folder, whole):
    found = regression().fit(f"{folder}/*.parquet", "y")
    assert same(found, whole)
    assert found.feature_names_in_.tolist() == ["a", "kind", "b"] and found.n_features_in_ == 3
    rows = TABLE.select(["a", "kind", "b"])
    assert (found.predict(rows) == whole.predict(rows)).all()
    assert os.listdir(folder) == ["0.parquet", "1.parquet", "2.parquet"] or len(os.listdir(folder)) == 3


@pytest.mark.parametrize("options", [{"missing": "indicator"}, {"delta": 0.0}, {"interactions": False}])
def test_whatever_the_options(folder, options):
    held = regression(**options).fit(TABLE.select(["a", "kind", "b"]), TABLE["y"])
    assert same(regression(**options).fit(f"{folder}/*.parquet", "y"), held)


def test_csv_files_are_fitted_as_in_memory(tmp_path, whole):
    from pyarrow import csv

    csv.write_csv(TABLE.select(["a", "b", "kind", "y"]), tmp_path / "all.csv.gz")
    path = tmp_path / "all.csv"
    with pa.OSFile(str(path), "wb") as file:
        csv.write_csv(TABLE.select(["a", "kind", "b", "y"]), file)
    assert same(regression().fit(path, "y"), whole)


def test_datasets_are_fitted_as_in_memory(folder, whole, tmp_path):
    schema = TABLE.select(["a", "kind", "b", "y"]).schema
    assert same(regression().fit(ds.dataset(sorted(map(str, folder.glob("*.parquet"))), schema=schema), "y"), whole)
    pieces = ds.dataset(TABLE.select(["a", "kind", "b", "y"]).to_batches(max_chunksize=100))
    assert same(regression().fit(pieces, "y"), whole)
    few = regression().fit(pieces.filter(ds.field("b") < 0.5), "y")
    part = TABLE.filter(pa.compute.less(TABLE["b"], 0.5))
    assert same(few, regression().fit(part.select(["a", "kind", "b"]), part["y"]))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "1.csv").write_text("a,y\n1,2\n3,4\n")
    (tmp_path / "bad" / "2.csv").write_text("a,y\nsecret,2\n")
    bad = ds.dataset(tmp_path / "bad", format="csv")
    with pytest.raises(FormatError, match="cannot be read") as caught:
        PrivateAnovaRegressor(1.0, label_bounds=(0, 9), feature_bounds=(0, 9)).fit(bad, "y")
    assert "secret" not in str(caught.value) and caught.value.__cause__ is None


def test_classes_and_several_outputs(tmp_path):
    path = tmp_path / "all.parquet"
    pq.write_table(TABLE.select(["a", "kind", "b", "class"]), path)
    rows = TABLE.select(["a", "kind", "b"])
    held = PrivateAnovaClassifier(1.0, **CLS).fit(rows, TABLE["class"])
    found = PrivateAnovaClassifier(1.0, **CLS).fit(path, "class")
    assert same(found, held) and found.classes_.tolist() == held.classes_.tolist()
    observed = {**CLS, "classes": "observed"}
    held = PrivateAnovaClassifier(1.0, **observed).fit(rows, TABLE["class"])
    found = PrivateAnovaClassifier(1.0, **observed).fit(path, "class")
    assert same(found, held) and found.classes_.tolist() == held.classes_.tolist()
    pq.write_table(TABLE.select(["a", "b", "y"]), path)
    options = {"feature_bounds": (0, 1), "label_bounds": [(0, 1), (-1, 3)], "random_state": 1}
    labels = np.column_stack([TABLE["b"], TABLE["y"]])
    held = PrivateAnovaRegressor(1.0, **options).fit(TABLE.select(["a"]), labels)
    assert same(PrivateAnovaRegressor(1.0, **options).fit(path, ["b", "y"]), held)


def test_a_public_model_is_corrected_as_in_memory(folder):
    rng = np.random.default_rng(1)
    public = pa.table({"a": rng.random(40), "kind": rng.choice(["a", "b"], 40), "b": rng.random(40)})
    labels = np.asarray(public["a"]) + 0.1
    from sklearn.linear_model import Ridge

    held, found = (
        regression(public_model=Ridge()).fit(X, y, X_public=public, y_public=labels)
        for X, y in ((TABLE.select(["a", "kind", "b"]), TABLE["y"]), (f"{folder}/*.parquet", "y"))
    )
    assert same(held, found) and found.model_.public is not None


def test_a_schema_takes_what_it_describes(folder):
    schema = Schema.draft({"b": [0.0, 1.0], "a": [0.0, 1.0], "y": [0.0, 1.0]}).with_range("a", 0, 1)
    schema = schema.with_range("b", 0, 1).with_label(bounds=(-1, 3))
    held = PrivateAnovaRegressor(1.0, schema=schema, random_state=0).fit(TABLE, TABLE["y"])
    found = PrivateAnovaRegressor(1.0, schema=schema, random_state=0).fit(f"{folder}/*.parquet", "y")
    assert same(found, held) and found.feature_names_in_.tolist() == ["b", "a"]


def both(estimator, X, y, source, name):
    """Return the two errors of a table and of a source."""
    texts = []
    for given, labels in ((X, y), (source, name)):
        with pytest.raises(HedgerowError) as caught:
            estimator.fit(given, labels)
        texts.append(str(caught.value))
    return texts


def test_what_memory_refuses_files_refuse_with_the_same_words(tmp_path):
    path = tmp_path / "all.parquet"
    pq.write_table(TABLE.select(["a", "kind", "y"]), path)
    rows = TABLE.select(["a", "kind"])
    one, two = both(PrivateAnovaRegressor(1.0, feature_bounds=(0, 1), label_bounds=(0, 1)), rows, TABLE["y"], path, "y")
    assert one == two and "'categories' is required for the columns ['kind']" in one
    one, two = both(PrivateAnovaRegressor(1.0, label_bounds=(0, 1), categories={"kind": ["a"]}), rows, Y, path, "y")
    assert one == two and "'feature_bounds' is required" in one
    one, two = both(PrivateAnovaRegressor(1.0, feature_bounds=(0, 1)), rows, TABLE["y"], path, "y")
    assert one == two and "label_bounds" in one
    pq.write_table(TABLE.select(["a", "class"]), path)
    a = TABLE.select(["a"])
    one, two = both(PrivateAnovaRegressor(1.0, feature_bounds=(0, 1), label_bounds=(0, 1)), a, CLASS, path, "class")
    assert one == two and "'y' holds no number at all" in one
    one, two = both(PrivateAnovaClassifier(1.0, feature_bounds=(0, 1)), a, CLASS, path, "class")
    assert one == two and "'classes' is required" in one
    pq.write_table(TABLE.select(["a", "y"]).slice(0, 0), path)
    options = {"feature_bounds": (0, 1), "label_bounds": (0, 1)}
    one, two = both(PrivateAnovaRegressor(1.0, **options), a.slice(0, 0), Y[:0], path, "y")
    assert "Found array with 0 sample(s)" in one and two == f"{path} holds no records."


def test_a_csv_column_without_a_number_needs_a_list(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,t,y\n1,x,2\n0,y,1\n,,\n")
    options = {"feature_bounds": (0, 1), "label_bounds": (0, 9), "random_state": 0}
    with pytest.raises(BoundsError, match=r"'categories' is required for the columns \['t'\]"):
        PrivateAnovaRegressor(1.0, **options).fit(path, "y")
    options["feature_bounds"] = {"a": (0, 1), "t": (0, 1)}  # by name: then it is as it is said
    PrivateAnovaRegressor(1.0, **options).fit(path, "y")


def test_a_file_that_changes_between_the_two_reads_is_refused(folder):
    for rows, word in ((TABLE.slice(0, 100), "fewer"), (pa.concat_tables([TABLE] * 2), "more")):
        source = as_source([folder / "0.parquet"], "y")
        changed = []

        def change(done, share, source=source, rows=rows, changed=changed):
            if done == 300 and not changed:
                changed.append(pq.write_table(rows.select(["a", "kind", "b", "y"]), source.paths[0]))

        source.progress = change
        with pytest.raises(HedgerowError, match=f"have changed while they were read: there are {word} now"):
            regression().fit(source, "y")
        pq.write_table(TABLE.select(["a", "kind", "b", "y"]).slice(0, 300), folder / "0.parquet")


def test_a_spool_is_for_files(folder, tmp_path):
    with pytest.raises(HedgerowError, match="'spool' is for files: records in memory"):
        regression(spool=tmp_path / "spool").fit(TABLE.select(["a", "kind", "b"]), TABLE["y"])
    with pytest.raises(HedgerowError, match="'spool' is for files: this dataset has none"):
        regression(spool=tmp_path / "spool").fit(ds.dataset(TABLE.select(["a", "kind", "b", "y"])), "y")


class Killed(Exception):
    pass


def stop_at(t):
    """Return a callback that ends the process of a fit, as far as a test can."""

    def callback(done):
        if done == t:
            raise Killed
        return False

    return callback


def reads(source):
    """Count how often a source is read."""
    times = []
    original = source.batches

    def batches():
        times.append(1)
        return original()

    source.batches = batches
    return times


def test_a_fit_that_was_killed_goes_on_and_is_the_same(folder, tmp_path, whole):
    spool = tmp_path / "spool"
    with pytest.raises(Killed):
        regression(spool=spool, callback=stop_at(2)).fit(f"{folder}/*.parquet", "y")
    assert {"codes.bin", "targets.bin", "bins.bin", "spool.json"} <= set(os.listdir(spool))
    source = as_source(f"{folder}/*.parquet", "y")
    times = reads(source)
    found = regression(spool=spool).fit(source, "y")
    assert same(found, whole) and not times
    assert sorted(os.listdir(spool)) == ["finished", "lock"]
    with pytest.raises(HedgerowError, match="spends epsilon again"):
        regression(spool=spool).fit(f"{folder}/*.parquet", "y")


def test_a_secure_fit_goes_on_with_the_quantiles_that_it_had_drawn(folder, tmp_path, monkeypatch):
    """A second answer to the same question is not drawn, and the first one costs what it did."""
    drawn = []
    paid = []
    charged = []
    n_reads = []
    original = recipe.estimate
    charge = GaussianPurse.charge

    def estimate(*arguments):
        drawn.append(original(*arguments))
        paid.append(sum(charged))
        return drawn[-1]

    def charging(purse, cost):
        charged.append(cost)
        charge(purse, cost)

    monkeypatch.setattr(recipe, "estimate", estimate)
    monkeypatch.setattr(GaussianPurse, "charge", charging)
    for callback in (stop_at(2), stop_at(0), None):
        charged.clear()
        source = as_source(f"{folder}/*.parquet", "y")
        times = reads(source)
        options = {"random_state": None, "spool": tmp_path / "spool", "callback": callback}
        with contextlib.suppress(Killed):
            model = regression(**options).fit(source, "y").model_
        n_reads.append(len(times))
    assert n_reads == [2, 0, 0] and len(drawn) == 1 and model.size == drawn[0][1]
    assert charged[0] == paid[0] > 0
    for j, quantiles in drawn[0][0].items():
        assert model.feature_map.quantiles[j].to_json() == quantiles.to_json()


@pytest.mark.parametrize(
    "other", [{"epsilon": 2.0}, {"delta": 1e-6}, {"label_bounds": (-1, 4)}, {"random_state": None}]
)
def test_another_fit_does_not_go_on_from_a_spool(folder, tmp_path, other):
    """A secure fit that took up the noise of a seed would protect nobody."""
    spool = tmp_path / "spool"
    with pytest.raises(Killed):
        regression(spool=spool, callback=stop_at(0)).fit(f"{folder}/*.parquet", "y")
    with pytest.raises(HedgerowError, match="of other records or with other settings"):
        regression(spool=spool, **other).fit(f"{folder}/*.parquet", "y")
    os.utime(folder / "0.parquet", (1, 1))
    with pytest.raises(HedgerowError, match="of other records or with other settings"):
        regression(spool=spool).fit(f"{folder}/*.parquet", "y")


def test_a_fit_that_goes_on_is_booked_once(folder, tmp_path):
    limit = Guarantee(3.0, 1e-4, protects="record", trust="central", neighbours="add/remove")
    ledger = Ledger(tmp_path / "ledger.json", limit=limit)
    secure = {"random_state": None, "ledger": ledger}
    spool = tmp_path / "spool"
    with pytest.raises(Killed):
        regression(spool=spool, callback=stop_at(0), **secure).fit(f"{folder}/*.parquet", "y")
    left = ledger.remaining()
    assert left.epsilon == 2.0
    regression(spool=spool, **secure).fit(f"{folder}/*.parquet", "y")
    assert ledger.remaining() == left
    regression(spool=tmp_path / "other", **secure).fit(f"{folder}/*.parquet", "y")
    assert ledger.remaining().epsilon == 1.0


@pytest.mark.slow
def test_after_sigkill_nothing_is_left_without_a_name_and_all_with_one(folder, tmp_path, whole):
    script = textwrap.dedent(f"""
        import os, signal, sys
        from hedgerow import PrivateAnovaRegressor
        die = lambda t: os.kill(os.getpid(), signal.SIGKILL)
        spool = sys.argv[1] or None
        PrivateAnovaRegressor(1.0, spool=spool, callback=die, **{REG!r}).fit({str(folder)!r} + "/*.parquet", "y")
    """)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    for spool in ("", str(tmp_path / "spool")):
        command = [sys.executable, "-c", script, spool]
        done = subprocess.run(command, env={**os.environ, "TMPDIR": str(temporary)}, check=False)
        assert done.returncode == -signal.SIGKILL and os.listdir(temporary) == []
    source = as_source(f"{folder}/*.parquet", "y")
    times = reads(source)
    assert same(regression(spool=tmp_path / "spool").fit(source, "y"), whole) and not times


def test_estimators_that_read_in_memory_say_so(folder):
    dd = pytest.importorskip("dask.dataframe")
    forest = DiPriMeForestRegressor(1.0, label_bounds=(0, 1), feature_bounds=(0, 1))
    frame = dd.from_pandas(TABLE.select(["a", "b", "y"]).to_pandas(), npartitions=2)
    paths = sorted(map(str, folder.glob("*.parquet")))
    for X in (paths[0], paths, ds.dataset(paths), frame, as_source(paths, "y")):
        with pytest.raises(
            HedgerowError, match=r"'X' must be a table of records.*PrivateAnovaClassifier can be fitted"
        ):
            forest.fit(X, "y")
    model = regression().fit(paths, "y")
    with pytest.raises(HedgerowError, match="'X' must be a table of records"):
        model.predict(paths)
