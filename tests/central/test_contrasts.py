"""Differences of features that go together: chosen by public records alone, and the same wherever they are computed."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from hedgerow import AnovaModel, DiPriMeForestRegressor, PrivateAnovaClassifier, PrivateAnovaRegressor
from hedgerow.central.contrasts import Contrast, contrasts_of
from hedgerow.central.public import PublicPart
from hedgerow.errors import FormatError
from hedgerow.export import formula_of
from hedgerow.export.check import awkward_records
from hedgerow.export.program import program_of
from hedgerow.export.runtime import evaluate
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.space import FeatureSpace

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"kind": np.where(RNG.random(5000) < 0.5, "a", "b"), "north": 40 * RNG.random(5000)})
TABLE["east"] = 90 - TABLE["north"] + RNG.normal(0, 2, 5000)
TABLE["flat"] = 1.0
ACROSS = (TABLE["north"] + TABLE["east"] - 90).to_numpy() / 2
Y = np.sin(2 * ACROSS) + RNG.normal(0, 0.1, 5000)
RANGES = {"north": (0, 40), "east": (40, 100), "flat": (0, 2)}
KNOWN = {"categories": {"kind": ["a", "b", "other"]}, "feature_bounds": RANGES}
PUBLIC = {"X_public": TABLE[:300], "y_public": Y[:300]}
REG = {"label_bounds": (-2, 2), "public_model": Ridge(), "random_state": 0, **KNOWN}


def fit(**given):
    return PrivateAnovaRegressor(2.0, **{**REG, **given}).fit(TABLE[300:], Y[300:], **PUBLIC)


@pytest.fixture(scope="module")
def fitted():
    return fit()


def test_pairs_that_go_together_most_are_taken_half_as_many_as_there_are_features():
    x = RNG.normal(size=(500, 5))
    x[:, 1] = x[:, 0] + 0.1 * x[:, 1]
    x[:, 3] = -3 * x[:, 2] + 0.3 * x[:, 3]
    x[:, 4] = x[:, 0] + x[:, 4]
    space = FeatureSpace.from_bounds((-9, 9), list("abcde"))
    found = contrasts_of(space, x)
    assert {c.columns for c in found} == {(0, 1), (2, 3)}
    for contrast in found:
        assert contrast.values(x).std() < 0.2 * abs(contrast.factors[0]) * x[:, contrast.columns[0]].std()
    assert contrasts_of(space, RNG.normal(size=(500, 5))) == ()
    assert contrasts_of(space, x[:10]) == contrasts_of(space, None) == ()


def test_constant_columns_and_categories_have_none(fitted):
    assert [c.columns for c in fitted.model_.public.contrasts] == [(1, 2)]
    assert fitted.model_.feature_map.space.names[-1] == "north against east"
    assert fitted.model_.space.inputs == ("kind", "north", "east", "flat")


def test_what_lies_across_is_found(fitted):
    """The label waves four times over the narrow side of the band, which products of few waves each cannot follow."""
    plain = fit(interactions=False)
    assert plain.model_.public.contrasts == ()
    found, lacking = (np.mean((model.predict(TABLE[300:]) - Y[300:]) ** 2) for model in (fitted, plain))
    assert found < 0.5 * lacking
    assert fitted.explain().importances["north against east",][0] > 0.2


@pytest.mark.parametrize("missing", ["middle", "indicator"])
def test_importance_of_a_contrast_is_that_of_its_two_features(missing):
    """The label waves across north and east: without what the contrast has, next to nothing would be theirs."""
    model = fit(missing=missing)
    found = model.explain()
    assert found.contrasts == {"north against east": ("north", "east")}
    importances = dict(zip(model.model_.space.names, model.feature_importances_, strict=True))
    assert sum(importances.values()) == pytest.approx(1.0)
    own = {"north against east"}
    sizes = dict.fromkeys(model.model_.space.names, 0.0)
    for group, (size, _) in found.importances.items():
        for name in group:
            for part in ("north", "east") if name in own else (name,):
                if part in sizes:
                    sizes[part] += size**2 / len(group) / (2 if name in own else 1)
    assert importances == pytest.approx({name: size / sum(sizes.values()) for name, size in sizes.items()})
    assert min(importances["north"], importances["east"]) > 0.4
    whole = found.feature_importances()  # of all curves, the contrast's own among them
    assert dict(zip(found.curves, whole, strict=True))["north against east"] > 0.3


def test_values_stay_within_the_range_that_is_declared():
    space = FeatureSpace((NumericFeature("a", -2, 3), CategoricalFeature("kind", ("x",)), NumericFeature("b", 1, 5)))
    contrast = Contrast((0, 2), (0.5, -2.0))
    feature = contrast.feature(space, ["a against b"])
    corners = np.array([[a, 0.0, b] for a in (-2.0, 3.0) for b in (1.0, 5.0)])
    assert feature.name == "a against b'"
    assert (feature.low, feature.high) == (contrast.values(corners).min(), contrast.values(corners).max())


def test_a_record_counts_the_same_whoever_is_beside_it():
    rows = RNG.normal(size=(1000, 3)) * 10.0 ** RNG.integers(-9, 9, (1000, 3))
    contrast = Contrast((2, 0), (0.7, -3.1))
    whole = contrast.values(rows)
    for part in (slice(0, 1), slice(5, 12), slice(1, None, 3)):
        assert (contrast.values(np.asfortranarray(rows[part])) == whole[part]).all()


def test_private_records_choose_none_of_it(fitted):
    """Other private records, the same public ones: the same contrasts."""
    changed = TABLE[300:600].assign(north=40 * RNG.random(300), flat=TABLE["kind"] == "a")
    other = PrivateAnovaRegressor(2.0, **REG).fit(changed.assign(east=60 + 20 * changed["flat"]), Y[300:600], **PUBLIC)
    assert other.model_.public.contrasts == fitted.model_.public.contrasts


def test_pure_noise_and_forests_go_without():
    assert fit(delta=0.0).model_.public.contrasts == ()
    forest = DiPriMeForestRegressor(2.0, **REG).fit(TABLE[300:900], Y[300:900], **PUBLIC)
    assert forest.model_.public.contrasts == () and "contrasts" not in forest.model_.public.to_dict()


def test_json_round_trip_with_contrasts_and_without(fitted):
    model = fitted.model_
    assert AnovaModel.from_json(model.to_json()) == model
    assert PublicPart.from_dict(PublicPart(model.public.models).to_dict()).contrasts == ()
    data = json.loads(model.to_json())
    own = data["public"]["contrasts"][0]
    hostile = [{"columns": [1, 1]}, {"columns": [0, 2]}, {"columns": [1, 9]}, {"columns": [-2, 1]}]
    hostile += [{"factors": [0.0, 1.0]}, {"factors": [1e308, 1e308]}, {"more": 1}]
    for change in hostile:
        with pytest.raises(FormatError):
            AnovaModel.from_dict({**data, "public": {**data["public"], "contrasts": [{**own, **change}]}})
    with pytest.raises(FormatError):
        AnovaModel.from_dict({**data, "public": {**data["public"], "contrasts": []}})


@pytest.mark.parametrize("missing", ["middle", "indicator"])
def test_exported_formula_agrees(missing):
    model = fit(missing=missing)
    formula = formula_of(model)
    rows = awkward_records(formula, 300)
    wanted = model.predict(pd.DataFrame(rows, columns=list(TABLE.columns)))
    assert np.allclose(np.ravel(evaluate(program_of(formula), rows)), wanted, rtol=0, atol=1e-9)


def test_a_record_with_a_missing_part_is_predicted():
    model = fit(missing="indicator")
    holes = TABLE[:4].assign(north=[np.nan, 1.0, np.nan, 2.0], east=[np.nan, np.nan, 80.0, 88.0])
    assert np.isfinite(model.predict(holes)).all()


def test_classes():
    y = (Y > 0).astype(int)
    model = PrivateAnovaClassifier(2.0, classes=[0, 1], public_model=Ridge(), random_state=0, **KNOWN)
    model.fit(TABLE[300:], y[300:], TABLE[:300], y[:300])
    assert model.model_.public.contrasts and model.score(TABLE[300:], y[300:]) > 0.7
