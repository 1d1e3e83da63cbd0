"""Public predictions are, to the last bit, functions of one record each."""

import numpy as np
import pytest

from hedgerow.central.steady import steady
from hedgerow.portable import PortableModel
from hedgerow.public import PublicModel
from tests.small import few_public_trees

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def fitted():
    X = RNG.random((120, 7))
    with pytest.MonkeyPatch.context() as patch:
        few_public_trees(patch)
        return PublicModel(random_state=0).fit(X, np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2])


def test_a_record_counts_the_same_whoever_is_beside_it(fitted):
    model = fitted.portable_
    Z = RNG.random((3001, 7))
    whole = steady(model, Z)
    order = RNG.permutation(3001)
    assert (steady(model, Z[order]) == whole[order]).all()
    for rows in (slice(1, None), slice(0, 3000), slice(7, 8), slice(100, 117)):
        assert (steady(model, Z[rows]) == whole[rows]).all()


def test_it_is_the_models_prediction(fitted):
    Z = RNG.random((500, 7))
    assert np.allclose(steady(fitted.portable_, Z), fitted.portable_.predict(Z), rtol=0, atol=1e-9)


def test_every_kind_of_part_is_known(fitted):
    kinds = {part.kind for part in fitted.portable_.parts}
    assert len(kinds) >= 2  # a stack: what is tested here is more than one kind
    assert steady(fitted.portable_, np.zeros((0, 7))).shape == (0,)
    assert steady(PortableModel(1, [0], [-1], 2.5, ()), [[0.0]]).tolist() == [2.5]
