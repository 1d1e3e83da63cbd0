"""Products of three features: used where they pay, not where many features count, and named like other terms."""

import math
from dataclasses import replace

import numpy as np
import pytest

from hedgerow import PrivateAnovaRegressor
from hedgerow.audit.replay.tables import triple_cases
from hedgerow.central.anova.basis import Basis, Single, choose, triples
from hedgerow.central.anova.model import AnovaModel
from hedgerow.central.anova.outlook import Outlook
from hedgerow.central.anova.rules import RULES
from hedgerow.export import formula_of
from hedgerow.export.program import program_of
from hedgerow.export.runtime import evaluate
from hedgerow.space import FeatureSpace

RNG = np.random.default_rng(0)
X = RNG.random((4000, 4))
Y = X[:, 0] + X[:, 1] + 8 * np.sin(np.pi * X[:, 0]) * (X[:, 1] - 0.5) * (X[:, 2] - 0.5) + RNG.normal(0, 0.1, len(X))
FRESH = RNG.random((2000, 4))
TRUTH = FRESH[:, 0] + FRESH[:, 1] + 8 * np.sin(np.pi * FRESH[:, 0]) * (FRESH[:, 1] - 0.5) * (FRESH[:, 2] - 0.5)
KNOWN = {"label_bounds": (-2, 4), "feature_bounds": (0, 1), "random_state": 0}
SINGLES = tuple(Single(j, "cosine", 1) for j in range(3))


class Without(PrivateAnovaRegressor):
    """The same without triples."""

    _rules = replace(RULES, triples=False)


@pytest.fixture(scope="module")
def model():
    return PrivateAnovaRegressor(10.0, **KNOWN).fit(X, Y)


def numbers(model):
    """How many functions of one, two and three features there are."""
    functions = model.model_.feature_map.basis.functions
    return [sum(len(function) == k for function in functions) for k in (1, 2, 3)]


def error(model):
    return float(np.mean((model.predict(FRESH) - TRUTH) ** 2))


def test_they_win_where_three_of_few_features_act_together(model):
    """Seeded: no false alarm. Measured .18 of the error without them."""
    plain = Without(10.0, **KNOWN).fit(X, Y)
    assert numbers(model)[2] > 100 and numbers(plain)[2] == 0
    assert error(model) < 0.4 * error(plain)


WIDE = np.column_stack([X, RNG.random((len(X), 36))])
SPREAD = (WIDE[:, :20] - 0.5) * (WIDE[:, 20:] - 0.5)  # forty features, each of which counts, in pairs
CASES = {"noise": (X, Y, 0.5), "many features": (WIDE, SPREAD.sum(axis=1) + WIDE.mean(axis=1), 10.0)}


@pytest.mark.parametrize("case", CASES)
def test_none_where_noise_is_large_or_features_that_count_are_many(case):
    given, labels, epsilon = CASES[case]
    found = PrivateAnovaRegressor(epsilon, **KNOWN).fit(given, labels)
    assert numbers(found)[2] == 0 and numbers(found)[1] > 0  # there is signal enough for pairs
    assert found.model_.to_json() == Without(epsilon, **KNOWN).fit(given, labels).model_.to_json()


def test_none_for_labels_that_curves_explain():
    found = PrivateAnovaRegressor(10.0, **KNOWN).fit(X, X[:, 0] + np.sin(4 * X[:, 1]))
    assert numbers(found)[2] == 0


def test_terms_of_three_are_named_and_add_up(model):
    terms = model.explain_local(FRESH[:50])
    assert np.allclose(np.clip(sum(terms.values()), -2, 4)[:, 0], model.predict(FRESH[:50]), atol=1e-12)
    assert np.abs(terms["x0 x x1 x x2"]).max() > 0.2
    parts = model.explain()
    size, noise = parts.importances["x0", "x1", "x2"]
    assert size > 0.2 > 4 * noise
    assert "x0 x x1 x x2" in str(parts) and "x0 x x1 x x2" in str(model.model_.summary())
    assert all(len(pair) == 2 for pair in parts.surfaces)
    shares = model.feature_importances_
    assert shares.sum() == pytest.approx(1) and shares[2] > 2 * shares[3]


