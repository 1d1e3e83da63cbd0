"""Laplace noise on every cell: what a careless reading of appendix D.1 would cost."""

from fractions import Fraction

import pytest

from hedgerow.audit import audit_exact
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.cell_laplace import CellLaplace, split


@pytest.mark.parametrize("epsilon", [0.3, 4.0])
def test_uneven_shares_hold_and_are_used_up(epsilon):
    result = audit_exact(CellLaplace(epsilon, n_cells=2, n_steps=4, cell_share=0.3))
    assert result.holds
    assert result.measured > epsilon * (1 - 1e-9), "the budget should be used up"


def test_forgetting_the_second_cell_would_be_noticed():
    """Noise for L1 sensitivity 1 instead of 2 on the indicator."""
    honest = CellLaplace(1.0, 2, 2)
    careless = CellLaplace(1.0, 2, 2)
    object.__setattr__(careless, "cell_ratio", int(honest.cell_ratio * (honest.cell_ratio / 2**64)))
    assert not audit_exact(careless, epsilon=1.0).holds


@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 1.0, 7.3])
def test_shares_never_exceed_the_whole(epsilon):
    for share in (0.1, 0.3, 0.5, 0.9):
        assert sum(map(Fraction, split(epsilon, share))) <= Fraction(epsilon)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((1.0, 2, 3), "n_steps"), ((1.0, 2, 2, 1.0), "cell_share"), ((1e-12, 2, 2), "epsilon"), ((1.0, 0), "n_cells")],
)
def test_wrong_parameters_are_named(arguments, name):
    with pytest.raises(HedgerowError, match=name):
        CellLaplace(*arguments)
