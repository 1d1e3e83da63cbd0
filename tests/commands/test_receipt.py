"""``privatize --resume`` answers once: a receipt beside the reports keeps a second run from drawing."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from hedgerow import LocalTask, cli
from hedgerow.tasks.tree.tuning import PAPER

COMMAND = ["privatize", "task.json", "mine.csv", "--resume", "-o"]


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    task = LocalTask.design(epsilon=1.0, label_bounds=(0, 1), features=["a"], feature_bounds=(0, 1), **PAPER)
    Path("task.json").write_text(task.to_json())
    records = np.random.default_rng(0).random((40, 2))
    Path("mine.csv").write_text("a,y\n" + "".join(f"{a},{y}\n" for a, y in records))
    return tmp_path


@pytest.mark.parametrize("name", ["r.bin", "r.parquet"])
def test_a_finished_answer_is_not_drawn_again(work, capsys, name):
    assert cli.main([*COMMAND, name]) == 0
    first = Path(name).read_bytes()
    capsys.readouterr()
    assert cli.main([*COMMAND, name]) == 0
    assert Path(name).read_bytes() == first
    assert "nothing was drawn" in capsys.readouterr().out
    assert not Path(f"{name}.parts").exists()
    assert cli.main([*COMMAND, name, "--again"]) == 0
    assert Path(name).read_bytes() != first
    assert "epsilon is spent again" in capsys.readouterr().err


def test_reports_that_were_moved_or_changed_are_not_drawn_again(work, capsys):
    assert cli.main([*COMMAND, "r.bin"]) == 0
    Path("r.bin").rename("sent.bin")
    assert cli.main([*COMMAND, "r.bin"]) == 2
    assert "was moved or changed" in capsys.readouterr().err
    Path("r.bin").write_bytes(b"other")
    assert cli.main([*COMMAND, "r.bin"]) == 2
    assert Path("r.bin").read_bytes() == b"other"


def test_another_task_or_other_records_need_another_name(work, capsys):
    assert cli.main([*COMMAND, "r.bin"]) == 0
    first = Path("r.bin").read_bytes()
    receipt = Path("r.bin.receipt").read_text()
    with open("mine.csv", "a") as file:
        file.write("0.5,0.5\n")
    assert cli.main([*COMMAND, "r.bin"]) == 0
    assert "for other records give -o another name" in capsys.readouterr().out
    other = LocalTask.design(epsilon=2.0, label_bounds=(0, 1), features=["a"], feature_bounds=(0, 1), **PAPER)
    Path("task.json").write_text(other.to_json())
    assert cli.main([*COMMAND, "r.bin"]) == 2
    assert "the answer to another task" in capsys.readouterr().err
    assert Path("r.bin").read_bytes() == first and Path("r.bin.receipt").read_text() == receipt


def test_a_receipt_says_nothing_about_the_records(work):
    assert cli.main([*COMMAND, "r.bin"]) == 0
    receipt = json.loads(Path("r.bin.receipt").read_text())
    assert set(receipt) == {"format", "version", "task", "output", "n_reports"}
    assert receipt["output"] == hashlib.sha256(Path("r.bin").read_bytes()).hexdigest()


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "hedgerow/receipt", "version": 1}', "\x00"])
def test_a_damaged_receipt_is_no_leave_to_draw(work, capsys, text):
    assert cli.main([*COMMAND, "r.bin"]) == 0
    first = Path("r.bin").read_bytes()
    Path("r.bin.receipt").write_text(text)
    assert cli.main([*COMMAND, "r.bin"]) == 2
    assert "is damaged" in capsys.readouterr().err
    assert Path("r.bin").read_bytes() == first


def test_a_crash_before_the_receipt_repeats_the_same_reports(work, monkeypatch):
    from hedgerow.commands.receipt import Receipt

    class Crash(BaseException):
        """No command catches this."""

    def crash(self, n_reports):
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(Receipt, "write", crash)
        with pytest.raises(Crash):
            cli.main([*COMMAND, "r.bin"])
    first = Path("r.bin").read_bytes()
    assert cli.main([*COMMAND, "r.bin"]) == 0
    assert Path("r.bin").read_bytes() == first
    assert json.loads(Path("r.bin.receipt").read_text())["n_reports"] == 40


def test_again_needs_resume(work, capsys):
    assert cli.main(["privatize", "task.json", "mine.csv", "--again", "-o", "r.bin"]) == 2
    assert "--again is for --resume" in capsys.readouterr().err
