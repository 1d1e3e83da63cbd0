"""What models with one value a leaf share: predictions, the table, words and the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hedgerow.partition.tree import Partition
from hedgerow.space import FeatureSpace
from hedgerow.tasks.forecast import forecast
from hedgerow.tasks.intervals import Ends, holding
from hedgerow.tasks.models import Model, Node, check_level
from hedgerow.tasks.rules import cell_rules, partition_node, reports
from hedgerow.tasks.tree.estimates import LeafEstimates
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hedgerow.formula import Formula
    from hedgerow.formula.anatomy import Anatomy
    from hedgerow.tasks.forecast import Forecast

__all__ = ["ENDS", "LONGEST", "MOST_TICKS", "LeafModel", "split_gains"]

LONGEST = 64
"""Most leaves that the text lists; the table has them all."""

MOST_TICKS = 40
"""Leaves that are numbered each in a picture: two digits every fifth of an inch on a page of 8; more run together."""

ENDS = ("low", "high", "reports_low", "reports_high")
"""Columns of the table: the interval of what a leaf predicts, and what the reports alone say."""

_STARVED = 2.0  # standard deviations: a count below that cannot be told from none


class LeafModel(Model):
    """A model that predicts (or adds to a public model) one value a leaf of a public partition.

    Attributes
    ----------
    leaves : LeafEstimates
        Estimates for every leaf, from the reports alone.
    leaf_values : array
        What each leaf predicts.
    """

    unit: ClassVar[str] = "leaves"
    gained: ClassVar[str] = "share of the differences between leaves"

    @property
    def partition(self) -> Partition:
        """The published partition."""
        found: Partition = self.task.partition
        return found

    @property
    def space(self) -> FeatureSpace:
        """The features of the partition."""
        return self.partition.space

    @property
    def leaves(self) -> LeafEstimates:
        """Estimates for every leaf."""
        raise NotImplementedError

    @property
    def leaf_values(self) -> FloatArray:
        """What each leaf predicts."""
        raise NotImplementedError

    @property
    def starved(self) -> Any:
        """Which leaves have too few holders to be told from none."""
        return self.leaves.count <= _STARVED * self.leaves.count_sd

    def reports_ends(self, level: float) -> Ends:
        """Return an interval for the value of each leaf, from the reports alone."""
        return self.leaves.interval(level)

    def ends(self, level: float) -> Ends:
        """Return an interval for the value of each leaf that holds what the leaf predicts."""
        return holding(self.reports_ends(level), self.leaf_values)

    def importances(self) -> dict[str, float]:
        """Return each feature's share of the differences between leaves, as far as the model believes in them."""
        return split_gains(self.partition, self.leaves.count, self.leaf_values)

    def apply(self, X: object) -> Any:
        """Return the leaf of each record."""
        return self.partition.apply_raw(X)

    def predict(self, X: object) -> Any:
        """Predict labels."""
        return self.leaf_values[self.apply(X)]

    def formula(self) -> Formula:
        """Return the tree with what its leaves predict."""
        from hedgerow.formula.formula import Formula
        from hedgerow.formula.terms import records
        from hedgerow.formula.trees import tree_sum

        value = tree_sum(records(), [self.partition], [self.leaf_values])
        return Formula.of(self.space, value, self.guarantee, classes=self.classes, task=self.task.id)

    def anatomy(self, level: float = 0.9) -> Anatomy:
        """Return the leaf of a record with its rule, and the interval of its value."""
        from hedgerow.tasks.anatomy import leaf_anatomy

        return leaf_anatomy(self, check_level(level))

    def predict_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the mean label of each record's leaf, in the population of the holders.

        It allows for the mechanism's noise, for sampling the holders, and for a public mean that is off; it covers the
        mean of the leaf, not a single label, holds the prediction, and is cut to the label bounds.
        """
        low, high = self.ends(check_level(level))
        leaf = self.apply(X)
        return low[leaf], high[leaf]

    def reports_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the same mean, from the reports alone (Fieller's interval)."""
        low, high = self.reports_ends(check_level(level))
        leaf = self.apply(X)
        return low[leaf], high[leaf]

    def forecast(self, more: int) -> Forecast | None:
        """Foresee the error of leaf means after ``more`` reports, see :func:`hedgerow.tasks.forecast.forecast`."""
        return forecast(self.leaves, self.leaf_values, more, self._known())

    def _known(self) -> FloatArray | float:
        """Return how much is known of each leaf without reports: one over a variance, in grid steps."""
        return 0.0

    @property
    def value_bounds(self) -> tuple[float, float] | None:
        """The range of the grid."""
        return self.leaves.grid.low, self.leaves.grid.high

    def table(self, level: float = 0.9) -> list[dict[str, Any]]:
        """Return one row a leaf: its rule, estimated share with its noise, and what it predicts.

        ``low`` and ``high`` are the interval of what it predicts, ``reports_low`` and ``reports_high`` what the reports
        alone say; ``starved`` leaves have too few holders to be told from none (below two standard deviations of their
        number).
        """
        ends = (*self.ends(check_level(level)), *self.reports_ends(level))
        starved = self.starved
        n = max(self.n_reports, 1)
        return [
            {
                "leaf": j,
                "cell": rule,
                "share": float(self.leaves.mass[j]),
                "share_sd": float(self.leaves.count_sd[j] / n),
                **self._value(j, *(end[j] for end in ends)),
                "starved": bool(starved[j]),
            }
            for j, rule in enumerate(cell_rules(self.partition))
        ]

    def _value(self, j: int, *ends: Any) -> dict[str, Any]:
        found = (self.leaf_values[j], *ends)
        return {name: float(value) for name, value in zip((self.value_name, *ENDS), found, strict=True)}

    def trees(self) -> tuple[Node, ...]:
        """Return the partition."""
        return (partition_node(self.partition),)

    def _title(self) -> str:
        task = self.task
        n = self.partition.n_leaves
        return task.title or f"A private tree for {task.target!r} with {n} {self.unit} from {reports(self.n_reports)}."

    def _words(self, rows: list[dict[str, Any]], level: float) -> list[str]:
        shown = sorted(sorted(rows, key=lambda row: -row["share"])[:LONGEST], key=lambda row: row["leaf"])
        lines = [
            f"{self.unit.capitalize()} (share of holders with its standard deviation; {self.value_words(level)}):",
            *(self._line(row) for row in shown),
        ]
        if len(shown) < len(rows):
            lines.append(f"  ... and {len(rows) - len(shown):,} {self.unit} with fewer holders")
        ranked = sorted(self.importances().items(), key=lambda item: -item[1])
        gains = [f"  {name}: {share:.0%}" for name, share in ranked if share > 0]
        return [*lines, "", f"Importance ({self.gained}):", *(gains or ["  none"])]

    def _line(self, row: dict[str, Any]) -> str:
        share = f"{row['share']:6.1%} +- {row['share_sd']:.1%}"
        flag = "  (too few holders to tell from none)" if row["starved"] else ""
        return f"  {row['leaf']:>3}  {share:>16}  {self._shown(row)}  if {row['cell']}{flag}"

    def _shown(self, row: dict[str, Any]) -> str:
        return f"{row[self.value_name]:.4g} [{row['low']:.4g}, {row['high']:.4g}]"

    def _facts(self) -> dict[str, Any]:
        return {"importances": self.importances()}

    def _draw(self, rows: list[dict[str, Any]], level: float) -> Figure:
        """Draw the tree, and beside it every leaf's value with its interval, and its share."""
        from matplotlib.figure import Figure

        from hedgerow.partition.arrange import arrange

        values = self.leaf_values if self.leaf_values.ndim == 1 else None
        shares = self.leaves.mass
        arranged = arrange(self.partition, values, shares)
        tall = max(arranged.height * 1.1, 2.0)
        wide = max(arranged.width * 1.05, 8.0)
        figure = Figure(figsize=(wide, tall + 4.0), layout="constrained")
        top, bottom = figure.subplots(2, 1, height_ratios=[tall, 3.5])
        self.partition.plot(values, ax=top, shares=shares)
        self._draw_leaves(bottom, rows, level)
        top.set_title(str(self.guarantee), fontsize=8, wrap=True)
        return figure

    def _draw_leaves(self, ax: Axes, rows: list[dict[str, Any]], level: float) -> None:
        at = np.arange(len(rows))
        low, high = ([row[end] for row in rows] for end in ("low", "high"))
        ax.vlines(at, low, high, color="#2c7fb8", lw=2, label=f"{level:.0%} interval")
        at_reports = [[row[end] for row in rows] for end in ("reports_low", "reports_high")]
        ax.vlines(at, *at_reports, color="#9ecae1", lw=0.8, label="reports alone")
        ax.plot(at, [row[self.value_name] for row in rows], "o", color="#08306b", label="prediction")
        if "public_mean" in rows[0]:
            ax.plot(at, [r["public_mean"] for r in rows], "_", color="#d95f0e", ms=14, mew=2, label="public mean")
        ax.set(xlabel="leaf, from left to right", ylabel=self._axis())
        if len(rows) <= MOST_TICKS:
            ax.set_xticks(at)
        mass = ax.twinx()
        mass.bar(at, [r["share"] for r in rows], color="#bdbdbd", alpha=0.35, width=0.6)
        mass.set(ylabel="share of holders (bars)", ylim=(0, 1))
        ax.legend(loc="upper left", fontsize=8)

    def _axis(self) -> str:
        return str(self.task.target)


