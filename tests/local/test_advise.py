"""Forecasts from public records: closed forms that fall with holders and epsilon, and read nothing else."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.tree import ExtraTreeRegressor

from hedgerow.errors import HedgerowError
from hedgerow.label import evidence
from hedgerow.local.advise import CurvePoints, LearningCurve, PublicFacts, advise, advise_from, forecast
from hedgerow.local.advise.facts import fresh_predictions, learner_of, measure_open_share, measure_public
from hedgerow.local.advise.learning import measure_curve
from hedgerow.local.advise.plot import advice_pictures, plot_advice
from hedgerow.public import PublicModel
from hedgerow.public.stack import fit_stack


def power_law(decay, floor=0.0, start=300.0, error=0.01):
    """Points on ``floor + (1 - floor) (m/start)**-decay``, known to so many percent each."""
    sizes = tuple(start * share for share in (0.2, 0.4, 0.8))
    errors = tuple(floor + (1 - floor) * (m / start) ** -decay for m in sizes)
    return CurvePoints(sizes, errors, tuple(map(tuple, error**2 * np.eye(3))), start)


@pytest.fixture(scope="module")
def public():
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    y = 4 * np.sin(6 * X[:, 0]) + 2 * X[:, 1] + rng.normal(0, 0.3, 300)
    base = PublicModel(Ridge(), random_state=0).fit(X, y)
    return X, y, base, PublicFacts(base.residuals_, 240.0, power_law(0.4), 1.0, float(y.var()))


def ask(public, n_holders=10_000, epsilon=1.0, **changed):
    return advise_from(replace(public[3], **changed), epsilon, n_holders)


def test_errors_fall_with_holders_and_with_epsilon(public):
    advice = ask(public)
    for setting in ("local", "semi-feature", "label", "aggregate"):
        found = [advice.expected(setting, n) for n in (100, 10_000, 10**6)]
        assert found == sorted(found, reverse=True) and found[0] <= advice.mean_square
        by_epsilon = [ask(public, epsilon=e).expected(setting, 10_000) for e in (0.5, 1.0, 4.0)]
        assert by_epsilon == sorted(by_epsilon, reverse=True)
    assert advice.expected("public only", 10) == advice.mean_square


def test_pays_from_is_the_first_number_with_a_gain_of_one_percent(public):
    advice = ask(public)
    for setting in ("local", "label"):
        n = advice.pays_from(setting)
        assert advice.expected(setting, n) <= 0.99 * advice.mean_square < advice.expected(setting, n - 1)
    assert advice.pays_from("public only") is None


def test_private_columns_that_explain_all_leave_nothing_to_the_semi_feature_model(public):
    X, y, base, _ = public
    first, last, none, every = (measure_open_share(base, X[:80], y[:80], c, 0) for c in ([0], [2], [], [0, 1, 2]))
    assert first < last and (none, every) == (1.0, 0.0)
    assert ask(public, open_share=every).pays_from("semi-feature") is None


def test_without_private_columns_there_is_no_semi_feature_model(public):
    assert "semi-feature" not in [f.setting for f in ask(public, open_share=None).forecasts]


def test_public_forecast_is_the_out_of_fold_error_brought_to_all_records(public):
    advice, base = ask(public), public[2]
    assert advice.mean_square == pytest.approx(np.mean(base.residuals_**2) / advice.curve(240))
    assert 1.05 < advice.curve(240) < 0.8**-0.5


def test_fresh_predictions_admit_that_noise_cannot_be_predicted():
    # Weights that have seen the records are hardly worse than the mean label, even on noise; fresh ones are. With 24
    # records the stack is a ridge regression only, which is fast.
    own, fresh = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.random((24, 2)), rng.normal(size=24)
        stack = fit_stack(X, y, seed)
        own.append(np.mean((y - stack.out_of_fold) ** 2) / y.var())
        fresh.append(np.mean((y - fresh_predictions(X, y, seed)) ** 2) / y.var())
    assert max(own) < 1.02 < min(fresh)


def test_facts_of_a_given_regressor_are_its_residuals_within_bounds_and_travel_as_json(public):
    X, y, base, _ = public
    facts = measure_public(base, X, y, (0.0, 3.0), None, 0)
    expected = np.clip(y, 0, 3) - np.clip(y - base.residuals_, 0, 3)
    np.testing.assert_allclose(facts.residuals, expected)
    again = PublicFacts.from_dict(json.loads(json.dumps(facts.to_dict())))
    assert advise_from(again, 2.0, 500).to_dict() == advise_from(facts, 2.0, 500).to_dict()


def test_facts_may_be_given(public):
    X, y, _, facts = public
    given = advise(X, y, n_holders=500, epsilon=2.0, facts=facts)
    assert given.to_dict() == advise_from(facts, 2.0, 500).to_dict()


def test_a_curve_is_one_at_the_start_and_falls_to_its_floor():
    curve = LearningCurve(100.0, ((0.25, 1.0, 0.0), (0.75, 0.5, 0.4)))
    assert curve(100) == pytest.approx(1.0) and curve(1e30) == pytest.approx(0.3)
    assert curve(400) == pytest.approx(0.25 * 0.25 + 0.75 * (0.4 + 0.6 / 2))


def test_points_tell_a_steep_curve_from_a_flat_one_and_a_floor_from_none():
    ahead = [power_law(*shape).curve()(2400) for shape in ((1.0, 0.0), (0.5, 0.0), (0.5, 0.5), (0.0, 0.0))]
    assert ahead == sorted(ahead) and ahead[0] < 0.35 and ahead[-1] > 0.9
    # Nothing can be told from points that are not known: the curve is that of the prior, whatever they say.
    vague = [power_law(decay, error=100.0).curve()(2400) for decay in (1.0, 0.0)]
    assert vague[0] == pytest.approx(vague[1], abs=0.01) and ahead[0] < vague[0] < ahead[-1]


def test_measured_points_are_paired_so_that_their_ratio_is_known_better_than_they_are():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))

    def learn(D, y, other):
        return ExtraTreeRegressor(min_samples_leaf=2, random_state=0).fit(D, y).predict(other)

    steep = measure_curve(learn, X, np.sin(9 * X[:, 0]), 0)
    noise = measure_curve(learn, X, rng.normal(size=400), 0)
    assert steep.curve()(3200) < 0.6 < 0.8 < noise.curve()(3200)
    assert noise.errors[1] == pytest.approx(1.6, abs=0.4) and noise.sizes == (80.0, 160.0, 320.0)
    # The mean of 400 squares of normal errors has a relative standard error of sqrt(2/400).
    C = np.array(noise.covariance)
    assert np.sqrt(np.diag(C)) == pytest.approx(np.sqrt(2 / 400), rel=0.3) and C[0, 1] > 0.2 * C[0, 0]


def test_label_forecast_shrinks_as_the_estimator_does(public):
    assert (evidence.TWICE, evidence.WORTH) == (forecast.TWICE, forecast.WORTH)
    advice = ask(public, epsilon=0.5)
    S2, v = advice.mean_square, advice.noise["label"]
    # Too few holders: nothing; very many: the curve itself.
    assert advice.expected("label", 15 * v / S2) == S2 > advice.expected("label", 40 * v / S2)
    m = advice.n_public + forecast.EFFICIENCY * 1e9 * min(1.0, S2 / v) ** 2
    assert advice.expected("label", 1e9) == pytest.approx(S2 * advice.curve(m), rel=1e-3)


def test_the_learner_of_a_public_model_is_the_model_itself_with_the_same_weights(public, small_models):
    X, y = public[0][:40], public[1][:40]
    for model in (PublicModel(Ridge()), PublicModel(random_state=0)):
        model.fit(X, y)
        np.testing.assert_allclose(learner_of(model)(X, y, X), model.predict(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"private_columns": ["nothing"]}, "private_columns"),
        ({"n_holders": 0}, "n_holders"),
        ({"epsilon": 0}, "epsilon"),
    ],
)
def test_bad_arguments_are_refused(public, options, message):
    X, y, base, _ = public
    with pytest.raises(HedgerowError, match=message):
        advise(X, y, public_model=base, **{"n_holders": 10, **options})


def test_too_few_records_are_refused():
    with pytest.raises(HedgerowError, match="at least 20"):
        advise(np.zeros((5, 1)), np.zeros(5), n_holders=10)


def test_plot_has_a_line_for_every_trust_model(public):
    pytest.importorskip("matplotlib")
    figure = plot_advice(ask(public))
    for axes in figure.axes:
        labels = [line.get_label() for line in axes.get_lines()]
        assert {"public only", "local", "semi-feature", "label"} <= set(labels)
    assert [axes.get_xlabel().split()[0] for axes in figure.axes] == ["people", "epsilon"]


def test_the_picture_passes_through_what_is_printed(public):
    advice = ask(public)
    for picture, asked in zip(advice_pictures(advice), (advice.n_holders, advice.epsilon), strict=True):
        assert list(picture.marks.values()) == [asked]
        for curve in picture.curves:
            x = np.log([point.x for point in curve.points])
            found = np.interp(np.log(asked), x, [point.y for point in curve.points])
            assert found == pytest.approx(advice.expected(curve.name, advice.n_holders), rel=0.02)


def test_progress_counts_every_fit_up_to_all():
    X = np.random.default_rng(0).random((25, 2))
    for model in (None, PublicModel(Ridge()).fit(X, X[:, 0])):
        heard = []
        advise(X, X[:, 0], n_holders=100, public_model=model, progress=lambda *at, to=heard: to.append(at))
        done, total = zip(*heard, strict=True)
        assert len(set(total)) == 1 and done[-1] == total[0] and list(done) == sorted(set(done))
        assert len(done) > 10


def test_more_of_anything_does_not_hurt_and_now_is_what_is_printed(public):
    advice = ask(public)
    for setting, row in advice.would_bring().items():
        now, people, stronger, records = row.values()
        assert now == pytest.approx(advice.expected(setting, advice.n_holders) / advice.mean_square)
        assert people <= now and stronger <= now and records <= now
    alone = advice.would_bring()["public only"]
    # Four times the records of the learning curve 300^.4: errors of 4^-.4.
    assert alone["4 x people"] == alone["2 x epsilon"] == 1.0
    assert alone["4 x public"] == pytest.approx(advice.curve(4 * advice.n_public) / advice.curve(advice.n_public))
    assert [line.split()[0] for line in advice.more()[2:]] == [s.split()[0] for s in advice.settings]


def test_the_same_question_again_is_the_same_advice(public):
    advice = ask(public)
    again = advice.at(epsilon=2.0).at(epsilon=advice.epsilon, n_public=advice.n_public)
    assert again.forecasts == advice.forecasts


def test_the_semi_feature_model_gains_its_share_of_what_labels_bring(public):
    advice = ask(public, open_share=0.5)
    n = 10**6
    gain = advice.mean_square - advice.expected("label", n)
    assert advice.mean_square - advice.expected("semi-feature", n) >= 0.5 * gain - 1e-12
