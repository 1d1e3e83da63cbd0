"""The card of a model: everything that its contract tells, on one page. All of it is post-processing, at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from hedgerow.card.card import Block, Bullets, Card, Code, Picture, Section
from hedgerow.card.columns import Row, columns_table, few_names
from hedgerow.card.sections import Told, facts_table, guarantee_section, says_section, use_section
from hedgerow.schema.words import one_line
from hedgerow.summary import Summary, SummaryTable
from hedgerow.tasks.examples import fitting

if TYPE_CHECKING:
    from hedgerow.guarantee import Guarantee
    from hedgerow.tasks.question import LabelField

__all__ = ["card_of", "summary_card"]


def card_of(model: Any, told: Told, level: float, audits: Sequence[Any] = (), claim: Guarantee | None = None) -> Card:
    """Return the card of a model of any kind.

    Parameters
    ----------
    model : Model
        Of a task, or central.
    told : Told
        What whoever publishes it says.
    level : float
        Of intervals.
    audits : sequence of AuditResult
        What ``hedgerow.audit.audit_task(model.task)`` returned.
    claim : Guarantee, optional
        That of whoever holds the model, where it says more than the model's own.
    """
    promise = model.guarantee if claim is None else claim
    summary = model.summary(level)
    explained = model.explain()
    shift = model.shift()
    apart = () if shift is None else (shift.verdict, *shift.disagreement)
    sections = (
        use_section(told, _not_for(promise.simulation, shift)),
        guarantee_section(promise),
        says_section(summary, apart),
        Section("Pictures", _pictures(explained, shift, bool(summary.tables))),
        _schema(model, explained.facts),
        _shift(shift, apart),
        _audit(model, promise, audits),
        _made(model, promise),
    )
    return Card(f"Model card: {one_line(summary.title)}", sections)


def summary_card(summary: Summary, told: Told, made_by: str) -> Card:
    """Return the card of something that was fitted and tells its summary only."""
    facts = [("made by", made_by), ("card written by", _library()), ("simulation", _seeded(summary.guarantee))]
    sections = (
        use_section(told, _not_for(summary.guarantee.simulation, None)),
        guarantee_section(summary.guarantee),
        says_section(summary),
        Section("How it was made", (facts_table("How it was made", facts),)),
    )
    return Card(f"Model card: {one_line(summary.title)}", sections)


def _not_for(simulation: bool, shift: Any) -> list[str]:
    found = [
        "to decide about one person by a prediction alone: predictions and their intervals are about the average of "
        "people alike, not about anybody's own value;",
        "for records beyond the ranges and lists of the schema: they are read as the schema says;",
        "for another population than the one that took part;",
        "to conclude that a feature causes what it goes with.",
    ]
    if simulation:
        found.insert(0, "for anything but trying things out: this is a simulation, with noise from a seed;")
    if shift is not None and shift.shifted:
        found.insert(0, "as if public records were like the people who took part: they differ, see below;")
    return found


def _pictures(explained: Any, shift: Any, has_table: bool) -> tuple[Block, ...]:
    where = " The table of the section before says the same in words." if has_table else ""
    caption = "What the model predicts, with intervals."
    found: list[Block] = [Picture(explained.draw, f"{caption}{where}", caption)]
    if shift is not None:
        caption = "Private against public records, by leaf."
        found.append(Picture(shift.plot, f"{caption} {shift.verdict}", caption))
    return tuple(found)


def _schema(model: Any, facts: Any) -> Section:
    task = None if model.task is None else (model.task.before or model.task)
    if task is None:
        units: dict[str, str] = getattr(model, "units", {})
        label = _label(facts, None, "label", getattr(model, "unit", ""))
        return Section("Schema", (columns_table(model.space, lambda column: units.get(column, ""), label),))
    asked = task.question()
    name = "label" if asked.label is None else asked.label.name
    label = _label(facts, asked.label, name, task.wording(name).unit)
    blocks: list[Block] = [columns_table(model.space, lambda column: task.wording(column).unit, label)]
    if asked.clear:
        blocks.append(f"Sent as they are: {few_names(sorted(asked.clear))}.")
    if asked.chooses:
        blocks.append("Each person said which of the features are private.")
    return Section("Schema", tuple(blocks))


def _label(facts: Any, asked: LabelField | None, name: str, unit: str) -> Row:
    classes = facts["classes"]
    if classes is not None:
        others = "-"
        if asked is not None:
            others = f"missing or unknown counts as {one_line(str(classes[int(asked.missing)]))}"
        return one_line(name), "label: class", few_names(classes), one_line(unit), others
    bounds = facts["label_bounds"]
    pairs = bounds if isinstance(bounds[0], list) else [bounds]
    values = "; ".join(f"{low:.12g} to {high:.12g}" for low, high in pairs)
    others = "beyond counts as the nearest end"
    if asked is not None:
        others += f", missing as {asked.missing:.12g}"
    return one_line(name), "label: number", values, one_line(unit), others


def _shift(shift: Any, words: Sequence[str]) -> Section:
    title = "Public against private records"
    if shift is None:
        return Section(title, ("Not compared: the model holds no public records to compare with, leaf by leaf.",))
    return Section(title, tuple(words))


def _audit(model: Any, claim: Guarantee, audits: Sequence[Any]) -> Section:
    if model.task is None:
        text = (
            "The privacy of whole fits is checked by playing them again on neighbouring tables; this command does it:"
        )
        command = f"hedgerow audit {' '.join(model.audited)}"
        return Section("Audit", (text, Code(command)))
    names = [f"whole: {example.name}" for example in fitting(model.task)]
    done = {result.mechanism: result for result in audits}
    rows = tuple(_audited(name, done.get(name)) for name in names)
    table = SummaryTable("Exact audit of small tasks of this kind", ("task", "claim", "measured", "verdict"), rows)
    how = (
        "Along every path of its random draws, all that a device can send is enumerated for small tasks of this kind, "
        "and the laws of neighbouring records are compared in exact arithmetic. That this holds for larger tasks is "
        "by the proof in each mechanism's documentation."
    )
    blocks: list[Block] = [how, table]
    left = [name for name in names if name not in done]
    if left:
        epsilon = f" --epsilon {claim.epsilon:g}" if 0 < claim.epsilon < float("inf") else ""
        blocks += ["What was not run for this card, this does:"]
        blocks += [Code(f'hedgerow audit --mechanism "{name}"{epsilon} --samples 0') for name in left]
    return Section("Audit", tuple(blocks))


def _audited(name: str, result: Any) -> tuple[str, str, str, str]:
    if result is None:
        return name, "-", "-", "not run for this card"
    slack = f", delta = {result.delta:.2g}" if result.delta else ""
    return name, f"epsilon = {result.claim:g}{slack}", f"{result.measured:.6f}", result.verdict


def _made(model: Any, claim: Guarantee) -> Section:
    head = type(model)._head
    facts = [("format", f"{head['format']}, version {head['version']}"), ("card written by", _library())]
    blocks: list[Block] = []
    if model.task is None:
        facts.append(("made by", "a curator who holds the records ('hedgerow fit', or an estimator)"))
    else:
        facts += [("task", model.task.id), ("kind of task", f"{model.task.kind}: {model.task.in_words}")]
        facts.append(("reports", f"{model.n_reports:,}"))
        blocks += [
            "What is done to a record before anything leaves its device, as its holder is told:",
            Bullets(tuple(model.task.odds())),
        ]
    facts.append(("simulation", _seeded(claim)))
    return Section("How it was made", (facts_table("How it was made", facts), *blocks))


def _seeded(claim: Guarantee) -> str:
    return "yes: noise from a seed, nobody is protected" if claim.simulation else "no: no noise is known to have a seed"


def _library() -> str:
    try:
        return f"hedgerow {version('hedgerow')}"
    except PackageNotFoundError:
        return "hedgerow, not installed"
