"""A guide: the error to expect of every trust model with so many holders, from public records alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.digits import plain
from hedgerow.errors import HedgerowError
from hedgerow.grid import check_label_bounds, check_labels
from hedgerow.local.advise.facts import PublicFacts, count_fits, measure_public
from hedgerow.local.advise.learning import LearningCurve
from hedgerow.mechanisms.bit_sums import flips_variance
from hedgerow.public import PublicModel
from hedgerow.tasks.assisted.choose import SIZES, choose_randomizer
from hedgerow.tasks.gate import Estimate, safe_share
from hedgerow.tasks.partly_public.assist import best_radius

__all__ = ["SETTINGS", "Advice", "Forecast", "advise", "advise_from"]


SETTINGS = ("public only", "local", "semi-feature", "label", "aggregate")
_DELTA = 1e-6  # of the aggregate model, as SecureSumRegressor has it
_CLIP = 0.9  # quantile of errors to which sums clip them, as there
EFFICIENCY = 0.8
"""What a label without noise is worth to the learner of corrections, in records of the learning curve."""
TWICE = 2.0
WORTH = 0.25
"""What :mod:`hedgerow.label.evidence` scales by. It is on the same layer; a test sees to it that they agree."""
_NORMAL = np.array([NormalDist().inv_cdf((k + 0.5) / 40) for k in range(40)])
_CELLS = 16  # that a second round is taken to have, where it has not been designed; by hand
_PAYS = 0.99  # of the public model's error: a gain of 1 %; by hand
_MORE = 4  # times as many people or public records: what a project may still hope for; by hand
_STRONGER = 2  # times the epsilon: more would be another promise; by hand
_FAR = 10**10  # holders: more than there are people


@dataclass(frozen=True)
class Forecast:
    """What one trust model is expected to do.

    Attributes
    ----------
    setting : str
        One of :data:`SETTINGS`.
    mse : float
        Expected squared error on a new record.
    pays_from : int or None
        Holders from which it is expected to be at least 1 % better than the public model; None if never.
    """

    setting: str
    mse: float
    pays_from: int | None


@dataclass(frozen=True, eq=False)
class Advice:
    """Forecasts for one epsilon and number of holders; the numbers behind them are public facts.

    Attributes
    ----------
    mean_square : float
        Error expected of the public model: its mean squared out-of-fold error, from most of the records,
        brought to all of them by the learning curve.
    spread : float
        Variance of the public labels.
    curve : LearningCurve
        Error of the public model by number of records.
    open_share : float
        What features that are not private explain, as a share of what all explain.
    """

    epsilon: float
    n_holders: int
    n_public: int
    mean_square: float
    spread: float
    curve: LearningCurve
    open_share: float | None
    noise: dict[str, float] = field(repr=False)
    leaf_noise: dict[int, float] = field(repr=False)
    facts: PublicFacts = field(repr=False)

    def at(self, *, epsilon: float | None = None, n_holders: int | None = None, n_public: int | None = None) -> Advice:
        """Return the forecasts for another epsilon, number of holders or of public records.

        More public records are taken to make all errors of the public model smaller by what its learning curve says.
        """
        m = self.n_public if n_public is None else check_positive(n_public, name="n_public")
        smaller = math.sqrt(self.curve(m) / self.curve(self.n_public))
        found = advise_from(
            replace(self.facts, residuals=smaller * self.facts.residuals),
            self.epsilon if epsilon is None else check_epsilon(epsilon),
            self.n_holders if n_holders is None else check_positive(n_holders, name="n_holders"),
        )
        return replace(found, n_public=m, facts=self.facts)

    def would_bring(self) -> dict[str, dict[str, float]]:
        """Return, for each trust model, the error now and with more of one thing, over that of the public model now."""
        others = {
            "now": self,
            f"{_MORE} x people": self.at(n_holders=_MORE * self.n_holders),
            f"{_STRONGER} x epsilon": self.at(epsilon=_STRONGER * self.epsilon),
            f"{_MORE} x public": self.at(n_public=_MORE * self.n_public),
        }
        return {
            setting: {what: one.expected(setting, one.n_holders) / self.mean_square for what, one in others.items()}
            for setting in self.settings
        }

    def expected(self, setting: str, n: float) -> float:
        r"""Return the expected error with n holders.

        local, semi-feature
            ``S2 - tau (tau/(tau + N))^2``, the best over trees of K leaves: tau is what corrections by K leaves can be
            expected to gain, ``S2 (1/4 (1 - K^-1/4) + 0.004)`` times :attr:`learnable`, and N the noise of their
            estimates. The semi-feature model may also learn from one noisy error a holder, over the columns that
            are not private: :attr:`open_share` of what the label model gains.
        aggregate
            As local, where a leaf mean of an error clipped to c has the noise of both servers and that of rounding:
            ``N = c^2 (4 sigma^2 K^2 / n^2 + K / n)``, sigma that of one server and one tree at a delta of 1e-6.
        label
            ``S2 - G E[2 s - s^2]``. G is what the learning curve gains until ``n_public + c n min(1, S2/v)^2`` records:
            v is the second moment of one noisy error, so a noisy label is worth at most S2/v of an exact one, and
            learners do worse than that the more noise there is. s is the share of its correction that
            :class:`~hedgerow.LabelPrivateRegressor` dares to use: ``max(0, 1 - 16 v/(n S2))`` times what keeps the
            lower bound of the gain above a loss of 1 %; the mean is over what reports say of the gain, normal around it
            with a deviation of ``sqrt(v G/n)``.
        """
        S2 = self.mean_square
        if setting == "local":
            return S2 + min(_gain(S2, K, unit / n, self.learnable) for K, unit in self.leaf_noise.items())
        if setting == "semi-feature":
            share = 1.0 if self.open_share is None else self.open_share
            cells = -_gain(S2, _CELLS, _CELLS * self.noise["semi-feature"] / n, share * self.learnable)
            return S2 - max(cells, share * self._label_gain(n))
        if setting == "label":
            return S2 - self._label_gain(n)
        if setting == "aggregate":
            return S2 + min(_gain(S2, K, self._sums_noise(K, n), self.learnable) for K in self.leaf_noise)
        if setting == "public only":
            return S2
        raise HedgerowError(f"The 'setting' parameter must be one of {list(SETTINGS)}. Got {setting!r} instead.")

    def _sums_noise(self, K: int, n: float) -> float:
        """Return the noise of corrections by K leaves from sums over n holders, whatever the number of trees."""
        errors = np.abs(self.facts.residuals)
        wide = float(np.quantile(errors, _CLIP)) ** 2 / max(float(np.mean(errors**2)), 1e-300)
        server = float(flips_variance(2, self.epsilon, _DELTA))
        return wide * self.mean_square * (4 * server * K**2 / n**2 + K / n)

    def _label_gain(self, n: float) -> float:
        S2 = self.mean_square
        v = self.noise["label"]
        worth = EFFICIENCY * n * min(1.0, S2 / v) ** 2
        gain = S2 * (1 - self.curve(self.n_public + worth) / self.curve(self.n_public))
        if gain <= 0:
            return 0.0
        error = math.sqrt(v * gain / n)
        found = gain + error * _NORMAL
        doubt = math.sqrt(TWICE) * error
        most = [safe_share(Estimate(gain, product, doubt), S2) for product in found.tolist()]
        used = max(0.0, 1 - 4 * v / (n * WORTH * S2)) * np.clip(np.minimum(found / gain, most), 0.0, 1.0)
        return gain * float(np.mean(2 * used - used**2))

    @property
    def learnable(self) -> float:
        """How much of the public model's error eight times the records would take away, g, as ``(2 g)**2``, at most 1.

        Form and limit were set on ABA, AIR, CON and RED; a flat learning curve leaves nothing to correct.
        """
        return min(1.0, (2 * (1 - self.curve(8 * self.n_public) / self.curve(self.n_public))) ** 2)

    @property
    def settings(self) -> tuple[str, ...]:
        """The trust models that apply: semi-feature needs to know which columns are private."""
        return tuple(s for s in SETTINGS if s != "semi-feature" or self.open_share is not None)

    @property
    def forecasts(self) -> list[Forecast]:
        """One forecast a trust model."""
        return [Forecast(s, self.expected(s, self.n_holders), self.pays_from(s)) for s in self.settings]

    def pays_from(self, setting: str) -> int | None:
        """Return the least number of holders for a gain of 1 %, by bisection (errors fall with more holders)."""
        goal = _PAYS * self.mean_square
        low = 1
        high = _FAR
        if setting == "public only" or self.expected(setting, high) > goal:
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.expected(setting, middle) <= goal else (middle + 1, high)
        return low

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {
            "epsilon": "inf" if math.isinf(self.epsilon) else self.epsilon,
            "n_holders": self.n_holders,
            "n_public": self.n_public,
            "would_bring": self.would_bring(),
            "forecasts": [
                {"setting": f.setting, "mse": f.mse, "over_public": f.mse / self.mean_square, "pays_from": f.pays_from}
                for f in self.forecasts
            ],
        }

    def table(self) -> list[str]:
        """Return the forecasts as lines of text."""
        lines = [f"{'trust model':<14}{'expected MSE':>14}{'over public':>13}{'pays from (holders)':>22}"]
        for f in self.forecasts:
            pays = "-" if f.pays_from is None else f"{f.pays_from:,}"
            lines.append(f"{f.setting:<14}{plain(f.mse):>14}{f.mse / self.mean_square:>13.3f}{pays:>22}")
        return lines

    def more(self) -> list[str]:
        """Return what more people, a larger epsilon and more public records would bring, as lines of text."""
        found = self.would_bring()
        columns = list(next(iter(found.values())))
        lines = ["Error over that of the public model now, with more of one thing:"]
        lines.append(f"{'trust model':<14}" + "".join(f"{name:>14}" for name in columns))
        for setting, row in found.items():
            lines.append(f"{setting:<14}" + "".join(f"{row[name]:>14.3f}" for name in columns))
        return lines


def _gain(S2: float, K: int, noise: float, share: float = 1.0) -> float:
    """Return the change of error, ``-tau (tau/(tau + N))^2``: shrinkage, and not knowing how far to shrink."""
    tau = share * S2 * (0.25 * (1 - K**-0.25) + 0.004)
    return -tau * (tau / (tau + noise)) ** 2 if tau > 0 else 0.0


def advise(
    X_public: Any,
    y_public: Any,
    *,
    n_holders: int,
    epsilon: float = 1.0,
    private_columns: Sequence[str | int] | None = None,
    label_bounds: Any = None,
    public_model: PublicModel | None = None,
    facts: PublicFacts | None = None,
    random_state: int = 0,
    progress: Callable[[int, int], object] = lambda done, total: None,
    **schema: Any,
) -> Advice:
    """Predict, from public records alone, what each trust model would achieve with ``n_holders`` holders.

    Parameters
    ----------
    X_public, y_public : public records and labels
        At least 20.
    n_holders : int
        How many are expected to answer.
    epsilon : float, default=1.0
        Budget of one holder.
    private_columns : list, optional
        Columns that are private in the semi-feature model, by name or number.
    label_bounds : (low, high), optional
        Public range of the label; by default that of the public labels.
    public_model, facts : optional
        A fitted PublicModel, or what was measured on it (:func:`~hedgerow.local.advise.facts.measure_public`), to save
        the time of doing it again.
    progress : callable
        Called now and then with the fits that are done and, about, all of them.
    schema : feature_bounds, categorical_features, categories
        Passed to :class:`~hedgerow.PublicModel`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((25, 2)); y = X[:, 0] + rng.normal(0, 0.1, 25)
    >>> advice = advise(X, y, n_holders=10_000, epsilon=1.0)
    >>> [f.setting for f in advice.forecasts]
    ['public only', 'local', 'label', 'aggregate']
    """
    epsilon = check_epsilon(epsilon)
    n = check_positive(n_holders, name="n_holders")
    y = np.asarray(check_labels(y_public, name="y_public"), dtype=np.float64)
    if len(y) < 20:
        raise HedgerowError(f"'y_public' must have at least 20 records to advise from. Got {len(y)} instead.")
    low, high = (float(y.min()), float(y.max())) if label_bounds is None else check_label_bounds(label_bounds)
    if facts is None:
        model = public_model
        if model is None:
            model = PublicModel(random_state=random_state, **schema).fit(X_public, y)
        total = count_fits(model)
        facts = measure_public(
            model,
            X_public,
            y,
            (low, high),
            private_columns,
            random_state,
            fitted=lambda done: progress(min(done, total), total),
        )
    return advise_from(facts, epsilon, n)


def advise_from(facts: PublicFacts, epsilon: float, n_holders: int) -> Advice:
    """Return forecasts from what was measured on public records; closed forms, no fitting."""
    res = facts.residuals
    S2 = (float(np.mean(res**2)) or 1e-300) * facts.curve(len(res)) / facts.curve(facts.fitted_on)
    local = {}
    for K in (k for k in SIZES if k == 1 or 3 * k <= len(res)):
        choice = choose_randomizer(res, epsilon, K)
        local[K] = K * (choice.A + (K - 1) * choice.B)  # leaves of equal shares
    noise = {"semi-feature": best_radius(res, epsilon)[1], "label": choose_randomizer(res, epsilon, 1).A}
    return Advice(epsilon, n_holders, len(res), S2, facts.spread, facts.curve, facts.open_share, noise, local, facts)
