"""``hedgerow privatize``, killed and repeated: no record answers twice, in one round or two, and nothing is told."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from hedgerow import LocalTask, cli, tables
from hedgerow.commands import parts
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.partly_public import SemiTask
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.tree.tuning import PAPER

N = 250


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Records in blocks of 100, and a task of every sort of answer."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tables, "ROWS", 100)
    rows = np.random.default_rng(0).random((N, 3)).round(6).tolist()
    lines = [f"{i},{a},{b},{y}" for i, (a, b, y) in enumerate(rows)]
    Path("mine.csv").write_text("\n".join(["record,a,b,y", *lines]) + "\n")
    Path("mask.csv").write_text("a,b\n" + "1,0\n" * (N // 2) + "0,1\n" * (N // 2))
    facts = {"epsilon": 2.0, "label_bounds": (0, 1), "feature_bounds": (0, 1)}
    Path("tree.json").write_text(LocalTask.design(features=["a", "b"], **{**PAPER, **facts}).to_json())
    Path("first.json").write_text(SemiTask.design(["a", "b"], **facts).to_json())
    Path("labels.json").write_text(LabelTask(LabelGrid(0.0, 1.0, 8), LaplaceNoise(2.0, 8)).to_json())


def run(*arguments):
    return cli.main([str(a) for a in arguments])


FIRST = ["privatize", "first.json", "mine.csv", "--mask", "mask.csv", "--secrets", "kept.bin", "-o", "first.bin"]
SECOND = ["privatize", "second.json", "mine.csv", "--secrets", "kept.bin", "-o", "second.bin"]


def second_round():
    assert run(*FIRST) == 0
    assert run("grow", "first.json", "first.bin", "-o", "second.json") == 0


def dying(patch, after):
    add = parts.Parts.add

    def stop(self, *arguments):
        if len(self) == after:
            raise KeyboardInterrupt
        add(self, *arguments)

    patch.setattr(parts.Parts, "add", stop)


COMMANDS = {
    "tree": ["privatize", "tree.json", "mine.csv", "-o", "r.bin"],
    "labels": ["privatize", "labels.json", "mine.csv", "-o", "r.bin"],
    "first": FIRST,
    "second": SECOND,
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("ending", ["bin", "parquet"])
def test_what_was_drawn_before_a_kill_is_what_is_sent(work, monkeypatch, name, ending):
    if name == "second":
        second_round()
    command = [*COMMANDS[name][:-1], f"out.{ending}", "--resume"]
    folder = Path("kept.bin.parts" if name == "first" else f"out.{ending}.parts")
    with monkeypatch.context() as patch:
        dying(patch, 2)
        assert run(*command) == 130
    assert folder.stat().st_mode & 0o777 == 0o700 and not Path(f"out.{ending}").exists()
    before = [path.read_bytes() for path in sorted(folder.glob("*.part"))]
    assert run(*command) == 0 and not folder.exists()
    task = cli_task(command[1])
    read = (
        Reports.from_parquet if ending == "parquet" else lambda task, path: Reports.from_bytes(task, path.read_bytes())
    )
    reports = read(task, Path(f"out.{ending}"))
    assert len(reports) == N
    for i, part in enumerate(before):
        assert reports.tokens[100 * i : 100 * (i + 1)].tobytes() in part
        assert reports.payloads[100 * i : 100 * (i + 1)].tobytes() in part
    whole = Path(f"out.{ending}").read_bytes()
    assert run(*command) == 0 and Path(f"out.{ending}").read_bytes() == whole  # the receipt: nothing is drawn


def cli_task(path):
    from hedgerow.tasks.registry import read_task

    return read_task(Path(path).read_text())


def test_with_a_seed_a_resumed_answer_has_the_bytes_of_an_undisturbed_one(work, monkeypatch):
    assert run(*FIRST, "--seed", 3) == 0
    whole = Path("first.bin").read_bytes(), Path("kept.bin").read_bytes()
    for name in ("first.bin", "kept.bin"):
        Path(name).unlink()
    with monkeypatch.context() as patch:
        dying(patch, 1)
        assert run(*FIRST, "--seed", 3, "--resume") == 130
    assert run(*FIRST, "--seed", 3, "--resume") == 0
    assert (Path("first.bin").read_bytes(), Path("kept.bin").read_bytes()) == whole


def test_a_second_round_that_was_begun_with_resume_can_only_be_resumed(work, monkeypatch, capsys):
    second_round()
    open_ = Path("kept.bin").read_bytes()
    with monkeypatch.context() as patch:
        dying(patch, 1)
        assert run(*SECOND, "--resume") == 130
    capsys.readouterr()
    assert run(*SECOND) == 2 and "answered already" in capsys.readouterr().err
    assert run(*SECOND[:-1], "other.bin", "--resume") == 2 and "answered already" in capsys.readouterr().err
    Path("kept.bin").write_bytes(open_)  # as if restored from a backup: what was drawn stays drawn
    assert run(*SECOND, "--resume") == 0
    assert run(*SECOND) == 2


def test_a_second_round_answered_without_resume_is_not_answered_with_it(work, monkeypatch, capsys):
    second_round()

    def crash(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:  # killed when the folder was there, before anything was marked
        patch.setattr(parts.Parts, "__enter__", crash)
        assert run(*SECOND, "--resume") == 130
    assert Path("second.bin.parts").exists()
    assert run(*SECOND) == 0
    sent = Path("second.bin").read_bytes()
    assert run(*SECOND, "--resume") == 2 and "answered already" in capsys.readouterr().err
    assert Path("second.bin").read_bytes() == sent


def test_secrets_of_another_run_are_not_replaced(work, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        dying(patch, 1)
        assert run(*FIRST, "--resume") == 130
    assert run(*FIRST) == 0  # the name is free: nothing was kept yet
    kept = Path("kept.bin").read_bytes()
    assert run(*FIRST[:-1], "other.bin", "--resume") == 2
    assert "another run has drawn" in capsys.readouterr().err
    assert Path("kept.bin").read_bytes() == kept and not Path("other.bin").exists()


def test_two_resumed_runs_at_once(work, capsys):
    command = [*COMMANDS["tree"], "--resume"]
    assert run(*command) == 0
    Path("r.bin.receipt").unlink()
    task = cli_task("tree.json")
    with parts.Parts("r.bin", {"task": task.id, "seed": None}, ["mine.csv"]):
        assert run(*command) == 2
    assert "in use by another run" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["tree", "first"])
def test_the_parts_alone_tell_nothing_about_the_file(work, monkeypatch, name):
    """A digest of the file, or of what a fingerprint takes of it, would let a finder test guesses."""
    with monkeypatch.context() as patch:
        dying(patch, 1)
        run(*COMMANDS[name], "--resume")
    (folder,) = Path().glob("*.parts")
    told = (folder / "work.json").read_text()
    data = Path("mine.csv").read_bytes()
    for guess in (data, len(data).to_bytes(8, "little") + data + data):
        assert hashlib.sha256(guess).hexdigest() not in told
    one = json.loads(told)["inputs"]
    monkeypatch.setenv("HEDGEROW_HOME", str(Path("elsewhere")))
    assert run(*COMMANDS[name], "--resume") == 2  # another key: other digests
    assert json.loads((folder / "work.json").read_text())["inputs"] == one
    assert Path("elsewhere/digest.key").stat().st_mode & 0o777 == 0o600


def test_records_of_a_label_task_are_numbered(work, capsys):
    assert run(*COMMANDS["labels"]) == 0
    assert run("aggregate", "labels.json", "r.bin", "-o", "noisy.csv") == 0
    rows = Path("noisy.csv").read_text().splitlines()
    assert rows[0] == "record,y" and [int(row.split(",")[0]) for row in rows[1:]] == list(range(N))
    text = Path("mine.csv").read_text()
    Path("mine.csv").write_text(text.replace("\n7,", "\nseven,"))
    assert run(*COMMANDS["labels"]) == 2
    assert "line 9, column 'record': 'seven'" in capsys.readouterr().err
    Path("mine.csv").write_text(text.replace("record", "row"))
    assert run(*COMMANDS["labels"]) == 2 and "lacks the column 'record'" in capsys.readouterr().err