def test_pictures_say_that_they_are_not_drawn(model):
    pytest.importorskip("matplotlib")
    note = model.explain().plot()._supxlabel.get_text().replace("\n", " ")
    assert "Not drawn: what three features add together (the largest by 0." in note


def test_they_survive_files_and_formulas(model):
    again = AnovaModel.from_json(model.model_.to_json())
    assert again == model.model_ and (again.predict(FRESH) == model.model_.predict(FRESH)).all()
    exported = evaluate(program_of(formula_of(model)), FRESH[:200])[:, 0]
    np.testing.assert_allclose(exported, model.predict(FRESH[:200]), atol=1e-12)
    anatomy = model.model_.anatomy()
    assert "x0 x x1 x x2" in [part.name for part in anatomy.parts]


def test_files_give_the_same_model(model, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {f"x{j}": X[:, j] for j in range(4)}
    parquet.write_table(pa.table({**columns, "y": Y}), tmp_path / "all.parquet")
    found = PrivateAnovaRegressor(10.0, **KNOWN).fit(str(tmp_path / "all.parquet"), "y")
    assert found.model_.to_json() == model.model_.to_json()


def test_the_fits_that_are_audited_have_some():
    table = triple_cases(quick=True)[0].table
    found = PrivateAnovaRegressor(1.0, label_bounds=(0, 4), feature_bounds=(0, 1), random_state=0)
    assert numbers(found.fit(table.X, 4.0 * table.y))[2] > 100


def outlook(curves, pairs, three=0.0, functions=(), spread=0.01):
    return Outlook(np.array([0.0, curves, pairs, three]), spread, 0.001, 0.25, frozenset(functions))


def test_less_is_hoped_for_where_pairs_explain_little_or_little_is_left():
    assert outlook(0.1, 0.02).hoped == pytest.approx(0.002)
    assert outlook(0.02, 0.02).hoped == pytest.approx(0.0045)  # half of what is left beside noise
    assert outlook(0.1, 0.0).hoped == outlook(0.0, 0.1).hoped == 0.0
    assert outlook(0.1, 0.02, 0.007, [SINGLES]).hoped == 0.007  # as it was shown


def test_functions_that_explain_more_than_there_is_overlap():
    assert outlook(0.2, 0.04).orthogonal and not outlook(0.2, 0.06).orthogonal


def test_what_is_expected_is_in_proportion_to_mean_squares():
    pair = SINGLES[:2]
    basis = Basis((SINGLES[:1], SINGLES[1:2], pair, SINGLES), (1.0, 2.0, 0.5, 0.5), (0.5, 0.5, 0.25, 0.125))
    prior = outlook(0.1, 0.02, functions=[SINGLES[:1], pair]).prior(basis)
    assert prior == pytest.approx({SINGLES[:1]: 0.1, SINGLES[1:2]: 0.4, pair: 0.02, SINGLES: 0.002})
    assert not any(outlook(0.1, 0.02).prior(basis)[f] for f in (SINGLES[:1], pair))  # of unknown size: nothing shown


def test_triples_are_the_heaviest_of_three_different_features():
    space = FeatureSpace.from_bounds((0, 1), ["a", "b", "c", "k"], categories={"k": ["u", "v"]})
    options = {"frequency": 3, "pair_complexity": 4.0, "least": 0.05, "most": 200, "missing": True}
    basis = choose(space, [2.0, 1.0, 1.0, 0.5], pair_weight=0.5, **options)
    found = triples(space, basis, 0.5, 0.05, 30)
    assert (
        len(found.functions) == len(set(found.functions)) == 30 and list(found.weights) == sorted(found.weights)[::-1]
    )
    for function, weight, energy in zip(found.functions, found.weights, found.energies, strict=True):
        one, two, three = (s.feature for s in function)
        assert one < two < three and all(s.kind in ("cosine", "category") for s in function)
        assert energy == pytest.approx(math.prod(s.energy(space) for s in function))
        parts = [[2.0, 1.0, 1.0, 0.5][s.feature] / s.complexity for s in function]
        assert weight == pytest.approx(0.25 * math.prod(parts)) and weight >= 0.05
