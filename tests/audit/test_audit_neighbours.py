import math

import numpy as np
import pytest

from hedgerow.audit import Record, corner_records, neighbouring_tables, worst_pair, worst_tables
from hedgerow.errors import BoundsError, HedgerowError
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms import DiscreteLaplace, KaryResponse, Law
from hedgerow.partition import Partition
from hedgerow.space import FeatureSpace

SPACE = FeatureSpace((NumericFeature("age", 0.0, 100.0), CategoricalFeature("sex", ("F", "M", "X"))))
# age < 30; then sex in {F} on the right
TREE = Partition(SPACE, [0, -1, 1, -1, -1], [30.0, 0, 0, 0, 0], [1, 1, 3, 3, 4], [-1, -1, 0, -1, -1], [1, 0, 0])


def test_corners_of_ranges_labels_and_cuts():
    records = corner_records(SPACE, (0, 80), TREE)
    assert len(records) == len(set(records))
    ages = {r.features[0] for r in records}
    just = [math.nextafter(0.0, -1), math.nextafter(0.0, 1), math.nextafter(100.0, 0), math.nextafter(100.0, 200)]
    assert {0.0, 100.0, 30.0, math.nextafter(30.0, 0), *just} <= ages
    assert min(ages) < -100 and max(ages) > 200
    assert {r.features[1] for r in records} == {"F", "M", "X", ""}
    labels = {r.label for r in records}
    assert {0.0, 80.0, 40.0, math.nextafter(80.0, 90), math.nextafter(0.0, -1)} <= labels
    assert min(labels) <= -80 and max(labels) >= 160
    assert Record((0.0, "F"), 0.0) in records and Record((100.0, "X"), 80.0) in records


def test_corners_reach_every_leaf_and_can_all_be_encoded():
    records = corner_records(SPACE, (0, 80), TREE)
    rows = np.array([SPACE.encode_record(r.features) for r in records])
    assert set(TREE.apply(rows).tolist()) == {0, 1, 2}


def test_corners_need_label_bounds():
    with pytest.raises(BoundsError, match="'label_bounds' is required"):
        corner_records(SPACE, None)


def clipped(label, grid, noise):
    level = round((min(max(label, grid.low), grid.high) - grid.low) / grid.step)
    return noise.law(level, reach=4)


def test_clipping_holds_and_its_absence_is_caught():
    grid, noise = LabelGrid(0.0, 80.0, 4), DiscreteLaplace(1.0, 4)
    records = corner_records(SPACE, (0, 80))
    assert worst_pair(lambda r: clipped(r.label, grid, noise), records, epsilon=1.0).holds

    def unclipped(record):  # as wide as the data are
        law = DiscreteLaplace(3.0, 12).law(round((record.label + 80) / 20), reach=4)
        return Law(law.outputs, law.weights)

    result = worst_pair(unclipped, records, epsilon=1.0)
    assert result.verdict == "VIOLATED" and result.measured == pytest.approx(3.0)


def test_dropping_what_is_out_of_range_is_caught():
    response = KaryResponse(1.0, 2)

    def law(record):
        return response.law(int(record.label > 40)) if record.label <= 80 else Law((None,), (1,))

    result = worst_pair(law, corner_records(SPACE, (0, 80)), epsilon=1.0)
    assert result.measured == math.inf and not result.holds


def test_leaf_that_is_not_randomised_is_caught():
    response = KaryResponse(1.0, 2)

    def law(record):
        leaf = int(TREE.apply(SPACE.encode_record(record.features)[None])[0])
        inner = response.law(int(record.label > 40))
        return Law(tuple((leaf, o) for o in inner.outputs), inner.weights)

    assert worst_pair(law, corner_records(SPACE, (0, 80), TREE), epsilon=1.0).measured == math.inf


PEOPLE = [Record((0.0,), y) for y in (-1.0, 0.0, 1.0)]


def test_tables_are_neighbours():
    pairs = list(neighbouring_tables(PEOPLE, neighbours="add/remove"))
    assert {len(one) for one, _ in pairs} == {0, 1, 2}
    assert all(len(two) == len(one) + 1 and two[: len(one)] == one for one, two in pairs)
    pairs = list(neighbouring_tables(PEOPLE, neighbours="replace"))
    assert pairs and all(
        len(one) == len(two) and sum(a != b for a, b in zip(one, two, strict=True)) == 1 for one, two in pairs
    )
    with pytest.raises(HedgerowError, match="neighbours must be"):
        list(neighbouring_tables(PEOPLE, neighbours="swap"))


def noisy(value, epsilon=1.0):
    """Discrete Laplace noise for sensitivity 1, on an integer in -4 .. 4."""
    return DiscreteLaplace(8 * epsilon, 8).law(value + 4, reach=4)


def test_noisy_count_and_sum():
    def count(table):
        return noisy(len(table))

    def total(table):
        return noisy(int(sum(r.label for r in table)))

    added = list(neighbouring_tables(PEOPLE, neighbours="add/remove"))
    replaced = list(neighbouring_tables(PEOPLE, neighbours="replace"))
    assert worst_tables(count, added, epsilon=1.0).holds
    assert worst_tables(count, replaced, epsilon=1e-9).holds
    assert worst_tables(total, added, epsilon=1.0).holds
    result = worst_tables(total, replaced, epsilon=1.0)  # a label can move by 2
    assert not result.holds and result.measured == pytest.approx(2.0)


def test_true_count_in_the_scale_is_caught():
    # DiPriMe's leaf: mean + noise scaled by the true N. An empty leaf is its own giveaway.
    def law(table):
        return noisy(0, epsilon=1.0 / max(1, len(table))) if table else Law((0,), (1,))

    pairs = neighbouring_tables(PEOPLE, neighbours="add/remove")
    assert worst_tables(law, pairs, epsilon=5.0).measured == math.inf


def test_no_pairs_is_an_error():
    with pytest.raises(HedgerowError, match="'pairs'"):
        worst_tables(noisy, [], epsilon=1.0)
