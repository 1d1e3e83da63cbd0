"""The figures of DiPriMe: panels vary what they say, and each has its picture on the page."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from hedgerow.compare.scores import Row
from hedgerow_experiments.diprime import figures
from hedgerow_experiments.diprime.compute import Prepared
from hedgerow_experiments.diprime.declared import PANELS
from hedgerow_experiments.diprime.figures_page import pages
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.found import Evidence


@pytest.fixture
def made(monkeypatch):
    """Records of two classes that one column tells apart."""
    X = np.random.default_rng(0).random((400, 3))
    data = Prepared(X, (X[:, 0] > 0.5).astype(np.int64), None, np.array([[0.0] * 3, [1.0] * 3]))
    monkeypatch.setattr(figures, "prepare", lambda code: data)
    return data


@pytest.mark.parametrize(
    ("panel", "name", "expected"),
    [
        ("5(a)", "DiPriMeExp, all records", {"partition": False, "selection": "exponential", "max_depth": 6}),
        ("1(a)", "DiPriMeFlip", {"partition": True, "max_depth": 6}),
        ("7(a)", "rho=0.9", {"partition": True, "selection": "exponential", "split_share": 0.9, "max_features": 10}),
        ("8(d)", "K=1", {"partition": False, "selection": "permute_and_flip", "split_share": 0.5, "max_features": 1}),
    ],
)
def test_a_curve_is_of_the_forest_that_it_names(made, panel, name, expected):
    model = figures._build(made, Key("APP", 0, panel, 0.0, name), 10.0, 0, max_depth=6)
    assert {option: model.get_params()[option] for option in expected} == expected


def test_error_falls_and_accuracy_grows_with_epsilon(made):
    curve = figures.compute(Key("BAN", 0, "2", 0.0, "DiPriMeFlip"), 0)
    assert list(curve) == ["0.5", "1", "2", "5", "10"] and curve["10"] > 0.9


def test_histograms_are_shares_of_all_leaves_or_splits(made):
    for panel, name in (("3", "DP-RF"), ("4", "DiPriMe")):
        shares = figures.compute(Key("BAN", 0, panel, 0.0, name), 0)
        assert len(shares) == 10 and sum(shares.values()) == pytest.approx(1.0)


def test_every_panel_is_drawn(monkeypatch):
    paint = Figure.savefig

    def svg_alone(figure, to, **options):  # once: PNG is the same figure
        if options["format"] == "svg":
            paint(figure, to, **options)

    monkeypatch.setattr(Figure, "savefig", svg_alone)
    rows = [
        Row("diprime-figures", code, panel, name, None, x, "", 0, "mse", 1.0 + x)
        for panel, (code, names) in PANELS.items()
        for name in names
        for x in (1.0, 2.0)
    ]
    files = pages(Evidence({"diprime-figures": rows}))
    text = files["diprime_figures.md"].decode()
    for number in range(1, 9):
        assert f"(diprime_figure_{number}.png)" in text
        svg = files[f"diprime_figure_{number}.svg"].decode()
        assert svg.startswith("<?xml")
