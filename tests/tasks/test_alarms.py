"""The detector's bounds hold for every record, its alarms are rare for honest reports and sure for forgers."""

import numpy as np
import pytest

from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.tasks.alarms import ALPHA, Detector, Event
from hedgerow.tasks.assisted.message import AssistedMessage
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.partly_public import SemiTask


def exact_bounds(task, detector):
    """Least and greatest probability of every event over all (leaf, level), by enumerating the encoding's law.

    That of an event among the reports that show a wider one is given the latter.
    """
    encoding, found = task.encoding, []
    for leaf in range(encoding.n_leaves):
        for level in range(encoding.n_steps + 1):
            law = encoding.law((leaf, level))
            total = np.zeros(len(detector.events))
            for output, weight in zip(law.outputs, law.weights, strict=True):
                total += detector.count(payload(encoding, output)) * (weight / law.total)
            wider = [1.0 if event.among is None else total[event.among] for event in detector.events]
            found.append(total / np.array(wider))
    return np.min(found, axis=0), np.max(found, axis=0)


def payload(encoding, output):
    if encoding.response == "k_ary":
        return np.array([output], dtype="<u4").view(np.uint8).reshape(1, 4)
    if encoding.response == "subset":
        bits = np.isin(np.arange(encoding.n_cells), output)
        return np.packbits(bits[None], axis=1, bitorder="little")
    return np.packbits(np.array([output], dtype=bool), axis=1, bitorder="little")


@pytest.mark.parametrize("response", ["unary", "k_ary", "subset"])
def test_the_bounds_are_those_of_the_exact_law(local_task, response):
    task = local_task(max_depth=1, epsilon=1.5, response=response, n_steps=1)
    detector = task.alarms()
    low, high = exact_bounds(task, detector)
    stated_low, stated_high = detector.bounds
    assert (stated_low <= low + 1e-12).all() and (stated_high >= high - 1e-12).all()
    told = (stated_low > 0) | (stated_high < 1)  # copies have no least number, and their neighbours no bounds
    assert told.sum() > len(told) // 2
    assert np.allclose(stated_high[told], high[told], atol=1e-7)
    assert all(np.isclose(a, b, atol=1e-7) or a == 0 for a, b in zip(stated_low, low, strict=True))


def test_far_labels_are_as_rare_as_the_noise_says(local_task):
    task = local_task(response="bits", epsilon=4.0)
    detector, noise = task.alarms(), task.encoding.label
    far = [e for e in detector.events if "beyond" not in e.name and "its bounds" in e.name]
    assert len(far) == 12
    law = noise.law(noise.n_steps)
    for event in (e for e in far if "above" in e.name):
        d = int(event.name.split()[1])
        exact = sum(w for o, w in zip(law.outputs, law.weights, strict=True) if o >= noise.n_steps + d) / law.total
        assert exact <= event.high <= exact * 1.001


@pytest.mark.parametrize("response", ["bits", "unary", "k_ary", "subset"])
@pytest.mark.parametrize("spread", ["one leaf", "all leaves"])
def test_honest_reports_raise_no_alarm(local_task, response, spread):
    # Seeded; the false-alarm rate of each look is at most 1e-6 by construction.
    task = local_task(response=response)
    X = np.random.default_rng(1).random((20_000, 2)) * (0.01 if spread == "one leaf" else 1.0)
    rows = privatize_many(task, X, np.ones(len(X)), randomness=7).payloads
    detector = task.alarms()
    assert detector.alarms(detector.count(rows), len(rows)) == []


def test_alarms_are_as_rare_as_stated():
    # A binomial exactly at the bound: over 8,000 looks at 1e-6 the chance of three alarms is below
    # C(8000, 3) 1e-18 < 1e-7.
    rng, detector = np.random.default_rng(0), Detector((Event("x", 0.2, 0.2),), lambda rows: rows)
    assert sum(bool(detector.alarms([k], 500)) for k in rng.binomial(500, 0.2, 8_000)) < 3
    assert ALPHA == 1e-6


def test_the_threshold_is_the_exact_binomial_tail():
    from scipy.special import bdtr, bdtrc

    detector = Detector((Event("x", 0.1, 0.3),), lambda rows: rows)
    n = 400
    strange = [k for k in range(n + 1) if detector.alarms([k], n)]
    expected = [k for k in range(n + 1) if min(bdtrc(k - 1, n, 0.3) if k else 1.0, bdtr(k, n, 0.1)) < ALPHA / 2]
    assert strange == expected and 0 in strange and n in strange


@pytest.mark.parametrize("share", [0.02, 0.05])
def test_a_small_share_of_full_or_empty_reports_is_seen(local_task, share):
    task = local_task(max_depth=5)
    X = np.random.default_rng(1).random((10_000, 2))
    rows = privatize_many(task, X, X[:, 0], randomness=3).payloads
    detector, k = task.alarms(), int(10_000 * share)
    for value in (0, 255):
        forged = rows.copy()
        forged[:k] = value
        assert detector.alarms(detector.count(forged), len(forged))


