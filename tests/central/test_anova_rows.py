"""What a record adds to a gradient: whole numbers of bounded norm, its own alone, whatever the record is."""

import math
from contextlib import nullcontext

import numpy as np
import pytest

from hedgerow.central.anova.basis import Basis, Single, choose
from hedgerow.central.anova.coded import LABEL, CodedRows, Table, code_columns, code_labels
from hedgerow.central.anova.design import FeatureMap
from hedgerow.central.anova.products import FULL, NORM, SCALE, UNITS, Products
from hedgerow.central.anova.quantiles import CELLS, Quantiles
from hedgerow.central.anova.rows import LEVELS, MOMENTS, Clip, Point, Rows, quantised
from hedgerow.kernels import native, reference
from hedgerow.space import FeatureSpace

SPACE = FeatureSpace.from_bounds((0, 1), ["a", "b", "c", "kind"], categories={"kind": ["u", "v", "w"]})
FLAT = Quantiles(np.linspace(0, 1, 5), np.array([4.0, 1.0, 0.0, 2.0]))
QUANTILES = {0: FLAT, 1: FLAT, 2: FLAT}
UNIT = np.array([UNITS, 1])


def feature_map(most=math.inf, scale=None, space=SPACE, triples=True):
    options = {"frequency": 8, "pair_complexity": 9.0, "least": 0.0, "most": 300, "missing": True}
    basis = choose(space, [3.0, 1.0, 0.2, 1.0], pair_weight=0.5, **options)
    if triples:
        made = [(Single(0, "cosine", k), Single(1, "cosine", 1), Single(2, "cosine", 3)) for k in (1, 2)]
        made.append((Single(0, "cosine", 1), Single(2, "cosine", 2), Single(3, "category", 1)))
        basis = Basis((*basis.functions, *made), (*basis.weights, 0.9, 0.8, 0.7), (*basis.energies, 0.1, 0.1, 0.1))
    return FeatureMap(space, QUANTILES, basis, scale or 0.8 * basis.root_mean_square(), most)


