"""The model: the paper's estimator (5) from raw bits, its exact moments, and what it says of starved leaves."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.randomness import SeededRandomness
from hedgerow.tasks import Aggregate, LocalTask, Model, privatize_many
from hedgerow.tasks.tree.encoding import unpack
from hedgerow.tasks.tree.model import FALLBACKS, TreeModel
from hedgerow.tasks.tree.simulate import simulate_aggregate
from hedgerow.tasks.tree.task import PublicLeaves

RESPONSES = ("bits", "unary", "k_ary", "subset")


def holders(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random((n, 1))
    return x, np.clip(10 * x[:, 0] + rng.normal(0, 1, n), 0, 10)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_the_papers_estimator_from_raw_bits(make_task, epsilon):
    task = make_task("bits", 3, epsilon=epsilon, steps=16, bounds=(-2.0, 9.0))
    reports = privatize_many(task, *holders(400), randomness=1)
    q = Fraction(task.encoding.cell.flip, 1 << 64)
    kept = math.exp(epsilon / 4)  # e^(rho eps / 2) with rho = 1/2
    assert float(1 - q) == pytest.approx(kept / (1 + kept))
    labels = [int.from_bytes(p[:2], "little") - task.encoding.label.reach for p in reports.iter_payloads()]
    noisy = [Fraction(-2) + Fraction(11, 16) * v for v in labels]
    means = Aggregate(task).add(reports).model(fallback="none").leaf_values
    for j in range(3):
        u = [((p[2] >> j & 1) - q) / (1 - 2 * q) for p in reports.iter_payloads()]
        ratio = sum(a * b for a, b in zip(u, noisy, strict=True)) / sum(u)
        assert means[j] == pytest.approx(float(min(max(ratio, -2), 9)) if sum(u) > 0 else 3.5, rel=1e-9)


@pytest.mark.parametrize("response", RESPONSES[1:])
def test_counts_of_cells_from_raw_messages(make_task, response):
    task = make_task(response, 3, steps=2)
    reports = privatize_many(task, *holders(400), randomness=1)
    m = task.encoding.mechanism
    if response == "k_ary":
        cells = np.eye(9, dtype=int)[[int.from_bytes(p, "little") for p in reports.iter_payloads()]]
    else:
        cells = unpack(reports.payloads, 9)
    counts = [(Fraction(int(s)) - 400 * m.q) / (m.p - m.q) for s in cells.sum(axis=0)]
    leaves = Aggregate(task).add(reports).model().leaves
    for j in range(3):
        c = counts[3 * j : 3 * j + 3]
        assert leaves.count[j] == pytest.approx(float(sum(c)), rel=1e-9)
        ratio = (c[1] + 2 * c[2]) / sum(c)
        assert leaves.mean[j] == pytest.approx(float(5 * min(max(ratio, 0), 2)) if sum(c) > 0 else 5.0, rel=1e-9)


@pytest.mark.parametrize("response", RESPONSES)
def test_without_noise_leaf_means_are_exact_to_a_grid_step(make_task, response):
    task = make_task(response, 4, epsilon=math.inf, steps=64)
    x, y = holders(3000)
    model = simulate_aggregate(task, x, y, randomness=1).model()
    leaf = task.partition.apply(x)
    for j in range(4):
        assert model.leaf_values[j] == pytest.approx(y[leaf == j].mean(), abs=task.grid.step)
        assert model.leaves.count[j] == pytest.approx((leaf == j).sum(), rel=1e-12)
    assert model.guarantee.epsilon == math.inf
    same = Aggregate(task).add(privatize_many(task, x, y, randomness=1)).model()
    assert np.abs(same.leaf_values - model.leaf_values).max() < task.grid.step


# Exact moments: two holders, every pair of messages


def messages(task, leaf, level):
    """Return all messages of a holder as (probability, payload row, naive N and D contributions)."""
    encoding, law = task.encoding, task.encoding.law((leaf, level))
    total = law.total
    for output, weight in zip(law.outputs, law.weights, strict=True):
        if not weight:
            continue
        chance = Fraction(weight, total)
        if task.response == "bits":
            v, bits = output
            q = encoding.cell.q
            u = [(b - q) / (1 - 2 * q) for b in bits]
            yield chance, bits_row(encoding, v, bits), [v * x for x in u], u
        else:
            cells = [int(output == c) for c in range(encoding.n_cells)] if task.response == "k_ary" else output
            if task.response == "subset":
                cells = [int(c in output) for c in range(encoding.n_cells)]
            p, q = encoding.mechanism.p, encoding.mechanism.q
            c = np.array([(s - q) / (p - q) for s in cells]).reshape(encoding.n_leaves, -1)
            D = c.sum(axis=1).tolist()
            N = (c * np.arange(encoding.n_levels)).sum(axis=1).tolist()
            yield chance, cells_row(encoding, cells), N, D


def bits_row(encoding, v, bits):
    head = (v + encoding.label.reach).to_bytes(encoding._label_bytes, "little")
    return head + sum(b << j for j, b in enumerate(bits)).to_bytes((len(bits) + 7) // 8, "little")


def cells_row(encoding, cells):
    if encoding.response == "k_ary":
        return cells.index(1).to_bytes(4, "little")
    return sum(b << j for j, b in enumerate(cells)).to_bytes(encoding.width, "little")


def sums_of(encoding, payload):
    row = np.frombuffer(payload, dtype=np.uint8)[None, :]
    encoding.validate(row)
    return encoding.sums(row)


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("pair", [((0, 0), (0, 0)), ((0, 2), (1, 1)), ((1, 2), (1, 0))])
def test_moments_are_unbiased_by_enumerating_all_messages(make_task, response, pair):
    """E N and E D are the true sum and number; E var_n etc. are the noise plus the spread between holders."""
    task = make_task(response, 2, steps=2, epsilon=12.0)
    encoding, n = task.encoding, 2
    listed = [list(messages(task, *holder)) for holder in pair]
    sums = [[sums_of(encoding, m[1]) for m in ms] for ms in listed]
    mean = np.zeros((5, 2))
    for (m1, s1), (m2, s2) in itertools.product(
        *(zip(ms, ss, strict=True) for ms, ss in zip(listed, sums, strict=True))
    ):
        m = encoding.moments(s1 + s2, n)
        chance = float(m1[0]) * float(m2[0])
        mean += chance * np.array([m.numerator, m.denominator, m.var_n, m.cov, m.var_d])
    for j in range(2):
        truth = [(level * (leaf == j), int(leaf == j)) for leaf, level in pair]
        assert mean[0, j] == pytest.approx(sum(t[0] for t in truth), abs=1e-9)
        assert mean[1, j] == pytest.approx(sum(t[1] for t in truth), abs=1e-9)
        for row, (a, b) in zip((2, 3, 4), ((0, 0), (0, 1), (1, 1)), strict=True):
            noise = sum(
                float(sum(m[0] * m[2 + a][j] * m[2 + b][j] for m in ms)) - t[a] * t[b]
                for ms, t in zip(listed, truth, strict=True)
            )
            spread = sum(t[a] * t[b] for t in truth) - sum(t[a] for t in truth) * sum(t[b] for t in truth) / n
            assert mean[row, j] == pytest.approx((1 - 1 / n) * noise + spread, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_closed_form_variances_of_the_count(make_task, response, epsilon):
    """With all n holders in leaf 0: the noise of D_1 from the mechanism's p, q and joint law alone."""
    task = make_task(response, 2, steps=1, epsilon=epsilon)
    n, encoding = 1000, task.encoding
    shares = np.array([[0.5, 0.5], [0.0, 0.0]])
    moments = encoding.moments(encoding.expected_sums(shares, n), n)
    if response == "bits":
        q = float(encoding.cell.q)
        expected = n * q * (1 - q) / (1 - 2 * q) ** 2
    else:
        p, q = float(encoding.mechanism.p), float(encoding.mechanism.q)
        other = float(encoding.mechanism.joint[1])
        expected = n * (2 * q * (1 - q) + 2 * (other - q * q)) / (p - q) ** 2
    assert moments.var_d[1] == pytest.approx(expected, rel=1e-9)
    assert moments.denominator == pytest.approx([n, 0], abs=1e-6)


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_messages_that_are_sent_have_the_law_that_is_audited(make_task, response, epsilon, same_law, probabilities):
    """Chi-square of 20,000 payloads against the enumerated law: 1e-7 false alarms each, 1e-6 in all."""
    task = make_task(response, 2, steps=2, epsilon=epsilon)
    n = 20_000
    rows = task.encoding.randomize(np.full(n, 1), np.full(n, 2), SeededRandomness(7))
    law = task.encoding.law((1, 2))
    payloads = {m[1]: m[0] for m in messages(task, 1, 2)}
    assert len(payloads) == sum(w > 0 for w in law.weights)
    same_law([row.tobytes() for row in rows], payloads)


