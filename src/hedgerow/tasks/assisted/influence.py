r"""The most that one forged report can do to the corrections of a public model, or to the pilot before them.

A report to tree t adds integer scores, at most ``top`` at one leaf and ``most`` in all (``size`` for subsets, ``top``
for levels), and decoding divides by ``kappa top``. With ``n`` the reports of tree t, ``g = radius/inside`` and
``m_j = score_j/(kappa top n)``, one further report moves

.. math:: |\Delta d_j| \le \frac{g}{p_j (n + 1)} \Big(\frac{1}{\kappa} + |m_j|\Big), \qquad
          |\Delta d_0| \le \frac{g}{T (n + 1)} \Big(\frac{most}{\kappa\, top} + \Big|\sum_j m_j\Big|\Big)

with equality for some report. The first is at given leaf shares ``p``; the second is exact, because shares cancel in
the sum. How far corrections are then believed is decided afterwards, and may turn with one report like any threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.digits import plain
from hedgerow.mechanisms.joint import JointMechanism, SignedSubset
from hedgerow.tasks.influence import Forgery, one_per_cent
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.tasks.assisted.class_model import AssistedClassModel
    from hedgerow.tasks.assisted.class_task import AssistedClassTask
    from hedgerow.tasks.assisted.model import AssistedModel
    from hedgerow.tasks.assisted.pilot import PilotTask
    from hedgerow.tasks.assisted.pilot_totals import PilotTotals
    from hedgerow.tasks.assisted.task import AssistedTask

__all__ = ["AssistedForgery", "ClassForgery", "PilotForgery"]


_UNTOLD = 1e-12  # as in shrink.py


@dataclass(frozen=True)
class AssistedForgery(Forgery):
    """What one forged report can do to the corrections of a public model.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from hedgerow.local.assisted import design_assisted
    >>> X = np.random.default_rng(0).random((100, 1)); y = X[:, 0] ** 2
    >>> task = design_assisted(X, y, epsilon=2.0, n_holders=1000, label_bounds=(0, 1), public_model=Ridge())
    >>> forgery = AssistedForgery(task)
    >>> forgery.label_sum > task.radius  # more than one honest holder
    True
    """

    task: AssistedTask

    @property
    def _gain(self) -> float:
        return self.task.radius / self.task.residuals.inside

    @property
    def count(self) -> float:
        """The most by which the number of holders of a leaf changes, by reports alone (0: they do not tell)."""
        most = 0.0
        at = 0
        for joint in self.task.encoding.joint:
            busy = np.array(self.task.busy[at : at + joint.n_leaves])
            at += joint.n_leaves
            own, other = _naming(joint, busy)
            if joint.n_leaves > 1 and (own > _UNTOLD).any():
                most = max(most, max(1 - other, other) / float(own[own > _UNTOLD].min()))
        return most

    @property
    def label_sum(self) -> float:
        """The most by which the sum of public errors over a leaf's holders changes, ``g/kappa``, in label units."""
        return self._gain * max(1 / float(joint.kappa) for joint in self.task.encoding.joint)

    @property
    def whole_sum(self) -> float:
        """The most by which their sum over all leaves of a tree changes, ``g most/(kappa top)``, in label units."""
        joints = self.task.encoding.joint
        return self._gain * max(_most(joint) / (float(joint.kappa) * joint.top) for joint in joints)

    def leaf_shift(self, model: AssistedModel, many: int = 1) -> list[FloatArray]:
        """Return, tree by tree, the most by which further reports move a leaf's correction, at its leaf shares."""
        parts = zip(self.task.encoding.joint, self._split(model), model.corrections.p, strict=True)
        return [self._moved(j, n, score.astype(np.float64), float(j.top), p, many) for j, (n, score, _), p in parts]

    def overall_shift(self, model: AssistedModel) -> float:
        """Return the most by which one further report moves the correction over all holders."""
        one = np.ones(1)
        T = len(self.task.encoding.joint)
        parts = zip(self.task.encoding.joint, self._split(model), strict=True)
        return max(
            float(self._moved(j, n, np.array([score.sum()], dtype=np.float64), float(_most(j)), one)[0]) / T
            for j, (n, score, _) in parts
        )

    def rows(self, model: AssistedModel) -> list[dict[str, float]]:
        """Return the most by which further reports move the correction of each leaf, tree by tree."""
        return self.rows_with(model, one_per_cent(model.n_reports))

    def rows_with(self, model: AssistedModel, many: int) -> list[dict[str, float]]:
        """Return :meth:`rows` where one per cent of the reports are ``many``."""
        shifts = np.concatenate(self.leaf_shift(model)).tolist()
        percent = np.concatenate(self.leaf_shift(model, many)).tolist()
        return [{"forged_mean_shift": a, "forged_percent_shift": b} for a, b in zip(shifts, percent, strict=True)]

    def _split(self, model: AssistedModel) -> list[Any]:
        return self.task.encoding.split(np.array(model.sums, dtype=np.int64))

    def _moved(
        self, joint: JointMechanism, n: int, score: FloatArray, most: float, p: FloatArray, many: int = 1
    ) -> FloatArray:
        # The change of a correction is linear in the scores of the reports, so one of both ends is the worst. All of
        # them may be about this tree; fewer move it less, because each end then moves on in its direction.
        res = self.task.residuals
        unit = float(joint.kappa) * joint.top

        def correction(total: FloatArray, count: int) -> FloatArray:
            return (total / (unit * count * p) - res.clipped_mean) * self._gain + res.mean

        now = correction(score, n) if n else np.zeros(len(score))
        ends = [np.abs(correction(score + many * end, n + many) - now) for end in (-most, most)]
        return np.maximum(*ends)

    def now(self, model: AssistedModel) -> str:
        """Say what one further report could do to this model."""
        widest = max(float(moved.max()) for moved in self.leaf_shift(model))
        many = one_per_cent(model.n_reports)
        percent = max(float(moved.max()) for moved in self.leaf_shift(model, many))
        return (
            f"After {model.n_reports:,} reports, one forged report more moves the error that reports suggest over all "
            f"holders by at most {plain(self.overall_shift(model), 3)}, and at the leaf shares now in use that of a "
            f"leaf by at most {plain(widest, 3)}; {many:,} of them (1 % more) could move it by {plain(percent, 3)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready content."""
        numbers = {"count": self.count, "label_sum": self.label_sum, "whole_sum": self.whole_sum}
        return {**numbers, "statement": str(self)}

    def __str__(self) -> str:
        return f"One forged report can change {_bounds(self)}."


@dataclass(frozen=True)
class ClassForgery(Forgery):
    """What one forged report can do to the corrections of a public model of classes: it is about one class only."""

    task: AssistedClassTask

    @property
    def parts(self) -> list[AssistedForgery]:
        """What it can do to each class."""
        return [AssistedForgery(task) for task in self.task.tasks]

    @property
    def count(self) -> float:
        """The most by which the number of holders of a leaf changes, for any class."""
        return max(part.count for part in self.parts)

    def rows(self, model: AssistedClassModel) -> list[dict[str, float]]:
        """Return the most by which further reports move the correction of each leaf; all may be about one class."""
        many = one_per_cent(model.n_reports)
        return [row for part, own in zip(self.parts, model.parts, strict=True) for row in part.rows_with(own, many)]

    def now(self, model: AssistedClassModel) -> str:
        """Say what one further report could do to this model."""
        pairs = list(zip(self.parts, model.parts, strict=True))
        overall = max(part.overall_shift(own) for part, own in pairs)
        widest = max(float(moved.max()) for part, own in pairs for moved in part.leaf_shift(own))
        many = one_per_cent(model.n_reports)
        percent = max(float(moved.max()) for part, own in pairs for moved in part.leaf_shift(own, many))
        return (
            f"After {model.n_reports:,} reports, one forged report more moves, for one class, the error that reports "
            f"suggest over all holders by at most {plain(overall, 3)}, and at the leaf shares now in use that of a "
            f"leaf by at most {plain(widest, 3)}; {many:,} of them (1 % more) could move it by {plain(percent, 3)}."
        )

    @property
    def label_sum(self) -> float:
        """The most by which the sum of public errors over a leaf's holders changes, for any class."""
        return max(part.label_sum for part in self.parts)

    @property
    def whole_sum(self) -> float:
        """The most by which their sum over all leaves of a tree changes, for any class."""
        return max(part.whole_sum for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready content."""
        numbers = {"count": self.count, "label_sum": self.label_sum, "whole_sum": self.whole_sum}
        return {**numbers, "statement": str(self)}

    def __str__(self) -> str:
        return f"One forged report is about one class only; for that it can change {_bounds(self)}."


@dataclass(frozen=True)
class PilotForgery(Forgery):
    """What one forged report can do to a pilot: a share moves by ``max(s, 1 - s)/(kappa (n + 1))``, s of n sent it."""

    task: PilotTask

    @property
    def count(self) -> float:
        """The most by which the estimated number of holders in a bin changes, ``max(q, 1 - q)/kappa``."""
        q = float(self.task.encoding.response.q)
        return max(q, 1 - q) / self.task.encoding.kappa

    def share_shift(self, totals: PilotTotals, many: int = 1) -> FloatArray:
        """Return, for each bin, the most by which ``many`` further reports move its share."""
        sent = np.array(totals.sums) / max(totals.n_reports, 1)
        return many * np.maximum(sent, 1 - sent) / ((totals.n_reports + many) * self.task.encoding.kappa)

    def rows(self, totals: PilotTotals) -> list[dict[str, float]]:
        """Return the most by which further reports move the share of each bin."""
        shifts = self.share_shift(totals).tolist()
        percent = self.share_shift(totals, one_per_cent(totals.n_reports)).tolist()
        return [{"forged_share_shift": a, "forged_percent_shift": b} for a, b in zip(shifts, percent, strict=True)]

    def now(self, totals: PilotTotals) -> str:
        """Say what one further report could do to these totals."""
        moved = float(self.share_shift(totals).max())
        many = one_per_cent(totals.n_reports)
        percent = float(self.share_shift(totals, many).max())
        return (
            f"After {totals.n_reports:,} reports, one forged report more moves the share of a bin of errors by at most "
            f"{moved:.3g}; {many:,} of them (1 % more) could move it by {percent:.3g}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready content."""
        return {"count": self.count, "statement": str(self)}

    def __str__(self) -> str:
        return (
            f"One forged report can change the estimated number of holders in a bin of errors by at most "
            f"{self.count:.3g}, and with n reports a bin's share by at most {1 / self.task.encoding.kappa:.3g}/n."
        )


def _bounds(forgery: AssistedForgery | ClassForgery) -> str:
    return (
        f"the sum of the public model's errors over the holders of a leaf by at most "
        f"{plain(forgery.label_sum, 3)}, over all holders of a tree by at most {plain(forgery.whole_sum, 3)}, and the "
        f"number of holders of a leaf that reports suggest by at most {forgery.count:.3g}"
    )


def _most(joint: JointMechanism) -> int:
    """Return the largest sum of all scores of a report."""
    return joint.size if isinstance(joint, SignedSubset) else joint.top


def _naming(joint: JointMechanism, busy: FloatArray) -> tuple[FloatArray, float]:
    """Return by how much likelier a leaf is named by its own holders, and how likely by others."""
    if joint.naming is not None:
        own, other = (float(x) for x in joint.naming)
        return np.full(joint.n_leaves, own - other), other
    levels = joint.n_levels - 1
    return float(joint.kappa) * busy, float(1 - joint.kappa) * levels / (joint.n_leaves * levels + 1)
