"""Files as a source: which they are, what is refused, and that batches are what the files hold."""

import gzip
import os
import pickle

import numpy as np
import pytest

from hedgerow.errors import BoundsError, FormatError, HedgerowError
from hedgerow.sources import as_source
from hedgerow.sources.files import FileSource, find_files

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def write(path, start, stop, **more):
    columns = {"a": np.arange(start, stop, dtype=float), "b": [f"t{i % 3}" for i in range(start, stop)]}
    pq.write_table(pa.table({**columns, "y": np.arange(start, stop) % 7, **more}), path, row_group_size=10)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "1.parquet", 0, 30)
    write(tmp_path / "2.parquet", 30, 45)
    lines = "".join(f"{i % 7},t{i % 3},{i}\n" for i in range(45, 60))
    (tmp_path / "3.csv").write_text("y,b,a\n" + lines)
    (tmp_path / "4.csv.gz").write_bytes(gzip.compress(b"a,b,y\n60,t0,4\n,,\n"))
    return tmp_path


def test_all_files_are_read_by_name_whatever_their_kind_and_order_of_columns(folder):
    source = FileSource([f"{folder}/*.parquet", folder / "3.csv", f"{folder}/4*"], "y")
    source.describe({"b"}, classes=False)
    for _ in range(2):  # as often as asked
        batches = list(source.batches())
        a = np.concatenate([np.asarray(batch.X["a"], dtype=float) for batch in batches])
        assert a[:61].tolist() == list(range(61)) and np.isnan(a[61])
        b = [v for batch in batches for v in batch.X["b"].tolist()]
        assert b[:61] == [f"t{i % 3}" for i in range(61)] and b[61] is None
        assert np.concatenate([np.asarray(batch.labels[0], dtype=float) for batch in batches])[:61].tolist() == [
            i % 7 for i in range(61)
        ]
    assert source.names == ["a", "b"] and source.width == 2 and source.outputs == 1


def test_row_groups_are_pieces_that_can_be_sent(folder):
    source = FileSource(f"{folder}/*.parquet", "y")
    pieces = source.pieces(20)
    assert [(os.path.basename(p.path), p.groups) for p in pieces] == [
        ("1.parquet", [0, 1]),
        ("1.parquet", [2]),
        ("2.parquet", [0, 1]),
    ]
    assert [sum(b.rows for b in pickle.loads(pickle.dumps(p)).batches()) for p in pieces] == [20, 10, 15]


def test_progress_goes_from_0_to_1(folder):
    told = []
    source = FileSource(f"{folder}/*.parquet", "y", progress=lambda done, share: told.append((done, share)))
    list(source.batches())
    assert [done for done, _ in told] == [30, 45] and told[-1][1] == 1.0 and 0 < told[0][1] < 1


def test_what_is_no_file_or_twice_is_refused(folder, tmp_path):
    (tmp_path / "none").mkdir()
    with pytest.raises(HedgerowError, match=r"is a directory: name its files, '.*none/\*\.parquet' say"):
        find_files(tmp_path / "none")
    with pytest.raises(HedgerowError, match="no file matches"):
        find_files(f"{folder}/*.feather")
    with pytest.raises(FileNotFoundError):
        find_files(folder / "9.csv")
    with pytest.raises(HedgerowError, match="standard input can be read once only"):
        find_files("-")
    os.link(folder / "1.parquet", folder / "copy.parquet")
    with pytest.raises(HedgerowError, match=r"there twice .*would count twice"):
        find_files(f"{folder}/*.parquet")
    odd = tmp_path / "[odd].csv"
    odd.write_text("a\n1\n")
    assert find_files(odd) == [str(odd)]


def test_other_columns_and_types_are_refused_by_file(folder):
    write(folder / "5.parquet", 0, 5, more=np.zeros(5))
    source = FileSource(f"{folder}/*.parquet", "y")
    with pytest.raises(FormatError, match=r"5\.parquet has the column 'more', which the first file lacks"):
        list(source.batches())
    assert sum(b.rows for b in FileSource(f"{folder}/*.parquet", "y", ["a"]).batches()) == 50
    pq.write_table(pa.table({"a": ["x"], "b": ["t0"], "y": [1]}), folder / "5.parquet")
    with pytest.raises(FormatError, match=r"5\.parquet has text in the column 'a', where the first file has numbers"):
        list(FileSource(f"{folder}/*.parquet", "y").batches())
    pq.write_table(pa.table({"a": [1.0], "y": [1]}), folder / "5.parquet")
    with pytest.raises(HedgerowError, match=r"5\.parquet lacks the column 'b' that were named"):
        list(FileSource(f"{folder}/*.parquet", "y").batches())
    (folder / "6.csv").write_text("")
    with pytest.raises(FormatError, match=r"6\.csv is empty"):
        list(FileSource([folder / "1.parquet", folder / "6.csv"], "y").batches())
    (folder / "6.csv").write_text("a,b,y\n")
    assert sum(b.rows for b in FileSource([folder / "1.parquet", folder / "6.csv"], "y").batches()) == 30


def test_labels_are_named(folder):
    for wrong in (None, [1.0], [], ["y", "y"], np.zeros(3)):
        with pytest.raises(BoundsError, match="'y' must be the name of the column of labels"):
            FileSource(folder / "1.parquet", wrong)
    with pytest.raises(HedgerowError, match="lacks the column 'z'"):
        FileSource(folder / "1.parquet", "z")
    with pytest.raises(HedgerowError, match="has no column beside the label"):
        FileSource(folder / "1.parquet", ["a", "b", "y"])


def test_columns_that_nobody_asks_for_are_not_read_and_long_ones_in_small_blocks(tmp_path):
    text = ["x" * (1 << 20)] * 3 + [str(i) * (1 << 18) for i in range(100)]
    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"a": np.zeros(103), "b": text, "y": np.zeros(103)}), path, use_dictionary=False)
    (narrow,) = FileSource(path, "y", ["a"]).batches()
    assert narrow.X.columns == ("a",) and narrow.rows == 103
    rows = [batch.rows for batch in FileSource(path, "y").batches()]
    assert sum(rows) == 103 and max(rows) < 103


def test_tables_in_memory_are_no_sources(folder):
    for X in ([[1.0]], np.zeros((2, 2)), pa.table({"a": [1]}), [], [["a"], ["b"]]):
        assert as_source(X, None) is None
    assert as_source(str(folder / "1.parquet"), "y").width == 2
