"""One round: what is sent of a record, what is refused, and what answers are read as."""

import numpy as np
import pytest

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.mechanisms.top import TopResponse
from hedgerow.mechanisms.unbiased import MatrixResponse, k_ary_levels
from hedgerow.portable import Linear, PortableModel
from hedgerow.randomness import SeededRandomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.partly_public import ResidualTask
from hedgerow.tasks.partly_public.assist import Assist
from hedgerow.tasks.registry import read_task

SPACE = FeatureSpace(
    (NumericFeature("income", 0, 10), NumericFeature("age", 0, 99), CategoricalFeature("sex", ("F", "M")))
)
ERRORS = np.random.default_rng(0).normal(size=400)


def task(masks="policy", mechanism=None, radius=1.5, **changes):
    """Return a task whose public model is the income, which is private."""
    model = PortableModel(3, [0, 1, 2], [-1, -1, -1], 0.0, (Linear([1.0, 0.0, 0.0]),))
    assist = Assist(model, (0.0, 10.0), radius, Residuals.summarise(ERRORS, radius, 2))
    mechanism = k_ary_levels(1.0, 3) if mechanism is None else mechanism
    private = ("income",) if masks == "policy" else ()
    settings = {"epsilon": 1.0, "space": SPACE, "assist": assist, "mechanism": mechanism, "masks": masks}
    return ResidualTask(**{**settings, "private": private, **changes})


def test_only_the_error_of_private_values_counts():
    """The same error from another income and label: the same report, for the same random bytes."""
    asked = task()
    sent = [
        asked.privatize_record({"income": income, "age": 40, "sex": "M", "y": income + 0.75}, randomness=5).payload
        for income in (0.0, 3.5, 9.25)
    ]
    assert len(set(sent)) == 1
    code, private, Z = asked.encoding.read(np.frombuffer(sent[0], dtype=np.uint8)[None, :])
    assert private.tolist() == [[True, False, False]] and Z.tolist() == [[0.0, 40.0, 1.0]]
    assert asked.encoding.width == 4 + 16 and 0 <= code[0] <= 2


def test_the_claim_is_for_the_label_alone_where_nothing_else_is_private():
    for asked in (task(), task("personal")):
        assert (asked.guarantee.protects, asked.guarantee.neighbours) == ("private features and label", "replace")
    label = task(private=()).guarantee
    assert (label.protects, label.neighbours, label.epsilon) == ("label", "label", 1.0)
    assert any("features are public" in note for note in label.notes)


def test_what_a_holder_marks_is_not_sent():
    asked = task("personal")
    record = {"income": 3.0, "age": 40, "sex": "M", "y": 5.0}
    payload = asked.privatize_record(record, private=[False, True, True], randomness=0).payload
    _, private, Z = asked.encoding.read(np.frombuffer(payload, dtype=np.uint8)[None, :])
    assert private.tolist() == [[False, True, True]] and Z.tolist() == [[3.0, 0.0, 0.0]]
    with pytest.raises(HedgerowError, match="lets each holder choose"):
        asked.privatize_record(record)


def test_the_guarantee_is_for_all_private_values_at_once():
    claim = task().guarantee
    assert (claim.epsilon, claim.delta, claim.protects) == (1.0, 0.0, "private features and label")
    assert (claim.trust, claim.neighbours) == ("local", "replace")
    assert any("replacing all of them at once" in note for note in claim.notes)
    assert any("income" in note for note in claim.notes)


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": 0.5},
        {"epsilon": 2.0},
        {"masks": "hidden", "private": ()},
        {"masks": "personal", "private": ("income",)},
        {"mechanism": TopResponse(1.0, 2, (0, 2))},
        {"mechanism": GaussianNoise(1.0, 2, delta=1e-3)},
        {"mechanism": MatrixResponse(1.0, ((1 << 63,) * 2, (1 << 63,) * 2), (-1e10, 1.0))},
        {"space": FeatureSpace.from_bounds((0, 1), ["a"])},
    ],
)
def test_what_does_not_fit_is_refused(changes):
    with pytest.raises(HedgerowError):
        task(**changes)


def test_json_is_strict():
    asked = task(mechanism=LaplaceNoise(1.0, 16))
    assert read_task(asked.to_json()) == asked
    with pytest.raises(FormatError):
        read_task(asked.to_json().replace('"epsilon":1.0', '"epsilon":0.1', 1))


@pytest.mark.parametrize("change", [(0, 7), (2, 1), (11, 127), (12, 1)])
def test_reports_that_nobody_sends_are_refused(change):
    asked = task()
    payload = asked.privatize([[3.0, 40.0, "M"]], [4.0], randomness=0).payloads.copy()
    at, value = change
    payload[0, at] = value
    with pytest.raises(FormatError):
        asked.encoding.validate(payload)


@pytest.mark.parametrize("mechanism", [k_ary_levels(1.0, 2), k_ary_levels(1.0, 5), LaplaceNoise(1.0, 16)])
def test_mean_errors_are_read_without_bias_where_they_moved_by_little(mechanism):
    """Public errors moved by 0.1; n is such that a normal mean is off by 5 deviations with a chance of 6e-7."""
    asked = task(mechanism=mechanism)
    n = 40_000
    errors = np.random.default_rng(1).choice(ERRORS, n) + 0.1
    Z = np.column_stack([np.full(n, 5.0), np.full(n, 40.0), np.zeros(n)])
    codes = asked.encoding.read(asked.draw(Z, 5.0 + errors, SeededRandomness(0)).payloads)[0]
    noisy = asked.noisy_errors(codes)
    assert abs(noisy.mean() - errors.mean()) < 5 * noisy.std() / np.sqrt(n) + 0.01  # 101 percentiles, not all errors


def test_intervals_of_mean_answers_undo_the_clip():
    """Errors that all moved by a radius are read as less; the interval around their exact mean answer holds them."""
    reading = task(radius=1.0).reading
    moved = np.array([reading.mean_answers(ERRORS + by).mean() for by in (-1.0, 0.0, 1.0)])
    low, high = reading.in_units((moved, moved))
    assert np.abs(low - ERRORS.mean() - [-1, 0, 1]).max() < 0.05 and np.abs(high - low).max() < 0.05
    assert abs(reading.read(moved)[2] - ERRORS.mean()) < 0.95
    low, high = reading.in_units((np.array([-1.0]), np.array([1.0])))  # answers at either end say no more than that
    assert low[0] == -10 and high[0] == 10


def test_forged_codes_in_bulk_are_seen():
    asked = task()
    detector = asked.alarms()
    honest = asked.privatize(np.column_stack([np.full(2000, 5.0)] * 3), np.full(2000, 5.0), randomness=0).payloads
    forged = honest.copy()
    forged[:, 0] = 2
    assert not detector.alarms(detector.count(honest), 2000)
    assert detector.alarms(detector.count(forged), 2000)


def test_the_data_set_has_what_was_sent_and_no_more():
    asked = task("personal")
    X = [[3.0, 40.0, "M"], [7.0, 20.0, "F"]]
    private = np.array([[True, False, False], [False, True, True]])
    totals = asked.totals().add(asked.privatize(X, [4.0, 6.0], private=private, randomness=0))
    lines = asked.data(totals)[1].decode().splitlines()
    assert lines[0] == 'income,age,sex,"y minus prediction, noisy"'
    assert sorted(line.rpartition(",")[0] for line in lines[1:]) == [",40.0,M", "7.0,,"]
