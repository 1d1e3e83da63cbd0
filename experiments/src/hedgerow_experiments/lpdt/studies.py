"""The studies behind figures 1, 2(a-c), 3 and 5 of the LPDT paper: curves as rows of numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hedgerow.compare.scores import Row
from hedgerow.grid import LabelGrid
from hedgerow.partition import grow
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.tree.bits import split_epsilon
from hedgerow.tasks.tree.model import TreeModel
from hedgerow.tasks.tree.task import LocalTask
from hedgerow.types import FloatArray
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.splits import Part, Split, widened
from hedgerow_experiments.experiment import Experiment, Key
from hedgerow_experiments.lpdt.declared import BANDWIDTHS, BINS, SHARES, THRESHOLDS
from hedgerow_experiments.lpdt.methods import Stream, Tabulated, mse
from hedgerow_experiments.tidy import row_of

__all__ = ["STUDIES", "Point", "compute", "lpdt_model", "make_split", "synthetic", "tidy"]

LABELS = (-4.5, 4.5)
"""Public label bounds of the synthetic study: |sin| <= 1 and noise beyond 3.5 deviations is clipped."""


class Point(NamedTuple):
    """The error of one repetition: of a method at a budget, at x on the axis, with a parameter chosen later."""

    method: str
    epsilon: float
    x: float | None
    parameter: str
    error: float


def synthetic(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw ``Y = sin(16 X) + N(0, 1)``, ``X ~ N(0.5, variance 0.025)`` cut to [0, 1] (section 4.1)."""
    x = np.clip(rng.normal(0.5, np.sqrt(0.025), n), 0, 1)
    return x[:, None], np.sin(16 * x) + rng.normal(size=n)


def make_split(
    space: FeatureSpace, bounds: tuple[float, float], *parts: tuple[npt.NDArray[Any], npt.NDArray[Any]]
) -> Split:
    """Return a split of given (records, labels): public, private, test."""
    public, private, test = (Part(Z, space.encode(Z), np.asarray(y, dtype=np.float64)) for Z, y in parts)
    return Split(space, bounds, {}, public, private, test)


def synthetic_split(repeat: int) -> Split:
    """Return 2,000 public, 6,000 private and 2,000 test records."""
    rng = np.random.default_rng([41, repeat])
    space = FeatureSpace.from_bounds((0, 1), ["x"])
    return make_split(space, LABELS, *(synthetic(n, rng) for n in (2000, 6000, 2000)))


def lpdt_model(tree: Tabulated, epsilon: float, share: float, source: Randomness) -> TreeModel:
    """Return the paper's estimator, without any public fall-back, on one partition."""
    grid = LabelGrid.for_epsilon(tree.data.label_bounds, split_epsilon(epsilon, share)[1])
    task = LocalTask(epsilon, grid, tree.partition, "bits", share, tree.public)
    column = task.encoding.column(grid.levels(tree.data.private.y, source), source)
    return tree.fit(task, column, source)


def _grown(data: Split, rule: str, depth: int, leaf: int) -> Tabulated:
    tree = grow(rule, data.space, data.public.Z, data.public.y, max_depth=depth, min_samples_leaf=leaf)
    return Tabulated(tree, data)


def _error(tree: Tabulated, epsilon: float, share: float, source: Randomness) -> float:
    values = lpdt_model(tree, epsilon, share, source).leaf_values
    return mse(tree.data.test.y, values[tree.test])


def depth_study(dataset: str, repeat: int) -> Iterator[Point]:
    """Figure 2(a): error against depth, smallest leaf 20, share 0.5."""
    data = synthetic_split(repeat)
    source = Stream(repeat, ("2a",))
    for depth in (2, 3, 4, 5, 6):
        tree = _grown(data, "max_edge", depth, 20)
        for epsilon in (3, 4, 6, 8):
            yield Point("LPDT-M", epsilon, depth, "", _error(tree, epsilon, 0.5, source))


def leaf_study(dataset: str, repeat: int) -> Iterator[Point]:
    """Figure 2(b): error against the smallest leaf, depth 8, share 0.5."""
    data = synthetic_split(repeat)
    source = Stream(repeat, ("2b",))
    for leaf in range(15, 136, 10):
        tree = _grown(data, "max_edge", 8, leaf)
        for epsilon in (3, 4, 6, 8):
            yield Point("LPDT-M", epsilon, leaf, "", _error(tree, epsilon, 0.5, source))


def _grid_errors(
    data: Split, rule: str, epsilons: Iterable[float], source: Randomness, depths: Iterable[int] = (1, 2, 3, 4, 5, 6)
) -> Iterator[tuple[float, float, str]]:
    """Yield (epsilon, error, parameter) over a grid of leaf size, depth and share."""
    epsilons = list(epsilons)
    for depth, leaf in itertools.product(depths, (5, 20, 60, 120)):
        tree = _grown(data, rule, depth, leaf)
        for epsilon, share in itertools.product(epsilons, SHARES):
            yield epsilon, _error(tree, epsilon, share, source), f"depth={depth} leaf={leaf} share={share}"


def _histogram_errors(data: Split, epsilon: float, source: Randomness) -> Iterator[tuple[str, float, str]]:
    from hedgerow.baselines.histogram import PrivateHistogramRegressor

    bounds = data.space.ranges
    for bins in BINS:
        model = PrivateHistogramRegressor(
            epsilon, label_bounds=data.label_bounds, feature_bounds=bounds, n_bins=bins, random_state=source
        ).fit(data.private.Z, data.private.y)
        for threshold, adjusted in itertools.product(THRESHOLDS, (False, True)):
            error = mse(data.test.y, model.set_params(threshold=threshold, adjusted=adjusted).predict(data.test.Z))
            yield "APHIST" if adjusted else "PHIST", error, f"bins={bins} threshold={threshold}"


