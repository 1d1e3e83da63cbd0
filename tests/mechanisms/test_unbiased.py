"""Matrix response: what breaks its claim cannot exist, what exists is drawn from exactly."""

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.unbiased import MatrixResponse, worst_column
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import ONE, exp_at_least

ROWS = ((ONE // 2, ONE // 4, ONE // 4), (ONE // 3, ONE // 3, ONE - 2 * (ONE // 3)), (ONE // 4, ONE // 4, ONE // 2))
PLACES = (-1.0, 1.0, 3.0)


def test_a_matrix_that_breaks_its_claim_cannot_be_made():
    assert worst_column(ROWS) == 2
    assert MatrixResponse(0.6932, ROWS, PLACES).epsilon == 0.6932
    assert not exp_at_least(Fraction(2), Fraction(0.6931))
    with pytest.raises(HedgerowError, match=r"not .*-differentially private"):
        MatrixResponse(0.6931, ROWS, PLACES)
    with pytest.raises(HedgerowError, match="sum 2"):
        MatrixResponse(1.0, ((1, 1, 1), *ROWS[1:]), PLACES)
    with pytest.raises(HedgerowError, match="differentially private"):
        MatrixResponse(50.0, ((ONE, 0), (ONE // 2, ONE // 2)), (0.0, 1.0))


@pytest.mark.parametrize("n_outputs", [3, 5, 16])
def test_any_row_is_drawn_as_it_is(n_outputs, same_law, probabilities):
    """Rows of uneven weights, by the alias tables; chi-square at 1e-7 for each of two."""
    rows = []
    for level in range(2):
        weights = [(3 + (k * 7 + level) % 5) * ONE // (8 * n_outputs) for k in range(n_outputs)]
        rows.append((*weights[:-1], ONE - sum(weights[:-1])))
    response = MatrixResponse(3.0, tuple(rows), tuple(map(float, range(n_outputs))))
    for level in range(2):
        drawn = response.randomize(np.full(20_000, level), SeededRandomness(level))
        same_law(drawn.tolist(), probabilities(response.law(level)))


def test_words_span_the_levels():
    assert MatrixResponse(1.0, ROWS, PLACES).words().endswith("a probability of 33.3 % to 50 %")
