"""Baselines that add noise to labels and fit an ordinary tree: ParDT and LabelDT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from hedgerow.checks import OneOf, Rule, Whole
from hedgerow.estimators.intervals import FromReports
from hedgerow.estimators.records import column_names
from hedgerow.frames import columns_of
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.laplace import DiscreteLaplace
from hedgerow.public.convert import portable_parts
from hedgerow.randomness import Randomness
from hedgerow.semi.base import SemiRegressor
from hedgerow.semi.masks import mask_note, mask_of
from hedgerow.space import FeatureSpace
from hedgerow.tasks.intervals import Ends, cut
from hedgerow.values import numbers

if TYPE_CHECKING:
    from hedgerow.formula import Formula

_LARGEST = float(np.finfo(np.float32).max)
"""What scikit-learn's trees can hold."""

__all__ = ["LabelTreeRegressor", "NoisyLabelTree", "PartialTreeRegressor", "noisy_labels"]


def noisy_labels(
    y: npt.NDArray[np.float64], label_bounds: Any, epsilon: float, source: Randomness
) -> npt.NDArray[np.float64]:
    """Return labels clipped to their bounds with discrete Laplace noise of this epsilon, in label units."""
    grid = LabelGrid.for_epsilon(label_bounds, epsilon)
    return grid.values(DiscreteLaplace(epsilon, grid.n_steps).randomize(grid.levels(y, source), source))