def _deconvolution_errors(data: Split, epsilon: float, source: Randomness) -> Iterator[tuple[float, float]]:
    from hedgerow.baselines.deconvolution import DeconvolutionRegressor

    bounds = data.space.ranges
    model = DeconvolutionRegressor(
        epsilon, label_bounds=data.label_bounds, feature_bounds=bounds, random_state=source
    ).fit(data.private.Z, data.private.y)
    for h in BANDWIDTHS:
        yield mse(data.test.y, model.set_params(bandwidth=h).predict(data.test.Z)), h


def budget_study(dataset: str, repeat: int) -> Iterator[Point]:
    """Figure 2(c): all methods against epsilon, best parameters in hindsight."""
    epsilons = (0.5, *range(1, 11))
    data = synthetic_split(repeat)
    source = Stream(repeat, ("2c",))
    for name, rule in (("LPDT-M", "max_edge"), ("LPDT-V", "cart")):
        for epsilon, error, parameter in _grid_errors(data, rule, epsilons, source):
            yield Point(name, epsilon, None, parameter, error)
    for epsilon in epsilons:
        for name, error, parameter in _histogram_errors(data, epsilon, source):
            yield Point(name, epsilon, None, parameter, error)
        for error, h in _deconvolution_errors(data, epsilon, source):
            yield Point("DECONV", epsilon, None, f"bandwidth={h}", error)


def public_study(dataset: str, repeat: int, epsilon: float = 6.0) -> Iterator[Point]:
    """Figure 3: red wine, 100 public and up to 1,100 private records; LPDT against PHIST, epsilon 6.

    The paper does not print its epsilon. Both methods scale features by the same public ranges.
    """
    data = load_dataset(dataset)
    X = np.asarray(data.X, dtype=np.float64)
    y = np.asarray(data.y, dtype=np.float64)
    order = np.random.default_rng([3, repeat]).permutation(len(y))
    source = Stream(repeat, ("3",))
    public = order[:100]
    private = order[100:1200]
    test = order[1200:]
    space = FeatureSpace.from_public(X[public])
    bounds = widened(y[public])
    for delta in (0.2, 0.4, 0.6, 0.8, 1.0):
        some = private[: round(delta * len(private))]
        part = make_split(space, bounds, *((X[i], y[i]) for i in (public, some, test)))
        for name, rule in (("LPDT-M", "max_edge"), ("LPDT-V", "cart")):
            for _, error, parameter in _grid_errors(part, rule, [epsilon], source, (1, 2, 3, 4)):
                yield Point(name, epsilon, len(some), parameter, error)
        for name, error, parameter in _histogram_errors(part, epsilon, source):
            if name == "PHIST":
                yield Point(name, epsilon, len(some), parameter, error)


def _wine() -> tuple[npt.NDArray[Any], ...]:
    public = load_dataset("RED")
    private = load_dataset("WHI")
    return np.asarray(public.X, float), np.asarray(public.y, float), np.asarray(private.X, float), private.y


def _taxi() -> tuple[npt.NDArray[Any], ...]:
    """Return trips paid by prepaid card (public) and by credit card (private); a missing area is area 0."""
    data = load_dataset("TAX")
    numbers = data.X.drop(columns=["company", "payment_type"]).fillna(0).to_numpy(dtype=float)
    y = np.asarray(data.y, dtype=np.float64)
    paid = np.asarray(data.X["payment_type"])
    public = paid == "Prcard"
    private = paid == "Credit Card"
    return numbers[public], y[public], numbers[private], y[private]


def shift_study(dataset: str, repeat: int) -> Iterator[Point]:
    """Figure 5: 1,000 records for the partition, a share delta of them from the other distribution."""
    X0, y0, X1, y1 = {"wine": _wine, "taxi": _taxi}[dataset]()
    rng = np.random.default_rng([5, repeat])
    source = Stream(repeat, ("5", dataset))
    foreign = rng.permutation(len(y0))
    own = rng.permutation(len(y1))
    test = own[: len(own) // 5]
    rest = own[len(own) // 5 :]
    for delta in (0.1, 0.3, 0.5, 0.7, 0.9):
        far = foreign[: round(1000 * delta)]
        near = rest[: round(1000 * (1 - delta))]
        Z = np.vstack([X0[far], X1[near]])
        y = np.concatenate([y0[far], y1[near]])
        # The same holders and bounds for every delta, so that only the partition differs.
        space = FeatureSpace.from_public(np.vstack([X0, X1[rest[:900]]]))
        bounds = widened(np.concatenate([y0, y1[rest[:900]]]))
        data = make_split(space, bounds, (Z, y), (X1[rest[900:]], y1[rest[900:]]), (X1[test], y1[test]))
        for epsilon, error, parameter in _grid_errors(data, "max_edge", (2, 4, 6, 8), source, (1, 2, 4, 6)):
            yield Point("LPDT-M", epsilon, delta, parameter, error)


STUDIES: dict[str, Callable[[str, int], Iterator[Point]]] = {
    "2a": depth_study,
    "2b": leaf_study,
    "2c": budget_study,
    "3": public_study,
    "5": shift_study,
}
"""By figure; each takes the data set and the number of the repetition."""


def compute(key: Key, seed: int) -> list[Point]:
    """Compute one repetition of a figure."""
    return list(STUDIES[key.setting](key.dataset, key.repeat))


def tidy(experiment: Experiment, key: Key, value: list[Any]) -> Iterator[Row]:
    """Yield the points of one repetition as rows."""
    for method, epsilon, x, parameter, error in value:
        yield row_of(experiment, key, error, method=method, epsilon=float(epsilon), x=x, parameter=parameter)
