"""Intervals of regressors that know nothing but what was released: reports, noisy labels, noisy counts."""

from __future__ import annotations

from typing import Any

from hedgerow.errors import HedgerowError
from hedgerow.tasks.intervals import Ends, holding
from hedgerow.tasks.models import check_level

__all__ = ["FromReports"]


class FromReports:
    """The three intervals of :mod:`hedgerow.tasks.intervals`, where no public record takes part in a prediction."""

    def _reports_ends(self, X: Any, level: float) -> Ends:
        """Return an interval from what was released alone; each class says of what."""
        raise NotImplementedError

    def predict(self, X: Any) -> Any:
        """Predict labels."""
        raise NotImplementedError

    def predict_interval(self, X: Any, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for what :meth:`predict` estimates, from what was released; it holds the prediction.

        See the notes of the class for what is covered, and what is not.
        """
        return holding(self.reports_interval(X, level), self.predict(X))

    def reports_interval(self, X: Any, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the same; no public record takes part in either."""
        return self._reports_ends(X, check_level(level))

    def predict_label_interval(self, X: Any, level: float = 0.9) -> Ends:
        """Refuse: what was released does not tell how labels spread."""
        raise HedgerowError(f"{type(self).__name__} does not tell how labels spread; use predict_interval.")
