"""Files of reports are streamed: same totals, flat memory, and a killed run goes on to the same bytes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hedgerow import cli
from hedgerow.collect import checkpoint, files
from hedgerow.collect.files import BatchFile, ParquetReports, aggregate, open_reports
from hedgerow.errors import FormatError
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate
from hedgerow.tasks.tree.task import LocalTask

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def task():
    return LocalTask.design(
        epsilon=1.0,
        label_bounds=(0, 1),
        features=["a", "b"],
        feature_bounds=(0, 1),
        max_depth=4,
        response="bits",
        cell_share=0.5,
    )


@pytest.fixture(scope="module")
def reports(task):
    X = np.random.default_rng(0).random((5000, 2))
    return privatize_many(task, X, X[:, 0], randomness=1)


@pytest.fixture
def paths(tmp_path, task, reports):
    """The same reports, cut into three files of three formats."""
    cut = [slice(0, 2000), slice(2000, 4999), slice(4999, 5000)]
    one, two, three = (Reports(task, reports.tokens[c], reports.payloads[c], True) for c in cut)
    (tmp_path / "one.bin").write_bytes(one.to_bytes())
    two.to_parquet(tmp_path / "two.parquet")
    (tmp_path / "three.bin").write_bytes(three[0].to_bytes())
    return [str(tmp_path / name) for name in ("one.bin", "two.parquet", "three.bin")]


def test_files_of_all_formats_give_the_totals_of_memory(task, reports, paths, monkeypatch):
    whole = Aggregate(task).add(reports)
    for rows in (256, 700, 1 << 16):
        monkeypatch.setattr(files, "_BLOCK", rows)
        monkeypatch.setattr(files, "_BLOCK_BYTES", 1 << 20)
        total, found = aggregate(task, paths)
        assert total == whole and found.n_copies == 0
    total, found = aggregate(task, [*paths, paths[0], paths[2]])
    assert total == whole and found.n_copies == 2001


def test_a_file_is_read_in_pieces(task, reports, paths, monkeypatch):
    whole = [open_reports(task, p) for p in paths]
    assert [type(f) for f in whole[:2]] == [BatchFile, ParquetReports] and [len(f) for f in whole] == [2000, 2999, 1]
    for file, offset in zip(whole, (0, 2000, 4999), strict=True):
        for start, stop in ((0, 1), (0, len(file)), (len(file) // 3, 2 * len(file) // 3 + 1)):
            part = slice(offset + start, offset + stop)
            assert np.array_equal(file.tokens(start, stop), reports.tokens[part])
            assert np.array_equal(file.reports(start, stop).payloads, reports.payloads[part])


def test_parquet_is_read_by_row_groups(task, reports, tmp_path):
    import pyarrow.parquet as pq

    path = str(tmp_path / "r.parquet")
    pq.write_table(reports.to_arrow(), path, row_group_size=300)
    file = open_reports(task, path)
    assert len(file.groups) == 18 and len(file) == 5000
    for start, stop in ((0, 300), (299, 301), (150, 1000), (4999, 5000), (0, 5000)):
        assert np.array_equal(file.reports(start, stop).payloads, reports.payloads[start:stop])
        assert np.array_equal(file.tokens(start, stop), reports.tokens[start:stop])


def test_damaged_and_foreign_files_are_refused(task, reports, tmp_path):
    path = tmp_path / "r.bin"
    for data, message in ((b"", "it is empty"), (b"HDGR", "too few"), (reports.to_bytes()[:-1], "truncated")):
        path.write_bytes(data)
        with pytest.raises(FormatError, match=f"r.bin: .*{message}"):
            open_reports(task, str(path))
    other = LocalTask.design(
        epsilon=2.0,
        label_bounds=(0, 1),
        features=["a", "b"],
        feature_bounds=(0, 1),
        max_depth=4,
        response="bits",
        cell_share=0.5,
    )
    path.write_bytes(reports.to_bytes())
    reports.to_parquet(tmp_path / "r.parquet")
    for name in ("r.bin", "r.parquet"):
        with pytest.raises(FormatError, match="another task"):
            open_reports(other, str(tmp_path / name))
    forged = bytearray(reports.to_bytes())
    forged[48 + 12 * 5000] = forged[49 + 12 * 5000] = 255  # the first label
    path.write_bytes(forged)
    with pytest.raises(FormatError, match=r"r.bin: .*out of reach"):
        aggregate(task, [str(path)])


def test_a_checkpoint_goes_on_where_it_stood(task, reports, paths, tmp_path, monkeypatch):
    whole, state = Aggregate(task).add(reports), str(tmp_path / "state")
    monkeypatch.setattr(files, "_BLOCK", 256)
    monkeypatch.setattr(checkpoint, "_SECONDS", 0.0)
    for stop in (1, 7, 12):
        calls = []

        def progress(n, share, calls=calls, stop=stop):
            calls.append(n)
            if len(calls) == stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            aggregate(task, paths, checkpoint=state, progress=progress)
        seen = []
        total, _ = aggregate(task, paths, checkpoint=state, progress=lambda n, share, seen=seen: seen.append(n))
        assert total.to_bytes() == whole.to_bytes()
        assert min(seen) > max(calls) and not os.path.exists(state)


def test_a_checkpoint_of_other_work_is_refused(task, paths, tmp_path):
    state = tmp_path / "state"
    saved = checkpoint.Checkpoint(str(state), task, paths, "drop")
    saved._last = -1e9
    saved.save(Aggregate(task), 3)
    for other, copies in ((paths[:2], "drop"), (paths[::-1], "drop"), (paths, "refuse")):
        with pytest.raises(FormatError, match="belongs to other files"):
            aggregate(task, other, copies=copies, checkpoint=str(state))
    state.write_bytes(state.read_bytes()[:-1] + b"x")
    with pytest.raises(FormatError, match="damaged"):
        aggregate(task, paths, checkpoint=str(state))


def run(*arguments):
    assert cli.main([str(a) for a in arguments]) == 0


def write_csv(path, n):
    X = np.random.default_rng(2).random((n, 2)).round(6)
    path.write_text("a,b,y\n" + "".join(f"{a},{b},{a}\n" for a, b in X.tolist()))


@pytest.mark.parametrize("name", ["r.bin", "r.parquet"])
def test_privatize_resumes_to_the_same_bytes(task, tmp_path, monkeypatch, name):
    from hedgerow import tables
    from hedgerow.commands import parts

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tables, "ROWS", 100)
    Path("task.json").write_text(task.to_json())
    write_csv(Path("mine.csv"), 950)
    run("privatize", "task.json", "mine.csv", "--seed", 5, "-o", f"whole-{name}")
    add, left = parts.Parts.add, [4, 3, 99]

    def dying(self, *arguments):
        left[0] -= 1
        if left[0] < 0:
            left.pop(0)
            raise KeyboardInterrupt
        add(self, *arguments)

    monkeypatch.setattr(parts.Parts, "add", dying)
    command = ["privatize", "task.json", "mine.csv", "--seed", "5", "--resume", "-o", name]
    assert cli.main(command) == cli.main(command) == 130
    assert len(list(Path(f"{name}.parts").glob("*.part"))) == 7
    assert cli.main([*command[:4], "6", *command[5:]]) == 2  # another seed is other work
    run(*command)
    assert Path(name).read_bytes() == Path(f"whole-{name}").read_bytes()
    assert not Path(f"{name}.parts").exists()


def test_a_resumed_answer_is_not_a_second_one(task, tmp_path, monkeypatch):
    """With secure noise the reports that were made before the interruption are the ones in the end."""
    from hedgerow import tables
    from hedgerow.commands import parts

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tables, "ROWS", 100)
    Path("task.json").write_text(task.to_json())
    write_csv(Path("mine.csv"), 300)
    add = parts.Parts.add
    command = ["privatize", "task.json", "mine.csv", "--resume", "-o", "r.bin"]

    def stop(self, *arguments):
        if len(self) == 2:
            raise KeyboardInterrupt
        add(self, *arguments)

    monkeypatch.setattr(parts.Parts, "add", stop)
    assert cli.main(command) == 130
    first = b"".join(
        p.read_bytes().split(b"\n", 1)[1][56 : 56 + 1200] for p in sorted(Path("r.bin.parts").glob("*.part"))
    )
    monkeypatch.setattr(parts.Parts, "add", add)
    run(*command)
    reports = Reports.from_bytes(task, Path("r.bin").read_bytes())
    assert len(reports) == 300 and reports.tokens[:200].tobytes() == first


def stopping(monkeypatch, after):
    """Let a command die after so many finished blocks; return what lets it live again."""
    from hedgerow.commands import parts

    add = parts.Parts.add

    def stop(self, *arguments):
        if len(self) == after:
            raise KeyboardInterrupt
        add(self, *arguments)

    monkeypatch.setattr(parts.Parts, "add", stop)
    return lambda: monkeypatch.setattr(parts.Parts, "add", add)


@pytest.fixture
def small_blocks(tmp_path, monkeypatch):
    from hedgerow import tables

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tables, "ROWS", 100)


@pytest.mark.parametrize("given", ["csv", "parquet"])
@pytest.mark.parametrize("wanted", ["csv", "parquet"])
def test_predict_resumes_to_the_same_bytes(task, reports, small_blocks, monkeypatch, given, wanted):
    Path("model.json").write_text(Aggregate(task).add(reports).model().to_json())
    write_csv(Path("new.csv"), 450)
    if given == "parquet":  # types of which CSV knows nothing, and a column with gaps that the model does not ask for
        from pyarrow import csv

        table = csv.read_csv("new.csv")
        kept = pa.array([None if i % 7 == 0 else f"home {i % 5}" for i in range(450)]).dictionary_encode()
        pq.write_table(table.append_column("kept", kept), "new.parquet", row_group_size=100)
    command = ["predict", "model.json", f"new.{given}", "--interval", "0.9"]
    run(*command, "-o", f"whole.{wanted}")
    go_on = stopping(monkeypatch, 2)
    command += ["--resume", "-o", f"p.{wanted}"]
    assert cli.main(command) == 130 and len(list(Path(f"p.{wanted}.parts").glob("*.part"))) == 2
    go_on()
    assert cli.main([*command[:4], "0.8", *command[5:]]) == 2  # another interval is other work
    run(*command)
    assert Path(f"p.{wanted}").read_bytes() == Path(f"whole.{wanted}").read_bytes()
    assert not Path(f"p.{wanted}.parts").exists()
    assert cli.main(["predict", "model.json", "-", "--resume", "-o", f"p.{wanted}"]) == 2


def test_all_kinds_of_models_resume(small_blocks, monkeypatch):
    from sklearn.linear_model import Ridge

    from hedgerow.frames import Frame
    from hedgerow.local.assisted import design_assisted

    write_csv(Path("new.csv"), 250)
    X = np.random.default_rng(3).random((300, 2))
    public = Frame({"a": X[:, 0], "b": X[:, 1]}, 300)
    assisted = design_assisted(public, X[:, 0], epsilon=2.0, n_holders=300, public_model=Ridge(), label_bounds=(0, 1))
    Path("assisted.json").write_text(assisted.simulate(X, X[:, 0], 1).model().to_json())
    write_csv(Path("train.csv"), 200)
    public_facts = ["--label-bounds", "0:1", "--feature-bounds", "a=0:1", "--feature-bounds", "b=0:1", "--missing"]
    run("fit", "anova", "train.csv", "--target", "y", "--epsilon", 5, "--seed", 1, *public_facts, "-o", "anova.json")
    Path("gaps.csv").write_text(Path("new.csv").read_text() + ",0.5,\n")
    for model, new in (("assisted.json", "new.csv"), ("anova.json", "gaps.csv")):
        for wanted in ("csv", "parquet"):
            run("predict", model, new, "-o", f"whole.{wanted}")
            go_on = stopping(monkeypatch, 1)
            command = ["predict", model, new, "--resume", "-o", f"p.{wanted}"]
            assert cli.main(command) == 130
            go_on()
            run(*command)
            assert Path(f"p.{wanted}").read_bytes() == Path(f"whole.{wanted}").read_bytes()
    last = pq.read_table("p.parquet").slice(250).to_pylist()  # of the model that takes empty cells
    assert [(row["a"], row["b"]) for row in last] == [(None, 0.5)]


def test_a_table_without_rows_leaves_no_parts(task, reports, small_blocks):
    Path("model.json").write_text(Aggregate(task).add(reports).model().to_json())
    write_csv(Path("new.csv"), 0)
    run("predict", "model.json", "new.csv", "--resume", "-o", "p.csv")
    assert Path("p.csv").read_text() == "a,b,y,prediction\n"
    assert cli.main(["predict", "model.json", "new.csv", "--resume", "-o", "p.parquet"]) == 2
    assert list(Path(".").glob("*.parts")) == [] and not Path("p.parquet").exists()


def test_a_killed_aggregate_goes_on(task, reports, tmp_path, monkeypatch):
    """SIGKILL in the middle, then the same command: the model of an undisturbed run, byte for byte."""
    monkeypatch.chdir(tmp_path)
    Path("task.json").write_text(task.to_json())
    Path("r.bin").write_bytes(reports.to_bytes())
    run("aggregate", "task.json", "r.bin", "-o", "whole.json")
    code = """
