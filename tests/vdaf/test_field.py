import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import FormatError
from hedgerow.vdaf.field import FIELD64, FIELD128, vector

fields = st.sampled_from([FIELD64, FIELD128])
few = settings(max_examples=25, deadline=None)


def polynomial(field, degree, seed):
    rng = np.random.default_rng(seed)
    return [int.from_bytes(rng.bytes(20), "little") % field.modulus for _ in range(degree)]


def value(field, coefficients, x):
    return sum(c * pow(x, i, field.modulus) for i, c in enumerate(coefficients)) % field.modulus


def test_the_moduli_are_those_of_the_draft():
    assert FIELD64.modulus == 18446744069414584321
    assert FIELD128.modulus == 340282366920938462946865773367900766209


@pytest.mark.parametrize("field", [FIELD64, FIELD128])
@pytest.mark.parametrize("n", [1, 2, 4, 64])
def test_roots_have_their_order(field, n):
    assert pow(field.root(n), n, field.modulus) == 1
    assert n == 1 or pow(field.root(n), n // 2, field.modulus) == field.modulus - 1
    assert len(set(field.roots(n))) == n


@few
@given(field=fields, log_n=st.integers(0, 5), seed=st.integers(0, 2**32))
def test_transforms_are_values_at_roots(field, log_n, seed):
    n = 1 << log_n
    p = polynomial(field, n, seed)
    values = vector([value(field, p, x) for x in field.roots(n)])
    assert list(field.transform(vector(p))) == list(values)
    assert list(field.coefficients(values)) == p
    assert list(field.double(values)) == [value(field, p, x) for x in field.roots(2 * n)]
    matrix = np.stack([values, 2 * values % field.modulus], axis=1)
    assert list(field.double(matrix)[:, 0]) == list(field.double(values))


@few
@given(field=fields, log_n=st.integers(0, 5), seed=st.integers(0, 2**32), at_root=st.booleans())
def test_weights_evaluate_polynomials_anywhere(field, log_n, seed, at_root):
    n = 1 << log_n
    p = polynomial(field, n, seed)
    x = field.roots(2 * n)[1] if at_root else polynomial(field, 1, seed + 1)[0]
    values = vector([value(field, p, root) for root in field.roots(n)])
    assert (values * field.weights(x, n)).sum() % field.modulus == value(field, p, x)


@few
@given(field=fields, seed=st.integers(0, 2**32), n=st.integers(0, 9))
def test_elements_go_to_bytes_and_back(field, seed, n):
    values = polynomial(field, n, seed)
    encoded = field.encode(vector(values))
    assert encoded == b"".join(each.to_bytes(field.size, "little") for each in values)
    assert list(field.decode(encoded)) == values


@pytest.mark.parametrize("field", [FIELD64, FIELD128])
def test_only_numbers_below_the_modulus_are_elements(field):
    last = (field.modulus - 1).to_bytes(field.size, "little")
    assert list(field.decode(last)) == [field.modulus - 1]
    for wrong in (field.modulus.to_bytes(field.size, "little"), b"\xff" * field.size):
        with pytest.raises(FormatError, match="modulus"):
            field.decode(last + wrong)
    with pytest.raises(FormatError, match="cannot fill"):
        field.decode(last[1:])
