"""Tasks, reports, secrets, totals and models of both rounds: round trips, refusals, exact merging."""

import json
import subprocess
import sys

import numpy as np
import pytest

from hedgerow.errors import BoundsError, BudgetError, FormatError, HedgerowError
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.space import FeatureSpace
from hedgerow.tasks.partly_public import CellReports, CellTask, FirstReports, Secrets, SemiModel, SemiTask
from hedgerow.tasks.partly_public.reach import candidates
from hedgerow.tasks.reports import Report
from hedgerow.tasks.totals import Totals

N, D = 300, 4


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((N, D))
    return X, X[:, 0] + X[:, 3], rng.random((N, D)) < [0.9, 0.5, 0.2, 0.0]


def rounds(masks="personal", response="k_ary", rule="max_edge", seed=1, **design):
    X, y, W = data()
    options = {"policy": {"private_columns": ["x0"]}, "hidden": {"hide_mask": True}, "personal": {}}[masks]
    task = SemiTask.design(D, epsilon=2.0, label_bounds=(0, 2), feature_bounds=(0, 1), **options)
    first = task.privatize(X, y, private=W if masks != "policy" else None, randomness=seed)
    secrets = first.kept
    cells = CellTask.design(
        first, n_private=design.pop("n_private", 1), max_depth=2, rule=rule, response=response, randomness=seed
    )
    return X, first, secrets, cells, cells.privatize(X, kept=secrets, randomness=seed + 1)


CASES = [(m, r) for m in ("personal", "policy", "hidden") for r in ("k_ary", "bits")]


@pytest.mark.parametrize(("masks", "response"), CASES)
def test_everything_survives_a_round_trip(masks, response):
    _, first, secrets, cells, reports = rounds(masks, response)
    assert SemiTask.from_json(first.task.to_json()) == first.task
    assert CellTask.from_json(cells.to_json()).id == cells.id
    again = FirstReports.from_bytes(first.task, first.to_bytes())
    assert again.to_bytes() == first.to_bytes()
    assert np.array_equal(again.Z, first.Z, equal_nan=True) and np.array_equal(again.private, first.private)
    assert CellReports.from_bytes(cells, reports.to_bytes()).to_bytes() == reports.to_bytes()
    assert Secrets.from_bytes(first.task, secrets.to_bytes()).to_bytes() == secrets.to_bytes()
    total = cells.totals().add(reports)
    assert Totals.from_bytes(cells, total.to_bytes()) == total
    model = total.model()
    assert SemiModel.from_json(model.to_json()) == model


def test_single_reports_are_batches_of_one():
    _, first, _, cells, reports = rounds()
    one = Report.from_bytes(first.task, first[0].to_bytes())
    assert FirstReports.collect(first.task, [one]).levels.tolist() == first.levels[:1].tolist()
    parts = [Report.from_bytes(cells, report.to_bytes()) for report in reports]
    assert cells.totals().add(parts) == cells.totals().add(reports)


@pytest.mark.parametrize("response", ["k_ary", "bits"])
def test_totals_merge_in_any_order_bit_for_bit(response):
    _, _, _, cells, reports = rounds(response=response)
    parts = list(reports)
    one = cells.totals().add(parts[:100]) + cells.totals().add(parts[100:])
    two = cells.totals().add(parts[200:]) + (cells.totals().add(parts[:200:-1][:0]).add(parts[:200]))
    whole = cells.totals().add(reports)
    assert one.to_bytes() == two.to_bytes() == whole.to_bytes()
    assert whole.n_reports == N


def test_the_order_of_first_reports_does_not_matter():
    _, first, _, _, _ = rounds()
    singles = list(first)
    one = first.task.totals().add(singles)
    two = first.task.totals().add(singles[::-1])
    assert one.to_bytes() == two.to_bytes()
    for rule in ("max_edge", "cart"):
        trees = [t.model(n_private=1, max_depth=3, n_bins=2, rule=rule).id for t in (one, two)]
        assert len(set(trees)) == 1


