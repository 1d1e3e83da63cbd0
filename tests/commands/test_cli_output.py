"""Output is whole or not there at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hedgerow.commands import files
from hedgerow.errors import HedgerowError


def test_file_appears_when_it_is_whole(tmp_path, leftovers):
    path = tmp_path / "out"
    with files.output(str(path)) as file:
        file.write(b"whole")
        file.flush()
        assert not path.exists() and len(leftovers(tmp_path)) == 1
    assert path.read_bytes() == b"whole" and leftovers(tmp_path) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_failure_leaves_the_old_file_and_nothing_else(tmp_path, leftovers, error):
    path = tmp_path / "out"
    path.write_bytes(b"old")

    def write():
        with files.output(str(path)) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_bytes() == b"old" and leftovers(tmp_path) == []


def test_full_disk_is_one_line(made, monkeypatch, leftovers):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert made.fails("predict", "model.json", "new.csv", "-o", "p.csv") == "hedgerow predict: No space left on device"
    assert leftovers(".") == []


def test_modes_and_links_are_kept(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    with files.output(str(link)) as file:
        file.write(b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    with files.output(str(tmp_path / "fresh")) as file:
        file.write(b"new")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o666 & ~mask


def test_special_files_are_written_to_and_not_replaced(tmp_path, leftovers):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    received = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()))
    reader.start()
    with files.output(str(path)) as file:
        file.write(b"through")
    reader.join(timeout=10)
    assert received == [b"through"] and stat.S_ISFIFO(path.stat().st_mode) and leftovers(tmp_path) == []


def test_unwritable_folder(made, not_root):
    os.mkdir("locked", 0o500)
    assert "-o locked/p.csv cannot be written: Permission denied" in made.fails(
        "predict", "model.json", "new.csv", "-o", "locked/p.csv"
    )


def test_folder_that_cannot_be_written(tmp_path, monkeypatch):
    """The same for root, who may write anywhere."""

    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)

    def write():
        with files.output(str(tmp_path / "out")):
            pass

    with pytest.raises(HedgerowError, match=r"-o .*out cannot be written: Permission denied"):
        write()


def test_name_too_long(made):
    assert "File name too long" in made.fails("predict", "model.json", "new.csv", "-o", "n" * 300)


SLOW = """
import sys, time
from hedgerow.commands import files
with files.output(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_signals_leave_nothing_behind(tmp_path, kind):
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, str(tmp_path / "out")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout.readline() == b"writing\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(kind)
        process.wait(timeout=20)
    assert list(tmp_path.iterdir()) == [] and process.returncode != 0


def test_signal_handler_is_restored(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    with files.output(str(tmp_path / "out")) as file:
        file.write(b"")
    assert signal.getsignal(signal.SIGTERM) is before


def test_output_is_replaced_as_a_whole(made):
    Path("p.csv").write_text("old")
    made.ok("predict", "model.json", "new.csv", "-o", "p.csv")
    assert len(Path("p.csv").read_text().splitlines()) == 51
