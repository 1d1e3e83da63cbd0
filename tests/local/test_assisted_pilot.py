"""The pilot of an assisted task: a few holders tell how wrong the public model is, the others where."""

import json
import math

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow import AssistedForestRegressor, PublicModel, Report, Reports
from hedgerow.audit import audit_exact, audit_sampled
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.local.assisted import design_assisted, design_pilot
from hedgerow.local.assisted.pilot import pilot_group, pilot_size
from hedgerow.randomness import SeededRandomness
from hedgerow.tasks.assisted import PilotTask, PilotTotals, check_pilot
from hedgerow.tasks.assisted.chi_square import chi_square_limit
from hedgerow.tasks.assisted.pilot import PilotMessage, pilot_multiples
from hedgerow.tasks.holder import privatize, privatize_many
from hedgerow.tasks.totals import Totals

BOUNDS = (-30, 30)


def make(n, seed, spread=0.5, step=0.0):
    """Linear but for a step that public records do not have."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, 3 * X[:, 0] + step * (X[:, 1] > 0.6) + spread * rng.normal(size=n)


@pytest.fixture(scope="module")
def public():
    return make(400, 0)


@pytest.fixture(scope="module")
def base(public):
    return PublicModel(Ridge(), random_state=0).fit(*public)


def options(base, epsilon=2.0):
    return {"epsilon": epsilon, "label_bounds": BOUNDS, "public_model": base}


def ideal(task, errors, n=1_000_000):
    """Totals in proportion to what n holders with these errors send on average, for a check without sampling noise."""
    message = task.encoding
    share = np.bincount(task.bins(errors), minlength=message.n_inputs) / len(errors)
    sums = np.floor(n * (float(message.response.q) + message.kappa * share)).astype(int)
    return PilotTotals(task, int(sums.sum()), tuple(sums.tolist()), True)


@pytest.mark.parametrize("k", [2, 3, 13])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_message_is_private_exactly(k, epsilon):
    right = audit_exact(PilotMessage(epsilon, k))
    assert right.holds and right.measured == pytest.approx(epsilon, rel=1e-9)
    assert not audit_exact(PilotMessage(1.1 * epsilon, k), epsilon=epsilon).holds


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_reports_of_records_hold_and_too_little_noise_is_caught(public, base, epsilon):
    """The code that ships, from record to bytes; false alarm 1e-6 each, seeded."""
    task = design_pilot(*public, **options(base, epsilon))
    weak = PilotTask.from_json(task.to_json())
    object.__setattr__(weak, "encoding", PilotMessage(1.1 * epsilon, task.encoding.n_inputs))

    def run(task):
        labels = (-30.0, 30.0)
        return lambda v, n, source: privatize_many(task, np.full((n, 3), v), np.full(n, labels[v]), source).payloads

    assert audit_sampled(run(task), 0, 1, epsilon=epsilon, n=400_000, randomness=1).holds
    assert not audit_sampled(run(weak), 0, 1, epsilon=epsilon, n=400_000, randomness=1).holds


@pytest.mark.parametrize("epsilon", [0.5, 2.0, math.inf])
def test_shares_are_unbiased_and_their_covariance_is_that_of_the_law(public, base, epsilon):
    """Exactly: mean and covariance of one report's estimate, from the law of the message."""
    task = design_pilot(*public, **options(base, epsilon))
    message, true = task.encoding, np.arange(1, task.encoding.n_inputs + 1, dtype=float)
    true /= true.sum()
    law = np.zeros(message.n_inputs)
    for value, share in enumerate(true):
        one = message.law(value)
        for output, weight in zip(one.outputs, one.weights, strict=True):
            law[output[0]] += share * (weight / one.total)
    estimates = np.array([PilotTotals(task, 1, tuple(row)).shares for row in np.eye(len(true), dtype=int).tolist()])
    assert law @ estimates == pytest.approx(true, abs=1e-12)
    centred = estimates - true
    stated = PilotTotals(task, 1, (1, *[0] * (len(true) - 1))).covariance(true)
    assert centred.T @ (law[:, None] * centred) == pytest.approx(stated, abs=1e-12)


