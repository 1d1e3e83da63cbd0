"""PrivateSearchCV: what it chooses, what it claims and books, and that it says nothing that was not released."""

import functools
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import check_estimator

import hedgerow
from hedgerow import BudgetError, Guarantee, HedgerowError, Ledger, PrivateSearchCV
from hedgerow.guarantee import AS_IF_LOCAL
from hedgerow.randomness import SecureRandomness
from hedgerow.search import estimator as module
from tests.conformance.stopping import Stopped, Stopping

RNG = np.random.default_rng(0)
X = RNG.random((3000, 2))
Y = np.where(X[:, 0] > 0.5, 9.0, 1.0)
CLASSES = np.where(Y > 5, "high", "low")
BOUNDS = {"label_bounds": (0, 10), "feature_bounds": (0, 1)}
SMALL = {"n_estimators": 2, "max_depth": 1}


def anova(**options):
    return hedgerow.PrivateAnovaRegressor(1.0, **{"delta": 0.0, **BOUNDS, **options})


def trees(epsilon=1.0, **options):
    return hedgerow.DPExtraTreesRegressor(epsilon, **{**BOUNDS, **SMALL, **options})


def lpdt(**options):
    return hedgerow.LPDTRegressor(2.0, **{**BOUNDS, **options})


DEPTHS = {"max_depth": [0, 1]}
CASES = {
    "central": (lambda: hedgerow.DiPriMeForestRegressor(2.0, **BOUNDS), {"max_depth": [0, 3]}, {}, Y),
    "replace": (lambda: trees(2.0, neighbours="replace"), DEPTHS, {}, Y),
    "delta": (lambda: anova(delta=1e-5), {"interactions": [True, False]}, {}, Y),
    "classes": (
        lambda: hedgerow.DiPriMeForestClassifier(2.0, classes=["low", "high"], feature_bounds=(0, 1)),
        {"max_depth": [0, 3]}, {}, CLASSES,
    ),
    "local": (lpdt, {"max_depth": [0, 2]}, {}, Y),
    "local classes": (
        lambda: hedgerow.LPDTClassifier(2.0, classes=["low", "high"], feature_bounds=(0, 1)),
        {"max_depth": [0, 2]}, {}, CLASSES,
    ),
    "label": (
        lambda: hedgerow.LabelPrivateRegressor(
            LinearRegression(), hedgerow.LaplaceMechanism(2.0, label_bounds=(0, 10))
        ),
        {"debias": ["shrink", "none"]}, {}, Y,
    ),
    "partly": (
        lambda: hedgerow.HistOfTreeRegressor(2.0, **BOUNDS), {"max_depth": [1, 2]}, {"private": [True, False]}, Y,
    ),
    "partly, chosen by holders": (
        lambda: hedgerow.HistOfTreeRegressor(2.0, **BOUNDS), {"max_depth": [1, 2]},
        {"private": np.arange(6000).reshape(3000, 2) % 3 > 0}, Y,
    ),
}  # fmt: skip
every = pytest.mark.parametrize("case", CASES)


def run(case, **options):
    make, settings, extra, y = CASES[case]
    return PrivateSearchCV(make(), settings, **{"random_state": 0, **options}).fit(X, y, **extra), make()


@every
def test_the_whole_costs_what_one_fit_costs(case):
    search, estimator = run(case)
    _, _, extra, y = CASES[case]
    alone = estimator.set_params(random_state=0).fit(X, y, **extra).guarantee_
    for name in ("epsilon", "delta", "protects", "trust", "neighbours", "simulation"):
        assert getattr(search.guarantee_, name) == getattr(alone, name), name
    assert any("disjoint groups" in note for note in search.guarantee_.notes)
    assert module._ONCE in search.guarantee_.notes
    assert (AS_IF_LOCAL in search.guarantee_.notes) == (alone.trust == "local")
    assert (module._BLANK in search.guarantee_.notes) == (alone.trust == "central")
    assert search.best_estimator_.guarantee_ == search.guarantee_
    if alone.trust == "central":
        assert search.model_.guarantee == search.guarantee_


