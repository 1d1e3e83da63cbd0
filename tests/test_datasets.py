import sys

import numpy as np
import pytest

from hedgerow.datasets import TARGET, draw_homes, homes_schema, load_homes
from hedgerow.errors import HedgerowError
from hedgerow.schema.check import count_misfits


def test_the_same_numbers_give_the_same_homes():
    first = load_homes(50)
    assert first.private.equals(load_homes(50).private)
    assert not first.private.equals(load_homes(50, random_state=6).private)


def test_homes_have_what_real_tables_have():
    homes = load_homes(5_000)
    private = homes.private
    text = [name for name in private if private[name].map(type).eq(str).any()]
    assert len(private.columns) == 13 and len(text) == 7
    gaps = private.isna().mean()
    assert {name for name in private if gaps[name] > 0} == {"built", "windows", "income", "electric_car", "rooms"}
    old = private["built"].between(1850, 1949)
    assert private["windows"].isna()[old].mean() > 2 * private["windows"].isna()[~old].mean()  # gaps say something
    assert "pellets" in set(private["heating"]) - set(homes.public["heating"])
    assert homes.public["area"].max() < 1_000 < private["area"].max()


def test_the_schema_describes_them():
    homes = load_homes(5_000)
    schema = homes_schema()
    assert [*schema.names, schema.label.name] == list(homes.private.columns)
    for column in [*schema.columns, schema.label]:
        found = count_misfits(column, homes.public[column.name].tolist())
        assert (found.unknown, found.outside) == (0, 0)
        assert set(column.question) == {"en", "de", "fr"}
    assert count_misfits(schema["heating"], homes.private["heating"].tolist()).unknown > 0
    assert count_misfits(schema["area"], homes.private["area"].tolist()).outside > 0


def test_labels_follow_from_the_columns():
    """Electric heating is what costs; the region's letter count is not."""
    columns = draw_homes(20_000, np.random.default_rng(0))
    usage = columns[TARGET]
    electric = columns["heating"] == "electric"
    assert usage[electric].mean() > 2 * usage[~electric].mean()
    assert usage.min() >= 0 and usage.max() <= 100


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(HedgerowError, match="pip install pandas"):
        load_homes(10)
