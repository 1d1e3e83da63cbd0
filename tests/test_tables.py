"""Reading tables: both readers of CSV agree, and a cell is what it says."""

import gzip
import io
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow import tables
from hedgerow.errors import BoundsError, FormatError
from hedgerow.tables import Table


def columns(path, rows=1000):
    """Return all cells by column."""
    blocks = list(Table(str(path)).blocks(rows))
    return {n: [c for b in blocks for c in tables._cells(b.columns[n])] for n in blocks[0].columns} if blocks else {}


@pytest.fixture
def fast(monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(tables, "LARGE", 0)


@pytest.fixture
def never(monkeypatch):
    """Make the plain reader fail, to be sure that pyarrow reads."""

    def refuse(*_):
        raise AssertionError("the plain reader was used")

    monkeypatch.setattr(Table, "_csv_blocks", refuse)


def test_fast_reader_is_used_and_groups_rows(tmp_path, fast, never):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "".join(f"{i},x{i}\n" for i in range(1000)))
    blocks = list(Table(str(path)).blocks(300))
    assert [len(b) for b in blocks] == [300, 300, 300, 100] and [b.start for b in blocks] == [0, 300, 600, 900]
    assert np.concatenate([b.numbers("a") for b in blocks]).tolist() == list(range(1000))
    assert blocks[1].texts("b")[0] == "x300"


CELL = st.text(alphabet='ab1 ",.\n\r;é-e_', max_size=5)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=6), st.booleans(), st.booleans())
def test_readers_agree(tmp_path, fast, rows, quote_all, unix):
    """Whatever the csv module writes, both readers read back as it was."""
    import csv

    # With other line ends the module does not quote a carriage return, and a reader takes it for a line end.
    end = "\n" if unix and (quote_all or not any("\r" in cell for row in rows for cell in row)) else "\r\n"

    path = tmp_path / "a.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL)
        writer.writerow(["a", "b"])
        writer.writerows(rows)
    table = Table(str(path))
    slow = list(table._csv_blocks(2, 0))
    expected = [cells for block in slow for cells in zip(*block.columns.values(), strict=True)]
    assert expected == rows
    found = columns(path, rows=2)
    assert list(zip(*found.values(), strict=True)) == rows


def test_fast_reader_hands_over_where_it_stumbles(tmp_path, fast):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n3,4\n5\n")
    with pytest.raises(FormatError, match=r"a\.csv, line 4: 1 cells where the header has 2"):
        columns(path)
    path.write_bytes(b"a,b\n1,2\n3,\xff\n")
    with pytest.raises(FormatError, match="not UTF-8"):
        columns(path)


def test_fast_reader_names_lines(tmp_path, fast, never):
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,"two\nlines"\n\nx,3\n')
    block = next(Table(str(path)).blocks())
    with pytest.raises(BoundsError, match="line 5, column 'a': 'x' where a number"):
        block.numbers("a")


def test_byte_order_mark_and_spaces(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\r\n 1 ,x\r\n+2e1,007\r\n")
    for large in (0, 1 << 30):
        tables_large, tables.LARGE = tables.LARGE, large
        try:
            block = next(Table(str(path)).blocks())
            assert block.numbers("a").tolist() == [1, 20] and block.texts("b").tolist() == ["x", "007"]
        finally:
            tables.LARGE = tables_large


@pytest.mark.parametrize(
    "cell", ["", " ", "nan", "inf", "-Infinity", "1e400", "1_0", "0x10", "1,5", "١", "None", "True"]
)
@pytest.mark.parametrize("large", [0, 1 << 30])
def test_strict_numbers(tmp_path, monkeypatch, cell, large):
    monkeypatch.setattr(tables, "LARGE", large)
    path = tmp_path / "a.csv"
    path.write_text(f'a,b\n"{cell}",1\n', encoding="utf-8")
    with pytest.raises(BoundsError, match="line 2, column 'a'"):
        next(Table(str(path)).blocks()).numbers("a")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_numbers_are_exact(tmp_path, fast, values):
    path = tmp_path / "a.csv"
    path.write_text("a\n" + "".join(f"{v!r}\n" for v in values))
    table = Table(str(path))
    assert next(table.blocks()).numbers("a").tolist() == values
    assert next(table._csv_blocks(10, 0)).numbers("a").tolist() == values


def test_parquet_types(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "whole": [1, 2, 3],
            "large": [2**53 + 2, 1, 2],
            "flag": [True, False, True],
            "text": ["a", "b", "a"],
            "digits": ["1", "2.5", "3"],
            "group": pa.array(["x", "y", "x"]).dictionary_encode(),
            "gap": [1.0, None, 2.0],
            "day": pa.array([0, 1, 2], pa.date32()),
            "none": ["a", None, "b"],
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=2)
    (block,) = Table(str(path)).blocks()
    assert block.numbers("whole").tolist() == [1, 2, 3] and block.numbers("flag").tolist() == [1, 0, 1]
    assert block.numbers("large")[0] == 2.0**53 + 2 and block.numbers("digits").tolist() == [1, 2.5, 3]
    assert block.texts("text").tolist() == ["a", "b", "a"] and block.texts("group").tolist() == ["x", "y", "x"]
    for name, row in (("gap", 2), ("day", 1), ("text", 1)):
        with pytest.raises(BoundsError, match=f"a.parquet, row {row}, column '{name}'"):
            block.numbers(name)
    with pytest.raises(BoundsError, match="row 2, column 'none': an empty cell where a category"):
        block.texts("none")


def test_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n3,x\n")))
    table = Table("-")
    assert table.names == ["a", "b"] and table.share is None
    (block,) = table.blocks()
    assert block.numbers("a").tolist() == [1, 3]
    with pytest.raises(BoundsError, match="-, line 3, column 'b'"):
        block.numbers("b")


def test_share_grows(tmp_path, fast):
    path = tmp_path / "a.csv"
    path.write_text("a\n" + "1\n" * 200_000)
    table = Table(str(path))
    for read in (table.blocks, lambda rows: table._csv_blocks(rows, 0)):
        shares = [table.share for _ in read(20_000)]
        assert 0 < shares[0] <= shares[-1] <= 1.01 and shares[-1] > 0.9


@pytest.mark.parametrize("large", [0, 1 << 23])
def test_a_packed_file_is_read_as_the_file_in_it(tmp_path, monkeypatch, large):
    monkeypatch.setattr(tables, "LARGE", large)
    text = "a,b\n" + "".join(f"{i},x{i}\n" for i in range(5000))
    plain = tmp_path / "a.csv"
    plain.write_text(text)
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert columns(packed) == columns(plain)
    table = Table(str(packed))
    list(table.blocks())
    assert table.share == 0 or table.share == 1  # closed, or at its end
    packed.write_bytes(gzip.compress(text.encode())[:-2000])
    with pytest.raises(FormatError, match=r"a\.csv\.gz is not a whole gzip file"):
        columns(packed)
    packed.write_bytes(text.encode())
    with pytest.raises(FormatError, match="is not a whole gzip file"):
        Table(str(packed))