def test_private_features_never_leave():
    X, first, _, _, _ = rounds()
    assert np.isnan(first.Z[first.private]).all()
    sent = first.to_bytes()
    for value in X[first.private][:50]:
        assert np.float64(value).tobytes() not in sent
    _, _, _, _, hidden = rounds("hidden")
    assert len(hidden.payloads[0]) < 16


def test_private_values_change_nothing_but_the_answer():
    """Candidates and first-round reports of two records that differ in private features are the same."""
    X, first, _, cells, _ = rounds()
    other = np.where(first.private, 1 - X, X)
    ours, theirs = (candidates(cells.partition, Z, first.private) for Z in (X, other))
    assert (ours == theirs).all()
    assert ours[np.arange(N), cells.partition.apply(other)].all()


def test_candidates_are_exactly_the_cells_that_agree():
    """A fine grid of private values reaches no other cell, and each candidate is reached from its own middle."""
    X, first, _, cells, _ = rounds(rule="cart")
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 41)] * 2), axis=-1).reshape(-1, 2)
    reach = candidates(cells.partition, X, first.private)
    for i in range(20):
        mask = first.private[i].copy()
        if mask.sum() > 2:
            continue
        trial = np.repeat(X[i : i + 1], len(grid), axis=0)
        trial[:, mask] = grid[:, : mask.sum()]
        found = np.unique(cells.partition.apply(trial))
        assert not set(found.tolist()) - set(np.flatnonzero(reach[i]).tolist())
        assert reach[i, cells.partition.apply(X[i : i + 1])[0]]
    box = cells.partition.cell_bounds()
    for i, cell in np.argwhere(reach)[:400].tolist():
        inside = np.where(first.private[i], box.low[cell] / 2 + box.high[cell] / 2, X[i])
        assert cells.partition.apply(inside[None, :])[0] == cell


def test_secrets_answer_once():
    X, _, secrets, cells, _ = rounds()
    with pytest.raises(BudgetError, match="answered already"):
        cells.privatize(X, kept=secrets, randomness=3)
    assert Secrets.from_bytes(secrets.task, secrets.to_bytes()).answered


def test_a_label_drawn_again_is_seen_by_the_curator():
    X, first, _, cells, reports = rounds()
    reports.check_labels(first)
    fresh = first.task.privatize(X, X[:, 0] + X[:, 3], private=first.private, randomness=99).kept
    fresh.tokens = first.tokens
    with pytest.raises(HedgerowError, match="drawn a second time"):
        cells.privatize(X, kept=fresh, randomness=5).check_labels(first)


def test_certain_holders_give_the_label_all_of_epsilon():
    _, first, secrets, cells, reports = rounds()
    certain = reports.sizes() == 1
    assert 0 < certain.sum() < N
    assert (reports.levels[certain] == secrets.fine[certain]).all()
    assert (reports.levels[~certain] == secrets.coarse[~certain]).all()
    public = ~first.private.any(axis=1)
    assert (first.levels[public] == secrets.fine[public]).all()
    fine, coarse = cells.first.label.fine, cells.first.label.coarse
    assert (fine.epsilon, coarse.epsilon) == (2.0, 1.0)


@pytest.mark.parametrize(
    "damage",
    [lambda b: b[:-1], lambda b: b"XXXX" + b[4:], lambda b: b[:4] + b"\x09" + b[5:], lambda b: b[:10] + b"\0" + b[11:]],
)
def test_damaged_bytes_are_refused(damage):
    _, first, secrets, cells, reports = rounds()
    total = cells.totals().add(reports)
    for read, owner, thing in (
        (FirstReports.from_bytes, first.task, first),
        (CellReports.from_bytes, cells, reports),
        (Totals.from_bytes, cells, total),
        (Secrets.from_bytes, first.task, secrets),
    ):
        with pytest.raises(FormatError):
            read(owner, damage(thing.to_bytes()))


