"""Pictures of ANOVA models: bands of the stated level, the released quantiles, units, hostile names."""

import io
import json
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

from hedgerow import AnovaModel, PrivateAnovaClassifier, PrivateAnovaRegressor, Schema
from hedgerow.central.anova.explain import Curve, Explanation, Surface
from hedgerow.central.anova.plot import reach, short
from hedgerow.errors import FormatError

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"area": rng.gamma(4, 20, 3000).clip(0, 300), "kind": rng.choice(["a", "b"], 3000)})
    y = frame["area"] * np.where(frame["kind"] == "a", 30, 5)
    schema = Schema.draft(frame.head(50), None).with_range("area", 0, 300, unit="m²")
    schema = schema.with_label("use", bounds=(0, 9000), unit="kWh")
    return PrivateAnovaRegressor(5.0, schema=schema, random_state=0).fit(frame, y)


def made(curves, surfaces=(), **more):
    """Return an explanation of made-up parts, the first of each the largest."""
    sizes = {(c.name,): (10.0 - i, 0.1) for i, c in enumerate(curves)}
    sizes |= {s.names: (5.0 - i, 0.1) for i, s in enumerate(surfaces)}
    return Explanation({c.name: c for c in curves}, {s.names: s for s in surfaces}, sizes, False, **more)


def line(name="x", x=None, y=None, noise=0.1, missing=0.0):
    x = np.linspace(0, 1, 65) if x is None else x
    y = np.sin(np.arange(len(x))) if y is None else y
    return Curve(name, x, np.array(y)[:, None], np.full((len(x), 1), noise), np.array([missing]))


def written(figure):
    file = io.StringIO()
    figure.savefig(file, format="svg")
    return file.getvalue()


def texts(figure):
    return " ".join(t.get_text() for t in figure.findobj(lambda part: hasattr(part, "get_text")) if t.get_text())


def test_bands_hold_the_stated_share_of_the_known_noise(model):
    one = pd.DataFrame({"area": [80.0], "kind": ["a"]})
    low, high = model.predict_interval(one, level=0.9)
    noise = model.model_.noise_deviation(one)[0]
    assert reach(noise) == pytest.approx((high - low) / 2)
    assert reach(np.array([1.0]), 0.5) / reach(np.array([1.0])) == pytest.approx(
        NormalDist().inv_cdf(0.75) / NormalDist().inv_cdf(0.95)
    )
    figure = made([line()]).plot()
    band = figure.axes[0].collections[0].get_paths()[0].get_extents()
    half = reach(np.array([0.1]))[0]
    assert band.ymax - np.sin(np.arange(65)).max() == pytest.approx(half)


def test_ticks_are_the_released_quantiles(model):
    curve = model.explain().curves["area"]
    figure = made([curve]).plot()
    ticks = [path.vertices[0, 0] for path in figure.axes[0].collections[1].get_paths()]
    released = model.model_.feature_map.quantiles[0]
    levels = (np.linspace(0, 254, 65).astype(int)[::4] + 0.5) / 255
    assert ticks == pytest.approx(released.inverse(levels)) and len(ticks) == 17


def test_units_levels_and_what_is_covered_are_written(model):
    figure = AnovaModel.from_json(model.model_.to_json()).explain().plot()
    text = texts(figure)
    assert (
        "adds to the prediction (kWh)" in text and "m²" in text and "90 % of the known noise" in text.replace("\n", " ")
    )
    assert "too narrow for intervals" in text.replace("\n", " ") and "area (m²)" in text
    assert "e+0" not in text and "1e" not in text


def test_curves_share_a_scale_and_so_do_the_three_largest_pairs():
    side = np.linspace(0, 1, 17)
    rng = np.random.default_rng(0)
    pairs = [("a", "b"), ("a", "c"), ("b", "c"), ("a", "d")]
    surfaces = [
        Surface(pair, (side, side), size * rng.normal(size=(17, 17, 1)), np.full((17, 17, 1), 0.1))
        for pair, size in zip(pairs, (1.0, 2.0, 0.5, 9.0), strict=True)
    ]
    curves = [line(name, y=scale * np.cos(np.arange(65))) for name, scale in zip("abcd", (4, 3, 2, 1), strict=True)]
    figure = made(curves, surfaces).plot()
    assert len({axes.get_ylim() for axes in figure.axes[:4]}) == 1
    images = [axes.images[0] for axes in figure.axes if axes.images]
    assert len(images) == 3 and len({image.get_clim() for image in images}) == 1
    assert images[0].get_clim()[1] == pytest.approx(max(np.abs(s.y).max() for s in surfaces[:3]))
    sure = np.abs(surfaces[0].y[:, :, 0]) > reach(surfaces[0].noise)[:, :, 0]
    assert (images[0].get_alpha() == 1).T.tolist() == sure.tolist()
    assert np.array_equal(images[0].get_array(), surfaces[0].y[:, :, 0].T)
    assert len(made(curves, surfaces).plot(most=2).axes) == 2 + 3 + 1  # with the scale of colours


def test_many_categories_are_the_largest_and_their_names_are_cut():
    names = [f"category {i} with a name that goes on and on" for i in range(40)]
    sizes = np.arange(40) * (-1.0) ** np.arange(40)
    figure = made([line("kind", names, sizes)]).plot()
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == [short(name, 22) for name in names[26:]] and all(len(label) <= 22 for label in labels)
    assert "and 26 that add less" in texts(figure)


def test_hostile_names_are_drawn_as_they_are_and_short():
    hostile = [r"$\frac{", "<script>alert(1)</script>", "a\nb\x07", "x" * 100_000, "\u202eabc"]
    pair = Surface((hostile[0], "x"), (hostile, np.linspace(0, 1, 17)), np.ones((5, 17, 1)), np.ones((5, 17, 1)))
    curves = [line("x", missing=2.0), line(hostile[0], hostile, np.arange(5.0))]
    shown = made(curves, [pair], units={"x": hostile[0]}, outputs=(hostile[0],)).plot()
    svg = written(shown)
    assert len(svg) < 1_000_000 and "<script>" not in svg
    assert "missing" in texts(shown) and max(map(len, texts(shown).split())) < 100


def test_nothing_to_see_is_no_error():
    assert written(made([line(y=np.zeros(65), noise=0.0)]).plot())


def test_classes_say_whose_chance_it_is():
    rng = np.random.default_rng(0)
    X = rng.random((500, 1))
    for names in (["no", "yes"], ["a", "b", "c"]):
        y = np.array(names)[(X[:, 0] * len(names)).astype(int)]
        fitted = PrivateAnovaClassifier(5.0, classes=names, feature_bounds=(0, 1), random_state=0).fit(X, y)
        outputs = fitted.explain().outputs
        assert outputs[-1] == f"the chance of {names[-1]}" and len(outputs) == (1 if len(names) == 2 else 3)
        assert f"adds to {outputs[0]}" in texts(fitted.explain().plot())


def test_a_unit_that_is_too_long_is_refused_when_a_model_is_read(model):
    data = json.loads(model.model_.to_json())
    with pytest.raises(FormatError):
        AnovaModel.from_json(json.dumps({**data, "unit": "x" * 10_000}))