# What a model says


def with_public(task):
    return replace(
        task, public=PublicLeaves((30,) * task.n_leaves, tuple(range(task.n_leaves)), (1.0,) * task.n_leaves)
    )


@pytest.mark.parametrize("response", RESPONSES)
def test_starved_leaves_fall_back_to_their_public_mean(make_task, response):
    task = with_public(make_task(response, 4, epsilon=math.inf, steps=64))
    x = np.full((500, 1), 0.1)
    total = simulate_aggregate(task, x, np.full(500, 8.0), randomness=1)
    model = total.model(fallback="public")
    assert model.starved.tolist() == [False, True, True, True]
    assert model.leaf_values[1:].tolist() == [1.0, 2.0, 3.0]
    assert model.predict([[0.1], [0.3], [0.6], [0.9]]) == pytest.approx([8.0, 1.0, 2.0, 3.0], abs=0.1)
    assert total.model(fallback="none").leaf_values[1:].tolist() == [5.0, 5.0, 5.0]
    bare = simulate_aggregate(replace(task, public=None), x, np.full(500, 8.0), randomness=1).model()
    assert bare.leaf_values[1:].tolist() == [5.0, 5.0, 5.0]


@pytest.mark.parametrize("response", RESPONSES)
def test_a_leaf_is_starved_below_two_standard_deviations(make_task, response):
    task, n = with_public(make_task(response, 2, steps=1, epsilon=1.0)), 10_000
    empty = task.encoding.moments(task.encoding.expected_sums(np.array([[0.5, 0.5], [0, 0]]), n), n)
    sd = math.sqrt(empty.var_d[1])
    for holding, starved in ((1.5, True), (2.8, False)):
        share = holding * sd / n
        shares = np.array([[0.5, 0.5 - share], [0.0, share]])
        sums = tuple(round(s) for s in task.encoding.expected_sums(shares, n))
        model = TreeModel(task, n, sums, fallback="public")
        assert model.starved.tolist() == [False, starved]
        assert model.leaf_values[1] == (1.0 if starved else pytest.approx(10.0, rel=1e-2))


