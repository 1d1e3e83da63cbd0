"""The contract of a task: everything that doors, engines and services know about any kind of question.

A kind of task is one folder below :mod:`hedgerow.tasks` with one class that implements :class:`Task`, and one entry in
:mod:`hedgerow.tasks.registry`. Python, the command line, the cluster, the service, the page and the audit run these
methods and name no kind: what one door does, all doors do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, cast

from hedgerow.errors import HedgerowError
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.asking import Asks
from hedgerow.tasks.designs import Design
from hedgerow.tasks.message import Message
from hedgerow.tasks.options import Option
from hedgerow.tasks.question import Question
from hedgerow.tasks.records import IN_RECORD, read_record, read_table
from hedgerow.tasks.reports import TOKEN_BYTES, Report, Reports

if TYPE_CHECKING:
    from hedgerow.aggregate import Protocol
    from hedgerow.guarantee import Guarantee
    from hedgerow.tasks.alarms import Detector
    from hedgerow.tasks.influence import Forgery
    from hedgerow.tasks.picture import Panel
    from hedgerow.tasks.totals import Totals
    from hedgerow.types import ByteRows

__all__ = ["Drawn", "Task"]

_ROWS = 1 << 15  # records randomised at a time in a simulation: a few megabytes of messages


@dataclass(frozen=True)
class Drawn:
    """What a device has drawn for some records.

    ``tokens`` are those of an earlier round, where there was one; ``kept`` is what the device keeps for a later one. It
    has a length, ``tokens``, ``answered``, ``simulation``, ``spend()``, ``part(rows)`` and ``to_bytes()``.
    """

    payloads: ByteRows
    tokens: ByteRows | None = None
    kept: Any = None


class Task(Asks):
    """A question to holders of records, published and immutable.

    Attributes
    ----------
    kind : str
        Its name, in announcements and errors.
    in_words : str
        What it is, in a line for the curator.
    makes : {"model", "pilot", "task", "data"}
        What the curator makes of the reports: a model, totals that a design reads, the next round, a data set.
    designed : Design or None
        How a door makes one of public facts; None if it is made otherwise.
    model_options : mapping
        What :meth:`model` takes besides the totals, by parameter; a door refuses any other option by name.
    sealed : bool
        Whether reports are sealed shares for two servers: these add noise, and their sums are audited, not the bytes.
    asking : tuple of Wording
        How people are asked, with units; see :class:`~hedgerow.tasks.asking.Asks`.
    """

    kind: ClassVar[str]
    in_words: ClassVar[str]
    makes: ClassVar[str] = "model"
    designed: ClassVar[Design | None] = None
    model_options: ClassVar[Mapping[str, Option]] = {}
    sealed: ClassVar[bool] = False
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

    def _repr_html_(self) -> str:
        asked = (self.before or self).question()
        facts = {"title": self.title, "kind": self.kind, "id": self.id, "asks for": ", ".join(asked.names)}
        rows = "".join(f'<tr><th scope="row">{name}</th><td>{escape(fact)}</td></tr>' for name, fact in facts.items())
        return f"<table>{rows}</table>{self.guarantee._repr_html_()}"

    @property
    def protocol(self) -> Protocol | None:
        """How two servers verify and add up reports that neither can read; None if one curator's server takes them."""
        return None

    @property
    def takes_mask(self) -> bool:
        """Whether holders may say which of their features are private."""
        return False

    @property
    def keeps(self) -> bool:
        """Whether the device keeps something for a later round."""
        return False

    @property
    def retains(self) -> bool:
        """Whether reports are the result, and so are kept by the curator instead of being added up."""
        return self.encoding.n_sums == 0

    # The holder's side.

    def encode(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return a table of records and labels as numbers, by the task's public rule."""
        return read_table(cast("Any", self), X, y)

    def encode_record(self, record: Any, label: Any = IN_RECORD) -> tuple[Any, Any]:
        """Return one record and its label as numbers, by the task's public rule: whatever they are, never an error."""
        return read_record(cast("Any", self), record, label)

    def draw(self, Z: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Randomise encoded records: a total function, one message of one length a record."""
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
        """Return one report a record of a table, with fresh ids or those of the round before.

        Parameters
        ----------
        X, y : records and labels
            No labels in a second round. Where the features are public already, X is the numbers of the records.
        private : bool array of shape (d,) or (n, d), optional
            Where the task lets holders choose: True where a feature is protected.
        kept : optional
            In a second round: what the first one kept, ``reports.kept``.
        """
        return self._privatize(lambda: self.encode(X, y), private, kept, randomness)

    def privatize_record(
        self,
        record: Any,
        label: Any = IN_RECORD,
        *,
        private: Any = None,
        kept: Any = None,
        randomness: Randomness | int | None = None,
    ) -> Report:
        """Return the report of one record; its label may be in the record, under :attr:`target`."""
        return self._privatize(lambda: self.encode_record(record, label), private, kept, randomness)[0]

    def _privatize(
        self, read: Callable[[], tuple[Any, Any]], private: Any, kept: Any, randomness: Randomness | int | None
    ) -> Reports:
        self.check_round(private, kept)
        source = as_randomness(randomness)
        drawn = self.draw(*read(), source, private=private, kept=kept)
        tokens = drawn.tokens
        if tokens is None:
            tokens = source.uint8(TOKEN_BYTES * len(drawn.payloads)).reshape(-1, TOKEN_BYTES)
        simulation = source.simulation or getattr(kept, "simulation", False)
        return self.batch(tokens, drawn.payloads, simulation, drawn.kept)

    def check_round(self, private: Any, kept: Any) -> None:
        """Refuse a mask where there is none, and what was kept of another round than the one before."""
        if private is not None and not self.takes_mask:
            raise HedgerowError(f"'private' is for tasks of two rounds; a {self.kind} task has no masks: leave it out.")
        if kept is not None and self.before is None:
            raise HedgerowError(f"a {self.kind} task has no earlier round: leave out 'kept'.")
        if kept is None and self.before is not None:
            raise HedgerowError(f"a {self.kind} task needs 'kept', of the first round.")

    def batch(self, tokens: ByteRows, payloads: ByteRows, simulation: bool = False, kept: Any = None) -> Reports:
        """Return rows as reports of this task's kind."""
        return Reports(self, tokens, payloads, simulation, kept)

    # The curator's side.

    def totals(self) -> Totals:
        """Return totals of no reports yet."""
        from hedgerow.tasks.totals import Totals

        return Totals.of(self)

    def model(self, *totals: Any, **options: Any) -> Any:
        """Return what totals make (``model(totals, **options)``); see :attr:`makes` and :attr:`model_options`."""
        raise NotImplementedError

    def simulate(
        self,
        X: Any,
        y: Any = None,
        randomness: Randomness | int | None = None,
        *,
        private: Any = None,
        kept: Any = None,
    ) -> Totals:
        """Return totals with exactly the law of adding up the reports of these records; see :meth:`privatize`."""
        self.check_round(private, kept)
        return self._simulate(X, y, as_randomness(randomness), private, kept)

    def _simulate(self, X: Any, y: Any, source: Randomness, private: Any, kept: Any) -> Totals:
        totals = self.totals()
        if self.retains:
            return totals.add(self.privatize(X, y, private=private, kept=kept, randomness=source))
        Z, labels = self.encode(X, y)
        for start in range(0, len(Z), _ROWS):
            part = slice(start, start + _ROWS)
            payloads = self.draw(Z[part], labels[part], source).payloads
            totals.include(len(payloads), self.encoding.blocks(payloads), source.simulation)
        return totals

    def collected(self, n: int, sums: Any, simulation: bool) -> Any:
        """Return the totals that two servers have released: ``n`` reports, and noisy sums."""
        raise HedgerowError(
            f"reports to a {self.kind} task are added up by its curator's server: nothing is collected."
        )

    def data(self, totals: Any) -> tuple[str, bytes]:
        """Return kept reports as a curator downloads them: media type and bytes."""
        return "application/vnd.hedgerow.reports+bin; version=1", totals.reports().to_bytes()

    def records_in(self, payloads: ByteRows) -> list[int] | None:
        """Return the public number of the record that each report names, of which there is one report; None if none."""
        return None

    def pledge(self, payloads: ByteRows) -> list[bytes] | None:
        """Return what a later round must repeat under the same id, or None; empty where it need not."""
        return None

    def check_against(self, before: Any) -> Callable[[Reports], None]:
        """Return a check of reports against those of the round before (its totals)."""
        raise HedgerowError(f"a {self.kind} task has no round before it.")

    def kept_from_bytes(self, data: bytes) -> Any:
        """Read what a device kept of this round."""
        raise HedgerowError(f"a {self.kind} task has one round, and keeps nothing.")

    def join_kept(self, parts: Sequence[Any]) -> Any:
        """Put together what devices kept of this round, block by block."""
        raise HedgerowError(f"a {self.kind} task has one round, and keeps nothing.")

    def reopen(self, body: bytes, kept: bytes, record: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
        """Return what a device kept of this round, whose report was ``body``, and the record for the next."""
        raise HedgerowError(f"a {self.kind} task has one round, and keeps nothing.")

    # In words and numbers, for people.

    def odds(self) -> list[str]:
        """Return what is done to the values before they leave, with the probabilities, a line each."""
        raise NotImplementedError

    def picture(self, payloads: ByteRows, Z: Any, y: Any, *, private: Any = None) -> tuple[Panel, ...]:
        """Return what could have been sent of one encoded record, how likely, and what was: ``payloads``, one row."""
        return ()

    def alarms(self) -> Detector:
        """Return what looks for reports that no honest randomiser sends in bulk."""
        from hedgerow.tasks.alarms import NOTHING

        return NOTHING

    def influence(self) -> Forgery | None:
        """Return the most that one forged report can do; None where a report is one row of a data set."""
        return None
