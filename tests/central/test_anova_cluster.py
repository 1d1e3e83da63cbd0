"""Fits on a Dask cluster: bit for bit those of one machine, also when a worker dies in the middle."""

import contextlib
import os
import signal

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow import DiPriMeForestRegressor, PrivateAnovaClassifier, PrivateAnovaRegressor, cli
from hedgerow.collect.dask import connect, fit
from hedgerow.errors import BoundsError, FormatError, HedgerowError

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ds = pytest.importorskip("pyarrow.dataset")
pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")
# Dask's own threads and sockets may outlive a killed worker for a moment.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]

RNG = np.random.default_rng(0)
N = 1500
FRAME = pd.DataFrame({"a": RNG.random(N), "b": RNG.normal(0.5, 0.5, N), "kind": RNG.choice(["u", "v"], N)})
FRAME["y"] = FRAME["a"] * (FRAME["kind"] == "u") + RNG.normal(0, 0.1, N)
FEATURES = FRAME[["a", "b", "kind"]]
KNOWN = {"label_bounds": (-0.5, 1.5), "feature_bounds": (0, 1), "categories": {"kind": ["u", "v"]}}
OPTIONS = {**KNOWN, "delta": 0.0, "random_state": 7}  # pure: there are few rounds


def anova(**options):
    return PrivateAnovaRegressor(1.0, **{**OPTIONS, **options})


def same(one, other):
    return one.model_.to_json() == other.model_.to_json()


@pytest.fixture(scope="module")
def client():
    with connect(workers=2) as found:
        yield found


@pytest.fixture(scope="module")
def whole():
    return anova().fit(FEATURES, FRAME["y"])


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("big")
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    for i in range(3):
        pq.write_table(table.slice(500 * i, 500), folder / f"{i}.parquet", row_group_size=150)
    return f"{folder}/*.parquet"


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr("hedgerow.central.anova.cluster._PIECE", 300)


def test_collections_are_fitted_on_the_client_that_is_there(client, whole):
    frame = dd.from_pandas(FRAME, npartitions=5)
    assert same(anova().fit(frame, "y"), whole)
    assert same(anova().fit(frame[["a", "b", "kind"]], frame["y"]), whole)
    numbers = FRAME[["a", "b"]].to_numpy()
    held = anova(categories=None).fit(numbers, FRAME["y"].to_numpy())
    rows = da.from_array(numbers, chunks=(400, 1))
    labels = da.from_array(FRAME["y"].to_numpy(), chunks=400)
    assert same(anova(categories=None).fit(rows, labels), held)


def test_files_and_datasets_are_fitted_on_a_cluster(client, whole, paths):
    assert same(fit(anova(), paths, "y", client=client), whole)
    assert same(fit(anova(), ds.dataset(os.path.dirname(paths)), "y"), whole)
    public = {"X_public": FEATURES[:50], "y_public": FRAME["y"][:50]}
    options = {"public_model": Ridge(), "missing": "indicator"}
    held = anova(**options).fit(FEATURES, FRAME["y"], **public)
    assert same(fit(anova(**options), paths, "y", **public), held)


def test_classes_on_a_cluster(client):
    options = {k: v for k, v in OPTIONS.items() if k != "label_bounds"}
    frame = FRAME.assign(c=np.where(FRAME["y"] > 0.5, 2, np.where(FRAME["y"] > 0.2, 1, 0))).drop(columns="y")
    for classes in ([0, 1, 2], "observed"):
        held = PrivateAnovaClassifier(1.0, classes=classes, **options).fit(FEATURES, frame["c"])
        found = PrivateAnovaClassifier(1.0, classes=classes, **options).fit(dd.from_pandas(frame, npartitions=3), "c")
        assert same(found, held)


def test_without_a_client_a_collection_is_read_here(whole, monkeypatch):
    monkeypatch.setattr("hedgerow.central.anova.intake.ambient_client", lambda: contextlib.nullcontext(None))
    assert same(anova().fit(dd.from_pandas(FRAME, npartitions=5), "y"), whole)


def test_a_worker_killed_in_the_middle_changes_nothing(client, whole, paths):
    for X in (paths, dd.from_pandas(FRAME, npartitions=6)):
        victims = []

        def kill(t, victims=victims):
            if t == 3 and not victims:
                victims.append(next(iter(client.run(os.getpid).values())))
                os.kill(victims[0], signal.SIGKILL)
            return False

        assert same(fit(anova(callback=kill), X, "y", client=client), whole) and victims


def test_the_command_fits_on_a_cluster(client, paths, tmp_path, whole, capsys):
    out = tmp_path / "model.json"
    facts = ["--feature-bounds", "a=0:1", "--feature-bounds", "b=0:1", "--categories", "kind=u,v"]
    known = ["--target", "y", "--epsilon", "1", "--delta", "0", "--label-bounds=-.5:1.5", "--seed", "7", *facts]
    where = ["--engine", "dask", "--scheduler", client.scheduler.address]
    assert cli.main(["fit", "anova", paths, *known, *where, "-o", str(out)]) == 0
    assert out.read_text().strip() == whole.model_.to_json()
    assert cli.main(["fit", "anova", paths, *known, *where, "--spool", str(tmp_path / "s"), "-o", str(out)]) == 2
    assert "'spool' is for one machine" in capsys.readouterr().err


def test_what_is_no_collection_is_refused(client, paths, tmp_path):
    with pytest.raises(HedgerowError, match="'X' must be files, an Arrow dataset or a Dask collection"):
        fit(anova(), FEATURES, FRAME["y"], client=client)
    with pytest.raises(HedgerowError, match="DiPriMeForestRegressor is fitted in memory"):
        fit(DiPriMeForestRegressor(1.0, label_bounds=(0, 1), feature_bounds=(0, 1)), paths, "y", client=client)
    frame = dd.from_pandas(FRAME, npartitions=3)
    with pytest.raises(BoundsError, match="'y' must be the name of the column of labels"):
        anova().fit(frame, FRAME["y"])
    with pytest.raises(BoundsError, match=r"as many partitions as 'X': 3\. Got 2"):
        anova().fit(frame[["a", "b", "kind"]], dd.from_pandas(FRAME["y"], npartitions=2))
    with pytest.raises(HedgerowError, match="cannot be resumed"):
        anova(spool=tmp_path / "spool").fit(frame, "y")
    with pytest.raises(BoundsError, match="'categories' is required"):
        anova(categories=None).fit(frame, "y")
    # What a worker refuses arrives as it is.
    pq.write_table(pa.table({"a": [1.0], "y": [1.0], "b": [0.0]}), tmp_path / "other.parquet")
    with pytest.raises(HedgerowError, match="lacks the column 'kind'"):
        fit(anova(), [paths, str(tmp_path / "other.parquet")], "y", client=client)
    (tmp_path / "broken.csv").write_text("a,b,kind,y\n1,2\n")
    with pytest.raises(FormatError, match="2 cells where the header has 4"):
        fit(anova(), [paths, str(tmp_path / "broken.csv")], "y", client=client)
