"""Gradient boosting for noisy labels, with settings from public numbers only."""

from __future__ import annotations

from sklearn.ensemble import HistGradientBoostingRegressor

__all__ = ["boosting_for"]


def boosting_for(n: int, epsilon: float) -> HistGradientBoostingRegressor:
    """X."""
    return HistGradientBoostingRegressor(max_iter=100, early_stopping=False)