def test_no_reports_at_all(make_task):
    for response in RESPONSES:
        model = Aggregate(with_public(make_task(response, 2))).model(fallback="public")
        assert model.predict([[0.1], [0.9]]).tolist() == [0.0, 1.0]
        low, high = model.predict_interval([[0.1]])
        assert (low[0], high[0]) == (0.0, 10.0)
        assert Aggregate(model.task).model(fallback="none").predict([[0.9]]).tolist() == [5.0]


def test_records_outside_the_public_ranges():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((400, 2)), columns=["a", "b"])
    task = LocalTask.design(
        X,
        X["a"] + 5,
        epsilon=8,
        label_bounds=(0, 10),
        feature_bounds=(0, 1),
        max_depth=1,
        rule="max_edge",
        min_samples_leaf=20,
        response="bits",
        cell_share=0.5,
    )
    model = simulate_aggregate(task, X, X["a"] + 5, randomness=1).model()
    rows = np.array([[0.2, 0.5], [-1.0, 0.5], [0.2, 7.0], [1.0, 1.0]])
    clipped = model.predict(np.clip(rows, 0, 1))
    assert (model.predict(rows) == clipped).all()
    zero = np.array([clipped[0], 0, 0, clipped[3]])
    assert (model.predict(rows, outside="zero") == zero).all()
    frame = pd.DataFrame({"b": rows[:, 1], "a": rows[:, 0], "c": 9.0})
    assert (model.predict(frame, outside="zero") == zero).all()
    with pytest.raises(HedgerowError, match="'outside' parameter must be 'clip' or 'zero'"):
        model.predict(rows, outside="drop")
    mixed = LocalTask.design(
        X.assign(c="u"),
        X["a"],
        epsilon=8,
        label_bounds=(0, 10),
        max_depth=1,
        rule="max_edge",
        min_samples_leaf=20,
        response="bits",
        cell_share=0.5,
    )
    with pytest.raises(HedgerowError, match="numeric features only"):
        Aggregate(mixed).model().predict(X.assign(c="u"), outside="zero")


