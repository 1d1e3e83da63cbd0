"""DiPriMe forests for regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hedgerow.central.base import ForestRegressor
from hedgerow.central.diprime import DiPriMe

__all__ = ["DiPriMeForestRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class DiPriMeForestRegressor(ForestRegressor, DiPriMe):
    """A forest of differentially private trees (DiPriMe), for regression, with a guarantee that is true.

    Each record is in one tree, drawn at random. A tree spends ``split_share`` of its budget on its levels, where
    every cell makes one private choice among all (feature, cut) pairs, by squared error and balance, and the rest
    on noisy counts in its leaves. Values borrow from their ancestors' counts. The second half of the trees learns
    what the first half left over, in a window that a noisy histogram (5 % of epsilon) found.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget; ``inf`` means no noise. With ``accounting="paper"``: what the paper would call epsilon.
    label_bounds : (low, high)
        Public range of the label, required: labels outside are clipped, and it is never read from ``y``.
    feature_bounds : pair, array of shape (2, d), dict by column, or "private"
        Public feature ranges, required; "private" buys them with ``bounds_share`` of epsilon.
    n_estimators : int, default=10
        Number of trees.
    max_depth : int or "auto", default="auto"
        Depth; "auto" computes it from ``n_hint`` or from a private count of the records.
    max_features : int or None, default=5
        Columns that each cell considers, drawn at random; None for all.
    selection : {"permute_and_flip", "exponential", "random"}, default="permute_and_flip"
        How a split is chosen. "random": a column at random, cut at a private median (base DiPriMe).
    accounting : {"strict", "paper"}, default="strict"
        "paper": K private medians, then one of them, with the paper's budget; ``guarantee_`` states its true cost.
    split_share : float, default=0.5
        Share of a tree's budget for its splits (the paper's rho).
    partition : bool, default=True
        Whether each record is in one tree only. If not, all trees see all records and share the budget.
    categorical_features : list of int or str, optional
        Categorical columns; each needs a list in ``categories``.
    categories : dict, optional
        Public category lists by column, required for categorical columns: neither the values nor the type of a private
        column count as a list. Values that are not listed count as "other", or else as the first category.
    delta : float, default=0.0
        With ``partition=False``: compose the trees to (epsilon, delta) by privacy-loss distributions.
    n_hint : int, optional
        A public estimate of the number of records.
    neighbours : {"add/remove", "replace"}, default="add/remove"
        The neighbour relation of the guarantee; "replace" needs about twice the noise.
    n_bins : int, default=32
        Candidate cuts of a cell's edge, plus one.
    stages : 1, 2 or "auto", default="auto"
        Whether later trees learn what earlier ones left over.
    bounds_share : float, default=0.1
        Share of epsilon for ``feature_bounds="private"``.
    public_model : "auto", "compact", regressor, fitted PublicModel or None, default="auto"
        A model from public records to start from; "auto" fits one if ``fit`` gets public records. What it leaves over
        is then learnt from the private ones, with its prediction as a further feature, and a tenth of the budget says
        how much of that counts. Ranges and category lists that are not declared are those of the public records.
    n_jobs : int, optional
        Processes that fit trees, through joblib.
    verbose : int, default=0
        Progress.
    random_state : None, int or Randomness, default=None
        None draws from a secure source. Anything else is a simulation, and the guarantee says so.
    ledger : Ledger or path, optional
        Where each fit is booked before it draws (rules: :mod:`hedgerow.spending`).

    Attributes
    ----------
    guarantee_ : Guarantee
        What is protected, from whom, at what cost.
    model_ : ForestModel
        The released forest; ``model_.to_json()`` is all that may be published.
    depth_ : int
        Depth of the trees.
    feature_importances_ : array
        From the released values only.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import DiPriMeForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 3)); y = np.where(X[:, 0] < 0.5, 1.0, 3.0) + rng.normal(0, 0.1, 20_000)
    >>> forest = DiPriMeForestRegressor(1.0, label_bounds=(0, 4), feature_bounds=(0, 1), random_state=0).fit(X, y)
    >>> forest.predict([[0.2, 0.5, 0.5], [0.8, 0.5, 0.5]]).round().tolist()
    [1.0, 3.0]
    >>> forest.guarantee_.epsilon, forest.guarantee_.neighbours
    (1.0, 'add/remove')
    """

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> DiPriMeForestRegressor:
        """Fit on private records; they are used through mechanisms only. Public ones are for the public model."""
        self._learn(X, y, X_public, y_public)
        return self
