"""Design of an assisted task, from public records and the closed-form noise and bias alone."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.grid import check_label_bounds, check_labels, check_public_range
from hedgerow.local.assisted.reference import reference_rows
from hedgerow.portable import PortableModel, Trees
from hedgerow.public import PublicModel
from hedgerow.public.convert import portable_parts
from hedgerow.public.given import fit_public_model
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.assisted.choose import SIZES, Choice, choices, expected_share
from hedgerow.tasks.assisted.message import build_joint
from hedgerow.tasks.assisted.pilot_check import check_pilot
from hedgerow.tasks.assisted.pilot_totals import PilotTotals
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.assisted.task import AssistedTask
from hedgerow.tasks.totals import Totals
from hedgerow.types import FloatArray

__all__ = ["design_assisted", "design_seed", "design_without_public"]


_LEAVES_IF_WIDER = 16
"""Most leaves where a pilot finds larger errors than public ones; chosen on wines and taxi trips that shift."""
_OTHER_PILOT = "The 'pilot' parameter is of another public model, schema or label bounds; ask it again."


def grow_forest(F: FloatArray, targets: FloatArray, K: int, n_trees: int, seed: int) -> Trees:
    """Return trees of at most K leaves; the values of their leaves are the shares of the rows of ``F``.

    They are grown on errors and labels, each in its own standard deviations, and each tree on other two thirds of the
    rows. On errors and all rows they follow the noise of a few hundred records, and each other: with 400 public records
    of ABA, CAL and CCP and reports of all others, .993 of the public model's error was left at epsilon 4 and .972 at 8,
    now it is .987 and .970 (two forests each; all rows: .989 and .970; drawn with replacement: .988 and .972). On
    labels alone (.992 and .965) they miss what a poor public model does.
    """
    return _grown(F.tobytes(), targets.tobytes(), len(F), K, n_trees, seed)


@lru_cache(maxsize=len(SIZES))
def _grown(columns: bytes, targets: bytes, n: int, K: int, n_trees: int, seed: int) -> Trees:
    """Grow them; kept, for they are the same at every epsilon and after a pilot."""
    F = np.frombuffer(columns).reshape(n, -1)
    aims = np.frombuffer(targets).reshape(n, -1)
    if K == 1:
        aims = np.zeros((n, 1))
    limits = {"max_leaf_nodes": max(K, 2), "max_features": 0.5, "min_samples_leaf": max(1, n // (3 * K))}
    sizes = []
    feature = []
    threshold = []
    shares = []
    for t in range(n_trees):
        drawn = np.random.default_rng(seed + t).permutation(n)[: max(1, 2 * n // 3)]
        tree = DecisionTreeRegressor(**limits, random_state=seed + t).fit(F[drawn], aims[drawn])
        _, (part,) = portable_parts(tree, F.shape[1])
        assert isinstance(part, Trees)
        count = np.bincount(part.apply(F)[:, 0], minlength=part.n_leaves[0])
        sizes.append(part.sizes)
        feature.append(part.feature)
        threshold.append(part.threshold)
        shares.append(count / n)
    return Trees(np.concatenate(sizes), np.concatenate(feature), np.concatenate(threshold), np.concatenate(shares))


def _in_deviations(values: FloatArray) -> FloatArray:
    spread = float(values.std())
    return values / spread if spread > 0 else np.zeros_like(values)


def expected_error(trees: Trees, choice: Choice, S2: float, n_holders: int) -> float:
    r"""Return the expected squared error of the assisted model, up to a constant.

    .. math:: -\sum_k \frac{\tau_k^2}{\tau_k + b_k + N_k}, \qquad \tau_k = \Delta\varphi_k S^2, \qquad
              b_k = \Delta\varphi_k\, \mathrm{var}(\mathrm{clip}(res)/\gamma - res), \qquad
              N_k = \frac{k - k'}{K} N

    K leaves are 1, 2, 3, 4, 6 ... K leaves, each step from k' to k splitting some of those before. A step can be
    expected to gain :math:`\tau_k`, with phi :func:`~hedgerow.tasks.assisted.choose.expected_share`; b is the squared
    bias of clipping, N the noise of the average over trees, of which a step has its share of the leaves. Of every step
    so much is kept as is best with these errors: corrections are pooled (:mod:`hedgerow.tasks.assisted.pool`), and what
    few leaves tell is kept where what many tell is not.
    """
    T = len(trees.sizes)
    p = trees.value
    noise = float(np.sum((p * choice.A + (1 - p) * choice.B) / p)) * T / n_holders / T**2
    K = max(trees.n_leaves)
    steps = np.array([k for k in SIZES if k < K] + [K])
    share = np.diff([expected_share(int(k)) for k in steps], prepend=0.0)
    tau = share * S2
    total = tau + share * choice.excess + np.diff(steps, prepend=0) / K * noise
    return -float(np.sum(tau**2 / np.maximum(total, 1e-300)))


def design_assisted(
    X_public: object,
    y_public: object,
    *,
    epsilon: float,
    label_bounds: object,
    n_holders: int,
    public_model: Any = "auto",
    n_trees: int = 8,
    random_state: int = 0,
    target: str = "y",
    pilot: PilotTotals | Totals | None = None,
    **schema: Any,
) -> AssistedTask:
    """Fit the public model, and choose trees, radius and randomiser for ``n_holders`` holders.

    Parameters
    ----------
    n_holders : int
        How many will answer this task, those of the pilot not among them.
    public_model : "auto", "compact", a regressor or a fitted PublicModel
        See :data:`~hedgerow.public.given.PUBLIC_MODEL`; ``"compact"`` is at most 200 kB.
    pilot : PilotTotals, Totals of a pilot task, or None
        What other holders told about the size of errors, see :func:`design_pilot`. If it contradicts the public
        out-of-fold residuals (:func:`~hedgerow.tasks.assisted.check_pilot`), radius, randomiser and decoding are
        those for errors as the pilot found them; else it changes nothing.
    schema : feature_bounds, categorical_features, categories
        Passed to :class:`~hedgerow.PublicModel`.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 2)); y = X[:, 0] + (X[:, 1] > 0.5) + rng.normal(size=300)
    >>> options = dict(epsilon=2.0, label_bounds=(-3, 5), public_model=Ridge())
    >>> for n in (100, 10_000, 1_000_000):
    ...     print(max(design_assisted(X, y, n_holders=n, **options).trees.n_leaves))
    2
    8
    32
    """
    epsilon = check_epsilon(epsilon)
    bounds = check_label_bounds(label_bounds)
    check_positive(n_trees, name="n_trees")
    model = public_model_for(public_model, random_state, schema, X_public, y_public)
    portable = model.portable_
    assert portable is not None
    Z, seen, honest = public_errors(model, X_public, y_public, bounds)
    residuals = seen if pilot is None else _as_in_pilot(pilot, model, Z, bounds, seen)
    F = np.column_stack([portable.design(Z), honest])
    targets = np.column_stack([_in_deviations(seen), _in_deviations(honest + seen)])
    S2 = float(np.mean(residuals**2))
    best = None
    least = np.inf
    # Larger errors make for larger corrections, and whatever is wrong about the shares of small leaves multiplies them.
    most = _LEAVES_IF_WIDER if float(np.mean(seen**2)) < S2 else max(SIZES)
    for K in (k for k in SIZES if k <= most and (k == 1 or 3 * k <= len(F))):
        trees = grow_forest(F, targets, K, n_trees, random_state)
        for choice in choices(residuals, epsilon, K):
            error = expected_error(trees, choice, S2, max(1, n_holders))
            if error < least:
                least = error
                best = (trees, choice)
    assert best is not None
    trees, choice = best
    rows = reference_rows(F, lambda D: np.clip(portable.predict_design(D), *bounds), random_state)
    levels = build_joint(choice.randomizer, choice.parameter, epsilon, 1).n_levels
    return AssistedTask(
        epsilon, bounds, model.space_, portable, trees, choice.radius, choice.randomizer, choice.parameter,
        Residuals.summarise(residuals, choice.radius, levels), _busy(trees, F, residuals / choice.radius, levels),
        trees.apply(rows), target,
    )  # fmt: skip


def design_seed(source: Randomness) -> int:
    """Return the seed of the public model and of the trees."""
    return int(source.child("design").integers(2**31 - 1, 1)[0])


def public_errors(
    model: PublicModel, X: object, y: object, bounds: tuple[float, float]
) -> tuple[Any, FloatArray, FloatArray]:
    """Return encoded public records, their out-of-fold residuals and predictions, both within the bounds."""
    Z = model.space_.encode(X)
    labels = check_labels(y, name="y_public", n=len(Z))
    check_public_range(labels, bounds)
    honest = np.clip(labels - model.residuals_, *bounds)
    return Z, np.asarray(np.clip(labels, *bounds) - honest, dtype=np.float64), honest


def _as_in_pilot(
    pilot: PilotTotals | Totals,
    model: PublicModel,
    Z: FloatArray,
    bounds: tuple[float, float],
    seen: FloatArray,
) -> FloatArray:
    """Return residuals with the distribution that the pilot found, or as they are if it does not contradict them."""
    totals = pilot.model() if isinstance(pilot, Totals) else pilot
    task = totals.task
    own = model.portable_
    if own is None or task.space != model.space_ or task.label_bounds != bounds:
        raise HedgerowError(_OTHER_PILOT)
    # Fitted again on another machine, a model may differ in its last digits.
    if not np.allclose(task.public_model.predict(Z), own.predict(Z), rtol=1e-6, atol=1e-9):
        raise HedgerowError(_OTHER_PILOT)
    return check_pilot(totals, seen).apply(seen)


def public_model_for(public_model: Any, seed: int, schema: dict[str, Any], X: object, y: object) -> PublicModel:
    """Return the fitted public model that ``public_model`` asks for; it has a portable form."""
    model: PublicModel = fit_public_model(public_model, X, y, random_state=seed, **schema)
    if model.portable_ is None:
        raise HedgerowError("The 'public_model' parameter has no portable form; pass PublicModel(..., compact=True).")
    return model


def _busy(trees: Trees, F: FloatArray, v: FloatArray, n_levels: int) -> tuple[float, ...]:
    """Return the public share, leaf by leaf, of residuals that round to a level other than 0 (shrunk to the whole)."""
    if n_levels == 2:
        return (1.0,) * len(trees.value)
    other = np.minimum(1.0, np.abs(v) * (n_levels - 1) / 2)
    overall = float(other.mean())
    out = []
    for leaf, k in zip(trees.apply(F).T, trees.n_leaves, strict=True):
        count = np.bincount(leaf, minlength=k)
        total = np.bincount(leaf, weights=other, minlength=k)
        out += ((total + 5 * overall) / (count + 5)).tolist()
    return tuple(max(b, 1e-3) for b in out)


def design_without_public(
    space: FeatureSpace, *, epsilon: float, label_bounds: object, target: str = "y"
) -> AssistedTask:
    """Return a task without public records: one leaf, and the middle of the bounds to start from.

    >>> space = FeatureSpace.from_bounds((0, 1), 2)
    >>> design_without_public(space, epsilon=1.0, label_bounds=(0, 4)).radius
    2.0
    """
    epsilon = check_epsilon(epsilon)
    (low, high) = check_label_bounds(label_bounds)
    radius = (high - low) / 2
    d = len(space)
    base = PortableModel(d, np.arange(d), np.full(d, -1), low + radius, ())
    tree = Trees(np.array([1]), np.array([-1]), np.array([]), np.array([1.0]))
    residuals = Residuals.summarise(np.linspace(-radius, radius, 101), radius * (1 + 1e-9), 2)
    return AssistedTask(
        epsilon, (low, high), space, base, tree, radius, "subset", 1, residuals, (1.0,), np.zeros((1, 1), int), target
    )
