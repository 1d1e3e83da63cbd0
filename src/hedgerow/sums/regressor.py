"""SecureSumRegressor: the best public model, corrected by noisy sums that two servers make without seeing a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hedgerow.estimators.base import PrivateRegressor
from hedgerow.grid import check_label_bounds
from hedgerow.local.assisted.design import design_seed
from hedgerow.sums.base import SecureSum
from hedgerow.tasks.sums.model import SumsModel

__all__ = ["SecureSumRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class SecureSumRegressor(PrivateRegressor, SecureSum):
    """A public model, corrected by what groups of holders tell two servers, neither of which sees a record.

    Holders are dealt to groups. The curator publishes the model so far and a few small trees; each holder of the group
    says, in shares for two servers, in which leaf of each tree its record is and whether the model errs upwards or
    downwards there. The servers add up, each adds noise, and only the noisy sums can be put together. By these the
    curator corrects the model, as far as they carry evidence, for the next group. The last group only checks all
    corrections, and lets pass as much of them as seldom harms; of few holders it is asked about their level alone.

    This is a simulation with exactly the law of that protocol (sums, and the noise of both servers), without the
    cryptography; the protocol itself is :mod:`hedgerow.aggregate`.

    Parameters
    ----------
    epsilon, delta : float, default=1.0 and 1e-6
        What the release costs each holder; ``inf`` means no noise.
    label_bounds : (low, high)
        Public range of the label, required: labels outside are clipped, and it is never read from ``y``.
    public_model : "auto", "compact", regressor, fitted PublicModel or None, default="auto"
        See :class:`~hedgerow.AssistedForestRegressor`.
    feature_bounds, categorical_features, categories, schema : see :class:`~hedgerow.LPDTRegressor`
    random_state : None, int or Randomness, default=None
        None draws noise from a secure source. Anything else is a simulation, and the guarantee says so.
    ledger : Ledger or path, optional
        Where each fit is booked before it draws: what each holder spends (rules: :mod:`hedgerow.spending`).

    Attributes
    ----------
    tasks_ : list of SumsTask
        What each group was asked.
    released_ : list of NoisySums
        What the servers released of each.
    model_ : SumsModel
        The model after the last group.
    guarantee_ : Guarantee
        What is promised to each holder.

    Notes
    -----
    Without public records there is nothing to start from, and the estimator predicts one private mean for everyone.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 2)); y = 2 * X[:, 0] + (X[:, 1] > 0.5)
    >>> sums = SecureSumRegressor(epsilon=1.0, label_bounds=(0, 3), public_model=Ridge(), random_state=0)
    >>> sums = sums.fit(X[500:], y[500:], X_public=X[:500], y_public=y[:500])
    >>> public = np.mean((sums.model_.predict_public(X) - y) ** 2)
    >>> bool(np.mean((sums.predict(X) - y) ** 2) < 0.5 * public)
    True
    """

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> SecureSumRegressor:
        """Fit on private records, assisted by public ones.

        Parameters
        ----------
        X, y : private records and labels
            Only used through the mechanism.
        X_public, y_public : public records and labels
            Everything else is learnt from these.
        """
        rows, labels = self._open(X, y, X_public, y_public)
        source = self._source()
        bounds = check_label_bounds(self._label_bounds)
        booking = self._booking(source)
        self._starts_from_public(X_public)
        chain = self._chain(X_public, y_public, len(labels), bounds, design_seed(source), rows, self.public_model)
        self.tasks_, self.released_, model = self._ask(chain, rows, labels, source, booking, self.schema)
        self.model_: SumsModel = model
        self.guarantee_ = self.model_.guarantee
        booking.check(self.guarantee_)
        return self
