"""HistOfTree for classes: every holder answers about one class, drawn without looking at its record."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from hedgerow.classes import class_note
from hedgerow.errors import HedgerowError
from hedgerow.estimators.base import PrivateClassifier
from hedgerow.estimators.records import take_rows
from hedgerow.given import BoundsLike, CategoriesLike
from hedgerow.guarantee import Guarantee, as_if_local, parallel
from hedgerow.public.given import is_fitted
from hedgerow.randomness import Randomness
from hedgerow.semi.base import TwoRounds
from hedgerow.semi.hist_of_tree import HistOfTreeRegressor
from hedgerow.semi.masks import is_aligned, mask_of
from hedgerow.spending import Booking
from hedgerow.tasks.partly_public import CorrectedModel, SemiModel
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.formula import Formula

__all__ = ["HistOfTreeClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class HistOfTreeClassifier(PrivateClassifier, TwoRounds):
    """Classes where each holder keeps its class and some features private, and shows the others.

    A class is asked about by a label of 0 or 1 ("is it this one?") through the two rounds of
    :class:`~hedgerow.HistOfTreeRegressor`; of two classes, only the second is. With more, holders are dealt out at
    random to the classes, without a look at their records, and each answers about its own with the whole epsilon: the
    groups are disjoint, so that together they cost epsilon. The predicted shares are brought to a sum of 1.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of one holder for both rounds; ``inf`` means no noise.
    classes : list, "public" or "observed"
        The public list of classes, as for :class:`~hedgerow.LPDTClassifier`.
    feature_bounds, categories : see :class:`~hedgerow.HistOfTreeRegressor`
    rule, max_depth, n_bins, n_private, label_share, response, min_samples_leaf, balance, constant, shrink, hide_mask
        See :class:`~hedgerow.HistOfTreeRegressor`; ``n`` in its rules is the number of holders that are asked about a
        class.
    public_model : "auto", "compact", regressor or None, default="auto"
        A public model of each class's 0 or 1 to start from; "auto" fits one if ``fit`` gets public records.
    random_state, ledger, schema : see :class:`~hedgerow.HistOfTreeRegressor`

    Attributes
    ----------
    classes_ : array
        Class labels, in the order of the columns of ``predict_proba``.
    trees_ : dict
        By class that was asked about, the fitted :class:`~hedgerow.HistOfTreeRegressor`; its ``task_`` and
        ``cell_task_`` are what is published to collect the same from devices.
    guarantee_ : Guarantee
        What is protected, from whom, under which condition.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import HistOfTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 2)); y = np.where(X[:, 1] > 0.5, "high", "low")
    >>> trees = HistOfTreeClassifier(epsilon=4.0, classes=["low", "high"], feature_bounds=(0, 1), random_state=0)
    >>> trees.fit(X, y, private=[0]).predict([[0.5, 0.1], [0.5, 0.9]]).tolist()
    ['low', 'high']
    """

    feature_bounds: BoundsLike = None
    categories: CategoriesLike = None

    def fit(
        self, X: Any, y: Any, private: Any = "all", X_public: Any = None, y_public: Any = None
    ) -> HistOfTreeClassifier:
        """Fit on records of which some features are private; ``private`` is as for the regressor."""
        rows, codes = self._open(X, y, X_public, y_public)
        if is_fitted(self.public_model):
            raise HedgerowError(
                "The 'public_model' of classes is fitted for each of them: pass one that is not fitted, and 'X_public' "
                "with 'y_public'. Got a fitted one instead."
            )
        source = self._source()
        names = self._input_names(rows)
        mask = mask_of(private, rows.shape[0], names)
        claim = self._holders_claim(source, protects="private features and label")
        booking = Booking.of(self, claim, source)
        booking.book()
        self.trees_: dict[Any, HistOfTreeRegressor] = {}
        for code, group in self._deal(len(codes), source).items():
            tree = self._tree(source.child(f"class {code}"))
            protected = mask[0] if is_aligned(private) else mask[group]
            public = {"X_public": X_public, "y_public": _is(y_public, self.classes_[code])}
            labels = (codes[group] == code).astype(np.float64)
            tree.fit(take_rows(rows, group), labels, private=protected, **public)
            tree.model_ = replace(tree.model_, notes=(*tree.model_.notes, class_note(self._classes)))
            self.trees_[self.classes_[code]] = tree.set_params(random_state=None)  # its stream is used up
        self.guarantee_: Guarantee = self._together()
        booking.check(self.guarantee_)
        return self

    def _input_names(self, rows: Any) -> tuple[str, ...]:
        """Return the names that ``private`` may use."""
        space = self.schema.space if self.schema is not None else self._space(rows)
        return tuple(space.inputs)

    def _deal(self, n: int, source: Randomness) -> dict[int, npt.NDArray[np.int64]]:
        """Return which holders are asked about which class: each by a coin of its own, whatever its record.

        A class that the coins leave nobody for is not asked about.
        """
        k = len(self.classes_)
        if k == 2:
            return {1: np.arange(n)}
        drawn = source.child("groups").integers(k, n)
        groups = {code: np.flatnonzero(drawn == code) for code in range(k)}
        return {code: group for code, group in groups.items() if len(group)}

    def _tree(self, source: Randomness) -> HistOfTreeRegressor:
        """Return a regressor of one class's 0 or 1."""
        shared = {f.name for f in fields(TwoRounds)} - {"ledger", "random_state", "schema"}
        settings = {name: getattr(self, name) for name in (*shared, "feature_bounds", "categories")}
        schema = self.schema
        if schema is None:
            return HistOfTreeRegressor(**settings, label_bounds=(0, 1), random_state=source)
        return HistOfTreeRegressor(**settings, schema=schema.with_label(bounds=(0, 1)), random_state=source)

    def _together(self) -> Guarantee:
        """Return what the groups' promises come to: each holder is in one of them, by the deal alone."""
        parts = [model.guarantee for model in self.models_]
        joint = parallel(*parts, assignment="independent")
        return as_if_local(joint)

    @property
    def models_(self) -> list[SemiModel | CorrectedModel]:
        """What was made of the reports, a model for each class that was asked about."""
        check_is_fitted(self, "trees_")
        return [tree.model_ for tree in self.trees_.values()]

    def formula(self) -> Formula:
        """Return the trees of all classes, brought to a sum of 1."""
        from hedgerow.formula.formula import Formula
        from hedgerow.formula.terms import constant, join, where_positive

        check_is_fitted(self, "trees_")
        k = len(self.classes_)
        shares = []
        for label in self.classes_:
            tree = self.trees_.get(label)
            shares.append(constant(1 / k) if tree is None else tree.formula().value.clip(0.0, 1.0))
        if k == 2:
            shares[0] = constant(1.0) - shares[1]
        value = join(*shares)
        total = value.apply("row_sum")
        value = where_positive(total, value / total, constant([1 / k] * k))
        space = self.models_[0].space
        return Formula.of(space, value, self.guarantee_, classes=tuple(self.classes_.tolist()))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities, columns in the order of ``classes_``."""
        rows = self._rows(X)
        k = len(self.classes_)
        shares = np.full((rows.shape[0], k), 1 / k)
        for code, label in enumerate(self.classes_):
            tree = self.trees_.get(label)
            if tree is not None:
                shares[:, code] = np.clip(tree.predict(rows), 0.0, 1.0)
        if k == 2:
            shares[:, 0] = 1 - shares[:, 1]
        total = shares.sum(axis=1, keepdims=True)
        found: FloatArray = np.divide(shares, total, out=np.full_like(shares, 1 / k), where=total > 0)
        return found


def _is(labels: Any, one: Any) -> Any:
    """Return 1 where a public label is this class, else 0."""
    if labels is None:
        return None
    return (np.asarray(labels) == one).astype(np.float64)
