"""The contract of a task: everything that doors, engines and services know about any kind of question.

A kind of task is one folder below :mod:`hedgerow.tasks` with one class that implements :class:`Task`, and one entry in
:mod:`hedgerow.tasks.registry`. Python, the command line, the cluster, the service, the page and the audit run these
methods and name no kind: what one door does, all doors do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from hedgerow.errors import HedgerowError
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.message import Message
from hedgerow.tasks.published import Published
from hedgerow.tasks.question import Question
from hedgerow.tasks.reports import TOKEN_BYTES, Reports

if TYPE_CHECKING:
    from hedgerow.guarantee import Guarantee
    from hedgerow.tasks.alarms import Detector
    from hedgerow.tasks.influence import Forgery
    from hedgerow.tasks.totals import Totals
    from hedgerow.types import ByteRows

__all__ = ["Drawn", "Task"]


@dataclass(frozen=True)
class Drawn:
    """What a device has drawn for some records.

    ``tokens`` are those of an earlier round, where there was one; ``kept`` is what the device keeps for a later one.
    """

    payloads: ByteRows
    tokens: ByteRows | None = None
    kept: Any = None


class Task(Published):
    """A question to holders of records, published and immutable.

    Attributes
    ----------
    kind : str
        Its name, in announcements and errors.
    makes : {"model", "pilot", "task", "data"}
        What the curator makes of the reports: a model, totals that a design reads, the next round, a data set.
    model_options : mapping
        What :meth:`model` takes besides the totals, with defaults; a door refuses any other option by name.
    """

    kind: ClassVar[str]
    makes: ClassVar[str] = "model"
    model_options: ClassVar[Mapping[str, Any]] = {}
    target: str
    title: str = ""

    @property
    def encoding(self) -> Message:
        """The message."""
        raise NotImplementedError

    @property
    def guarantee(self) -> Guarantee:
        """What one report protects, and from whom."""
        raise NotImplementedError

    def question(self) -> Question:
        """Return what is asked of a record."""
        raise NotImplementedError

    @property
    def before(self) -> Task | None:
        """The round before this one, which each holder must have answered; its budget covers both."""
        return None

    @property
    def keeps(self) -> bool:
        """Whether the device keeps something for a later round."""
        return False

    @property
    def retains(self) -> bool:
        """Whether reports are the result, and so are kept by the curator instead of being added up."""
        return self.encoding.n_sums == 0

    # The holder's side.

    def draw(self, X: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Randomise records: a total function, one message of one length a record, whatever the record holds."""
        raise NotImplementedError

    def privatize(
        self,
        X: Any,
        y: Any = None,
        *,
        private: Any = None,
        kept: Any = None,
        randomness: Randomness | int | None = None,
    ) -> Reports:
        """Return one report a record, with fresh ids or those of the round before."""
        if private is not None and not self.question().chooses:
            raise HedgerowError(f"'private' is for tasks that let holders choose; a {self.kind} task does not.")
        if (kept is None) != (self.before is None):
            need = "has one round: leave out 'kept'" if self.before is None else "needs 'kept', of the first round"
            raise HedgerowError(f"a {self.kind} task {need}.")
        source = as_randomness(randomness)
        drawn = self.draw(X, y, source, private=private, kept=kept)
        tokens = drawn.tokens
        if tokens is None:
            tokens = source.uint8(TOKEN_BYTES * len(drawn.payloads)).reshape(-1, TOKEN_BYTES)
        simulation = source.simulation or getattr(kept, "simulation", False)
        return Reports(self, tokens, drawn.payloads, simulation, drawn.kept)

    # The curator's side.

    def totals(self) -> Totals:
        """Return totals of no reports yet."""
        from hedgerow.tasks.totals import Totals

        return Totals.of(self)

    def model(self, *totals: Any, **options: Any) -> Any:
        """Return what totals make (``model(totals, **options)``); see :attr:`makes` and :attr:`model_options`."""
        raise NotImplementedError

    def simulate(self, X: Any, y: Any, randomness: Randomness | int | None = None) -> Totals:
        """Return totals with exactly the law of adding up the reports of these records."""
        return self.totals().add(self.privatize(X, y, randomness=randomness))

    # In words and numbers, for people.

    def odds(self) -> list[str]:
        """Return what is done to the values before they leave, with the probabilities, a line each."""
        raise NotImplementedError

    def alarms(self) -> Detector:
        """Return what looks for reports that no honest randomiser sends in bulk."""
        from hedgerow.tasks.alarms import NOTHING

        return NOTHING

    def influence(self) -> Forgery | None:
        """Return the most that one forged report can do; None where a report is one row of a data set."""
        return None