def test_forged_answers_are_refused():
    _, _, _, cells, reports = rounds()
    sizes = reports.sizes()
    i = int(np.flatnonzero(sizes < cells.n_cells)[0])
    outside = int(np.flatnonzero(~np.unpackbits(reports.candidates[i], bitorder="little").astype(bool))[0])
    reports.payloads[i, -4:] = np.array([outside], dtype="<u4").view(np.uint8)
    with pytest.raises(FormatError, match=r"candidates|exist"):
        CellReports.from_bytes(cells, reports.to_bytes())


def test_changed_tasks_are_refused():
    _, first, _, cells, _ = rounds()
    for task in (first.task, cells):
        data = json.loads(task.to_json())
        with pytest.raises(FormatError):
            type(task).from_dict({**data, "extra": 1})
        with pytest.raises(FormatError):
            type(task).from_dict({**data, "version": 3})
    with pytest.raises(FormatError, match="id"):
        SemiTask.from_dict({**json.loads(first.task.to_json()), "epsilon": 3.0})
    with pytest.raises(FormatError, match="id"):
        CellTask.from_dict({**json.loads(cells.to_json()), "response": "bits"})


def test_masks_are_checked():
    task = SemiTask.design(2, epsilon=1.0, label_bounds=(0, 1), feature_bounds=(0, 1))
    for private, error in (([True], "shape"), ([0.5, 1.0], "must be a mask"), (None, "required")):
        with pytest.raises(HedgerowError, match=error):
            task.privatize([[0.1, 0.2]], [0.5], private=private)
    policy = SemiTask.design(2, epsilon=1.0, label_bounds=(0, 1), feature_bounds=(0, 1), private_columns=[0])
    with pytest.raises(HedgerowError, match="policy"):
        policy.privatize([[0.1, 0.2]], [0.5], private=[False, True])
    with pytest.raises(BoundsError, match="unknown column 'z'"):
        SemiTask.design(2, epsilon=1.0, label_bounds=(0, 1), feature_bounds=(0, 1), private_columns=["z"])


def test_guarantees_say_what_is_conditional():
    for masks, words in (
        ("personal", "must not depend"),
        ("policy", "fixed in advance"),
        ("hidden", "covers the mask"),
    ):
        guarantee = rounds(masks)[3].guarantee
        assert guarantee.epsilon == 2.0 and guarantee.trust == "local" and guarantee.neighbours == "replace"
        assert guarantee.protects == "private features and label"
        assert any(words in note for note in guarantee.notes)


def test_categorical_features_take_part():
    space = FeatureSpace((CategoricalFeature("job", ("a", "b", "c", "d")), NumericFeature("x", 0, 1)))
    rng = np.random.default_rng(0)
    job = rng.integers(0, 4, 400)
    X = np.empty((400, 2), dtype=object)
    X[:, 0], X[:, 1] = np.array(list("abcd"))[job], rng.random(400)
    y = np.isin(job, [0, 2]) * 1.0
    task = SemiTask.design(space, epsilon=np.inf, label_bounds=(0, 1))
    for private, s in (([False, True], 1), ([True, False], 1), ([False, True], 0)):
        for rule in ("max_edge", "cart"):
            first = task.privatize(X, y, private=private, randomness=1)
            secrets = first.kept
            cells = CellTask.design(first, n_private=s, n_bins=4, max_depth=2, rule=rule)
            model = cells.simulate(X, randomness=2, kept=secrets).model(shrink=0)
            assert np.abs(model.predict(X) - y).max() < 1e-9


def test_the_holders_side_needs_numpy_only():
    code = (
        "import sys; import hedgerow.tasks.partly_public as s; "
        "sys.exit(any(m.split('.')[0] in ('sklearn', 'scipy', 'pandas') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
