"""What every estimator says about its own promise."""

import pytest

from hedgerow.guarantee import AS_IF_LOCAL
from tests.conformance.everybody import ENTRIES, fit, labels, make, table

everybody = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
X = table()


@everybody
def test_trust_is_stated_and_who_held_the_records_too(entry):
    """fit() on arrays is as if each holder had randomised; whoever ran it held the records."""
    fitted = fit(entry, make(entry), X, labels(X, entry.classify))
    claims = [fitted.guarantee_]
    if hasattr(fitted, "model_"):
        claims.append(type(fitted.model_).from_json(fitted.model_.to_json()).guarantee)  # what is published
    claims += [model.guarantee for model in getattr(fitted, "models_", [])]
    for claim in claims:
        assert claim.trust == entry.trust
        assert (AS_IF_LOCAL in claim.notes) == (entry.trust == "local")
        assert entry.trust == "local" or "curator, who holds the data" in str(claim) or claim.epsilon == float("inf")
