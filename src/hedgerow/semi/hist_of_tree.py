"""HistOfTree: a histogram over private features times a tree over public ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from hedgerow.bounds import FeatureSpace
from hedgerow.errors import HedgerowError
from hedgerow.guarantee import AS_IF_LOCAL, Guarantee
from hedgerow.randomness import as_randomness
from hedgerow.semi.base import SemiRegressor
from hedgerow.semi.masks import is_aligned, mask_of
from hedgerow.spending import Booking
from hedgerow.tasks.partly_public import CellTask, FirstReports, SemiModel, SemiTask
from hedgerow.tasks.partly_public.choose import Choice
from hedgerow.tasks.partly_public.files import resolve

__all__ = ["HistOfTreeRegressor"]


class HistOfTreeRegressor(SemiRegressor):
    """Regression where each holder keeps the label and some features private, and shows the others.

    Two rounds. First, holders send a noisy label and their public features; the curator grows a tree from them and
    crosses it with a histogram over the most protected features. Second, each holder says in which cell it is, among
    the cells that its public features leave open, through randomised response. ``fit`` runs that protocol
    (:mod:`hedgerow.tasks.partly_public`) on arrays; both rounds together cost epsilon.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of one holder for both rounds; ``inf`` means no noise.
    label_bounds : (low, high)
        Public range of the label, required; never read from ``y``.
    feature_bounds : pair, array of shape (2, d) or dict by column
        Public feature ranges, required; never read from ``X``.
    rule : {"max_edge", "cart", "random_max_edge"}, default="max_edge"
        How the tree is grown from noisy labels and public features.
    max_depth : int or "auto", default=4
        Depth p of the tree.
    n_bins : int or "auto", default=2
        Bins t of the histogram along each of its features.
    n_private : int or "auto", default="auto"
        Number s of features in the histogram: the most protected ones. "auto" is AdHistOfTree: whatever is "auto"
        is chosen by criterion (15) from the masks alone.
    label_share : float, default=0.5
        Share rho of epsilon for the label. Holders whose cell is certain give the label all of epsilon.
    response : {"k_ary", "bits"}, default="k_ary"
        The cell report: (17) or (8). Either comes with a noisy label that a *forged* report may place anywhere the
        noise reaches, 40 of its scales beyond the bounds; the service says what that can do to a cell.
    min_samples_leaf : int, default=1
        Fewest holders with a public value on either side of a split.
    balance : float, default=0.2
        Smallest share of them on either side; the paper has 0.
    constant : float, default=0.1
        The constant of appendix C.1, for "auto".
    shrink : bool, default=True
        Believe the two sides of a split to differ only as far as noise allows; False is the paper's estimator (9).
    mask_private : bool, default=False
        Hide the mask too: random splits, and everybody answers over all cells.
    categories : dict, optional
        Public category lists by column, for categorical columns.
    base : fitted PublicModel, optional
        A public model to start from: holders evaluate it on their whole record and report its error, clipped to a
        radius chosen from public out-of-fold errors, in the label's place. Predictions are the public model's plus
        what the reports carry evidence for; without any, the public model's. The schema is then ``base.space_``:
        leave ``feature_bounds`` and ``categories`` out. Epsilon and what it covers are unchanged.
    random_state : None, int or Randomness, default=None
        None draws from a secure source. Anything else is a simulation, and the guarantee says so.
    ledger : Ledger or path, optional
        Where each fit is booked before it draws: what each holder spends (rules: :mod:`hedgerow.spending`).

    Attributes
    ----------
    task_, cell_task_ : SemiTask, CellTask
        What the curator published for each round.
    choice_ : Choice
        The n_private, max_depth and n_bins in use.
    model_ : SemiModel
        The private tree.
    guarantee_ : Guarantee
        What is protected, from whom, under which condition.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.semi import HistOfTreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 3)); y = X[:, 0] + 2 * (X[:, 1] > 0.5)
    >>> tree = HistOfTreeRegressor(epsilon=4.0, label_bounds=(0, 3), feature_bounds=(0, 1), max_depth=2, random_state=0)
    >>> tree = tree.fit(X, y, private=[True, False, False])
    >>> tree.predict([[0.2, 0.1, 0.5], [0.8, 0.9, 0.5]]).round().tolist()
    [0.0, 3.0]
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        label_bounds: Any = None,
        feature_bounds: Any = None,
        rule: str = "max_edge",
        max_depth: int | str = 4,
        n_bins: int | str = 2,
        n_private: int | str = "auto",
        label_share: float = 0.5,
        response: str = "k_ary",
        min_samples_leaf: int = 1,
        balance: float = 0.2,
        constant: float = 0.1,
        shrink: bool = True,
        mask_private: bool = False,
        categories: Any = None,
        base: Any = None,
        random_state: Any = None,
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.label_bounds = label_bounds
        self.feature_bounds = feature_bounds
        self.rule = rule
        self.max_depth = max_depth
        self.n_bins = n_bins
        self.n_private = n_private
        self.label_share = label_share
        self.response = response
        self.min_samples_leaf = min_samples_leaf
        self.balance = balance
        self.constant = constant
        self.shrink = shrink
        self.mask_private = mask_private
        self.categories = categories
        self.base = base
        self.random_state = random_state
        self.ledger = ledger

    def fit(self, X: Any, y: Any, private: Any = None) -> HistOfTreeRegressor:
        """Fit on records of which some features are private.

        Parameters
        ----------
        X, y : records and labels
            Private features and labels are only used through the mechanism.
        private : bool array of shape (d,) or (n, d), optional
            True where a feature is protected: for everybody, or holder by holder. None: everything is private.
        """
        X, labels, space = self._start(X, y)
        mask = mask_of(private, X.shape[0], len(space))
        source = as_randomness(self.random_state)
        self.choice_ = self._choose(mask)
        self.task_ = self._task(space, private, mask)
        sent = None if self.task_.masks == "policy" else mask
        booking = Booking.of_holders(self, source, protects="private features and label")
        booking.book()  # both rounds: the second spends what the first has left
        reports = FirstReports.of(self.task_.privatize(X, labels, private=sent, randomness=source.child("first")))
        self.cell_task_ = CellTask.design(
            reports,
            n_private=self.choice_.n_private,
            n_bins=self.choice_.n_bins,
            max_depth=self.choice_.max_depth,
            rule=self.rule,
            min_samples_leaf=self.min_samples_leaf,
            balance=self.balance,
            response=self.response,
            randomness=source.child("partition"),
        )
        self.aggregate_ = self.cell_task_.simulate(X, randomness=source.child("second"), kept=reports.kept)
        self.model_: SemiModel = replace(self.aggregate_.model(shrink=self._strength()), notes=(AS_IF_LOCAL,))
        self.guarantee_: Guarantee = self.model_.guarantee
        booking.check(self.guarantee_)
        return self

    def _strength(self) -> float:
        # Cuts of "cart" are chosen among very many, for a contrast that is part noise.
        return 0.0 if not self.shrink else 2.0 if self.rule == "cart" else 1.0

    def _choose(self, mask: npt.NDArray[np.bool_]) -> Choice:
        return resolve(
            mask,
            self.epsilon,
            n_private=self.n_private,
            max_depth=self.max_depth,
            n_bins=self.n_bins,
            constant=self.constant,
            hidden=self.mask_private,
        )

    def _task(self, space: Any, private: Any, mask: npt.NDArray[np.bool_]) -> SemiTask:
        aligned = is_aligned(private)
        # Under a policy no tree cuts a private feature; with one bin the histogram does not either.
        certain = aligned and not self.mask_private and (self.choice_.n_bins == 1 or self.choice_.n_private == 0)
        return SemiTask.design(
            space,
            epsilon=self.epsilon,
            label_bounds=self.label_bounds,
            label_share=1.0 if certain and self.rule != "random_max_edge" else self.label_share,
            private_columns=np.flatnonzero(mask[0]).tolist() if aligned else None,
            hide_mask=self.mask_private,
            **({} if self.base is None else {"base": self.base.portable_, "residuals": self.base.residuals_}),
        )

    def _space(self, X: Any) -> FeatureSpace:
        """Return the public schema: with a public model, the model's own."""
        if self.base is None:
            return super()._space(X)
        if getattr(self.base, "portable_", None) is None or not hasattr(self.base, "residuals_"):
            raise HedgerowError(
                "The 'base' parameter must be a model fitted on public records that has a portable form, such as "
                f"PublicModel().fit(X_public, y_public). Got {self.base!r} instead."
            )
        if self.feature_bounds is not None or self.categories:
            raise HedgerowError("With 'base', ranges and categories are those of base.space_: leave them out here.")
        space: FeatureSpace = self.base.space_
        if X.shape[1] != len(space):
            raise HedgerowError(f"'X' must have the {len(space)} columns of 'base'. Got {X.shape[1]} instead.")
        return space

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict labels."""
        check_is_fitted(self)
        return self.model_.predict(self._records(X, reset=False))

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Any, Any]:
        """Return ``(low, high)`` for the mean label of each record's cell."""
        check_is_fitted(self)
        return self.model_.predict_interval(self._records(X, reset=False), level)

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the cell of each record."""
        check_is_fitted(self)
        cell: npt.NDArray[np.int32] = self.model_.apply(self._records(X, reset=False))
        return cell
