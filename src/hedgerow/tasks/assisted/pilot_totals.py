"""What the pilot found: exact totals, and the shares of bins that they estimate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.bounds import check_fields, read_list, read_whole
from hedgerow.errors import FormatError
from hedgerow.guarantee import Guarantee
from hedgerow.tasks.assisted.pilot import PilotTask
from hedgerow.tasks.models import About
from hedgerow.tasks.rules import reports

if TYPE_CHECKING:
    from typing import Self

__all__ = ["PilotTotals"]

FloatArray = npt.NDArray[np.float64]

_FORMAT, _VERSION = "hedgerow/pilot-totals", 1


@dataclass(frozen=True)
class PilotTotals:
    """The totals of a pilot; versioned JSON.

    Attributes
    ----------
    task : PilotTask
        The published task.
    n_reports : int
        Number of reports.
    sums : tuple of int
        Reports that named each bin.
    """

    task: PilotTask
    n_reports: int
    sums: tuple[int, ...]
    simulation: bool = False

    def __post_init__(self) -> None:
        if len(self.sums) != self.task.encoding.n_sums or min(self.sums) < 0 or sum(self.sums) != self.n_reports:
            raise FormatError(f"the pilot's totals do not fit its task and {self.n_reports} reports.")

    @property
    def guarantee(self) -> Guarantee:
        """What the reports behind these totals protect."""
        return replace(self.task.guarantee, simulation=self.simulation)

    @property
    def shares(self) -> FloatArray:
        """Unbiased estimates of the share of holders in each bin; some may be below 0."""
        message = self.task.encoding
        return (np.array(self.sums) / max(self.n_reports, 1) - float(message.response.q)) / message.kappa

    def covariance(self, shares: npt.ArrayLike) -> FloatArray:
        r"""Return the covariance of :attr:`shares` for holders drawn with these true shares.

        With :math:`\pi = q + \kappa s`, it is :math:`(\mathrm{diag}(\pi) - \pi \pi^T)/(n \kappa^2)`.
        """
        message = self.task.encoding
        named = float(message.response.q) + message.kappa * np.asarray(shares, dtype=np.float64)
        return (np.diag(named) - np.outer(named, named)) / (max(self.n_reports, 1) * message.kappa**2)

    def about(self) -> About:
        """Return what the pilot found, in short."""
        facts = {"edges": list(self.task.edges), "shares": self.shares.tolist()}
        shares = ", ".join(f"{share:.0%}" for share in self.shares)
        next_step = "next: hedgerow design ... --assisted --pilot-totals, with this file"
        return About(f"{reports(self.n_reports)} of the pilot", facts, (f"shares of bins: {shares}", next_step))

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        content = {"n_reports": self.n_reports, "sums": list(self.sums), "simulation": self.simulation}
        return {"format": _FORMAT, "version": _VERSION, "task": self.task.to_dict(), **content}

    def to_json(self) -> str:
        """Return the totals as versioned JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild from :meth:`to_dict`; refuse other versions and unknown fields."""
        what = "pilot totals"
        if not isinstance(data, Mapping) or data.get("format") != _FORMAT:
            raise FormatError(f"these are not the totals of a pilot: expected a JSON object with format {_FORMAT!r}.")
        if type(data.get("version")) is not int or data["version"] != _VERSION:
            raise FormatError(f"totals version {data.get('version')!r} is not supported (this is version {_VERSION}).")
        check_fields(data, {"format", "version", "task", "n_reports", "sums", "simulation"}, what)
        n, sums = read_whole(data, "n_reports", what), read_list(data, "sums", what)
        if n < 0 or not all(type(s) is int for s in sums) or type(data["simulation"]) is not bool:
            raise FormatError("these totals are malformed: counts must be integers and 'simulation' true or false.")
        return cls(PilotTask.from_dict(data["task"]), n, tuple(sums), data["simulation"])

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read totals from JSON."""
        try:
            data = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise FormatError(f"these totals are not valid JSON: {error}") from error
        return cls.from_dict(data)

    def __repr__(self) -> str:
        note = ", simulation" if self.simulation else ""
        return f"PilotTotals({self.n_reports} reports to task {self.task.id[:12]}...{note})"
