"""HistOfTree: a histogram over private features times a tree over public ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.grid import check_label_bounds, check_public_range
from hedgerow.guarantee import AS_IF_LOCAL, Guarantee
from hedgerow.public.given import fit_public_model, is_fitted
from hedgerow.randomness import Randomness
from hedgerow.semi.base import SemiRegressor, TwoRounds
from hedgerow.semi.design import design_residual
from hedgerow.semi.masks import is_aligned, mask_of
from hedgerow.space import FeatureSpace
from hedgerow.tasks.partly_public import CellTask, CorrectedModel, FirstReports, ResidualTask, SemiModel, SemiTask
from hedgerow.tasks.partly_public.choose import Choice
from hedgerow.tasks.partly_public.files import resolve, settle, shared_label
from hedgerow.tasks.totals import Totals
from hedgerow.types import FloatArray

__all__ = ["HistOfTreeRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class HistOfTreeRegressor(SemiRegressor, TwoRounds):
    """Regression where each holder keeps the label and some features private, and shows the others.

    With public records there is one round: each holder sends how wrong a public model is for its whole record,
    randomised with the whole epsilon, and its public features; the curator learns corrections over those, and uses
    them as far as they predict reports that they have not seen.

    Without, or by ``method="two_rounds"``, it is the paper's HistOfTree. First, holders send a noisy label and their
    public features; the curator grows a tree from them and crosses it with a histogram over the most protected
    features. Second, each holder says in which cell it is, among the cells that its public features leave open, through
    randomised response; both rounds together cost epsilon. ``fit`` runs the protocol
    (:mod:`hedgerow.tasks.partly_public`) on arrays.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of one holder for both rounds; ``inf`` means no noise.
    label_bounds : (low, high)
        Public range of the label, required; never read from ``y``.
    feature_bounds : pair, array of shape (2, d) or dict by column
        Public feature ranges, required; never read from ``X``.
    rule : {"auto", "max_edge", "cart", "random_max_edge"}, default="auto"
        How the tree is grown from noisy labels and public features. "auto" is "cart" where the same features are
        private for everybody, there is no public model, and ``n * epsilon**2`` is at least 10,000; else the paper's
        "max_edge".
    max_depth : int, "auto" or None, default=None
        Depth p of the tree; None is 3 for "cart", else the paper's 4.
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
    hide_mask : bool, default=False
        Hide the mask too: random splits, and everybody answers over all cells.
    categories : dict, optional
        Public category lists by column, for categorical columns.
    public_model : "auto", "compact", regressor, fitted PublicModel or None, default="auto"
        A public model to start from: holders evaluate it on their whole record and report its error, clipped to a
        radius chosen from public out-of-fold errors, in the label's place. Predictions are the public model's plus
        what the reports carry evidence for; without any, the public model's. "auto" fits one if ``fit`` gets public
        records. The schema is then that of the model: leave ``feature_bounds`` and ``categories`` out if you pass a
        fitted one. Epsilon and what it covers are unchanged.
    method : {"auto", "one_round", "two_rounds"}, default="auto"
        "auto" is one round where there is a public model, unless a setting of two rounds is changed: ``rule``,
        ``max_depth``, ``n_bins``, ``n_private``, ``label_share``, ``response``, ``min_samples_leaf``, ``balance``,
        ``constant``, ``shrink`` or ``hide_mask``.
    random_state, ledger : see :class:`~hedgerow.LPDTRegressor`

    Attributes
    ----------
    task_ : ResidualTask or SemiTask
        What the curator published, for one round or the first of two.
    cell_task_, rule_, choice_ : CellTask, str, Choice
        Of two rounds: what was published for the second; the rule; the n_private, max_depth and n_bins in use.
    model_ : CorrectedModel or SemiModel
        The public model with its corrections, or the private tree.
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

    def fit(
        self, X: Any, y: Any, private: Any = "all", X_public: Any = None, y_public: Any = None
    ) -> HistOfTreeRegressor:
        """Fit on records of which some features are private.

        Parameters
        ----------
        X, y : records and labels
            Private features and labels are only used through the mechanism.
        private : list of columns, "all", or bool array of shape (d,) or (n, d), default="all"
            The features that are protected, by name or position; or True where one is, for everybody or holder by
            holder. Unless you say otherwise all are. The label always is.
        X_public, y_public : public records and labels, optional
            What the public model learns from, if it is not fitted yet; and what one round is designed by.
        """
        rows, labels = self._open(X, y, X_public, y_public)
        source = self._source()
        model = self._fit_public(X_public, y_public, source)
        space = self._space(rows) if model is None else self._space_of(model, rows)
        mask = mask_of(private, rows.shape[0], space.inputs)
        if self._in_one_round(model):
            public = (X_public, y_public)
            return self._fit_one_round(rows, labels, mask, is_aligned(private), model, source, public)
        policy = is_aligned(private) and not self.hide_mask
        known: dict[str, Any] = {
            "n": len(labels),
            "epsilon": self.epsilon,
            "policy": policy,
            "assisted": model is not None,
        }
        self.rule_, depth = settle(self.rule, self.max_depth, **known)
        self.choice_ = self._choose(space.spread(mask), depth)
        task = self._task(space, private, mask, model).following(self.schema)
        self.task_: SemiTask | ResidualTask = task
        sent = None if task.masks == "policy" else mask
        # Both rounds: the second spends what the first has left.
        booking = self._book(self._holders_claim(source, protects="private features and label"), source)
        reports = FirstReports.of(task.privatize(rows, labels, private=sent, randomness=source.child("first")))
        self.cell_task_ = CellTask.design(
            reports,
            n_private=self.choice_.n_private,
            n_bins=self.choice_.n_bins,
            max_depth=self.choice_.max_depth,
            rule=self.rule_,
            min_samples_leaf=self.min_samples_leaf,
            balance=self.balance,
            response=self.response,
            randomness=source.child("partition"),
        )
        self.aggregate_: Totals = self.cell_task_.simulate(rows, randomness=source.child("second"), kept=reports.kept)
        self.model_: SemiModel | CorrectedModel = replace(
            self.aggregate_.model(shrink=None if self.shrink else 0.0), notes=(AS_IF_LOCAL,)
        )
        self.guarantee_: Guarantee = self.model_.guarantee
        booking.check(self.guarantee_)
        return self

    def _fit_one_round(
        self,
        rows: Any,
        labels: FloatArray,
        mask: npt.NDArray[np.bool_],
        aligned: bool,
        model: Any,
        source: Randomness,
        public: tuple[Any, Any],
    ) -> HistOfTreeRegressor:
        """Ask every holder once, for the error of the public model, and learn corrections over public features."""
        self.task_ = design_residual(
            model,
            epsilon=self.epsilon,
            label_bounds=self._label_bounds,
            private_columns=np.flatnonzero(mask[0]).tolist() if aligned else None,
            n_holders=len(labels),
            X_public=public[0],
            y_public=public[1],
        ).following(self.schema)
        protects = self.task_.guarantee.protects  # the label alone, where no feature is private
        booking = self._book(self._holders_claim(source, protects=protects), source)
        sent = None if aligned else mask
        self.aggregate_ = self.task_.simulate(rows, labels, private=sent, randomness=source.child("reports"))
        self.model_ = replace(self.aggregate_.model(), notes=(AS_IF_LOCAL,))
        self.guarantee_ = self.model_.guarantee
        booking.check(self.guarantee_)
        return self

    def _choose(self, mask: npt.NDArray[np.bool_], max_depth: int | str) -> Choice:
        return resolve(
            mask,
            self.epsilon,
            n_private=self.n_private,
            max_depth=max_depth,
            n_bins=self.n_bins,
            constant=self.constant,
            hide_mask=self.hide_mask,
        )

    def _task(self, space: FeatureSpace, private: Any, mask: npt.NDArray[np.bool_], model: Any) -> SemiTask:
        aligned = is_aligned(private)
        share = shared_label(self.choice_, self.rule_, policy=aligned and not self.hide_mask, given=self.label_share)
        return SemiTask.design(
            space,
            epsilon=self.epsilon,
            label_bounds=self._label_bounds,
            label_share=share,
            private_columns=np.flatnonzero(mask[0]).tolist() if aligned else None,
            hide_mask=self.hide_mask,
            **({} if model is None else {"public_model": model.portable_, "residuals": model.residuals_}),
        )

    def _fit_public(self, X_public: Any, y_public: Any, source: Randomness) -> Any:
        """Return the public model to start from, or None."""
        given = is_fitted(self.public_model)
        if given and (self.feature_bounds is not None or self.categories):
            raise HedgerowError(
                "A fitted 'public_model' has ranges and categories: leave 'feature_bounds' and 'categories' out."
            )
        seed = int(source.child("design").integers(2**31 - 1, 1)[0])
        schema = {"feature_bounds": self._feature_bounds, "categories": self._categories}
        model = fit_public_model(self.public_model, X_public, y_public, random_state=seed, **schema)
        if y_public is not None:
            check_public_range(np.asarray(y_public, dtype=np.float64).ravel(), check_label_bounds(self._label_bounds))
        if model is not None and getattr(model, "portable_", None) is None:
            raise HedgerowError(
                "The 'public_model' parameter must be a model with a portable form, such as "
                f"PublicModel().fit(X_public, y_public). Got {self.public_model!r} instead."
            )
        return model

    def _space_of(self, model: Any, rows: Any) -> FeatureSpace:
        space: FeatureSpace = model.space_
        if rows.shape[1] != len(space.columns):
            raise HedgerowError(
                f"'X' must have the {len(space.columns)} columns of 'public_model'. Got {rows.shape[1]} instead."
            )
        return space

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the cell of each record; of one round, the group."""
        rows = self._rows(X)
        cell: npt.NDArray[np.int32] = self.model_.apply(rows)
        return cell