def split_gains(tree: Partition, count: FloatArray, mean: FloatArray) -> dict[str, float]:
    """Return each feature's share of what the splits explain, from the number and the mean of each leaf.

    A split of a node into parts with ``a`` and ``b`` records and means ``x`` and ``y`` explains
    ``a b / (a + b) * (x - y)**2``. Leaves with a number of 0 or less, such as a noisy count may be, explain nothing.

    Examples
    --------
    >>> from hedgerow.space import FeatureSpace
    >>> from hedgerow.partition import grow
    >>> tree = grow("max_edge", FeatureSpace.from_bounds((0, 1), ["a", "b"]), None, None, max_depth=1)
    >>> split_gains(tree, np.array([5.0, 5.0]), np.array([0.0, 1.0]))
    {'a': 1.0, 'b': 0.0}
    """
    gain = np.zeros(len(tree.space))
    number = np.zeros(tree.n_nodes)
    total = np.zeros(tree.n_nodes)
    ends = np.flatnonzero(tree.feature < 0)
    leaf = tree.leaf_of_node[ends]
    number[ends] = np.maximum(count, 0.0)[leaf]
    total[ends] = number[ends] * mean[leaf]
    for node in np.flatnonzero(tree.feature >= 0)[::-1]:  # children come after their parents
        sides = [int(tree.left[node]), int(tree.left[node]) + 1]
        number[node], total[node] = number[sides].sum(), total[sides].sum()
        if number[sides].min() > 0:
            means = total[sides] / number[sides]
            gain[tree.feature[node]] += number[sides].prod() / number[node] * (means[0] - means[1]) ** 2
    whole = gain.sum()
    return {name: float(g / whole) if whole > 0 else 0.0 for name, g in zip(tree.space.names, gain, strict=True)}