@pytest.mark.parametrize("response", RESPONSES)
def test_json_round_trip(make_task, response):
    for task in (make_task(response, 3), with_public(make_task(response, 3, epsilon=math.inf))):
        for fallback in FALLBACKS:
            model = simulate_aggregate(task, *holders(200), randomness=1).model(fallback=fallback)
            again = Model.from_json(model.to_json())
            assert again == model and again.to_json() == model.to_json()
            assert (again.predict([[0.1], [0.9]]) == model.predict([[0.1], [0.9]])).all()
            assert again.guarantee == model.guarantee


def test_model_json_is_strict(make_task):
    model = simulate_aggregate(make_task("bits", 3), *holders(200), randomness=1).model()
    data = json.loads(model.to_json())
    for change in (
        {"version": 2}, {"version": True}, {"format": "hedgerow/local-task"}, {"more": 1}, {"n_reports": 200.0},
        {"n_reports": "200"}, {"n_reports": -1}, {"n_reports": True}, {"sums": data["sums"][1:]}, {"sums": None},
        {"sums": [1.5, *data["sums"][1:]]}, {"sums": ["1", *data["sums"][1:]]}, {"sums": [10**30, *data["sums"][1:]]},
        {"n_reports": 0}, {"simulation": "false"}, {"simulation": 1}, {"simulation": None}, {"fallback": "x"},
        {"fallback": None}, {"task": None}, {"task": {**data["task"], "epsilon": 0.1}}, {"task": data},
    ):  # fmt: skip
        with pytest.raises(FormatError):
            Model.from_dict({**data, **change})
    for name in data:
        with pytest.raises(FormatError):
            Model.from_dict({k: v for k, v in data.items() if k != name})
    for text in ("", "{", "5", "null", "[" * 100_000, b"\xff", model.task.to_json()):
        with pytest.raises(FormatError):
            Model.from_json(text)


def test_bad_fallback(make_task):
    with pytest.raises(HedgerowError, match="'fallback' parameter must be one of"):
        Aggregate(make_task()).model(fallback="zero")


def test_leaf_table_tells_what_predict_says(make_task):
    task = with_public(make_task("unary", 4, epsilon=4.0))
    x, y = holders(4000)
    model = simulate_aggregate(task, x, y, randomness=2).model()
    table = model.table(level=0.8)
    low, high = model.predict_interval([[0.1], [0.3], [0.6], [0.9]], level=0.8)
    assert [row["leaf"] for row in table] == [0, 1, 2, 3]
    assert [row["mean"] for row in table] == model.predict([[0.1], [0.3], [0.6], [0.9]]).tolist()
    assert [(row["low"], row["high"]) for row in table] == list(zip(low, high, strict=True))
    assert sum(row["share"] for row in table) == pytest.approx(1, abs=0.2)
    assert table[1]["public_mean"] == 1 and table[1]["public_count"] == 30
    assert "everything" in json.dumps(Aggregate(make_task(leaves=1)).model().table())
