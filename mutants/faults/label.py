"""Faults of the label stack: mechanisms with a prior, regressors and classifiers trained on noisy labels."""

from __future__ import annotations

from mutants.fault import Fault, whole_fits

_BASE, _ESTIMATE = "src/hedgerow/label/base.py", "src/hedgerow/label/estimate.py"
_REGRESSOR = "src/hedgerow/label/regressor.py"


def _fits(*names: str) -> tuple[str, ...]:
    """Return the replay audits of these whole fits."""
    return whole_fits(*(f"LabelPrivateRegressor, {name}" for name in names))


FAULTS = (
    Fault(
        name="prior's range read off the labels",
        path=_ESTIMATE,
        before="    low, high = bounds\n    position",
        after="    low, high = float(y.min()), float(y.max()) + 1e-9\n    position",
        caught_by=_fits("bins, prior by a curator"),
    ),
    Fault(
        name="prior's histogram: a changed label counted once",
        path=_ESTIMATE,
        before="        counts = NoisyCounts(epsilon, 2).release(counts, randomness)\n",
        after="        counts = NoisyCounts(epsilon, 1).release(counts, randomness)\n",
        caught_by=_fits("bins, prior by a curator"),
    ),
    Fault(
        name="prior's histogram without noise",
        path=_ESTIMATE,
        before="        counts = NoisyCounts(epsilon, 2).release(counts, randomness)\n",
        after="        NoisyCounts(epsilon, 2).release(counts, randomness)\n",
        caught_by=_fits("bins, prior by a curator"),
    ),
    Fault(
        name="prior's bins as many as there are different labels",
        path=_ESTIMATE,
        before="    bins = _central_bins(n, epsilon)\n",
        after="    bins = len(np.unique(y))\n",
        caught_by=_fits("bins, prior by a curator"),
    ),
    Fault(
        name="prior not charged: labels get the whole budget",
        path=_BASE,
        before="        known = shaped.with_prior(prior, spends[1][1].epsilon)\n",
        after="        known = shaped.with_prior(prior, self.epsilon)\n",
        caught_by=_fits("bins, prior by a curator"),
    ),
    Fault(
        name="scouts are asked again with the others",
        path=_BASE,
        before="        scouts, others = np.flatnonzero(coin), np.flatnonzero(~coin)\n",
        after="        scouts, others = np.flatnonzero(coin), np.arange(labels.size)\n",
        caught_by=_fits("optimal, prior by some holders"),
    ),
    Fault(
        name="scouts chosen by their label",
        path=_BASE,
        before="        scouts, others = np.flatnonzero(coin), np.flatnonzero(~coin)\n",
        after="        coin = labels > np.median(labels)\n"
        "        scouts, others = np.flatnonzero(coin), np.flatnonzero(~coin)\n",
        caught_by=_fits("optimal, prior by some holders"),
    ),
    Fault(
        name="labels used as they are",
        path=_BASE,
        before="        noisy = self.task.randomize(labels, source)\n",
        after="        self.task.randomize(labels, source)\n        noisy = labels.copy()\n",
        caught_by=_fits("Laplace"),
    ),
    Fault(
        name="noisy labels moved to the mean of the true ones",
        path=_REGRESSOR,
        before="        self.one_output_ = len(columns) == 1\n",
        after="        noisy += columns[0].mean() - noisy.mean()\n        self.one_output_ = len(columns) == 1\n",
        caught_by=_fits("Laplace"),
    ),
    Fault(
        name="predictions clipped to the range of the true labels",
        path=_REGRESSOR,
        before="        self.label_bounds_ = [mechanism.label_bounds for mechanism in mechanisms]\n",
        after="        self.label_bounds_ = [(float(c.min()), float(c.max())) for c in columns]\n",
        caught_by=_fits("Laplace"),
    ),
    Fault(
        name="mechanism shaped by the spread of the true labels",
        path=_REGRESSOR,
        before="        m = self._averaging(X, n, fit_params)\n",
        after="        m = max(1.0, float(columns[0].std()) * n)\n",
        caught_by=_fits("bins, prior by a curator", "bins, prior known"),
    ),
    Fault(
        name="budget of several outputs stated for one",
        path=_REGRESSOR,
        before="    joint = sequential(*claims)\n",
        after="    joint = claims[0]\n",
        caught_by=_fits("two labels"),
    ),
    Fault(
        name="clip of residuals chosen from private ones",
        path=_REGRESSOR,
        before="        self.response_ = residual_response(errors / usual, epsilon, max(1.0, averaging), bounds)\n",
        after="        self.response_ = residual_response(columns[0] - g, epsilon, max(1.0, averaging), bounds)\n",
        caught_by=_fits("public model"),
    ),
    Fault(
        name="size of errors learnt from private ones",
        path=_REGRESSOR,
        before="        unit = np.ones(1) if size is None else size(F)\n",
        after="        unit = np.ones(1) if size is None else 1 + np.abs(columns[0] - g)\n",
        caught_by=_fits("public model and its records"),
    ),
    Fault(
        name="level of noisy errors learnt from private ones",
        path=_REGRESSOR,
        before="        untold = self.response_.untold(errors, usual)\n",
        after="        untold = self.response_.untold(private * unit, unit)\n",
        caught_by=_fits("public model and its records"),
    ),
    Fault(
        name="errors told in units are read without their level",
        path=_REGRESSOR,
        before='(private, source.child("labels", 0)) + untold.mean()\n',
        after='(private, source.child("labels", 0))\n',
        caught_by=("tests/label/test_scale.py::test_noisy_errors_in_units_have_the_level_of_public_errors",),
    ),
    Fault(
        name="rare classes found in the private labels",
        path="src/hedgerow/label/classifier.py",
        before="        self.mechanism_ = self._mechanism(public if ranked else None)\n",
        after="        self.mechanism_ = self._mechanism(public if ranked else None)\n"
        "        if self.prior is not None:\n"
        "            counted = np.bincount(codes, minlength=len(self.classes_))\n"
        "            top = most_informative(self.epsilon, counted / counted.sum())\n"
        "            self.mechanism_ = TopResponse(self.epsilon, len(self.classes_) - 1, top)\n",
        caught_by=whole_fits("LabelPrivateClassifier, prior"),
    ),
    Fault(
        name="a correction to the public model learnt from the true classes",
        path="src/hedgerow/label/classifier.py",
        before='            sent = self.mechanism_.randomize(ranks[np.arange(len(codes)), codes], source.child("labels", 0))\n',
        after='            self.mechanism_.randomize(ranks[np.arange(len(codes)), codes], source.child("labels", 0))\n'
        "            sent = np.minimum(ranks[np.arange(len(codes)), codes], len(self.mechanism_.top) - 1)\n",
        caught_by=whole_fits("LabelPrivateClassifier, public model"),
    ),
    Fault(
        name="shares of classes counted in the true labels",
        path="src/hedgerow/label/classifier.py",
        before="            self._learn(rows, sent, public, fit_params)\n        self.guarantee_ = claim\n",
        after="            self._learn(rows, sent, public, fit_params)\n"
        "            counted = np.bincount(codes, minlength=len(self.classes_)) / len(codes)\n"
        "            self.learner_ = replace(self.learner_, base=counted)\n"
        "        self.guarantee_ = claim\n",
        caught_by=whole_fits("LabelPrivateClassifier"),
    ),
)
