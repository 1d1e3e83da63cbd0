"""A public model corrected by private records: better than either, hardly ever worse, and paid for."""

import base64
import json
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from hedgerow import AnovaModel, PrivateAnovaClassifier, PrivateAnovaRegressor, PublicModel
from hedgerow.central.anova import correct
from hedgerow.central.anova.accounting import GaussianPurse, LaplacePurse, open_purse
from hedgerow.central.anova.descent import Steps, influences
from hedgerow.central.anova.design import GRID
from hedgerow.central.anova.gate import Evidence, Look, agreement
from hedgerow.central.public import NOT_PROTECTED
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.export import formula_of
from hedgerow.export.check import awkward_records
from hedgerow.export.program import program_of
from hedgerow.export.runtime import evaluate

RNG = np.random.default_rng(0)
X = RNG.random((6000, 3))
TRUTH = np.sin(5 * X[:, 0]) + 2 * X[:, 1] * X[:, 2]
Y = TRUTH + RNG.normal(0, 0.2, 6000)
PUBLIC = {"X_public": X[:200], "y_public": Y[:200]}
REG = {"label_bounds": (-2, 4), "public_model": Ridge(), "random_state": 0}
TEST = RNG.random((1000, 3))
TRUE = np.sin(5 * TEST[:, 0]) + 2 * TEST[:, 1] * TEST[:, 2]


def error(model):
    return float(np.mean((model.predict(TEST) - TRUE) ** 2))


@pytest.fixture(scope="module")
def fitted():
    return PrivateAnovaRegressor(1.0, **REG).fit(X[200:], Y[200:], **PUBLIC)


def test_a_public_model_is_corrected_where_it_is_wrong(fitted):
    public = PublicModel(Ridge()).fit(*PUBLIC.values())
    assert error(fitted) < 0.5 * error(public) and fitted.model_.public.share > 0.8


def test_a_good_public_model_is_left_alone():
    """The public model is nearly the truth: of twelve fits one at most is worse by 1 % of the labels' noise."""
    y = X[:, 0] + RNG.normal(0, 0.1, 6000)
    public = PublicModel(Ridge()).fit(X[:1000], y[:1000])
    before = np.mean((public.predict(TEST) - TEST[:, 0]) ** 2)
    worse = []
    for seed in range(12):
        model = PrivateAnovaRegressor(1.0, label_bounds=(-1, 2), public_model=public, random_state=seed)
        rows = slice(1000 + 400 * seed, 1400 + 400 * seed)
        after = np.mean((model.fit(X[rows], y[rows]).predict(TEST) - TEST[:, 0]) ** 2)
        worse.append(after - before > 1e-4)
    assert sum(worse) <= 1


def clips_of(y, monkeypatch):
    """Return the first clip and the last of a fit to labels of which a public model knows nothing but the middle."""
    clips = []
    fit = correct.fit_anova

    def recorded(space, records, purse, options, randomness):
        found = fit(space, records, purse, options, randomness)
        clips.extend([options.clip, found.clip])
        return found

    monkeypatch.setattr(correct, "fit_anova", recorded)
    public = PublicModel(Ridge()).fit(X[:200], Y[:200])
    public.residuals_ = np.linspace(-0.3, 0.3, 200)
    model = PrivateAnovaRegressor(10.0, label_bounds=(-10, 10), public_model=public, random_state=0)
    model.fit(X[200:3200], public.predict(X[200:3200]) + y)
    return clips


@pytest.mark.parametrize("spread", [0.1, 0.6])
def test_the_clip_is_the_quantile_of_private_residuals_be_they_wider_than_public_ones(spread, monkeypatch):
    """The quantile of 3,000 uniform errors has a deviation of 0.6 %; the edge above it may be 43 % too large."""
    y = np.random.default_rng(1).uniform(-spread, spread, 3000)
    first, last = clips_of(y, monkeypatch)
    assert first == pytest.approx(0.3 * 0.98 / 20, rel=0.01)
    assert last == pytest.approx(0.9 * spread / 20, rel=0.05)


def test_guarantee_and_words(fitted):
    claim = fitted.guarantee_
    assert (claim.epsilon, claim.delta, claim.trust, claim.neighbours) == (1.0, 1e-5, "central", "add/remove")
    assert NOT_PROTECTED in claim.notes
    assert "public model" in str(fitted.summary()) and "public model" in fitted.explain().curves
    assert fitted.model_.explain().facts["public_model_corrected_by"] == fitted.model_.public.share
    assert fitted.feature_importances_.shape == (3,) and fitted.feature_importances_.sum() == pytest.approx(1)