@every
def test_each_record_takes_part_once(case, monkeypatch):
    """Rows are numbered, and whoever reads them is written down."""
    make, settings, extra, y = CASES[case]
    seen = []
    estimator = make()
    fit = type(estimator).fit

    @functools.wraps(fit)
    def spy(self, records, *given, **more):
        seen.append(np.asarray(records)[:, 0])
        return fit(self, records, *given, **more)

    losses = module.Losses.of

    def compared(self, model, records, labels):
        seen.append(np.asarray(records)[:, 0])
        return losses(self, model, records, labels)

    monkeypatch.setattr(type(estimator), "fit", spy)
    monkeypatch.setattr(module.Losses, "of", compared)
    PrivateSearchCV(estimator, settings, random_state=0).fit(X, y, **extra)
    assert len(seen) == 5 and np.array_equal(seen[2], seen[3])  # two candidates score the same validation group
    parts = [part[~np.isnan(part)] for part in (*seen[:3], seen[4])]
    assert np.array_equal(np.sort(np.concatenate(parts)), np.sort(X[:, 0]))
    blank = hasattr(estimator, "neighbours")
    assert [int(np.isnan(part).sum()) for part in (*seen[:2], seen[4])] == [int(blank)] * 3


@pytest.mark.parametrize("case", ["central", "classes", "local", "local classes", "delta"])
def test_the_better_setting_is_found(case):
    search, _ = run(case)
    # A tree without a split is wrong by half of the range everywhere, or for half of the classes.
    best = {"central": 3, "classes": 3, "local": 2, "local classes": 2}
    if case in best:
        assert search.best_params_ == {"max_depth": best[case]} and search.best_index_ == 1
    results = search.cv_results_
    assert results["params"][search.best_index_] == search.best_params_
    assert results["mean_test_score"].shape == results["std_test_score"].shape == (2,)
    assert search.best_score_ == results["mean_test_score"][search.best_index_]
    assert sorted(results["rank_test_score"]) == [1, 2]
    assert search.score(X, CASES[case][3]) > 0.5


def test_without_a_final_fit_the_candidate_is_the_best(monkeypatch):
    search, _ = run("central", refit=False)
    assert search.guarantee_.epsilon == 2.0 and search.best_params_ == {"max_depth": 3}
    assert "3 disjoint groups" in str(search.guarantee_)


def test_intervals_are_those_of_the_best():
    search, _ = run("local", refit=False)
    ends = search.predict_interval(X[:5], 0.8)
    assert np.array_equal(ends, search.best_estimator_.predict_interval(X[:5], 0.8))


def test_its_card_says_what_was_compared_and_what_all_of_it_cost():
    for options, score in (({}, "±"), ({"score_share": 0.0}, "not released")):
        search, _ = run("central", **options)
        text = search.card(purpose="To try.").to_markdown()
        assert "How its settings were chosen" in text and "max\\_depth = 3" in text and score in text
        assert "epsilon = 2" in text and "disjoint groups" in text
    assert search.summary().guarantee == search.guarantee_
    assert "One prediction" in search.explorer().to_html()


def test_no_score_is_there_unless_it_was_paid_for():
    search, _ = run("central", score_share=0.0)
    assert set(search.cv_results_) == {"params", "param_max_depth"} and search.best_score_ is None


def test_scores_are_in_units_of_the_label():
    squared, _ = run("local")
    absolute, _ = run("local", loss="absolute")
    # The constant is wrong by 4 of 10: 16 and 4; bits of 300 holders at epsilon 2 have errors of .04 of the largest.
    assert squared.cv_results_["mean_test_score"][0] == pytest.approx(-16, abs=24)
    assert absolute.cv_results_["mean_test_score"][0] == pytest.approx(-4, abs=2.4)


# Public records


