import json

import pandas as pd
import pytest

from hedgerow import cli
from hedgerow.datasets import homes_schema, load_homes
from hedgerow.schema import Schema


def test_files_are_those_of_the_library(tmp_path, capsys):
    assert cli.main(["example", "--n-private", "30", "--n-new", "4", "-o", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_private"] == 30
    homes = load_homes(30, n_new=4)
    for name, frame in {"public": homes.public, "private": homes.private, "new": homes.new.drop(columns="kwh")}.items():
        read = pd.read_csv(tmp_path / f"{name}.csv", keep_default_na=False, na_values=[""])
        pd.testing.assert_frame_equal(read.isna(), frame.isna())
        for column in frame:
            assert read[column].dropna().tolist() == frame[column].dropna().tolist(), column
    assert Schema.load(tmp_path / "schema.json") == homes_schema()


def test_nothing_is_overwritten(tmp_path, capsys):
    (tmp_path / "new.csv").write_text("mine")
    assert cli.main(["example", "-o", str(tmp_path)]) == 2
    assert "new.csv is there already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--n-new", "0"], "--n-new must be a whole number of at least 1. Got 0"),
        (["--seed", "auto"], "--seed must be a whole number"),
        (["-o", "nowhere"], "there is no such folder"),
    ],
)
def test_refusals(options, text, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["example", *options]) == 2
    assert text in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
