"""The parts of a search are booked together, each before it draws."""

from dataclasses import replace

import pytest

from hedgerow import BudgetError, Guarantee, Ledger
from hedgerow.search.booking import Together

ONE = Guarantee(1.0, 1e-6, protects="record", trust="central", neighbours="replace")


def book(together, *claims):
    for epsilon, delta in claims:
        together.spend(replace(ONE, epsilon=epsilon, delta=delta), purpose="part")


@pytest.mark.parametrize(
    ("claims", "charged"),
    [
        ([(1, 0)] * 4, [(1, 0)]),
        ([(0.1, 0), (0.3, 0), (0.2, 0)], [(0.1, 0), (0.2, 0)]),
        ([(1, 1e-6), (0.5, 2e-6)], [(1, 1e-6), (0, 1e-6)]),
        ([(0, 0), (0.5, 0)], [(0, 0), (0.5, 0)]),
    ],
)
def test_disjoint_parts_cost_the_largest(claims, charged):
    with Ledger(None, limit=replace(ONE, epsilon=5, delta=1e-3)) as ledger:
        book(Together(ledger, "search"), *claims)
        assert [tuple(entry.charged) for entry in ledger.entries()] == charged
        book(Together(ledger, "search"), (1, 0))  # another search is another release
        assert len(ledger.entries()) == len(charged) + 1


def test_too_much_is_refused_when_it_is_asked_for():
    with Ledger(None, limit=replace(ONE, epsilon=0.5)) as ledger:
        together = Together(ledger, "search")
        book(together, (0.5, 0))
        for _ in range(2):  # and again, for nothing was granted
            with pytest.raises(BudgetError, match="are left"):
                book(together, (0.6, 0))
        with pytest.raises(BudgetError, match="infinite"):
            Together(ledger, "search").spend(replace(ONE, epsilon=float("inf")), purpose="part")
        assert len(ledger.entries()) == 1


def test_without_a_ledger_nothing_is_booked():
    book(Together(None, "search"), (1, 0), (2, 0))