@pytest.mark.parametrize("case", ["central", "local", "classes"])
def test_on_public_records_the_search_is_free(case):
    make, settings, extra, y = CASES[case]
    whole = make()
    if case != "local":
        whole.set_params(public_model=None)  # public records are for the search alone
    search = PrivateSearchCV(whole, settings, search="public", random_state=0)
    search.fit(X[:2000], y[:2000], X_public=X[2000:2400], y_public=y[2000:2400], **extra)
    assert search.best_index_ == 1 and search.guarantee_.epsilon == 2.0
    assert module._FREE in search.guarantee_.notes and module._ONCE not in search.guarantee_.notes
    expected = clone(whole).set_params(**settings_of(settings, 1), random_state=SeedOf(0).child("final"))
    known = {"X_public": X[2000:2400], "y_public": y[2000:2400]} if case == "local" else {}
    expected.fit(X[:2000], y[:2000], **known)
    assert np.array_equal(search.predict(X), expected.predict(X))


def SeedOf(seed):
    return hedgerow.SeededRandomness(seed)


def settings_of(settings, i):
    return {name: values[i] for name, values in settings.items()}


def test_private_records_do_not_matter_to_a_public_search():
    def choose(y):
        search = PrivateSearchCV(trees(neighbours="replace"), DEPTHS, search="public", random_state=0)
        return search.fit(X[:500], y, X_public=X[500:800], y_public=Y[500:800]).cv_results_["mean_test_score"]

    assert np.array_equal(choose(Y[:500]), choose(np.zeros(500)))


# Booking


def limit(case):
    search, _ = run(case)
    return replace(search.guarantee_, epsilon=5.0, delta=1e-2, simulation=False, notes=())


@pytest.mark.parametrize("case", ["central", "delta", "local", "label"])
def test_a_search_is_one_entry_at_what_it_claims(case):
    with Ledger(None, limit=limit(case)) as ledger:
        search, _ = run(case, ledger=ledger, random_state=None)
        (entry,) = ledger.entries()
        assert entry.purpose == "PrivateSearchCV" and not entry.guarantee.simulation
        assert entry.charged.epsilon == search.guarantee_.epsilon and entry.charged.delta == search.guarantee_.delta


@pytest.mark.parametrize("case", ["central", "local"])
def test_it_is_booked_before_anything_is_drawn_and_refused_if_it_is_too_much(case, monkeypatch):
    stopping = Stopping(("assignment",))
    monkeypatch.setattr(Stopping, "bytes", lambda self, n: draw(self, n))

    def draw(self, n):
        if self.path[-1] == "assignment":  # who is in which group says nothing about any record
            return SecureRandomness().bytes(n)
        raise Stopped

    with Ledger(None, limit=limit(case)) as ledger:
        with pytest.raises(Stopped):
            run(case, ledger=ledger, random_state=stopping)
        assert [entry.charged.epsilon for entry in ledger.entries()] == [2.0]
    with Ledger(None, limit=replace(limit(case), epsilon=1.9)) as ledger:
        with pytest.raises(BudgetError, match="are left"):
            run(case, ledger=ledger, random_state=stopping)
        assert ledger.entries() == []


def test_seeds_need_a_rehearsal_and_infinity_has_no_budget():
    with Ledger(None, limit=limit("local")) as ledger:
        with pytest.raises(BudgetError, match="seeded"):
            run("local", ledger=ledger)
        with pytest.raises(BudgetError, match="infinite"):
            PrivateSearchCV(lpdt().set_params(epsilon=np.inf), DEPTHS, ledger=ledger).fit(X, Y)


