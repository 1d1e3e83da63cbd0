"""What the curator learns from one round's reports."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from hedgerow.mechanisms.unbiased import k_ary_levels
from hedgerow.portable import PortableModel
from hedgerow.randomness import SeededRandomness
from hedgerow.semi.learn import corrected_model, filled
from hedgerow.tasks.models import Model
from tests.semi.test_residual_task import task

N = 3000


def records(effect, seed=0):
    """Return records whose label strays from the income by what age tells."""
    rng = np.random.default_rng(seed)
    age, sex = rng.uniform(0, 99, N), rng.integers(0, 2, N)
    income = rng.uniform(3, 7, N)
    y = income + effect * np.where(age > 50, 0.8, -0.8) + rng.normal(0, 0.5, N)
    return np.column_stack([income, age, sex.astype(float)]), y


def made(effect, seed=0, masks="policy", private=None):
    asked = task(masks, mechanism=k_ary_levels(4.0, 3), epsilon=4.0)
    X, y = records(effect, seed)
    Z = asked.space.encode(X)
    drawn = asked.draw(Z, asked.labels(y), SeededRandomness(seed), private=private)
    return asked, asked.batch(np.zeros((N, 12), dtype=np.uint8), drawn.payloads, True)


@pytest.fixture(scope="module")
def clear():
    asked, reports = made(1.0)
    return asked, reports, asked.totals().add(reports).model()


def test_corrections_are_found_over_public_features(clear):
    model = clear[2]
    X = [[5.0, 20.0, "F"], [5.0, 80.0, "F"]]
    assert np.abs(model.predict(X) - [4.2, 5.8]).max() < 0.35
    assert model.predict_public(X).tolist() == [5.0, 5.0] and model.corrects
    read = set(model.correction.column.tolist())
    assert read <= {1, 2}, "private columns are not read"
    assert "age" in str(model.explain()) and model.about().facts["corrects"]


def test_neither_order_nor_ids_matter(clear):
    asked, reports, model = clear
    order = np.random.default_rng(3).permutation(N)
    tokens = np.random.default_rng(4).integers(0, 256, (N, 12)).astype(np.uint8)
    again = asked.totals().add(asked.batch(tokens, reports.payloads[order], True)).model()
    assert again == model


def test_a_model_is_its_json(clear):
    model = clear[2]
    copy = Model.from_json(model.to_json())
    X = [[5.0, 20.0, "F"], [1.0, 80.0, "M"]]
    assert copy == model and copy.predict(X).tolist() == model.predict(X).tolist()


def test_intervals_hold_the_prediction_and_what_is_estimated(clear):
    model = clear[2]
    X = [[5.0, age, "F"] for age in range(5, 96, 10)]
    low, high = model.predict_interval(X, 0.99)
    assert (low <= model.predict(X)).all() and (model.predict(X) <= high).all()
    assert (high - low).max() < 2.0
    truth = np.where(np.array([x[1] for x in X]) > 50, 5.8, 4.2)
    far = np.abs(np.array([x[1] for x in X]) - 50) > 20  # groups may mix both sides next to the cut
    assert ((low <= truth) & (truth <= high))[far].all()
    wide = model.predict_label_interval(X)
    assert (wide[0] <= low).all() and (wide[1] >= high).all()


def test_groups_cover_everybody(clear):
    model = clear[2]
    rows = model.table()
    assert abs(sum(row["share"] for row in rows) - 1) < 1e-9 and 2 <= len(rows) <= 8
    assert all(abs(row["correction"]) < 1.5 for row in rows)


def test_without_evidence_the_public_model_predicts():
    asked, reports = made(0.0)
    X = [[5.0, 20.0, "F"], [5.0, 80.0, "F"]]
    model = corrected_model(asked, asked.totals().add(reports))
    assert np.abs(model.predict(X) - 5.0).max() < 0.1
    few = asked.batch(reports.tokens[:20], reports.payloads[:20], True)
    model = corrected_model(asked, asked.totals().add(few))
    assert model.predict(X).tolist() == [5.0, 5.0] and not model.corrects
    assert "no evidence" in str(model.explain())


def test_what_nobody_shows_is_not_read():
    """Each holder shows one of two features at random, nobody the age that tells: a level is all there is to learn."""
    rng = np.random.default_rng(0)
    private = np.ones((N, 3), dtype=bool)
    private[np.arange(N), 2 * rng.integers(0, 2, N)] = False
    asked, reports = made(1.0, masks="personal", private=private)
    model = asked.totals().add(reports).model()
    assert set(model.correction.column.tolist()) == {0, 2} and model.groups.n_leaves == 1
    X = [[5.0, 20.0, "F"], [5.0, 80.0, "F"]]
    assert np.ptp(model.predict(X)) == 0


def test_hidden_values_are_filled_by_those_that_others_show():
    """The age is hidden by a third: corrections by it are found from the others, and the groups do not use it."""
    private = np.zeros((N, 3), dtype=bool)
    private[:, 0] = True
    private[::3, 1] = True
    asked, reports = made(1.0, masks="personal", private=private)
    model = asked.totals().add(reports).model()
    X = [[5.0, 20.0, "F"], [5.0, 80.0, "F"]]
    assert np.abs(model.predict(X) - [4.2, 5.8]).max() < 0.5
    assert 1 not in model.groups.feature.tolist()
    with_zeros = np.zeros((3, 2))
    hidden = np.array([[True, True], [False, True], [False, True]])
    with_zeros[:, 0] = [0.0, 5.0, 5.0]
    assert filled(with_zeros, hidden).tolist() == [[5.0, 0.0], [5.0, 0.0], [5.0, 0.0]]


def test_a_regressor_of_ones_own(clear):
    asked, reports, _ = clear
    model = corrected_model(asked, asked.totals().add(reports), LinearRegression())
    (part,) = model.correction.parts
    assert part.kind == "linear" and isinstance(model.correction, PortableModel)


def test_no_report_is_no_correction():
    asked = task()
    model = corrected_model(asked, asked.totals())
    assert model.predict([[5.0, 20.0, "F"]]).tolist() == [5.0]
