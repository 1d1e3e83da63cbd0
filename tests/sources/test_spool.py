"""The spool: private, for one fit, not twice, and nothing is left of it."""

import errno
import os
import stat
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.sources import spool as module
from hedgerow.sources.spool import open_spool


def test_a_matrix_is_read_as_it_was_written(tmp_path):
    whole = np.arange(70, dtype=np.int32).reshape(7, 10)
    for folder in (None, tmp_path / "spool"):
        with open_spool(folder) as spool:
            spool.begin(["fit"])
            matrix = spool.matrix("codes", (7, 10), np.int32)
            for start in (6, 0, 3):
                matrix.write(start, whole[:, start : start + 4])
            assert (matrix.read() == whole).all() and not matrix.read().flags.writeable
            with pytest.raises(HedgerowError, match="have changed while they were read"):
                matrix.write(8, whole[:, :3])


def test_without_a_name_there_is_nothing_to_find(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with open_spool(None) as spool:
        spool.begin(["fit"])
        spool.matrix("codes", (2, 1000), np.uint8).write(0, np.ones((2, 1000), dtype=np.uint8))
        spool.keep("rows", 5)
        assert os.listdir(tmp_path) == []


def test_a_named_spool_goes_on_and_ends(tmp_path):
    folder = tmp_path / "deep" / "spool"
    with open_spool(folder) as spool:
        spool.begin(["fit", 1])
        spool.matrix("codes", (1, 3), np.uint8).write(0, np.array([[1, 2, 3]], dtype=np.uint8))
        spool.keep("rows", 3)
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert {stat.S_IMODE(os.stat(folder / f).st_mode) for f in ("codes.bin", "spool.json")} == {0o600}
    with pytest.raises(HedgerowError, match="of other records or with other settings"), open_spool(folder) as spool:
        spool.begin(["fit", 2])
    with open_spool(folder) as spool:
        spool.begin(["fit", 1])
        assert spool.get("rows") == 3 and spool.get("none") is None
        assert spool.written("codes", (1, 3), np.uint8).tolist() == [[1, 2, 3]]
        spool.finish()
    assert sorted(os.listdir(folder)) == ["finished", "lock"]
    assert (folder / "finished").read_bytes() == b""
    with pytest.raises(HedgerowError, match="spends epsilon again"), open_spool(folder):
        pass


def test_what_is_kept_tells_nothing_about_the_records_but_to_who_has_them(tmp_path):
    """The digest is under a key: two spools of one fit have different ones."""
    texts = []
    for name in ("a", "b"):
        with open_spool(tmp_path / name) as spool:
            spool.begin(["private.csv", 12345])
        texts.append((tmp_path / name / "spool.json").read_text())
    assert texts[0] != texts[1] and "12345" not in texts[0]


def test_others_directories_and_two_at_once_are_refused(tmp_path, monkeypatch):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(HedgerowError, match=r"holds 'notes\.txt': name a directory of its own"), open_spool(tmp_path):
        pass
    mode = stat.S_IMODE(os.stat(tmp_path).st_mode)
    folder = tmp_path / "spool"
    with open_spool(folder), pytest.raises(HedgerowError, match="in use by another fit"), open_spool(folder):
        pass
    assert stat.S_IMODE(os.stat(tmp_path).st_mode) == mode
    (folder / "spool.json").write_text("{")
    with pytest.raises(FormatError, match="damaged"), open_spool(folder) as spool:
        spool.begin([])
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(HedgerowError, match="belongs to somebody else"), open_spool(folder):
        pass


def test_a_full_disk_is_said_before_anything_is_read(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(module.os, "posix_fallocate", full)
    with open_spool(tmp_path / "spool") as spool, pytest.raises(HedgerowError, match=r"there is no room in .*spool"):
        spool.matrix("codes", (20, 1 << 30), np.uint8)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="takes room otherwise")
def test_a_limit_of_file_sizes_is_an_error_not_a_signal(tmp_path):
    script = (
        "import resource, signal, sys; import numpy as np; from hedgerow.sources.spool import open_spool;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20,) * 2);\n"
        "with open_spool(sys.argv[1]) as spool:\n    spool.matrix('codes', (20, 1 << 20), np.uint8)"
    )
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "s"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "there is no room" in done.stderr
