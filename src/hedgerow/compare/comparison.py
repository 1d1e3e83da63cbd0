"""The comparison behind ``hedgerow compare``: all trust models on one's own records, on the same splits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.compare.contestants import Case, Contestant, available
from hedgerow.compare.scores import Row
from hedgerow.errors import HedgerowError
from hedgerow.space import FeatureSpace

if TYPE_CHECKING:
    from hedgerow.schema import Schema

__all__ = ["Comparison", "Problem", "compare"]

TEST_SHARE = 0.2  # of the records, as in the 80:20 splits of the papers' tables


@dataclass(frozen=True, eq=False)
class Problem:
    """A user's records and what was declared about them; ``origin`` says where each declaration came from."""

    X: Any
    y: npt.NDArray[Any]
    target: str
    feature_bounds: npt.NDArray[np.float64]
    label_bounds: tuple[float, float] | None = None
    classes: tuple[str, ...] | None = None
    categories: dict[str, list[str]] = field(default_factory=dict)
    private: tuple[str, ...] = ()
    X_public: Any = None
    y_public: npt.NDArray[Any] | None = None
    origin: dict[str, str] = field(default_factory=dict)
    schema: Schema | None = None

    @property
    def metric(self) -> str:
        """What is measured."""
        return "mse" if self.classes is None else "accuracy"

    @property
    def better(self) -> str:
        """Which values are good."""
        return "lower" if self.classes is None else "higher"

    def split(self, repeat: int) -> tuple[Case, npt.NDArray[Any]]:
        """Return split number ``repeat`` and its test labels: 80 % to learn from, 20 % to test on."""
        n = len(self.y)
        order = np.random.default_rng([0x6865_6467, repeat]).permutation(n)
        test, train = np.split(order, [max(1, round(TEST_SHARE * n))])
        names = [str(c) for c in self.X.columns]
        space = FeatureSpace.from_bounds(self.feature_bounds, names, categories=self.categories)
        if self.schema is not None:
            space = self.schema.space
        case = Case(
            self.X.iloc[train], self.y[train], self.X.iloc[test], space, self.feature_bounds, self.label_bounds,
            self.classes, self.categories or None, self.private, self.X_public, self.y_public,
            self.schema,
        )  # fmt: skip
        return case, self.y[test]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores of every method, what each guarantees, and who could not take part and why."""

    problem: Problem
    epsilons: tuple[float, ...]
    repeats: int
    rows: list[Row]
    trust: dict[str, str]
    guarantees: dict[str, str]
    left_out: dict[str, str]


def compare(
    problem: Problem,
    epsilons: Sequence[float],
    repeats: int = 5,
    *,
    methods: Sequence[str] | None = None,
    seed: int = 0,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Comparison:
    """Fit every method that can take part, on each split and at each epsilon.

    All noise is seeded: what comes out are simulations to be looked at, not models to be published. The scores are
    computed on the private test records without any protection.

    Parameters
    ----------
    problem : Problem
        Records and declarations.
    epsilons : sequence of float
        Budgets.
    repeats : int
        Splits.
    methods : sequence of str, optional
        Names of contestants; by default all.
    seed : int
        Of all noise.
    progress : callable
        Called with the fits done and all of them.
    """
    able, left_out = available(
        classify=problem.classes is not None,
        public=problem.X_public is not None,
        private_columns=bool(problem.private),
    )
    if methods is not None:
        able = _chosen(able, left_out, methods)
    rows: list[Row] = []
    guarantees: dict[str, str] = {}
    todo = [(c, e) for c in able for e in ((None,) if c.free else tuple(epsilons))]
    for repeat in range(repeats):
        case, truth = problem.split(repeat)
        for i, (contestant, epsilon) in enumerate(todo):
            if contestant.name not in left_out:
                score, said = _score(contestant, case, truth, epsilon, seed + repeat)
                if score is None:
                    left_out[contestant.name] = said
                else:
                    guarantees.setdefault(contestant.name, said)
                    row = Row("compare", problem.target, contestant.trust, contestant.name, epsilon, None, "", repeat,
                              problem.metric, score)  # fmt: skip
                    rows.append(row)
            progress(repeat * len(todo) + i + 1, repeats * len(todo))
    rows = [r for r in rows if r.method not in left_out]
    trust = {c.name: c.trust for c in able if c.name not in left_out}
    return Comparison(problem, tuple(epsilons), repeats, rows, trust, guarantees, left_out)


def _chosen(able: list[Contestant], left_out: dict[str, str], methods: Sequence[str]) -> list[Contestant]:
    known = [*(c.name for c in able), *left_out]
    for name in methods:
        if name not in known:
            raise HedgerowError(f"--methods must be among {', '.join(known)}. Got {name!r} instead.")
        if name in left_out:
            raise HedgerowError(f"--methods: {name} {left_out[name]}.")
    left_out.clear()
    return [c for c in able if c.name in methods]


def _score(
    contestant: Contestant, case: Case, truth: npt.NDArray[Any], epsilon: float | None, seed: int
) -> tuple[float | None, str]:
    """Return the test score and the guarantee in words, or None and why the method could not be used."""
    try:
        guess, guarantee = contestant.run(case, epsilon or 0.0, seed)
    except HedgerowError as error:  # too few records, a class without a record, ...: its own words say it best
        return None, f"could not be used: {error}"
    if case.classes is None:
        low, high = case.label_bounds or (-np.inf, np.inf)
        score = float(np.mean((np.clip(guess.astype(np.float64), low, high) - truth.astype(np.float64)) ** 2))
    else:
        score = float(np.mean(guess.astype(str) == truth.astype(str)))
    said = "" if guarantee is None else str(replace(guarantee, simulation=False))
    return score, said
