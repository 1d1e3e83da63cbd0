"""Harm and gain of the assisted forest, run by run."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow import AssistedForestRegressor
from hedgerow.public import PublicModel
from hedgerow_experiments.data.datasets import find_dataset
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.public import never_worse
from hedgerow_experiments.public.cases import SHIFTS
from hedgerow_experiments.public.declared import NEVER_WORSE


def test_every_shift_is_measured():
    assert sorted(NEVER_WORSE.settings) == sorted(SHIFTS)


@pytest.mark.shared
@pytest.mark.skipif(find_dataset("RED") is None, reason="the papers' data are not here")
def test_a_run_is_what_the_estimator_does(monkeypatch):
    # Two ways to the same errors: by chance within 5 % of each other (they differ by less than 1 %).
    monkeypatch.setattr(
        never_worse, "public_model", lambda case: PublicModel(Ridge()).fit(case.X_public, case.y_public)
    )
    never_worse._case.cache_clear()
    key = Key("RED", 0, "label level", 4.0, "assisted forest")
    found = never_worse.compute(key, 0)
    case = never_worse.draw("RED", 0, "label level")
    never_worse._case.cache_clear()
    forest = AssistedForestRegressor(4.0, label_bounds=case.label_bounds, public_model=Ridge(), random_state=0)
    forest.fit(case.X, case.y, X_public=case.X_public, y_public=case.y_public)
    public = np.mean((forest.model_.predict_public(case.X_test) - case.y_test) ** 2)
    own = np.mean((forest.predict(case.X_test) - case.y_test) ** 2) / public
    assert len(found) == never_worse.PILOTS * never_worse.DRAWS and own < 0.9
    assert np.mean(list(found.values())) == pytest.approx(own, rel=0.05)