def records(n, outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    Z = np.column_stack([rng.random((n, 3)), rng.integers(0, 3, n)])
    Z[:: max(1, n // 7)] = [0, 1, 0, 2]  # corners
    Z[1::9, 0] = np.nan
    return Table(Z, (rng.random((n, outputs)) - 0.5) * 3.0 ** rng.integers(-3, 4, (n, 1)))


def products(most=math.inf, scale=None):
    return Products.of(feature_map(most, scale))


def norms(own, codes, scales, order):
    """The norm of each record's vector as it counts, to the power of order, in Python's integers over 2**15."""
    out = []
    for column, s in zip(own.values(codes).T, scales, strict=True):
        parts = [int(w) * int(b) * int(s) for w, b in zip(own.units, column, strict=True)]
        out.append(sum(v * v for v in parts) if order == 2 else sum(map(abs, parts)))
    return out


@pytest.mark.parametrize("most", [math.inf, 2.5])
@pytest.mark.parametrize("scale", [None, 0.05])
def test_vectors_are_whole_and_bounded_in_integers(most, scale):
    own = products(most, scale)
    rows = records(500).coded(SPACE, QUANTILES)
    values = own.values(rows.codes)
    assert (values == np.rint(values)).all() and np.abs(values).max() == FULL**2
    scales = own.scales(values)
    longest = max(norms(own, rows.codes, scales, 2))
    assert longest <= NORM**2 << (2 * SCALE)
    if most < math.inf:
        assert max(norms(own, rows.codes, scales, 1)) <= own.norm(1) << SCALE
    else:  # the budget is used: some record is as long as allowed, but for rounding
        assert longest > 0.999 * NORM**2 * 2.0 ** (2 * SCALE)


@pytest.mark.parametrize("order", [1, 2])
def test_the_bound_holds_for_every_code(order):
    """All 256 codes of each column, also those that no record of the schema has, and tables at their ends."""
    rng = np.random.default_rng(0)
    own = products(1.7 if order == 1 else math.inf, 0.3)
    ends = np.where(rng.random((len(own.tables), 256)) < 0.5, FULL, -FULL).astype(np.int8)
    for tables in (own.tables, ends, np.full_like(ends, FULL)):
        worst = Products(own.columns, tables, own.derived, own.factors, own.units, own.most)
        codes = np.stack([rng.permutation(256) for _ in range(4)]).astype(np.uint8)
        scales = worst.scales(worst.values(codes))
        bound = NORM**2 << (2 * SCALE) if order == 2 else own.norm(1) << SCALE
        assert max(norms(worst, codes, scales, order)) <= bound


def test_the_bound_holds_to_the_last_notch():
    """The constant alone is as long as allowed; one step more of another function shortens the record by one notch."""
    factors = np.array([[1, 1], [0, 1]])
    for step in range(3):
        table = np.full((1, 256), step, dtype=np.int8)
        own = Products(np.zeros(1, dtype=np.int64), table, np.zeros((0, 2), dtype=np.int64), factors, UNIT, None)
        codes = np.zeros((1, 1), dtype=np.uint8)
        scales = own.scales(own.values(codes))
        assert norms(own, codes, scales, 2)[0] <= NORM**2 << (2 * SCALE) and scales[0] >= (1 << SCALE) - 1


def test_weights_of_any_size_leave_room():
    """Squared norms stay below 2**59, however many categories there are."""
    own = products()
    units = np.full(len(own), 1 << 20)
    huge = Products(own.columns, np.full_like(own.tables, FULL), own.derived, own.factors, units, None)
    codes = np.zeros((4, 1), dtype=np.uint8)
    assert int(huge.squares.sum()) * FULL**4 < 1 << 59
    assert norms(huge, codes, huge.scales(huge.values(codes)), 2)[0] <= NORM**2 << (2 * SCALE)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("order", [1, 2])
def test_one_record_more_changes_the_sum_by_its_own_term_exactly(outputs, order):
    own = products(2.5 if order == 1 else math.inf)
    rows = records(301, outputs).coded(SPACE, QUANTILES)
    rng = np.random.default_rng(1)
    at = rng.normal(0, 0.3, (len(own), outputs))
    levels = 2 * LEVELS - 1

    def total(chosen):
        part = CodedRows(np.ascontiguousarray(rows.codes[:, chosen]), np.ascontiguousarray(rows.targets[:, chosen]))
        return Rows(own, part).gradient(at, Clip(0.1, levels, order))

    whole = total(np.arange(301))
    for out in (0, 10, 17, 300):
        rest = np.delete(np.arange(301), out)
        change = whole - total(rng.permutation(rest))
        assert (change == total(np.array([out]))).all()
        values = [int(v) for v in change.ravel()]
        size = sum(v * v for v in values) if order == 2 else sum(map(abs, values))
        assert 0 < size <= levels**order * own.norm(order)


def test_levels_are_bounded_in_integers_for_every_factor():
    rng = np.random.default_rng(0)
    residuals = rng.normal(0, 1, (4, 6000)) * 10.0 ** rng.integers(-3, 6, 6000) * LABEL
    scales = rng.integers(0, (1 << SCALE) + 1, 6000)
    for levels in (LEVELS, 2 * LEVELS - 1):
        limit = levels * scales >> SCALE
        for order in (1, 2):
            for k in (1, 2, 4):
                q = quantised(residuals[:k], scales.astype(np.float64), Clip(1.0, levels, order)).astype(np.int64)
                assert ((np.abs(q) ** order).sum(axis=0) <= limit**order).all()
                assert (np.abs(q) ** order).sum(axis=0).max() > 0.9 * levels**order  # what is allowed is used
    ends = quantised(np.array([[1e300, -1e300]]), np.array([2.0**SCALE] * 2), Clip(1.0, LEVELS, 2))
    assert ends.tolist() == [[LEVELS, -LEVELS]]


def test_whole_gradients_and_predictions_are_those_of_the_model():
    """The integers stand for ``sum clip(y - <theta, phi>) phi``, up to their steps."""
    mapped = feature_map(triples=False)
    own = Products.of(mapped)
    table = records(400)
    rows = Rows(own, table.coded(SPACE, QUANTILES))
    theta = np.random.default_rng(2).normal(0, 0.05, (len(own), 1))
    phi = mapped.vectors(mapped.codes(table.Z)) / (1 << 14)
    found = []
    rows.total(theta, lambda targets, base, f: found.append(f / LABEL) or np.zeros(1))
    assert np.concatenate(found, axis=1).ravel() == pytest.approx((phi @ theta).ravel(), abs=1e-3)
    gradient = rows.gradient(theta, Clip(0.3, LEVELS, 2)) * (0.3 / (LEVELS * NORM))
    exact = phi.T @ np.clip(table.targets - phi @ theta, -0.3, 0.3)
    assert gradient == pytest.approx(exact, abs=400 * 0.3 / LEVELS * 0.1)


def test_long_lists_of_categories_take_several_columns():
    names = [str(i) for i in range(600)]
    space = FeatureSpace.from_bounds(None, ["k"], categories={"k": names})
    chosen = (0, 254, 255, 256, 599)
    singles = tuple((Single(0, "category", k),) for k in chosen)
    mapped = FeatureMap(space, {}, Basis(singles, (1.0,) * 5, (0.2,) * 5), 1.0)
    own = Products.of(mapped)
    Z = np.array([[0.0], [254.0], [255.0], [256.0], [599.0], [300.0]])
    codes = Table(Z, np.zeros((6, 1))).coded(space, {}).codes
    assert code_columns(space) == [(0, 0), (0, 255), (0, 510)] and codes.shape == (3, 6)
    on = own.values(codes)[1:] / FULL**2
    assert (on == np.eye(5, 6)).all()


@pytest.mark.parametrize("kernels", [nullcontext, reference])
def test_missing_values_have_a_code_of_their_own(kernels):
    own = products()
    with kernels():
        codes = records(20).coded(SPACE, QUANTILES).codes
    assert (codes[0, 1::9] == CELLS).all() and (codes[0, 2::9] < CELLS).all()
    mapped = feature_map()
    place = [m for m, f in enumerate(mapped.basis.functions, 1) if f == (Single(0, "missing", CELLS),)]
    assert (own.values(codes)[place[0]] != 0).tolist() == (codes[0] == CELLS).tolist()


def test_coefficients_have_sixteen_bits_and_labels_thirty_two():
    own = products()
    theta = np.zeros((len(own), 2))
    theta[3] = [1e300, -1e-300]
    point = Point.of(own, theta)
    assert np.abs(point.whole).max() == 32767
    assert code_labels(np.array([[3e9], [-math.inf]])).tolist() == [[1 << 30, -(1 << 30)]]
    with pytest.raises(TypeError, match="C-contiguous"):
        CodedRows(np.zeros((5, 2), dtype=np.uint8).T, np.zeros((1, 5), dtype=np.int32))
    with pytest.raises(ValueError, match="do not fit"):
        CodedRows(np.zeros((2, 4), dtype=np.uint8), np.zeros((1, 5), dtype=np.int32))


PATHS = native().anova_paths() if getattr(native(), "anova_blocks", None) is not None else []
compiled = pytest.mark.skipif(not PATHS, reason="the compiled kernel is not there")


def random_products(rng):
    """Return functions of one to three factors, more or less many, with tables at their ends now and then."""
    columns = np.sort(rng.integers(0, 5, int(rng.integers(1, 60))))
    k = columns.size
    tables = rng.integers(-FULL, FULL + 1, (k, 256)).astype(np.int8)
    tables[rng.random(k) < 0.3] = FULL
    derived = rng.integers(0, k, (int(rng.integers(0, 4)), 2))
    one = k + len(derived)
    factors = [[one, one]] + [[a, one] for a in range(one)]
    factors += [sorted(rng.choice(one, 2, replace=False).tolist()) for _ in range(int(rng.integers(0, 300))) if one > 1]
    factors = np.array([list(pair) for pair in dict.fromkeys(map(tuple, factors))])
    units = rng.integers(1, 1 << int(rng.integers(1, 14)), len(factors))
    return Products(columns, tables, derived, factors, units, None)


@compiled
@pytest.mark.parametrize("seed", range(12))
def test_every_path_gives_the_integers_of_the_reference(seed):
    """Any number of records, functions and outputs: factors, levels and sums to the last bit, also in threads."""
    rng = np.random.default_rng(seed)
    own = random_products(rng)
    order = 1 + seed % 2
    if order == 1:
        own = Products(own.columns, own.tables, own.derived, own.factors, own.units, int(rng.integers(1, 4 * NORM)))
    outputs = int(rng.choice([1, 1, 2, 5]))
    n = int(rng.choice([0, 1, 255, 256, 257, 1000]))
    codes = rng.integers(0, 256, (5, n)).astype(np.uint8)
    targets = rng.integers(-(1 << 30), 1 << 30, (outputs, n)) >> rng.integers(0, 20, n)
    rows = CodedRows(codes, np.ascontiguousarray(targets.astype(np.int32)))
    theta = rng.normal(0, 10.0 ** rng.integers(-3, 2), (len(own), outputs))
    clip = Clip(10.0 ** rng.integers(-2, 2), int(rng.integers(LEVELS, 2 * LEVELS)), order)
    with reference():
        wanted = Rows(own, rows)
        sums = wanted.gradient(theta, clip)
        seen = predictions(wanted, theta)
        chosen = np.sort(rng.choice(len(own), min(len(own), int(rng.integers(1, MOMENTS + 1))), replace=False))
        squares = wanted.moments(chosen)
    for path in (0, *PATHS):
        found = Rows(own, rows, jobs=2, path=path)
        assert (found.scales == wanted.scales).all()
        assert (found.gradient(theta, clip) == sums).all()
        assert (predictions(found, theta) == seen).all()
        assert (found.moments(chosen) == squares).all()


def predictions(rows, theta):
    found = [np.zeros((rows.coded.outputs, 0))]
    rows.total(theta, lambda targets, base, f: found.append(f) or np.zeros(1))
    return np.concatenate(found, axis=1)


@compiled
@pytest.mark.parametrize("path", PATHS)
def test_sums_at_their_ends_do_not_leave_32_bits(path):
    """All functions, coefficients and levels as large as they can be; more groups, records and slots than at once."""
    k = 1100
    tables = np.full((k, 256), FULL, dtype=np.int8)
    tables[:, 1] = -FULL
    one = k
    pairs = [[2 * i, 2 * i + 1] for i in range(530)]  # each a group of its own
    factors = np.array([[one, one], *([i, one] for i in range(k)), *pairs])
    units = np.ones(len(factors), dtype=np.int64)
    own = Products(np.zeros(k, dtype=np.int64), tables, np.zeros((0, 2), dtype=np.int64), factors, units, None)
    codes = np.zeros((1, 4400), dtype=np.uint8)
    rows = CodedRows(codes, np.full((1, 4400), 1 << 30, dtype=np.int32))
    with reference():
        wanted = Rows(own, rows)
    found = Rows(own, rows, path=path)
    for size in (1e-3, -1e-3):
        theta = np.full((len(own), 1), size)
        sums = wanted.gradient(theta, Clip(0.1, 257, 2))
        assert np.abs(sums).max() == 4400 * 257 * FULL**2
        assert (found.gradient(theta, Clip(0.1, 257, 2)) == sums).all()
        assert (predictions(found, theta) == predictions(wanted, theta)).all()


@compiled
def test_the_compiled_bound_is_the_same_to_the_last_notch():
    codes = np.zeros((1, 1), dtype=np.uint8)
    for step in range(3):
        table = np.full((1, 256), step, dtype=np.int8)
        factors = np.array([[1, 1], [0, 1]])
        own = Products(np.zeros(1, dtype=np.int64), table, np.zeros((0, 2), dtype=np.int64), factors, UNIT, None)
        rows = CodedRows(codes, np.zeros((1, 1), dtype=np.int32))
        assert Rows(own, rows).scales.tolist() == own.scales(own.values(codes)).tolist()


@compiled
def test_many_parts_are_worked_by_several_threads(monkeypatch):
    """Sums of integers are the same in any order, and parts are of any size."""
    own = products()
    rows = records(3000).coded(SPACE, QUANTILES)
    theta = np.random.default_rng(3).normal(0, 0.2, (len(own), 1))
    one = Rows(own, rows).gradient(theta, Clip(0.2, LEVELS, 2))
    monkeypatch.setattr("hedgerow.central.anova.rows._Compiled.step", 100)
    monkeypatch.setattr("hedgerow.central.anova.rows._LONGEST", 100)
    for jobs in (None, 3, -1):
        several = Rows(own, rows, jobs)
        for _ in range(2):  # threads and their memory are used again
            assert (several.gradient(theta, Clip(0.2, LEVELS, 2)) == one).all()


@pytest.mark.skipif(getattr(native(), "anova_codes", None) is None, reason="the compiled kernel is not there")
@pytest.mark.parametrize("seed", range(4))
def test_compiled_codes_are_those_of_the_reference(seed):
    """At every cut and beside it, at equal cuts, beyond all of them, of missing values."""
    rng = np.random.default_rng(seed)
    edges = np.sort(rng.integers(0, 9, 12) if seed % 2 else rng.normal(0, 10.0**seed, 40)).astype(float)
    own = Quantiles(edges, rng.random(edges.size - 1) * rng.integers(0, 2, edges.size - 1))
    cuts = own.cuts()
    beside = [np.nextafter(cuts, end) for end in (-np.inf, np.inf)]
    x = np.concatenate([cuts, *beside, [np.nan, np.inf, -np.inf, -0.0], rng.normal(0, 10.0, 1000)])
    rng.shuffle(x)
    with reference():
        wanted = own.codes(x)
    assert (own.codes(x) == wanted).all() and (wanted[np.isnan(x)] == CELLS).all()
    strided = np.column_stack([x, x])[:, 1]
    assert (own.codes(strided) == wanted).all()
    with pytest.raises(ValueError, match="cuts"):
        native().anova_codes(x, cuts[:200], np.empty(x.size, dtype=np.uint8))


@compiled
def test_the_kernel_refuses_what_does_not_fit():
    own = products()
    rows = records(300).coded(SPACE, QUANTILES)
    found = Rows(own, rows)
    theta = np.zeros((len(own), 1))
    with pytest.raises(ValueError, match="levels"):
        found.gradient(theta, Clip(0.2, 259, 2))
    with pytest.raises(ValueError, match="path"):
        Rows(own, rows, path=9)
    found._engine._scratch[:] = [np.empty(1000, dtype=np.uint8)]
    with pytest.raises(ValueError, match="scratch"):
        found.gradient(theta, Clip(0.2, LEVELS, 2))
    short = CodedRows(np.ascontiguousarray(rows.codes[:3]), rows.targets)
    with pytest.raises(ValueError, match="codes"):
        Rows(own, short)
