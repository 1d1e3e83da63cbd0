"""The cluster gives the totals of one machine bit for bit, also when a worker dies in the middle."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from hedgerow import cli
from hedgerow.collect import memory
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate
from hedgerow.tasks.tree.task import LocalTask

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")
# Dask's own threads and sockets may outlive a killed worker for a moment.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]

TASK = LocalTask.design(
    epsilon=1.0,
    label_bounds=(0, 1),
    features=["a", "b"],
    feature_bounds=(0, 1),
    max_depth=4,
    response="bits",
    cell_share=0.5,
)
X = np.random.default_rng(0).random((6000, 2))
REPORTS = privatize_many(TASK, X, X[:, 0], randomness=1)


def cut(start, stop):
    return Reports(TASK, REPORTS.tokens[start:stop], REPORTS.payloads[start:stop], True)


@pytest.fixture(scope="module")
def client():
    from hedgerow.collect.dask import connect

    with connect(workers=2) as found:
        yield found


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    names = [str(folder / name) for name in ("one.bin", "two.parquet", "three.bin", "copies.bin")]
    Path(names[0]).write_bytes(cut(0, 2500).to_bytes())
    cut(2500, 5999).to_parquet(names[1])
    Path(names[2]).write_bytes(cut(5999, 6000)[0].to_bytes())
    Path(names[3]).write_bytes(cut(100, 900).to_bytes())
    return names


@pytest.fixture
def small_pieces(monkeypatch):
    """Many tasks, several parts of ids and a tree of more than one level."""
    from hedgerow.collect import dask, files

    monkeypatch.setattr(files, "_BLOCK", 256)
    monkeypatch.setattr(dask, "PIECES", 1)
    monkeypatch.setattr(dask, "BRANCHES", 3)
    monkeypatch.setattr(dask, "BUCKET_ROWS", 2000)


def test_the_cluster_adds_as_one_machine_does(client, paths, small_pieces):
    from hedgerow.collect.dask import aggregate, aggregate_files

    whole = Aggregate(TASK).add(REPORTS).to_bytes()
    assert aggregate(TASK, paths[:3], client=client).to_bytes() == whole
    total, n_copies = aggregate_files(TASK, paths, client=client)
    assert total.to_bytes() == whole and n_copies == 800
    assert aggregate(TASK, paths, client=client, copies="count").n_reports == 6800
    with pytest.raises(FormatError, match=r"800 reports are there twice, one of them in .*one.bin and again in"):
        aggregate(TASK, paths, client=client, copies="refuse")
    assert aggregate(TASK, [], client=client) == Aggregate(TASK)


def test_the_client_that_is_there_is_used(client, paths, monkeypatch):
    import distributed

    from hedgerow.cluster import ambient_client
    from hedgerow.collect.dask import aggregate, connect

    def no_other(*_, **__):
        raise AssertionError("a cluster of its own")

    monkeypatch.setattr(distributed, "LocalCluster", no_other)
    whole = Aggregate(TASK).add(REPORTS).to_bytes()
    assert aggregate(TASK, paths[:3]).to_bytes() == whole
    with connect() as found:
        assert found is client
    with pytest.raises(AssertionError, match="of its own"), connect(workers=1):
        pass
    assert client.status == "running"
    # Within a task it is the cluster of that task.
    with ambient_client() as outer:
        assert outer is client
    assert client.submit(_nested, paths[:3], pure=False).result() == whole


def _nested(paths):
    from hedgerow.collect.dask import aggregate

    return aggregate(TASK, paths).to_bytes()


def test_a_population_is_simulated_as_on_one_machine(client):
    from hedgerow.collect.dask import simulate

    parts = [(X[i : i + 700], X[i : i + 700, 0]) for i in range(0, 6000, 700)]
    alone = memory.simulate(TASK, parts, 7)
    assert simulate(TASK, parts, 7, client=client).to_bytes() == alone.to_bytes()
    assert simulate(TASK, parts, 8, client=client) != alone
    secure = simulate(TASK, parts, client=client)
    assert secure.n_reports == 6000 and not secure.simulation


def test_the_mapper_takes_items_as_workers_can_take_them(client):
    from hedgerow.collect.dask import mapper

    taken = []

    def items():
        for i in range(30):
            taken.append(i)
            yield i

    results = mapper(client)(abs, items())
    first = next(results)
    assert len(taken) <= 6
    assert sorted([first, *results]) == list(range(30))


def test_a_worker_killed_in_the_middle_changes_nothing(client, paths, small_pieces, monkeypatch):
    from hedgerow.collect import dask

    victim = next(iter(client.run(os.getpid).values()))
    original, calls = dask._tree, []

    def kill_first(own, text, futures):
        calls.append(len(futures))
        os.kill(victim, signal.SIGKILL)  # while pieces are added, and some of their results are on that worker
        return original(own, text, futures)

    monkeypatch.setattr(dask, "_tree", kill_first)
    total, n_copies = dask.aggregate_files(TASK, paths, client=client)
    assert total.to_bytes() == Aggregate(TASK).add(REPORTS).to_bytes() and n_copies == 800
    assert calls[0] > 20
    client.wait_for_workers(2, timeout=30)
    assert victim not in client.run(os.getpid).values()


def test_the_command_runs_on_a_cluster(client, paths, tmp_path, capsys):
    (tmp_path / "task.json").write_text(TASK.to_json())
    address = client.scheduler.address
    command = ["aggregate", str(tmp_path / "task.json"), *paths]
    assert cli.main([*command, "--engine", "dask", "--scheduler", address, "-o", str(tmp_path / "a.json")]) == 0
    assert "800 copies of reports were left out" in capsys.readouterr().out
    assert cli.main([*command, "-o", str(tmp_path / "b.json")]) == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert cli.main([*command, "--scheduler", address, "-o", str(tmp_path / "c.json")]) == 2
    assert cli.main([*command, "--engine", "dask", "--checkpoint", "x", "-o", str(tmp_path / "c.json")]) == 2


def test_no_scheduler_no_hang():
    from hedgerow.collect.dask import connect

    with pytest.raises(HedgerowError, match="no Dask scheduler answers"), connect("nonsense://1"):
        pass


@pytest.mark.parametrize(("key", "n_groups"), [(bytes(32), 7), (None, 4)])
def test_groups_are_those_of_one_machine(client, paths, small_pieces, key, n_groups):
    from hedgerow.collect import dask, files

    here, copies = files.aggregate_groups(TASK, paths, key, n_groups)
    there, found = dask.aggregate_groups(TASK, paths, key, n_groups, client=client)
    assert (found, copies) == (800, 800) and len(there) == n_groups
    assert [part.to_bytes() for part in there] == [part.to_bytes() for part in here]
    assert sum(part.n_reports for part in here) == 6000
