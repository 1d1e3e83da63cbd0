"""Whole fits of every central estimator and of the label stack, replayed on neighbours: a few in each run of the tests.

All of them, with more neighbours and at three budgets, are in ``hedgerow audit``.
"""

import pytest

from hedgerow import central
from hedgerow.audit.replay import whole_fits
from hedgerow.audit.replay.fits import WholeFit
from hedgerow.audit.replay.noise import DrawnNoise
from hedgerow.baselines import forests
from hedgerow.central import anova

FITS = {fit.name: fit for fit in whole_fits()}
NOISE = [f for f in FITS.values() if isinstance(f, DrawnNoise) and "Classifier" in f.name]
# Classifiers share their code with regressors but for the scores; slow ones are left to the command.
SLOW = (
    "LabelPrivateRegressor, interval",
    "LabelPrivateRegressor, auto",
    "PrivateAnovaRegressor, categories",
    "missing values",
    "additive",
    "many",
    "two labels, ",
    "replace, exponential",
    "bounds, replace",
    "paper, exponential",
    "PrivateSearchCV, delta",
    "PrivateAnovaClassifier, public model, three classes",
    "PrivateAnovaRegressor, public model, two labels",
)


def quick(name):
    if name.startswith("DiPriMeForestClassifier"):
        return name.partition(", ")[2] in ("", "depth 1", "three classes", "paper", "replace", "odd records")
    if name.startswith("PrivateAnovaClassifier"):
        return name.endswith(("three classes", "odd records"))
    if name.startswith("DP") and ("odd" in name or name.endswith("sifier, replace")):
        return False
    if name.startswith("PrivateSearchCV, classes"):
        return "most compare" in name
    return not any(word in name for word in SLOW)


QUICK = [fit for name, fit in FITS.items() if isinstance(fit, WholeFit) and quick(name)]


@pytest.mark.parametrize("fit", QUICK, ids=lambda f: f.name)
def test_whole_fits_stay_within_their_claim_and_come_near_it(fit):
    result = fit.replay(1.0, quick=True)
    assert result.holds, result.witness
    assert fit.near <= result.measured <= 1.0 + 1e-9


@pytest.mark.parametrize("fit", NOISE, ids=lambda f: f.name)
def test_noise_of_whole_fits_is_as_wide_as_paid_for_and_not_shared(fit):
    result = fit.drawn(8.0, randomness=1)  # false alarm below 1e-7, seeded; with more budget a fit has more numbers
    assert result.holds, result.witness


def test_every_central_estimator_is_audited_as_a_whole():
    public = {
        name
        for module in (central, anova, forests)
        for name in module.__all__
        if hasattr(getattr(module, name), "fit") and not name.startswith("Median")  # not private, and say so
    }
    assert public == {name.split(",")[0] for name in FITS if not name.startswith(("Label", "PrivateSearchCV"))}