def test_same_model_in_any_order_of_records(fitted):
    order = 200 + RNG.permutation(5800)
    assert clone(fitted).fit(X[order], Y[order], **PUBLIC).model_ == fitted.model_
    assert pickle.loads(pickle.dumps(fitted)).model_ == fitted.model_


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_the_fit_and_the_look_spend_what_there_is(delta, monkeypatch):
    purses = []
    kind = GaussianPurse if delta else LaplacePurse
    divided = kind.divided

    def recorded(purse, share):
        purses.extend(divided(purse, share))
        return tuple(purses)

    monkeypatch.setattr(kind, "divided", recorded)
    PrivateAnovaRegressor(1.0, delta=delta, **REG).fit(X[200:2000], Y[200:2000], **PUBLIC)
    whole = open_purse(1.0, delta, "add/remove").total
    assert sum(purse.total for purse in purses) == whole
    fit, look = purses
    assert look.total == whole / 10 and 0.99 * look.total < look.spent <= look.total
    assert 0.9 * fit.total < fit.spent <= fit.total


@pytest.mark.parametrize("outputs", [1, 3])
def test_what_a_record_adds_to_the_look_is_bounded_in_whole_numbers(outputs):
    sizes = 10.0 ** RNG.integers(-200, 30, (2000, 1))
    r = RNG.normal(size=(2000, outputs)) * sizes
    f = np.where(RNG.random((2000, 1)) < 0.5, r, RNG.normal(size=(2000, outputs)) * sizes[::-1])
    r[0] = np.eye(outputs)[0]  # as large as it may be without being clipped
    f[0] = r[0]
    with np.errstate(under="ignore"):
        parts = agreement(r, f, 1.0, 0.5, 1000).astype(np.int64)
    squares = (parts**2).sum(axis=1)
    assert squares.max() <= 6 * 1000**2 and np.abs(parts).sum(axis=1).max() <= 4 * 1000
    assert squares[0] == 6 * 1000**2  # the price is not too high
    alone = [agreement(r[i : i + 1], f[i : i + 1], 1.0, 0.5, 1000)[0] for i in range(0, 2000, 97)]
    assert (parts[::97] == alone).all()


def test_the_look_is_priced_by_these_bounds():
    gaussian = Evidence.release(GaussianPurse(Fraction(1, 100)))
    assert gaussian.cost == Fraction(6 * gaussian.weight**2, 4**gaussian.bits) <= Fraction(1, 100)
    laplace = Evidence.release(LaplacePurse(Fraction(1, 10)))
    assert laplace.norm == 4 * laplace.weight and laplace.cost == Fraction(1, 10)


def test_degrees_of_freedom_make_up_for_what_the_correction_has_seen(monkeypatch):
    """Labels are noise alone: on records that it was fitted to, a correction seems to help by sigma^2 a freedom."""
    looks = []
    taken = Look.take
    monkeypatch.setattr(Look, "take", lambda look, sums: (looks.append((look, sums)), taken(look, sums))[1])
    for seed in range(5):
        noise = np.clip(np.random.default_rng(seed).normal(0, 0.1, 1500), -0.5, 0.5)
        model = PrivateAnovaRegressor(20.0, label_bounds=(0, 1), public_model=Ridge(), random_state=seed)
        model.fit(X[500:1500], 0.5 + noise[500:], X[:500], 0.5 + noise[:500])
        assert model.model_.public.share < 0.5
    ratios = []
    for look, sums in looks:
        seen = sums.agreement * look.clip * look.reach + sums.square * look.reach**2
        ratios.append(seen / (sums.left * look.clip**2 / look.size * look.freedom))
    assert 0.5 < np.mean(ratios) < 2.0


def test_all_descents_count_as_freedom():
    """Two of them find what one leaves, too."""
    steps = Steps(50, 0.8, 0.5, Fraction(1), Fraction(0), 1000.0)
    energy = np.array([0.5, 0.01, 0.001, 0.0])
    once, twice = (correct._freedom(n * (steps,), energy) for n in (1, 2))
    alone = influences(steps, energy, 50).sum(axis=0) * steps.size * energy  # what a constant pull finds
    assert once == pytest.approx(alone.sum()) and twice == pytest.approx((1 - (1 - alone) ** 2).sum())