def test_errors_fall_into_bins_as_published(public, base):
    task = design_pilot(*public, **options(base, math.inf))
    X, y = make(500, 3, spread=2.0)
    g = np.clip(base.predict(X), *BOUNDS)
    expected = (y - g)[:, None] >= np.array(task.edges)
    assert (privatize_many(task, X, y).payloads[:, 0] == expected.sum(axis=1)).all()
    assert task.bins(task.edges).tolist() == list(range(1, len(task.edges) + 1))  # on an edge: the bin above it
    assert (privatize_many(task, X, np.full(500, 1e9)).payloads[:, 0] == len(task.edges)).all()  # clipped, not dropped
    spread = np.sqrt(np.mean(base.residuals_**2))
    assert np.array(task.edges[len(task.edges) // 2 :]) / spread == pytest.approx(np.array(pilot_multiples(math.inf)))


def test_consistent_pilot_leaves_the_task_unchanged(public, base):
    """In all of 40 draws; false alarms have a chance of 0.1 % each, seeded."""
    task, plain = design_pilot(*public, **options(base)), design_assisted(*public, n_holders=5000, **options(base))
    found = []
    for seed in range(40):
        totals = task.simulate(*make(600, 100 + seed), seed).model()
        found.append(check_pilot(totals, base.residuals_).differs)
        if seed < 3:
            assert design_assisted(*public, n_holders=5000, pilot=totals, **options(base)) == plain
    assert sum(found) == 0
    # No report says nothing.
    assert design_assisted(*public, n_holders=5000, pilot=Totals(task), **options(base)) == plain


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
@pytest.mark.parametrize(("scale", "place"), [(4.0, 0.0), (0.4, 0.0), (1.0, 1.0), (2.0, -1.0)])
def test_scale_and_place_of_errors_are_found(public, base, epsilon, scale, place):
    task, res = design_pilot(*public, **options(base, epsilon)), base.residuals_
    S = np.sqrt(np.mean(res**2))
    check = check_pilot(ideal(task, place * S + scale * res), res)
    assert check.differs and check.statistic > check.threshold
    least = pilot_multiples(epsilon)[0] / 2  # three bins cannot tell how small errors are that all are in the middle
    assert check.scale == pytest.approx(max(scale, least), rel=0.15) and check.place / S == pytest.approx(
        place, abs=0.3
    )
    assert check.apply(res) == pytest.approx(check.place + check.scale * res)
    same = check_pilot(ideal(task, res, n=100_000), res)
    assert not same.differs and same.apply(res) is res


def test_statistic_is_chi_square_where_nothing_differs(public, base):
    """Over 400 pairs of public samples and pilots: the mean within 6 standard errors of the degrees of freedom."""
    task, rng, found = design_pilot(*public, **options(base)), np.random.default_rng(0), []
    dof, spread = len(task.edges), task.edges[-1] / 2
    for seed in range(400):
        res, private = rng.normal(0, spread, 400), rng.normal(0, spread, 600)
        sent = task.encoding.randomize(task.bins(private), seed)
        totals = PilotTotals(task, 600, tuple(task.encoding.sums(sent).tolist()), True)
        found.append(check_pilot(totals, res).statistic)
    assert abs(np.mean(found) - dof) < 6 * math.sqrt(2 * dof / 400)


def test_threshold_is_the_999_per_mille_quantile_of_chi_square(public, base):
    stats = pytest.importorskip("scipy.stats")
    for dof in range(2, 13):
        limit = chi_square_limit(dof, 2.0 * dof, stats.norm.ppf(0.999))
        assert limit == pytest.approx(stats.chi2.ppf(0.999, dof), rel=0.025)
    for epsilon in (0.5, 2.0, 4.0):
        task = design_pilot(*public, **options(base, epsilon))
        nobody = PilotTotals(task, 0, (0,) * len(task.edges) + (0,))
        assert check_pilot(nobody, base.residuals_).threshold == pytest.approx(
            stats.chi2.ppf(0.999, len(task.edges)), rel=0.025
        )


@pytest.mark.parametrize("epsilon", [2.0, 8.0])
def test_under_four_times_the_spread_the_radius_grows_and_the_error_falls(public, base, epsilon):
    private, test = make(20_000, 1, spread=2.0, step=2.0), make(4000, 2, spread=0.0, step=2.0)
    errors, radii, cover = {}, {}, {}
    noisy = make(4000, 3, spread=2.0, step=2.0)
    for pilot in (None, "auto"):
        runs = []
        for seed in range(3):
            forest = AssistedForestRegressor(
                epsilon, label_bounds=BOUNDS, public_model=base, pilot=pilot, random_state=seed
            ).fit(*private, *public)
            runs.append(np.mean((forest.predict(test[0]) - test[1]) ** 2))
        low, high = forest.predict_label_interval(noisy[0], 0.9)
        cover[pilot] = np.mean((low <= noisy[1]) & (noisy[1] <= high))
        errors[pilot], radii[pilot] = np.mean(runs), forest.task_.radius
    assert radii["auto"] > 2 * radii[None] and radii["auto"] > 3 * np.sqrt(np.mean(base.residuals_**2)) / 2
    assert errors["auto"] < 0.9 * errors[None]
    assert cover[None] < 0.6 and 0.8 < cover["auto"] < 0.9995  # intervals see the spread, too


def test_small_leaves_are_not_trusted_where_errors_are_larger(public, base):
    task, res = design_pilot(*public, **options(base, 8.0)), base.residuals_
    leaves = {}
    for scale in (0.5, 1.0, 3.0):
        found = design_assisted(*public, n_holders=10**6, pilot=ideal(task, scale * res), **options(base, 8.0))
        leaves[scale] = max(found.trees.n_leaves)
    assert leaves == {0.5: 128, 1.0: 128, 3.0: 16}


def test_nobody_answers_twice(public, base):
    asked, others = pilot_group(1000, 120, SeededRandomness(0))
    assert len(asked) == 120 and sorted([*asked, *others]) == list(range(1000))
    again, _ = pilot_group(1000, 120, SeededRandomness(1))
    assert set(asked) != set(again)
    forest = AssistedForestRegressor(2.0, label_bounds=BOUNDS, public_model=base, pilot="auto", random_state=0)
    forest.fit(*make(5000, 1), *public)
    assert forest.pilot_.n_reports == pilot_size("auto", 5000, 2.0) == 250
    assert forest.pilot_.n_reports + forest.aggregate_.n_reports == 5000
    assert forest.guarantee_.epsilon == forest.pilot_task_.guarantee.epsilon == 2.0
    assert "250 holders" in str(forest.guarantee_) and forest.pilot_.guarantee.simulation


def test_pilot_is_drawn_and_sized_without_records(public, base):
    tasks = []
    for seed in (11, 12):
        X, y = make(3000, seed)
        forest = AssistedForestRegressor(1.0, label_bounds=BOUNDS, public_model=base, random_state=3, pilot=0.1)
        tasks.append(forest.fit(X, y, *public).pilot_task_)
    assert tasks[0] == tasks[1] and forest.pilot_.n_reports == 300


@pytest.mark.parametrize(("pilot", "n"), [(None, 5000), (0, 5000), ("auto", 100)])
def test_without_a_pilot_nothing_changes(public, base, pilot, n):
    private = make(n, 1)
    forest = AssistedForestRegressor(1.0, label_bounds=BOUNDS, public_model=base, pilot=pilot, random_state=5)
    forest.fit(*private, *public)
    assert forest.pilot_ is None and forest.pilot_task_ is None and forest.aggregate_.n_reports == n
    source = SeededRandomness(5)
    seed = int(source.child("design").integers(2**31 - 1, 1)[0])
    task = design_assisted(*public, n_holders=n, random_state=seed, **options(base, 1.0))
    assert forest.task_ == task and forest.guarantee_ == forest.model_.guarantee
    assert forest.aggregate_ == task.simulate(*private, source.child("holders"))


def test_auto_asks_as_few_as_can_tell():
    for epsilon in (0.5, 1.0, 2.0, 4.0, math.inf):
        kappa = PilotMessage(epsilon, 1 + 2 * len(pilot_multiples(epsilon))).kappa
        many = pilot_size("auto", 10**7, epsilon)
        assert 0.5 / (kappa * math.sqrt(many)) <= 0.05 < 0.5 / (kappa * math.sqrt(many - 1))
        least = math.ceil((0.5 / (0.15 * kappa)) ** 2)
        enough = math.ceil(least / 0.05 + 1e-9)
        assert pilot_size("auto", enough, epsilon) == least and pilot_size("auto", enough - 2, epsilon) == 0
    assert pilot_size("auto", 1000, 0.1) == 0


@pytest.mark.parametrize("pilot", [-0.1, 0.6, "all", True, math.nan])
def test_wrong_pilots_are_refused(pilot):
    with pytest.raises(HedgerowError, match="'pilot'"):
        AssistedForestRegressor(label_bounds=(0, 1), pilot=pilot).fit([[0.0], [1.0]], [0.0, 1.0])


def test_pilot_of_another_model_is_refused(public, base):
    other = design_pilot(*make(300, 5), **options(Ridge()))
    wider = design_pilot(*public, **options(base) | {"label_bounds": (-31, 31)})
    for task in (other, wider):
        with pytest.raises(HedgerowError, match="'pilot'"):
            design_assisted(*public, n_holders=100, pilot=Totals(task), **options(base))


def test_one_way_through(public, base):
    """Task, reports, totals survive their wire forms, in any order, with equal results."""
    task = design_pilot(*public, **options(base))
    assert (
        PilotTask.from_json(task.to_json()) == task and task.to_json() == PilotTask.from_json(task.to_json()).to_json()
    )
    X, y = make(300, 1)
    reports = privatize_many(task, X, y, 5)
    again = Reports.from_bytes(task, reports.to_bytes())
    whole = Totals(task).add(reports)
    parts = Totals(task).add(again[7]) + Totals(task).add([again[i] for i in range(300) if i != 7])
    assert whole.to_bytes() == parts.to_bytes() == task.simulate(X, y, 5).to_bytes()
    totals = Totals.from_bytes(task, whole.to_bytes()).model()
    assert PilotTotals.from_json(totals.to_json()) == totals == whole.model() and totals.guarantee.simulation
    one = privatize(task, {"x0": 0.5, "x1": 0.2, "x2": 0.1, "y": 1.0})
    assert not one.simulation and Report.from_bytes(task, one.to_bytes()) == one and len(one.payload) == 1
    with pytest.raises(FormatError, match="not made for this task"):
        Report.from_bytes(task, one.to_bytes()[:-1] + b"\xff")
    with pytest.raises(FormatError, match="another task"):
        Totals(design_pilot(*public, **options(base, 3.0))).add(one)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d | {"version": 3}, "version"),
        (lambda d: d | {"more": 1}, "unknown fields"),
        (lambda d: d | {"format": "x"}, "not a pilot task"),
        (lambda d: d | {"epsilon": 50.0}, "does not match its id"),
        (lambda d: d | {"edges": d["edges"][::-1]}, "edges"),
        (lambda d: d | {"edges": []}, "edges"),
        (lambda d: d | {"edges": ["0"]}, "edges"),
        (lambda d: d | {"label_bounds": [0, 1, 2]}, "a list of 2"),
        (lambda d: d | {"space": {**d["space"], "columns": d["space"]["columns"][:1]}}, "does not fit"),
    ],
)
def test_tasks_are_read_strictly(public, base, change, message):
    data = json.loads(design_pilot(*public, **options(base)).to_json())
    with pytest.raises(FormatError, match=message):
        PilotTask.from_dict(change(data))


def test_totals_are_read_strictly(public, base):
    data = json.loads(design_pilot(*public, **options(base)).simulate(*make(50, 1), 1).model().to_json())
    for change in ({"version": 2}, {"n_reports": 49}, {"sums": data["sums"][:-1]}, {"simulation": 1}, {"more": 1}):
        with pytest.raises(FormatError):
            PilotTotals.from_dict(data | change)
