"""Every regressor's intervals: one meaning a name, the point within, nested, nothing private looked at."""

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from tests.conformance.everybody import EXPORTED, fit, labels, make, numeric, table

REGRESSORS = [entry for entry in EXPORTED if not entry.classify]


@pytest.mark.parametrize("entry", REGRESSORS, ids=lambda entry: entry.id)
def test_the_point_is_within_and_nothing_private_is_looked_at(entry):
    X = table()
    y = np.array(labels(X, False), dtype=float)
    estimator = fit(entry, make(entry), X, y)
    new = table(30, seed=5)
    if entry.numeric:
        new = numeric(new)
    point = estimator.predict(new)
    ends = {level: estimator.predict_interval(new, level) for level in (0.5, 0.9)}
    alone = estimator.reports_interval(new, 0.9)
    for low, high in ends.values():
        assert low.shape == high.shape == point.shape
        assert (low <= point).all() and (point <= high).all() and np.isfinite(low).all() and np.isfinite(high).all()
    assert (ends[0.9][0] <= ends[0.5][0]).all() and (ends[0.5][1] <= ends[0.9][1]).all()
    assert (alone[0] <= alone[1]).all()
    y[:] = np.nan  # whatever is asked after the fit, labels are gone
    for before, after in zip((*ends[0.9], *alone), _both(estimator, new), strict=True):
        np.testing.assert_array_equal(before, after)
    for name in ("predict_interval", "reports_interval"):
        with pytest.raises(HedgerowError, match="'level' parameter must be between 0 and 1"):
            getattr(estimator, name)(new, 1.5)
    if entry.trust == "central" or (not entry.public and not entry.name.startswith(("Assisted", "SecureSum"))):
        with pytest.raises(HedgerowError, match="use predict_interval"):
            estimator.predict_label_interval(new, 0.9)
        return
    low, high = estimator.predict_label_interval(new, 0.9)
    assert (low <= ends[0.9][0] + 1e-9).all() and (ends[0.9][1] - 1e-9 <= high).all()


def _both(estimator, new):
    return (*estimator.predict_interval(new, 0.9), *estimator.reports_interval(new, 0.9))
