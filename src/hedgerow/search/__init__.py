"""Choosing settings on private records, with the whole cost of the search in the guarantee and in the ledger."""

from hedgerow.search.estimator import PrivateSearchCV

__all__ = ["PrivateSearchCV"]
