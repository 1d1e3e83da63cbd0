"""Groups of a search: one for each record, by a coin of its own."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hedgerow import CategoryColumn, HedgerowError, LPDTRegressor, Schema
from hedgerow.randomness import SeededRandomness
from hedgerow.search.groups import as_table, draw_groups, rows_of


def draw(n, k, *, refit=True, empty=True, seed=0):
    options = {"candidates": 0.3, "validation": 0.2, "refit": refit, "may_be_empty": empty}
    return draw_groups(n, k, **options, source=SeededRandomness(seed))


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("k", [1, 3, 7])
def test_each_record_is_in_one_group_of_the_size_it_should_have(k, refit):
    groups = draw(100_000, k, refit=refit)
    parts = [*groups.training, groups.validation, *([groups.final] if refit else [])]
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(100_000))
    learning = 0.3 if refit else 0.8
    shares = [learning / k] * k + [0.2] + ([0.5] if refit else [])
    # Hoeffding: a share is off by more than .013 with probability below 2 exp(-2 1e5 .013^2) = 4e-15.
    assert [len(part) / 100_000 for part in parts] == pytest.approx(shares, abs=0.013)


def test_where_the_number_is_public_no_group_is_empty():
    for seed in range(20):
        groups = draw(12, 3, empty=False, seed=seed)
        assert all(len(part) for part in (*groups.training, groups.validation, groups.final))
    with pytest.raises(HedgerowError, match="need at least 5 records"):
        draw(4, 3, empty=False)


def test_where_it_is_not_an_empty_group_is_one():
    groups = draw(1, 3)
    assert sorted(len(p) for p in (*groups.training, groups.validation, groups.final)) == [0, 0, 0, 0, 1]
    nobody = draw(0, 2)
    assert all(len(part) == 0 for part in (*nobody.training, nobody.validation, nobody.final))


COLUMNS = {"a": [1, 2, 3], "b": ["x", "y", "z"], "c": [True, False, True]}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_rows_of_any_table_with_a_blank_one(kind):
    part = rows_of(as_table(kind(COLUMNS), LPDTRegressor()), np.array([2, 0]), blank=True)
    assert part.columns == ("a", "b", "c") and part.shape == (3, 3)
    assert part["a"].tolist()[:2] == [3.0, 1.0] and np.isnan(part["a"][2])
    assert part["b"].tolist() == ["z", "x", None]
    assert part["c"].tolist()[:2] == [1.0, 1.0] and np.isnan(part["c"][2])
    assert len(rows_of(as_table(kind(COLUMNS), LPDTRegressor()), np.array([2, 0]), blank=False)) == 2


def test_rows_of_arrays_with_a_blank_one():
    part = rows_of(np.arange(6).reshape(3, 2), np.array([1]), blank=True)
    assert part[0].tolist() == [2.0, 3.0] and np.isnan(part[1]).all()
    part = rows_of(np.array([["a", 1], ["b", 2]], dtype=object), np.array([], dtype=int), blank=True)
    assert part.tolist() == [[None, None]]


def test_the_type_of_a_column_is_judged_by_the_whole_of_it():
    """A group of rows that holds no number would otherwise be taken for text, and be refused."""
    table = as_table(pd.DataFrame({"a": pd.Series([1, "none", None], dtype=object)}), LPDTRegressor())
    assert table["a"].dtype == np.float64


def test_categories_stay_as_they_are():
    frame = pd.DataFrame({"a": pd.Series(["01", "2", "3"], dtype=object)})
    schema = Schema((CategoryColumn("a", ("01", "2")),))
    for declared in ({"categories": {"a": ["01", "2"]}}, {"categorical_features": ["a"]}, {"schema": schema}):
        assert as_table(frame, LPDTRegressor(**declared))["a"].tolist() == ["01", "2", "3"]