def test_candidates_that_cost_more_are_paid_for():
    """The paper's accounting costs more than it says: the whole costs the largest, and so it is booked."""
    forest = hedgerow.DiPriMeForestRegressor(1.0, **BOUNDS, **SMALL)
    settings = [{"accounting": "strict"}, {"accounting": "paper", "stages": 1}]
    central = Guarantee(9.0, protects="record", trust="central", neighbours="add/remove")
    with Ledger(None, limit=central) as ledger:
        search = PrivateSearchCV(forest, settings, ledger=ledger).fit(X, Y)
        assert search.guarantee_.epsilon > 1.0
        assert sum(e.charged.epsilon for e in ledger.entries()) == pytest.approx(search.guarantee_.epsilon, abs=1e-6)
        assert search.model_.guarantee.epsilon == search.guarantee_.epsilon


# As an estimator


def test_it_is_what_its_estimator_is():
    assert is_regressor(PrivateSearchCV(anova(), {})) and is_classifier(PrivateSearchCV(CASES["classes"][0](), {}))
    search, _ = run("classes")
    assert search.classes_.tolist() == ["high", "low"] and search.predict_proba(X[:3]).shape == (3, 2)
    assert not hasattr(PrivateSearchCV(anova(), {}), "predict_proba")
    assert not hasattr(search, "predict_interval")
    again = clone(search)
    assert str(again) == str(search) and not hasattr(again, "best_params_")
    again.set_params(estimator__max_depth=1, settings={"n_bins": [8]})
    assert again.estimator.max_depth == 1
    with pytest.raises(NotFittedError):
        again.predict(X)


def test_seeds_repeat_and_pickles_hold():
    first, _ = run("central")
    again, _ = run("central")
    assert np.array_equal(first.predict(X), again.predict(X)) and first.guarantee_.simulation
    assert np.array_equal(pickle.loads(pickle.dumps(first)).predict(X), first.predict(X))
    secure, _ = run("central", random_state=None)
    assert not secure.guarantee_.simulation


@pytest.mark.parametrize("wrap", [pd.DataFrame, pl.DataFrame])
def test_tables_with_names_and_categories(wrap):
    columns = {"size": X[:, 0], "kind": np.where(X[:, 1] > 0.5, "a", "b")}
    forest = hedgerow.DiPriMeForestRegressor(
        2.0, label_bounds=(0, 10), feature_bounds={"size": (0, 1)}, categories={"kind": ["a", "b"]}
    )
    search = PrivateSearchCV(forest, {"max_depth": [0, 3]}, random_state=0).fit(wrap(columns), list(Y))
    assert list(search.feature_names_in_) == ["size", "kind"] and search.n_features_in_ == 2
    assert search.score(wrap(columns), Y) > 0.5