def test_labels_far_outside_are_seen():
    task = LabelTask(LabelGrid(0.0, 80.0, 16), LaplaceNoise(1.0, 16))
    detector = task.alarms()

    honest = task.privatize(np.arange(5000), np.full(5000, 80.0), randomness=2)
    assert detector.alarms(detector.count(honest.payloads), 5000) == []
    honest.payloads[:50, 8:] = np.array([task.mechanism.code_range[1]], dtype="<i4").view(np.uint8)
    alarms = detector.alarms(detector.count(honest.payloads), 5000)
    assert alarms and "above its bounds" in alarms[0].event


def test_two_rounds_watch_their_labels():
    task = SemiTask.design(["a"], epsilon=2.0, label_bounds=(0, 1), feature_bounds=(0, 1), private_columns=["a"])
    reports = task.privatize(np.random.default_rng(0).random((5000, 1)), np.ones(5000), randomness=1)
    detector = task.alarms()
    rows = reports.payloads.copy()
    assert len(detector.events) > 4 and detector.alarms(detector.count(rows), 5000) == []
    rows[:100, :4] = np.array([task.grid.n_steps + 2 * task.label.coarse.reach], dtype="<u4").view(np.uint8)
    assert detector.alarms(detector.count(rows), 5000)


def law_bounds(detector, laws, row):
    """Least and greatest probability of every event over all inputs, by enumerating exact laws."""
    found = []
    for law in laws:
        total = np.zeros(len(detector.events))
        for output, weight in zip(law.outputs, law.weights, strict=True):
            total += detector.count(row(output)) * (weight / law.total)
        found.append(total)
    return np.min(found, axis=0), np.max(found, axis=0)


@pytest.mark.parametrize(("kind", "parameter"), [("subset", 1), ("subset", 2), ("levels", 3)])
def test_bounds_of_assisted_messages_are_those_of_the_exact_law(kind, parameter):
    message = AssistedMessage(1.3, (2, 3), kind, parameter)

    def row(output):
        tree, report = output
        bodies = np.array([report]) if kind == "levels" else np.array([report], dtype=np.int8)
        return np.hstack([np.array([[tree]], dtype=np.uint8), message._pack(bodies)])

    detector = message.alarms()
    low, high = law_bounds(detector, [message.law(v) for v in range(message.n_inputs)], row)
    assert len(detector.events) == 2 + (2 * 5 if kind == "subset" else 5 + 7)
    assert (detector.bounds[0] <= low + 1e-12).all() and (detector.bounds[1] >= high - 1e-12).all()
    np.testing.assert_allclose(detector.bounds[1], high, atol=1e-9)
    np.testing.assert_allclose(detector.bounds[0], low, atol=1e-9)


@pytest.mark.parametrize(
    "mechanism",
    [
        IntervalResponse(1.0, 8, low=1, high=6, radius=1),
        BinsResponse(1.0, 8, (0, 3, 6), (1.0, 4.0, 7.0)),
        IntervalResponse(2.0, 200, low=20, high=180, radius=9),
    ],
)
def test_bounds_of_label_outputs_are_those_of_the_exact_law(mechanism):
    task = LabelTask(LabelGrid(0.0, 1.0, mechanism.n_steps), mechanism)
    detector = task.alarms()

    def row(code):
        return np.hstack([np.zeros(8, dtype=np.uint8), np.array([code], dtype="<i4").view(np.uint8)])[None]

    low, high = law_bounds(detector, [mechanism.law(v) for v in range(mechanism.n_inputs)], row)
    assert len(detector.events) >= 3
    np.testing.assert_allclose(detector.bounds[0], low, atol=1e-9)
    np.testing.assert_allclose(detector.bounds[1], high, atol=1e-9)


def test_one_output_sent_in_bulk_is_found_in_a_label_task():
    # Seeded honest reports, all with one label, and one in eleven forged: 11 standard deviations above the bound.
    mechanism = BinsResponse(2.0, 8, (0, 3, 6), (1.0, 4.0, 7.0))
    task = LabelTask(LabelGrid(0.0, 1.0, 8), mechanism)
    honest = task.privatize(np.arange(50_000), np.zeros(50_000), randomness=1)
    rows = honest.payloads
    detector = task.alarms()
    assert detector.alarms(detector.count(rows), len(rows)) == []
    most = detector.count(rows).argmax()
    forged = rows[np.repeat(np.flatnonzero(np.ascontiguousarray(rows[:, 8:]).view("<i4")[:, 0] == most)[:1], 5_000)]
    everything = np.vstack([rows, forged])
    assert detector.alarms(detector.count(everything), len(everything))[0].event == f"output {most}"