import sys, time
from hedgerow import cli
from hedgerow.collect import checkpoint, files
files._BLOCK, checkpoint._SECONDS = 256, 0.0
add = files.add_source
files.add_source = lambda *a: (add(*a), time.sleep(float(sys.argv[1])))
sys.exit(cli.main(["aggregate", "task.json", "r.bin", "--checkpoint", "state", "-o", "model.json"]))
"""
    slow = subprocess.Popen([sys.executable, "-c", code, "0.3"])
    end = time.monotonic() + 60
    while not Path("state").exists() and time.monotonic() < end:
        time.sleep(0.02)
    slow.send_signal(signal.SIGKILL)
    assert slow.wait() == -signal.SIGKILL and Path("state").exists() and not Path("model.json").exists()
    subprocess.run([sys.executable, "-c", code, "0"], check=True, capture_output=True)
    assert Path("model.json").read_bytes() == Path("whole.json").read_bytes() and not Path("state").exists()


PEAK = """
import resource, sys
from hedgerow import cli
cli.main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak(*arguments):
    done = subprocess.run([sys.executable, "-c", PEAK, *arguments], capture_output=True, text=True, check=True)
    return int(done.stdout.splitlines()[-1]) * 1024


def test_memory_does_not_grow_with_the_reports(task, reports, tmp_path):
    """Ten times the reports, at most 40 MB more (ids are compared in larger pieces), where all of them take 120 MB."""
    rng, sizes = np.random.default_rng(3), {"small": 300_000, "large": 3_000_000}
    (tmp_path / "task.json").write_text(task.to_json())
    used = {}
    for name, n in sizes.items():
        path = tmp_path / f"{name}.bin"
        head = bytearray(Reports(task, reports.tokens[:0], reports.payloads[:0], True).to_bytes())
        head[-8:] = n.to_bytes(8, "little")
        with open(path, "wb") as file:
            file.write(head)
            for _ in range(10):
                file.write(rng.bytes(12 * n // 10))
            for start in range(0, n, 5000):
                file.write(reports.payloads[: n - start].tobytes())
        used[name] = peak("aggregate", str(tmp_path / "task.json"), str(path), "-o", str(tmp_path / "model.json"))
    assert used["large"] - used["small"] < 40e6