@dataclass(kw_only=True, eq=False, repr=False)
class NoisyLabelTree(FromReports, SemiRegressor):
    """Fits scikit-learn's tree to noisy labels; predictions are clipped to the public label bounds.

    Intervals cover the mean label of holders who answer as those in the record's leaf do, the tree being given: by the
    spread of the noisy labels in the leaf. That splits were chosen for these labels is not covered.
    """

    max_depth: int | None = 4
    min_samples_leaf: int = 10

    _parameters: ClassVar[dict[str, Rule]] = {"max_depth": Whole() | OneOf(None), "min_samples_leaf": Whole()}

    def _space(self, X: Any) -> FeatureSpace | None:  # type: ignore[override]
        """Return the schema; without bounds public values are taken as they are, for only public ones are used."""
        return None if self._feature_bounds is None and not self._categories else super()._space(X)

    def _encode(self, X: Any) -> npt.NDArray[np.float64]:
        if self.space_ is not None:
            return np.array(self.space_.encode(X), dtype=np.float64)
        names, columns = columns_of(X)
        if names is None or columns is None:
            columns = list(np.asarray(X).T)
        Z = np.column_stack([numbers(column).astype(np.float64) for column in columns])
        return np.clip(Z, -_LARGEST, _LARGEST)

    def _named(self, rows: Any) -> Sequence[str]:
        """Return the names of the columns: the schema's where there is one."""
        return column_names(rows) if self.space_ is None else self.space_.inputs

    def _grow(self, Z: npt.NDArray[np.float64], noisy: npt.NDArray[np.float64]) -> None:
        seed = 0  # sklearn only breaks ties with it; the noise never comes from it
        self.tree_ = DecisionTreeRegressor(
            max_depth=self.max_depth, min_samples_leaf=min(self.min_samples_leaf, len(Z)), random_state=seed
        ).fit(Z, noisy)

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict labels."""
        Z = self._encode(self._rows(X))
        low, high = self._label_bounds
        return np.clip(np.asarray(self.tree_.predict(Z), dtype=np.float64), low, high)

    def _reports_ends(self, X: Any, level: float) -> Ends:
        Z = self._encode(self._rows(X))
        leaf = self.tree_.apply(Z)
        number = self.tree_.tree_.n_node_samples[leaf]
        error = np.sqrt(self.tree_.tree_.impurity[leaf] / np.maximum(number - 1, 1))
        error = np.where(number > 1, error, np.inf)  # one label tells nothing of its noise
        half = NormalDist().inv_cdf((1 + level) / 2) * error
        mean = self.tree_.predict(Z)
        return cut((mean - half, mean + half), self._label_bounds)

    def formula(self) -> Formula:
        """Return the tree; without a schema, a record with a missing number has no prediction (NaN)."""
        from hedgerow.formula.formula import Formula, promised
        from hedgerow.formula.inputs import NumberInput
        from hedgerow.formula.portable import part_term
        from hedgerow.formula.terms import records, where_missing

        check_is_fitted(self)
        rows = records()
        constant, parts = portable_parts(self.tree_, self.n_features_in_)
        value = (part_term(parts[0], rows) + constant).clip(*self._label_bounds)
        if self.space_ is not None:
            return Formula.of(self.space_, value, self.guarantee_)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        inputs = tuple(NumberInput(str(name), -_LARGEST, _LARGEST) for name in names)
        value = where_missing(rows.apply("row_sum"), np.nan, value)
        return Formula(inputs, value, facts=promised(self.guarantee_))


@dataclass(kw_only=True, eq=False, repr=False)
class PartialTreeRegressor(NoisyLabelTree):
    """ParDT: noise on the label, and a tree over what is public; private features are not used at all.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of one holder, all of it for the label.
    feature_bounds : pair, array of shape (2, d) or dict by column, optional
        Public feature ranges to clip to; not needed, for private features are not used.
    max_depth, min_samples_leaf : int
        Of the tree.
    label_bounds, categories, random_state, ledger
        As in :class:`~hedgerow.HistOfTreeRegressor`.

    Notes
    -----
    A value that its holder keeps private is missing to the tree, which sends missing values to one side or the other
    (scikit-learn's rule). Private features never leave the holder: only the noisy label costs anything.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((5000, 2)); y = X[:, 1]
    >>> tree = PartialTreeRegressor(4.0, label_bounds=(0, 1), feature_bounds=(0, 1), max_depth=2, random_state=0)
    >>> tree.fit(X, y, private=[True, False]).predict([[0.5, 0.1], [0.5, 0.9]]).round(1).tolist()
    [0.1, 0.9]
    """

    def fit(self, X: Any, y: Any, private: Any = "all") -> PartialTreeRegressor:
        """Fit; ``private`` is as for :class:`HistOfTreeRegressor`."""
        rows, labels, self.space_ = self._start(X, y)
        mask = mask_of(private, rows.shape[0], self._named(rows))
        source = self._source().child("labels")
        notes = (mask_note(private), "public features are sent in clear", "private ones are not used")
        claim = self._holders_claim(source, *notes, protects="private features and label")
        self._book(claim, source)
        noisy = noisy_labels(labels, self._label_bounds, self.epsilon, source)
        mask = mask if self.space_ is None else self.space_.spread(mask)
        Z = np.where(mask, np.nan, self._encode(rows))
        Z[:, mask.all(axis=0)] = 0.0  # nobody's value is known: a constant cannot be split on
        self._grow(Z, noisy)
        self.guarantee_ = claim
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class LabelTreeRegressor(NoisyLabelTree):
    """LabelDT: noise on the label, and a tree over all features, none of which is protected.

    Parameters are those of :class:`PartialTreeRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((5000, 2)); y = X[:, 1]
    >>> tree = LabelTreeRegressor(4.0, label_bounds=(0, 1), feature_bounds=(0, 1), max_depth=2, random_state=0)
    >>> tree.fit(X, y).guarantee_.protects
    'label'
    """

    def fit(self, X: Any, y: Any, private: Any = "all") -> LabelTreeRegressor:
        """Fit; ``private`` is accepted, checked and not used: only labels are protected."""
        rows, labels, self.space_ = self._start(X, y)
        mask_of(private, rows.shape[0], self._named(rows))
        source = self._source().child("labels")
        claim = self._holders_claim(source, "all features are sent in clear", protects="label")
        self._book(claim, source)
        noisy = noisy_labels(labels, self._label_bounds, self.epsilon, source)
        self._grow(self._encode(rows), noisy)
        self.guarantee_ = claim
        return self