@pytest.mark.parametrize("records", [True, False])
def test_steps_with_factors_have_the_freedom_of_what_they_do(records, monkeypatch):
    """From 10,000 records on steps have factors. Without noise, a descent's matrix says what it finds of labels."""
    rng = np.random.default_rng(3)
    many = rng.random((11000, 4))
    y = np.sin(9 * many[:, 0]) + rng.normal(0, 0.1, 11000)
    looks, fits = [], []
    made, fit = correct._look, correct.fit_anova
    monkeypatch.setattr(correct, "_look", lambda *given: looks.append(made(*given)) or looks[-1])
    monkeypatch.setattr(correct, "fit_anova", lambda *given: fits.append(fit(*given)) or fits[-1])
    public = PublicModel(Ridge()).fit(many[:300], y[:300])
    model = PrivateAnovaRegressor(1.0, label_bounds=(-1, 2), public_model=public, random_state=0)
    model.fit(many[300:], y[300:], *((many[:300], y[:300]) if records else ()))
    descents = fits[0].descents
    assert len({steps.factors.size for steps in descents}) > 1 and descents[-1].factors.min() < 0.5
    vectors = fits[0].feature_map.vectors(fits[0].feature_map.codes(_with_prediction(public, many[:300]))) / GRID
    exact = _found(descents, vectors)
    assert looks[0].freedom == pytest.approx(exact, rel=1e-6) if records else exact < looks[0].freedom < 2 * exact


def _with_prediction(public, rows):
    return np.column_stack([rows, public.predict(rows)])


