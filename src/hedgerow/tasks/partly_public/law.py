"""The exact law of all that one holder sends in both rounds, for audits on small partitions."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, LocalMechanism, as_law
from hedgerow.mechanisms.words import percent
from hedgerow.partition import grow
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.partly_public.cells import CellTask
from hedgerow.tasks.partly_public.first import FirstReports
from hedgerow.tasks.partly_public.histogram import histogram_below
from hedgerow.tasks.partly_public.reach import candidates
from hedgerow.tasks.partly_public.second import CellReports
from hedgerow.tasks.partly_public.task import SemiTask

__all__ = ["AUDITS", "TwoRounds", "small_protocol"]


@dataclass(frozen=True, eq=False)
class TwoRounds(LocalMechanism):
    r"""One holder's whole transcript as a mechanism; inputs are (private values, label level) pairs.

    ``tasks(level)`` is the second task as a function of the noisy level sent in the first round: the curator may
    choose the partition in the light of it, and an audit lets it. Public features are fixed, for they are known.

    The transcript is ``(coarse, cells supported)`` or, where the cell is certain, ``(coarse, fine)``. Proof that it
    is epsilon-DP: which form it takes is fixed by ``coarse`` and public facts; in the first form the likelihood is a
    product of factors within ``e**(rho eps)`` and ``e**((1-rho) eps)``, in the second it is that of the pair, eps.

    Parameters
    ----------
    tasks : callable
        ``tasks(level)`` returns the :class:`CellTask` published after this level.
    records : array of shape (m, d)
        Encoded records to tell apart; they may differ in private columns only.
    private : bool array of shape (d,)
        The holder's mask.
    reach : int
        Levels from ``-reach`` to ``n_steps + reach`` are outputs of their own; all others are one output.
    """

    tasks: Callable[[int], CellTask]
    records: npt.NDArray[np.float64]
    private: npt.NDArray[np.bool_]
    reach: int = 2
    name = "two-round protocol"
    protects = "private features and label"

    @property
    def first(self) -> Any:
        """The first round's task."""
        return self.tasks(0).first

    @property
    def epsilon(self) -> float:  # type: ignore[override]
        """The claim for both rounds together."""
        return float(self.first.epsilon)

    @property
    def n_inputs(self) -> int:  # type: ignore[override]
        """Records times label levels."""
        return len(self.records) * (int(self.first.grid.n_steps) + 1)

    def law(self, value: int) -> Law:
        """Return the exact law of the transcript."""
        record, level = divmod(value, self.first.grid.n_steps + 1)
        noise = self.first.label
        levels = self._levels
        open_mask = bool(self.first.effective(self._mask, 1)[0].any())
        chances: dict[Any, Fraction] = {}
        for coarse in levels:
            task = self.tasks(coarse)
            row = self._candidates(task, record)
            if row.sum() > 1:
                own = int(task.partition.apply(self.records[record : record + 1])[0])
                law = task.cell.law((own, row))
                share = noise.coarse_chance(coarse - level)
                for cells, weight in zip(law.outputs, law.weights, strict=True):
                    chances[coarse, cells] = share * Fraction(weight, law.total)
            elif open_mask:
                for fine in levels:
                    chances[coarse, fine] = noise.joint_chance(coarse - level, fine - level)
            else:  # nothing but the label is private: the fine level is sent at once
                b = Fraction(noise.fine.ratio, 1 << 64)
                chances[coarse, coarse] = (1 - b) / (1 + b) * b ** abs(coarse - level)
        chances["elsewhere"] = 1 - sum(chances.values(), Fraction(0))
        return as_law(chances)

    def outcomes(self, drawn: npt.NDArray[Any]) -> list[Hashable]:
        """Return transcripts as the law lists them."""
        rows, place = np.unique(drawn, axis=0, return_inverse=True)
        told = [self._outcome(*row) for row in rows.tolist()]
        return [told[i] for i in place.ravel().tolist()]

    def _outcome(self, coarse: int, last: int, *answer: int) -> Hashable:
        if coarse not in self._levels:
            return "elsewhere"
        # Which form a transcript takes is public: candidates are the same whatever the private values are.
        if self._candidates(self.tasks(coarse), 0).sum() > 1:
            return coarse, tuple(np.flatnonzero(answer).tolist())
        return (coarse, last) if last in self._levels else "elsewhere"

    def words(self) -> str:
        """Return the odds that the first label is the true one, and those of the cells."""
        exact = percent(self.first.label.coarse_chance(0))
        return f"a label gets noise in whole steps, none with probability {exact}; then {self.tasks(0).cell.words()}"

    @property
    def _levels(self) -> range:
        """Labels that are outputs of their own."""
        return range(-self.reach, int(self.first.grid.n_steps) + self.reach + 1)

    @property
    def _mask(self) -> Any:
        return None if self.first.masks == "policy" else self.private[None, :]

    def _candidates(self, task: CellTask, record: int) -> npt.NDArray[np.bool_]:
        mask = self.first.effective(self._mask, 1)
        return np.asarray(candidates(task.partition, self.records[record : record + 1], mask)[0])

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> npt.NDArray[np.int64]:
        """Run both rounds for holders with these inputs; rows hold (coarse, last level, answer ...)."""
        source = as_randomness(randomness)
        record, level = np.divmod(self._check(values), self.first.grid.n_steps + 1)
        y = self.first.grid.values(level)
        mask = None if self._mask is None else np.repeat(self._mask, len(y), axis=0)
        reports = FirstReports.of(self.first.privatize(self.records[record], y, private=mask, randomness=source))
        secrets = reports.kept
        widest = max([self.tasks(level).n_cells for level in np.unique(reports.levels).tolist()], default=0)
        out = np.zeros((len(y), 2 + widest), dtype=np.int64)
        out[:, 0] = reports.levels
        for coarse in np.unique(reports.levels).tolist():
            rows = np.flatnonzero(reports.levels == coarse)
            part = type(secrets)(
                secrets.task, secrets.tokens[rows], secrets.coarse[rows], secrets.fine[rows], secrets.private[rows],
                secrets.simulation,
            )  # fmt: skip
            asked = self.tasks(coarse)
            sent = CellReports.of(asked.privatize(self.records[record[rows]], kept=part, randomness=source))
            out[rows, 1] = sent.levels
            cells = sent.task.n_cells
            if sent.task.response == "k_ary":
                out[rows, 2 + sent.answer] = 1
            else:
                bits = np.unpackbits(sent.answer.astype(np.uint8), axis=1, count=cells, bitorder="little")
                out[np.ix_(rows, 2 + np.arange(cells))] = bits
        return out


def small_protocol(epsilon: float, *, response: str = "k_ary", label_share: float = 0.5) -> TwoRounds:
    """Return a protocol small enough to enumerate, with a partition that depends on the first round.

    Examples
    --------
    >>> small_protocol(1.0).n_inputs
    6
    """
    space = FeatureSpace.from_bounds((0, 1), ["private", "public"])
    first = SemiTask(epsilon, LabelGrid(0.0, 1.0, 2), space, label_share, "policy", ("private",))
    whole = grow("max_edge", space, None, None, max_depth=0)
    low = CellTask(first, histogram_below(whole, [0], 2), response)
    high = CellTask(first, histogram_below(whole, [0, 1], 2), response)
    records = np.array([[0.2, 0.3], [0.8, 0.3]])
    return TwoRounds(lambda level: high if level > 1 else low, records, np.array([True, False]))


AUDITS = (
    Audit(
        "two-round protocol",
        small_protocol,
        (
            Chance(0, lambda sent: sent[0] == 0),
            Chance(0, lambda sent: sent[1] == (0,), lambda sent: sent[0] == 0),  # record 0 is in cell 0 of 2
        ),
    ),
)
