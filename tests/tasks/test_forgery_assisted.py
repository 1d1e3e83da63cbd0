"""What one forged report can do to a public model's corrections is found by trying every report on small tasks."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow.local.assisted import design_assisted, design_pilot
from hedgerow.tasks.assisted import shrink
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Totals


def make(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    return X, X[:, 0] + (X[:, 1] > 0.5) + rng.normal(0, 0.3, n)


@pytest.fixture(scope="module")
def base():
    return design_assisted(
        *make(80, 0),
        epsilon=2.0,
        label_bounds=(-2, 4),
        feature_bounds=(0, 1),
        n_holders=1500,
        n_trees=2,
        public_model=Ridge(),
    )


def tasks(base, randomizer, parameter):
    busy = (1.0,) * len(base.busy) if randomizer == "subset" else tuple(np.linspace(0.4, 0.9, len(base.busy)))
    return replace(base, randomizer=randomizer, parameter=parameter, busy=busy)


def every_report(task):
    """All messages that pass validation: the bytes of every output of every tree's randomiser."""
    encoding, rows = task.encoding, []
    for t, joint in enumerate(encoding.joint):
        if task.randomizer == "levels":
            bodies = encoding._pack(np.arange(joint.n_symbols))
        else:
            scores = [s for s in itertools.product((-1, 0, 1), repeat=joint.n_leaves) if np.abs(s).sum() == joint.size]
            bodies = encoding._pack(np.array(scores))
        rows.append(np.column_stack([np.full(len(bodies), t, dtype=np.uint8), bodies]))
    return np.vstack(rows)


def with_one_more(task, total, rows):
    kind = type(total)
    for row in rows:
        yield (kind(task) + total).add(Reports.checked(task, np.zeros((1, 12), np.uint8), row[None], False)).model()


KINDS = [("subset", 1), ("subset", 2), ("subset", 99), ("levels", 3), ("levels", 5)]


@pytest.mark.parametrize(("randomizer", "parameter"), KINDS)
@pytest.mark.parametrize("n", [0, 1, 400])
def test_no_report_moves_a_correction_further_and_one_does(base, monkeypatch, randomizer, parameter, n):
    task = tasks(base, randomizer, parameter)
    assert max(task.trees.n_leaves) >= 3
    total = task.simulate(*make(n, 1), 1) if n else Totals(task)
    model, forgery = total.model(), task.influence()
    shares = model.corrections.p
    if parameter != 99:  # reports that name all leaves tell nothing of shares: nothing to hold fast
        mixed = list(zip(shares, model.corrections.share_variance, strict=True))
        monkeypatch.setattr(shrink, "mixed_shares", lambda *_: mixed)
    leaf, whole = [np.zeros(len(p)) for p in shares], 0.0
    for after in with_one_more(task, total, every_report(task)):
        trees = zip(leaf, after.corrections.d, model.corrections.d, strict=True)
        leaf = [np.maximum(w, np.abs(a - b)) for w, a, b in trees]
        whole = max(whole, abs(after.overall[0] - model.overall[0]))
    assert forgery.overall_shift(model) == pytest.approx(whole, rel=1e-9)
    for said, found in zip(forgery.leaf_shift(model), leaf, strict=True):
        np.testing.assert_allclose(said, found, rtol=1e-9)
    assert f"{forgery.overall_shift(model):.3g}, and" in forgery.now(model)


@pytest.mark.parametrize(("randomizer", "parameter"), [("subset", 1), ("levels", 3)])
def test_many_copies_move_a_correction_as_far_as_is_said(base, monkeypatch, randomizer, parameter):
    task = tasks(base, randomizer, parameter)
    total = task.simulate(*make(400, 1), 1)
    model, forgery = total.model(), task.influence()
    mixed = list(zip(model.corrections.p, model.corrections.share_variance, strict=True))
    monkeypatch.setattr(shrink, "mixed_shares", lambda *_: mixed)
    leaf = [np.zeros(len(p)) for p in model.corrections.p]
    for row in every_report(task):
        copies = Reports.checked(task, np.zeros((4, 12), np.uint8), np.tile(row, (4, 1)), False)
        after = (Totals(task) + total).add(copies).model()
        trees = zip(leaf, after.corrections.d, model.corrections.d, strict=True)
        leaf = [np.maximum(w, np.abs(a - b)) for w, a, b in trees]
    np.testing.assert_allclose(np.concatenate(forgery.leaf_shift(model, 4)), np.concatenate(leaf), rtol=1e-9)
    stated = [row["forged_percent_shift"] for row in forgery.rows(model)]
    np.testing.assert_allclose(stated, np.concatenate(leaf), rtol=1e-9)  # 4 are one per cent of 400


@pytest.mark.parametrize(("randomizer", "parameter"), KINDS)
def test_the_whole_is_exact_though_shares_move(base, randomizer, parameter):
    task = tasks(base, randomizer, parameter)
    total = task.simulate(*make(400, 2), 2)
    model = total.model()
    found = [abs(m.overall[0] - model.overall[0]) for m in with_one_more(task, total, every_report(task))]
    assert task.influence().overall_shift(model) == pytest.approx(max(found), rel=1e-9)


@pytest.mark.parametrize(("randomizer", "parameter"), KINDS)
def test_sums_are_what_decoding_makes_of_every_report(base, randomizer, parameter):
    task, gain = tasks(base, randomizer, parameter), base.radius / base.residuals.inside
    leaf = whole = count = 0.0
    for row in every_report(task):
        sums = task.encoding.sums(row[None])
        trees = zip(task.encoding.joint, task.encoding.split(sums), shrink.private_shares(task, sums), strict=True)
        for joint, (n, score, _), (share, variance) in trees:
            unit = gain / (float(joint.kappa) * joint.top)
            leaf, whole = max(leaf, np.abs(score).max() * unit), max(whole, abs(score.sum()) * unit)
            known = np.isfinite(variance)
            if n and known.any():
                count = max(count, np.abs(share[known]).max())
    said = task.influence().to_dict()
    assert (said["label_sum"], said["whole_sum"], said["count"]) == pytest.approx((leaf, whole, count), rel=1e-9)
    assert f"{leaf:.3g}, over all holders of a tree by at most {whole:.3g}" in said["statement"]


@pytest.mark.parametrize("n", [0, 1, 300])
def test_pilots(n):
    X, y = make(80, 0)
    task = design_pilot(X, y, epsilon=2.0, label_bounds=(-2, 4), feature_bounds=(0, 1), public_model=Ridge())
    total = Totals(task)
    if n:
        total.add(privatize_many(task, *make(n, 3)))
    before, forgery = total.model(), task.influence()
    bins = np.arange(task.encoding.n_inputs, dtype=np.uint8)[:, None]
    after = np.array([m.shares for m in with_one_more(task, total, bins)])
    moved = np.abs(after - before.shares).max(axis=0)
    np.testing.assert_allclose(forgery.share_shift(before), moved, rtol=1e-9)
    assert moved.max() <= 1 / task.encoding.kappa / (n + 1) * (1 + 1e-9)
    counts = np.abs(after * (n + 1) - before.shares * n)
    assert forgery.count == pytest.approx(counts.max(), rel=1e-9)
    assert f"{moved.max():.3g};" in forgery.now(before) and f"{forgery.count:.3g}" in forgery.to_dict()["statement"]
