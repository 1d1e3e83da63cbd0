"""The second round's task asks which of the published cells a holder is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hedgerow.checks import check_positive
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms.candidates import CandidateBits, CandidateKary, CandidateResponse
from hedgerow.partition.tree import Partition
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.base import Drawn, Task
from hedgerow.tasks.influence import LeafForgery, with_free_label
from hedgerow.tasks.models import About
from hedgerow.tasks.options import Option, by_parameter
from hedgerow.tasks.partly_public.first import FirstReports
from hedgerow.tasks.partly_public.growing import RULES, grow_masked
from hedgerow.tasks.partly_public.histogram import histogram_below
from hedgerow.tasks.partly_public.second import CellMessage, CellReports, moments
from hedgerow.tasks.partly_public.selection import chosen_cuts
from hedgerow.tasks.partly_public.task import SemiTask
from hedgerow.tasks.question import Question
from hedgerow.tasks.reports import Reports
from hedgerow.types import BoolArray, ByteRows
from hedgerow.wording import Wording

if TYPE_CHECKING:
    from hedgerow.tasks.partly_public.model import SemiModel
    from hedgerow.tasks.picture import Panel
    from hedgerow.tasks.totals import Totals
    from hedgerow.tasks.tree.encoding import Moments

__all__ = ["RESPONSES", "CellTask", "most_protected"]

_RESPONSES: dict[str, type[CandidateResponse]] = {"k_ary": CandidateKary, "bits": CandidateBits}
RESPONSES = tuple(_RESPONSES)


def most_protected(private: Any, n_private: int) -> list[int]:
    """Return the ``n_private`` columns that most holders protect (ties: the lower column), in column order."""
    order = np.argsort(-np.asarray(private).sum(axis=0, dtype=np.int64), kind="stable")
    return sorted(order[:n_private].tolist())


@dataclass(frozen=True)
class CellTask(Task, what="cell task", format="hedgerow/cell-task", version=2):
    """The partition that the curator made of the first round, published for the second.

    Attributes
    ----------
    first : SemiTask
        The first round's task.
    partition : Partition
        A tree whose leaves are the products of histogram cells and leaves of the grown tree.
    response : {"k_ary", "bits"}
        Name one candidate cell, (17), or flip a bit for each, (8).
    """

    kind = "semi-second"
    in_words = "Some features public, second of two rounds"
    model_options: ClassVar[Mapping[str, Option]] = by_parameter(
        Option("shrink", "how strongly splits are doubted; 0: not (default: 2 for cart, else 1)", "number")
    )

    first: SemiTask
    partition: Partition
    response: str = "k_ary"
    asking: tuple[Wording, ...] = field(init=False, repr=False)  # that of the first round, which is within

    def __post_init__(self) -> None:
        object.__setattr__(self, "asking", tuple(w for w in self.first.asking if w.name != self.first.target))
        if self.response not in _RESPONSES:
            raise HedgerowError(
                f"The 'response' parameter must be one of {list(RESPONSES)}. Got {self.response!r} instead."
            )
        if self.partition.space != self.first.space:
            raise FormatError("the partition is over other features than the first round's task.")
        if self._hides:
            self._check_budget()

    @property
    def _hides(self) -> bool:
        """Whether somebody may have more than one candidate: the partition cuts a feature that may be private."""
        cut = np.unique(self.partition.feature[self.partition.feature >= 0])
        return bool(cut.size if self.first.masks != "policy" else self.first.policy[cut].any())

    def _check_budget(self) -> None:
        """Refuse a budget of cells that is too small, here and for everybody, rather than on some of the devices.

        k-ary response tells something for every k up to the number K of cells if ``p > q`` after rounding p down to 64
        bits, ``(e**eps - 1)/(e**eps + k - 1) > 2**-64 k/(k - 1)``; ``eps >= (K + 2) 2**-62`` is enough for that.
        """
        _ = self.cell.among(2)
        if self.cell.epsilon < (self.n_cells + 2) * 2.0**-62:
            raise HedgerowError(f"the budget of cells, {self.cell.epsilon:g}, is too small for {self.n_cells} cells.")

    @property
    def doubt(self) -> float:
        """How strongly splits are doubted by default: twice where cuts were chosen among very many places.

        The tree of "cart" cuts anywhere, for a contrast that is part noise; other rules halve a cell. Columns that are
        private for everybody are cut by the histogram alone.
        """
        return 2.0 if self.chosen_cuts.any() else 1.0

    @cached_property
    def chosen_cuts(self) -> BoolArray:
        """Which nodes cut where the contrast was largest, see :func:`.selection.chosen_cuts`."""
        return chosen_cuts(self.partition, self._fixed)

    @property
    def n_tree_columns(self) -> int:
        """Number of columns that cuts may have been chosen among."""
        return int((~self._fixed).sum())

    @property
    def _fixed(self) -> BoolArray:
        if self.first.masks != "policy":
            return np.zeros(len(self.partition.space), dtype=bool)
        return self.first.policy

    @property
    def answers(self) -> float:
        r"""By how much answers multiply the spread of labels in a node whose holders have all the same candidates.

        With k of them and estimates ``u = (b - q)/(p - q)``, :math:`E \sum_j u_j^2`; at least 1. Where the number of
        candidates is not the same for all, 1 is returned.
        """
        if self.first.masks != "policy":
            return 1.0
        size = self._bins
        p, q = self.probabilities(size)
        named = p + (size - 1) * q
        return ((1 - 2 * q) * named + size * q * q) / (p - q) ** 2

    @property
    def _bins(self) -> int:
        """Number of cells that a leaf of the tree is cut into by the histogram: those below a cut of a fixed column."""
        tree = self.partition
        outer = [0]
        leaves = 0
        while outer:
            node = outer.pop()
            j = int(tree.feature[node])
            if j < 0 or self._fixed[j]:
                leaves += 1
            else:
                outer += [int(tree.left[node]), int(tree.left[node]) + 1]
        return max(1, self.n_cells // leaves)

    @classmethod
    def design(
        cls,
        reports: FirstReports,
        *,
        n_private: int,
        n_bins: int = 2,
        max_depth: int = 4,
        rule: str = "max_edge",
        min_samples_leaf: int = 1,
        balance: float = 0.0,
        response: str = "k_ary",
        randomness: Randomness | int | None = None,
    ) -> CellTask:
        """Make the second task from the first round's reports: pure post-processing of what was sent.

        A histogram with ``n_bins`` bins on the ``n_private`` most protected features, times a tree of ``max_depth``
        over the others. With hidden masks no feature was sent: the splits are random, and the histogram is on the
        first columns.
        """
        task = reports.task
        d = len(reports.task.space)
        check_positive(n_bins, name="n_bins")
        if check_positive(n_private, name="n_private", least=0) > d:
            raise HedgerowError(f"The 'n_private' parameter must be at most {d}, the features. Got {n_private!r}.")
        if rule not in RULES:
            raise HedgerowError(f"The 'rule' parameter must be one of {list(RULES)}. Got {rule!r} instead.")
        chosen = most_protected(reports.private, n_private)
        tree = grow_masked(
            task.space,
            reports.Z,
            reports.levels,
            reports.private,
            [j for j in range(d) if j not in chosen],
            rule="random_max_edge" if task.masks == "hidden" else rule,
            max_depth=max_depth,
            min_samples_leaf=min_samples_leaf,
            balance=balance,
            randomness=as_randomness(randomness),
        )
        return cls(task, histogram_below(tree, chosen, n_bins), response)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.partition.n_leaves

    @cached_property
    def cell(self) -> CandidateResponse:
        """The response of a holder with more than one candidate."""
        epsilon = self.first.epsilons[1]
        if epsilon == 0:
            raise HedgerowError(
                "label_share = 1 leaves no budget for cells, but some holder may have more than one candidate cell; "
                "use a lower label_share, or n_bins = 1 under a policy."
            )
        return _RESPONSES[self.response](epsilon)

    def probabilities(self, size: int) -> tuple[float, float]:
        """Return ``(p, q)`` of holders with ``size`` candidates."""
        return (1.0, 0.0) if size == 1 else self.cell.probabilities(size)

    @property
    def guarantee(self) -> Guarantee:
        """What both rounds together protect."""
        return self.first.guarantee

    @property
    def before(self) -> SemiTask:
        """The first round."""
        return self.first

    @property
    def target(self) -> str:  # type: ignore[override]
        """The label's name in the first round."""
        return self.first.target

    @property
    def title(self) -> str:  # type: ignore[override]
        """That of the first round."""
        return self.first.title

    def question(self) -> Question:
        """Return what is asked: the same features; what was drawn of the label is on the device."""
        return replace(self.first.question(), label=None, chooses=False)

    @cached_property
    def encoding(self) -> CellMessage:
        """The message."""
        return CellMessage(self)

    def encode(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return records as the first round does; there are no labels."""
        Z = self.first.encode(X, np.zeros(len(X)))[0]
        return Z, np.zeros(len(Z))

    def encode_record(self, record: Any, label: Any = None) -> tuple[Any, Any]:
        """Return one record; there is no label."""
        return self.first.encode_record(record, None)

    def draw(self, Z: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Randomise the cell among the candidates; see :func:`.holder.draw_second`. What was kept is used up."""
        from hedgerow.tasks.partly_public.holder import draw_second

        none = np.empty((0, self.encoding.width), dtype=np.uint8)
        payloads = np.concatenate([none, *draw_second(self, np.asarray(Z, dtype=np.float64), kept, source)])
        return Drawn(payloads, kept.tokens)

    def _simulate(self, X: Any, y: Any, source: Randomness, private: Any, kept: Any) -> Totals:
        """Return the totals of these holders' answers, a block of them at a time."""
        from hedgerow.tasks.partly_public.holder import draw_second

        totals = self.totals()
        for payloads in draw_second(self, self.encode(X, None)[0], kept, source):
            totals.include(len(payloads), self.encoding.blocks(payloads), source.simulation or kept.simulation)
        return totals

    def batch(self, tokens: ByteRows, payloads: ByteRows, simulation: bool = False, kept: Any = None) -> CellReports:
        """Return rows as reports, with their columns."""
        return CellReports(self, tokens, payloads, simulation, kept)

    def check_against(self, before: Any) -> Callable[[Reports], None]:
        """Return a check that labels are those of the first round; see :meth:`.CellReports.check_labels`."""
        known = FirstReports.of(before.reports()).known_levels()
        return lambda reports: CellReports.of(reports).check_levels(known)

    def pledge(self, payloads: ByteRows) -> list[bytes]:
        """Return the noisy level of each report; nothing where the cell is certain, as the fine level is sent then."""
        certain = self.batch(np.empty((len(payloads), 0), dtype=np.uint8), payloads).sizes() == 1
        return [b"" if sure else row[:4].tobytes() for sure, row in zip(certain, payloads, strict=True)]

    def moments(self, totals: Totals) -> Moments:
        """Return the estimates of N and D for each cell, and their covariance; see :func:`.second.moments`."""
        return moments(self, totals)

    def model(self, totals: Totals, *, shrink: float | None = None) -> SemiModel:
        """Return the model that totals make; see :class:`SemiModel` for ``shrink``, by default :attr:`doubt`."""
        from hedgerow.tasks.partly_public.model import SemiModel

        if shrink is None:
            shrink = self.doubt
        return SemiModel.of(self, totals.n_reports, self.moments(totals), totals.simulation, shrink)

    def about(self) -> About:
        """Return what was made of the first round, in short."""
        facts = {
            "makes": self.id,
            "n_cells": self.n_cells,
            "depth": self.partition.depth,
            "response": self.response,
        }
        lines = (f"{self.n_cells} cells, depth {self.partition.depth}; response: {self.response}",)
        return About(f"task {self.id[:12]}, the second of two rounds", facts, lines)

    def odds(self) -> list[str]:
        """Return what leaves in the second round."""
        from hedgerow.tasks.partly_public.words import second_odds

        return second_odds(self.first)

    def picture(self, payloads: ByteRows, Z: Any, y: Any, *, private: Any = None) -> tuple[Panel, ...]:
        """Return what could have been sent; see :mod:`hedgerow.tasks.partly_public.picture`."""
        from hedgerow.tasks.partly_public.picture import second_picture

        return second_picture(self, payloads, Z)

    def alarms(self) -> Detector:
        """Watch noisy labels, as in the first round."""
        return self.first.alarms()

    def influence(self) -> LeafForgery:
        """Return the most that one forged report can do to a cell, over all numbers of candidates."""
        units = [0.0, 1.0]
        if self.first.epsilons[1] > 0 and self.n_cells > 1:
            chances = [self.probabilities(k) for k in range(2, self.n_cells + 1)]
            units = [min(-q / (p - q) for p, q in chances), max(1.0, *((1 - q) / (p - q) for p, q in chances))]
        return with_free_label(self.first.grid, units, self.first.label.coarse.reach)

    def __repr__(self) -> str:
        return f"CellTask(id={self.id[:12]}..., cells={self.n_cells}, response={self.response!r})"
