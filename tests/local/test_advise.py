"""Forecasts from public records: closed forms that fall with holders and epsilon, and read nothing else."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow.bench.frontier_advise import page
from hedgerow.errors import HedgerowError
from hedgerow.local.advise import LearningCurve, advise
from hedgerow.local.advise.learning import measure_curve
from hedgerow.local.advise.plot import plot_advice
from hedgerow.local.public_model import PublicModel


@pytest.fixture(scope="module")
def public():
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    y = 4 * np.sin(6 * X[:, 0]) + 2 * X[:, 1] + rng.normal(0, 0.3, 300)
    return X, y, PublicModel(Ridge(), random_state=0).fit(X, y), LearningCurve(300, 0.4)


def ask(public, **options):
    X, y, base, curve = public
    given = {"n_holders": 10_000, "private_columns": [], "base": base, "curve": curve, **options}
    return advise(X, y, **given)


def test_errors_fall_with_holders_and_with_epsilon(public):
    advice = ask(public)
    for setting in ("local", "semi-feature", "label"):
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
    assert ask(public, private_columns=[0]).open_share < ask(public, private_columns=[2]).open_share
    everything = ask(public, private_columns=[0, 1, 2])
    assert everything.open_share == 0.0 and everything.pays_from("semi-feature") is None


def test_without_private_columns_there_is_no_semi_feature_model(public):
    assert "semi-feature" not in [f.setting for f in ask(public, private_columns=None).forecasts]


def test_public_forecast_is_the_out_of_fold_error_brought_to_all_records(public):
    advice, base = ask(public), public[2]
    expected = np.mean(base.residuals_**2) * 0.8**advice.curve.decay
    assert advice.mean_square == pytest.approx(expected, rel=0.05)


def test_a_power_law_is_found_and_noise_is_flat():
    m = np.array([50, 100, 200])
    assert LearningCurve.fit(m, 7 * m**-0.4, 300).decay == pytest.approx(0.4)
    assert LearningCurve.fit(m, [1.0, 1.1, 1.2], 300).decay == 0.0
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    steep = measure_curve(X, np.sin(9 * X[:, 0]), 0).decay
    assert steep > 0.5 > 0.2 > measure_curve(X, rng.normal(size=400), 0).decay


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"private_columns": ["nothing"]}, "private_columns"),
        ({"n_holders": 0}, "n_holders"),
        ({"epsilon": 0}, "epsilon"),
    ],
)
def test_bad_arguments_are_refused(public, options, message):
    with pytest.raises(HedgerowError, match=message):
        ask(public, **options)


def test_too_few_records_are_refused():
    with pytest.raises(HedgerowError, match="at least 20"):
        advise(np.zeros((5, 1)), np.zeros(5), n_holders=10)


def test_plot_has_a_line_for_every_trust_model(public):
    pytest.importorskip("matplotlib")
    labels = [line.get_label() for line in plot_advice(ask(public)).axes[0].get_lines()]
    assert {"public only", "local", "semi-feature", "label"} <= set(labels)


def test_page_counts_cells_within_fifteen_percent():
    cells = {("ABA", "2", "local"): [(1.0, 1.1), (1.0, 1.1)], ("WHI", "2", "local"): [(2.0, 1.0)]}
    cells |= {("WHI", "2", "public only"): [(1.0, 1.0)]}
    text = page(cells)
    assert "| local | 2 | 50% | 1 | 0% |" in text and "**off**" in text
