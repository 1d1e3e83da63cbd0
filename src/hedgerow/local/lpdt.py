"""LPDT: a regression tree from records that nobody but their holders ever sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hedgerow.checks import OneOf, Real, Rule
from hedgerow.estimators.base import PrivateRegressor
from hedgerow.grid import check_label_bounds
from hedgerow.local.tree import LocalTree

__all__ = ["LPDTRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class LPDTRegressor(PrivateRegressor, LocalTree):
    """Locally private decision tree regression with public data.

    A tree is grown on public records and published; each holder sends one randomised report about its leaf
    and label; the curator adds the reports up. ``fit`` runs that protocol on arrays: it designs a
    :class:`~hedgerow.LocalTask` from the public records, draws the aggregate of all holders' reports (exactly
    in law, see :func:`~hedgerow.simulate_aggregate`) and turns it into a :class:`~hedgerow.Model`.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of one holder's report about the whole record; ``inf`` means no noise.
    label_bounds : (low, high)
        Public range of the label, required: labels outside are clipped, and it is never read from ``y``.
    rule : {"auto", "max_edge", "cart", "random", "random_max_edge"}, default="auto"
        How the tree is grown from public records (LPDT-M, LPDT-V, and two that use no labels).
    max_depth : int or "auto", default="auto"
        Depth of the tree.
    min_samples_leaf : int or "auto", default="auto"
        Fewest public records on either side of a split.
    cell_share : float or "auto", default="auto"
        For ``response="bits"``: the share rho of epsilon that protects the leaf.
    response : {"auto", "bits", "unary", "k_ary", "subset"}, default="auto"
        The report: the paper's flipped bits and noisy label, or one categorical report of (leaf, label level)
        with the whole epsilon, which is usually far more accurate. Whatever is ``"auto"`` is chosen by predicted
        error from the public records, the number of holders and the known noise; no private value is read.
        They differ in what one *forged* report can do, which "auto" does not weigh: at epsilon 2 it moves the sum of
        labels in a leaf by up to 2.3 label ranges with "unary", by 104 with "bits" (45 times as far), and with "k_ary"
        the further the more leaves there are; see ``task_.encoding.largest_influence``.
    feature_bounds : pair, array of shape (2, d) or dict by column, optional
        Public feature ranges; required without public data, else taken from it.
    categorical_features : list of int or str, optional
        Categorical columns of an array (text and category columns of public data frames are found by themselves).
    categories : dict, optional
        Public category lists by column, where the public records may lack some; required for text columns without
        public records, for neither the values nor the type of a private column count as a list.
    schema : Schema, optional
        What is public of columns and label, in the place of the three above and of ``label_bounds``.
    fallback : {"auto", "blend", "public", "none"}, default="auto"
        What public labels add: weighed against the reports by precision in every leaf, used only in leaves whose
        reports cannot be told from noise, or nothing (the paper's estimator). ``"auto"`` is what the task does by
        default: "none" with ``response="bits"``, the paper's report, and "blend" otherwise.
    random_state : None, int or Randomness, default=None
        None draws from a secure source. Anything else is a simulation, and the guarantee says so.
    ledger : Ledger or path, optional
        Where each fit is booked before it draws: what each holder spends (rules: :mod:`hedgerow.spending`).

    Attributes
    ----------
    task_ : LocalTask
        What the curator published.
    model_ : Model
        The private tree.
    guarantee_ : Guarantee
        What is protected, from whom, under which condition.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import LPDTRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 3)); y = np.where(X[:, 0] < 0.5, 1.0, 3.0) + rng.normal(0, 0.1, 20_000)
    >>> tree = LPDTRegressor(epsilon=2.0, label_bounds=(0, 4), max_depth=2, response="unary", random_state=0)
    >>> tree = tree.fit(X[1000:], y[1000:], X_public=X[:1000], y_public=y[:1000])
    >>> tree.predict([[0.2, 0.5, 0.5], [0.8, 0.5, 0.5]]).round().tolist()
    [1.0, 3.0]
    """

    cell_share: float | str = "auto"

    _parameters: ClassVar[dict[str, Rule]] = {
        "cell_share": Real(0, 1) | OneOf("auto"),
        "response": OneOf("auto", "bits", "unary", "k_ary", "subset"),
    }

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> LPDTRegressor:
        """Fit on private records, with a partition from public ones.

        Parameters
        ----------
        X, y : private records and labels
            Only used through the mechanism.
        X_public, y_public : public records and labels, optional
            Without them the partition is fixed in advance over ``feature_bounds``.
        """
        rows, labels = self._open(X, y, X_public, y_public)
        bounds = check_label_bounds(self._label_bounds)
        self._collect(rows, labels, X_public, y_public, label_bounds=bounds, cell_share=self.cell_share)
        return self
