"""The aggregate trust model: nobody sees a record, only noisy sums leave two servers."""

from __future__ import annotations

from hedgerow.sums.classifier import SecureSumClassifier
from hedgerow.sums.design import Chain
from hedgerow.sums.regressor import SecureSumRegressor

__all__ = ["Chain", "SecureSumClassifier", "SecureSumRegressor"]