def _found(descents, vectors):
    """Return the trace of what descents with the last one's factors make of labels, round by round."""
    n = len(vectors)
    pull = descents[-1].factors[:, None] * vectors.T / n
    left = np.eye(n)  # of the labels, after the descents before
    for steps in descents:
        theta = before = np.zeros((vectors.shape[1], n))
        total = np.zeros_like(theta)
        half = steps.rounds - max(1, steps.rounds // 2)
        for t in range(steps.rounds):
            at = theta + steps.momentum * (theta - before)
            before, theta = theta, at + steps.rate * pull @ (np.eye(n) - vectors @ at)
            total += theta * (t >= half)
        left = left @ (np.eye(n) - vectors @ total / (steps.rounds - half))
    return n - np.trace(left)


def test_json_round_trip_and_what_is_refused(fitted):
    text = fitted.model_.to_json()
    again = AnovaModel.from_json(text)
    assert again == fitted.model_ and (again.predict(TEST)[:, 0] == fitted.predict(TEST)).all()
    assert again.space.inputs == ("x0", "x1", "x2")
    data = json.loads(text)
    public = data["public"]
    hostile = [{"share": 1.5}, {"share": -0.1}, {"doubt": 2.0}, {"models": []}, {"models": 2 * public["models"]}]
    wider = PublicModel(Ridge()).fit(RNG.random((9, 4)), RNG.random(9)).portable_.to_bytes()
    hostile += [{"models": ["AAAA"]}, {"models": [base64.b64encode(wider).decode()]}, {"more": 1}]
    for change in hostile:
        with pytest.raises(FormatError):
            AnovaModel.from_dict({**data, "public": {**public, **change}})
    with pytest.raises(FormatError, match="last of its features"):
        AnovaModel.from_dict({**data, "low": [-3.0]})


def test_terms_sum_to_the_prediction(fitted):
    terms = fitted.explain_local(TEST[:100])
    assert np.allclose(np.clip(sum(terms.values()), -2, 4)[:, 0], fitted.predict(TEST[:100]), atol=1e-12)


def test_intervals_are_around_the_sum_and_wider_where_the_factor_is_in_doubt(fitted):
    low, high = fitted.predict_interval(TEST)
    guess = fitted.predict(TEST)
    assert (low <= guess).all() and (guess <= high).all() and (high - low).min() > 0
    data = json.loads(fitted.model_.to_json())
    data["public"] |= {"share": 0.0, "doubt": 0.5}
    alone = AnovaModel.from_dict(data)
    assert (np.diff(alone.predict_interval(TEST), axis=0) > 0).all()  # the factor might have come out otherwise


@pytest.mark.parametrize("missing", ["middle", "indicator"])
def test_exported_formula_agrees(missing):
    table = pd.DataFrame({"age": 10 * X[:3000, 0], "kind": np.where(X[:3000, 1] < 0.5, "a", "b")})
    y = np.sin(table["age"]) + (table["kind"] == "a") * 0.5
    known = {"feature_bounds": {"age": (0, 10)}, "categories": {"kind": ["a", "b", "other"]}, "missing": missing}
    model = PrivateAnovaRegressor(2.0, label_bounds=(-2, 3), public_model=Ridge(), random_state=0, **known)
    model.fit(table[300:], y[300:], table[:300], y[:300])
    formula = formula_of(model)
    rows = awkward_records(formula, 300)
    found = evaluate(program_of(formula), rows)
    wanted = model.predict(pd.DataFrame(rows, columns=["age", "kind"]))
    assert np.allclose(np.ravel(found), wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_classes(k):
    y = np.digitize(Y, [0.8, 1.6][: k - 1])
    model = PrivateAnovaClassifier(1.0, classes=list(range(k)), public_model=Ridge(), random_state=0)
    model.fit(X[200:], y[200:], X[:200], y[:200])
    shares = model.predict_proba(TEST)
    assert np.allclose(shares.sum(axis=1), 1) and shares.min() >= 0
    line = PrivateAnovaClassifier(1e-3, classes=list(range(k)), public_model=Ridge(), random_state=0)
    line.fit(X[200:], y[200:], X[:200], y[:200])
    true = np.digitize(TRUE, [0.8, 1.6][: k - 1])
    assert model.score(TEST, true) > line.score(TEST, true) + 0.02
    assert AnovaModel.from_json(model.model_.to_json()) == model.model_


def test_ranges_come_from_public_records_unless_declared():
    wide = PrivateAnovaRegressor(1.0, feature_bounds=(-1, 2), **REG).fit(X[200:900], Y[200:900], **PUBLIC)
    assert wide.model_.space.low.tolist() == [-1.0] * 3
    found = PrivateAnovaRegressor(1.0, **REG).fit(X[200:900], Y[200:900], **PUBLIC).model_.space
    assert found.low.tolist() == X[:200].min(axis=0).tolist()


def test_a_fitted_public_model_is_used_as_it_is():
    public = PublicModel(Ridge()).fit(*PUBLIC.values())
    model = PrivateAnovaRegressor(1.0, **{**REG, "public_model": public}).fit(X[200:900], Y[200:900])
    assert model.model_.public.models == (public.portable_,)


def test_what_is_refused_says_why():
    with pytest.raises(HedgerowError, match="y_public"):
        PrivateAnovaRegressor(1.0, **REG).fit(X, Y, X_public=X[:9])
    with pytest.raises(HedgerowError, match="X_public"):
        PrivateAnovaRegressor(1.0, **REG).fit(X, Y)
    with pytest.raises(HedgerowError, match="public_model='auto'"):
        PrivateAnovaRegressor(1.0, **{**REG, "public_model": None}).fit(X, Y, **PUBLIC)
    with pytest.raises(HedgerowError, match="2 columns"):
        PrivateAnovaRegressor(1.0, **REG).fit(X, np.column_stack([Y, Y]), **PUBLIC)
    with pytest.raises(HedgerowError, match="y_public"):
        PrivateAnovaRegressor(1.0, **REG).fit(X, Y, X_public=X[:9], y_public=[np.nan] * 9)


def test_a_column_of_the_same_name_is_no_trouble():
    table = pd.DataFrame(X, columns=["public model", "b", "c"])
    model = PrivateAnovaRegressor(1.0, **REG).fit(table[200:900], Y[200:900], table[:200], Y[:200])
    assert list(model.explain().curves) == ["public model", "b", "c", "public model'"]


def test_first_clip_is_public(monkeypatch):
    """It is a quantile of public residuals; few of them are not trusted, and one says nothing."""
    seen = []
    monkeypatch.setattr(correct, "fit_anova", lambda *args: seen.append(args[3].clip) or pytest.skip.Exception)
    for n in (200, 20, 1):
        with pytest.raises(Exception):  # noqa: B017, PT011 - the fit is cut short
            PrivateAnovaRegressor(1.0, feature_bounds=(0, 1), **REG).fit(X, Y, X[:n], Y[:n])
    assert 0 < seen[0] < seen[1] <= seen[2] == 1.0