@pytest.mark.parametrize("case", ["central", "delta", "classes"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_few_records_are_no_error(case, n):
    """An error would tell how many there are."""
    make, settings, _, y = CASES[case]
    search = PrivateSearchCV(make(), settings, random_state=0).fit(X[:n], y[:n])
    assert len(search.predict(X)) == 3000


def test_odd_records_are_no_error():
    odd = X.copy()
    odd[::3] = np.nan
    labels = [None if i % 5 == 0 else v for i, v in enumerate(Y)]
    assert run("central")[0].predict(odd).shape == (3000,)
    search = PrivateSearchCV(trees(), DEPTHS, random_state=0).fit(odd, labels)
    assert search.guarantee_.epsilon == 1.0


# What is refused


WRONG = {
    "search": ({"search": "both"}, r"The 'search' parameter of PrivateSearchCV must be 'private' or 'public'"),
    "shares": ({"validation_share": 0.7}, "must leave records for the final fit"),
    "share": ({"validation_share": 0}, r"'validation_share' parameter .* must be a number > 0 and < 1"),
    "loss": ({"loss": "log"}, "'loss' parameter"),
    "ledger": ({"ledger": 3}, "'ledger' parameter"),
    "no settings": ({"settings": {}}, None),
    "text": ({"settings": "max_depth"}, "'settings' parameter"),
    "none": ({"settings": []}, "'settings' parameter"),
    "too many": ({"settings": [{"max_depth": 1}] * 101}, "1 to 100 dicts"),
    "one value": ({"settings": {"max_depth": 2}}, "must have a list of values for 'max_depth'"),
    "unknown": ({"settings": {"depth": [2]}}, "no parameter of DPExtraTreesRegressor"),
    "epsilon": ({"settings": {"epsilon": [1, 2]}}, "must not vary 'epsilon'"),
    "seed": ({"settings": {"random_state": [1]}}, "must not vary 'random_state'"),
    "wrong value": ({"settings": {"max_depth": [1, -1]}}, "'max_depth' parameter of DPExtraTreesRegressor"),
    "estimator": ({"estimator": LinearRegression()}, "must be a private estimator of hedgerow. Got LinearRegression"),
    "inner seed": ({"estimator": trees(random_state=1)}, "'random_state' is for the whole search"),
    "inner ledger": ({"estimator": trees(ledger="b.ledger")}, "'ledger' is for the whole search"),
    "public": ({"search": "public"}, "pass X_public and y_public"),
    "public, no final fit": ({"search": "public", "refit": False}, "refit must be True"),
    "observed": (
        {"estimator": hedgerow.DPExtraTreesClassifier(1.0, classes="observed", feature_bounds=(0, 1))},
        "'classes' must be a list",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_makes_no_sense_is_refused_before_anything_is_booked(name):
    changed, text = WRONG[name]
    with Ledger(None, limit=1e6) as ledger:
        options = {"estimator": trees(), "settings": DEPTHS, "ledger": ledger, **changed}
        if text is None:  # one candidate: the estimator as it is
            options.pop("ledger")
            assert PrivateSearchCV(**options).fit(X, Y).best_params_ == {}
            return
        with pytest.raises(HedgerowError, match=text):
            PrivateSearchCV(**options).fit(X, Y)
        assert ledger.entries() == []


def test_what_nobody_would_use_is_refused():
    search = PrivateSearchCV(trees(), DEPTHS)
    with pytest.raises(HedgerowError, match="'X_public' is not for DPExtraTreesRegressor"):
        search.fit(X, Y, X_public=X, y_public=Y)
    with pytest.raises(HedgerowError, match="'private' is not for DPExtraTreesRegressor"):
        search.fit(X, Y, private=[True, False])
    with pytest.raises(HedgerowError, match="'label_bounds' is required"):
        PrivateSearchCV(trees(label_bounds=None), DEPTHS).fit(X, Y)


def test_scikit_learn_finds_nothing_wrong():
    search = PrivateSearchCV(trees(), DEPTHS)
    wrong = [r for r in check_estimator(search, on_skip=None, on_fail=None) if r["status"] == "failed"]
    assert [(r["check_name"], str(r["exception"])[:200]) for r in wrong] == []


@pytest.mark.parametrize(("options", "total"), [({}, 3), ({"refit": False}, 2), ({"search": "public"}, 11)])
def test_the_callback_hears_of_every_fit(options, total):
    heard = []
    search = PrivateSearchCV(
        trees(), {"max_depth": [0, 1]}, **options, random_state=0, callback=lambda *at: heard.append(at)
    )
    public = {"X_public": X[:50], "y_public": Y[:50]} if options.get("search") == "public" else {}
    search.fit(X, Y, **public)
    assert heard == [(i + 1, total) for i in range(total)]


def test_a_callback_that_cannot_be_called_is_refused_before_anything_is_spent():
    with Ledger(None, limit=2) as ledger:
        search = PrivateSearchCV(trees(), {"max_depth": [0, 1]}, ledger=ledger, callback="print")
        with pytest.raises(HedgerowError, match="'callback' must be a function"):
            search.fit(X, Y)
        assert not ledger.entries()


@pytest.mark.parametrize(("first", "best"), [("anova", 0), ("trees", 1)])
def test_another_method_may_be_tried_beside(first, best):
    """Trees of depth 0 know the mean alone. Seeded: no false alarm."""
    methods = {"anova": anova(), "trees": trees(max_depth=0)}
    other = next(method for name, method in methods.items() if name != first)
    search = PrivateSearchCV(methods[first], [{}, {"estimator": other}], random_state=0).fit(X, Y)
    assert search.best_index_ == best and isinstance(search.best_estimator_, hedgerow.PrivateAnovaRegressor)
    assert (search.guarantee_.epsilon, search.guarantee_.delta) == (1.0, 0.0)
    assert search.model_.guarantee == search.guarantee_ and np.mean((search.predict(X) - Y) ** 2) < 4
    assert "chosen" in str(search.card())


def test_settings_of_another_method_are_its_own():
    settings = [{}, {"estimator": trees(), "max_depth": 0}]
    search = PrivateSearchCV(anova(), settings, random_state=0).fit(X, Y)
    assert search.cv_results_["params"][1]["max_depth"] == 0
    with pytest.raises(HedgerowError, match="'max_depth', which is no parameter of PrivateAnovaRegressor"):
        PrivateSearchCV(trees(), [{"estimator": anova(), "max_depth": 0}]).fit(X, Y)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (trees(2.0), "must not vary 'epsilon'"),
        (anova(delta=1e-5), "must not vary 'delta'"),
        (trees(neighbours="replace"), "must not vary 'neighbours'"),
        (trees(label_bounds=(0, 20)), "must not vary 'label_bounds'"),
        (trees(feature_bounds=np.array([[0, 0], [1, 2]])), "must not vary 'feature_bounds'"),
        (trees(random_state=0), "'random_state' is for the whole search"),
        (lpdt(), "is for central estimators"),
        (LinearRegression(), "must be a private estimator of hedgerow"),
        (hedgerow.DPExtraTreesClassifier(1.0, classes=["a"], feature_bounds=(0, 1)), "numbers or classes"),
    ],
)
def test_another_method_promises_the_same_and_knows_the_same(other, reason):
    with pytest.raises(HedgerowError, match=reason):
        PrivateSearchCV(anova(), [{}, {"estimator": other}]).fit(X, Y)


def test_bounds_by_column_are_compared_by_their_values():
    bounds = [{f"x{j}": np.array([0, 1]) for j in range(X.shape[1])} for _ in range(2)]
    methods = [make(feature_bounds=own) for make, own in zip((anova, trees), bounds, strict=True)]
    settings = [{}, {"estimator": methods[1]}]
    assert PrivateSearchCV(methods[0], settings, random_state=0).fit(X, Y).guarantee_.epsilon == 1
    bounds[1]["x0"][1] = 2
    with pytest.raises(HedgerowError, match="must not vary 'feature_bounds'"):
        PrivateSearchCV(methods[0], settings).fit(X, Y)


def test_what_one_of_two_methods_does_not_take_is_refused_before_anything_is_spent(tmp_path):
    search = PrivateSearchCV(anova(), [{}, {"estimator": trees()}], ledger=tmp_path / "ledger")
    with pytest.raises(HedgerowError, match="'X_public' is not for DPExtraTreesRegressor: leave it out"):
        search.fit(X, Y, X_public=X[:50], y_public=Y[:50])
    assert not (tmp_path / "ledger").exists()


def test_public_records_of_the_search_alone_are_said_to_be_so(tmp_path):
    """One method would start from them and the other cannot: neither may be fitted without a word."""
    both = [{}, {"estimator": trees()}]
    search = PrivateSearchCV(anova(), both, search="public", random_state=0, ledger=tmp_path / "ledger")
    with pytest.raises(HedgerowError, match="PrivateAnovaRegressor would start from public records"):
        search.fit(X, Y, X_public=X[:50], y_public=Y[:50])
    assert not (tmp_path / "ledger").exists()
    search = PrivateSearchCV(anova(public_model=None), both, search="public", random_state=0)
    assert search.fit(X, Y, X_public=X[:50], y_public=Y[:50]).guarantee_.epsilon == 1
