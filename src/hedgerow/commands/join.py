"""``hedgerow join``: answer a curator's question from this device."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from hedgerow.commands.files import add_command, naming, report, warn
from hedgerow.commands.server import waiting
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.holder import Answer, Holder, Invitation, Receipt, ServiceError
    from hedgerow.holder.texts import Texts

_DESCRIPTION = """Show a task in plain words, randomise your record on this device, show the bytes, ask, and send them.

The record stays here. The report is drawn once and kept on disk before it is sent; a second run sends the same bytes.
What each curator was given in total is kept too, and a report beyond the limit is refused. The exit code is 1 where
you decline, or a report was sent and does not count.

  hedgerow join https://town.example/join/ID age=41 hours=12.5
  hedgerow join https://town.example/join/ID --yes --record me.json"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "join", "answer a curator's question from this device", _DESCRIPTION)
    parser.add_argument("url", nargs="?", metavar="URL", help="the link to the task; may end in #token=...")
    parser.add_argument("values", nargs="*", metavar="NAME=VALUE", help="the record, value by value, next to the URL")
    parser.add_argument(
        "--record",
        nargs="+",
        default=[],
        metavar="FILE|NAME=VALUE",
        help="the record: a JSON object in a file, or values",
    )
    parser.add_argument("--private", metavar="NAME,...", help="features to keep private, if the task lets you choose")
    parser.add_argument(
        "--language", metavar="TAG", help="of the questions and words: en, de, fr (default: that of the locale, or en)"
    )
    parser.add_argument("--token", help="one-time token, if the task asks for one")
    parser.add_argument("--key", help="the curator's public key (base64url): refuse any other")
    parser.add_argument("--home", metavar="DIR", help="where this device keeps its reports (default: ~/.hedgerow)")
    parser.add_argument(
        "--show", action="store_true", help="show the task, and the bytes if there is a record; send nothing"
    )
    parser.add_argument("--yes", action="store_true", help="send without asking")
    parser.add_argument(
        "--resend",
        action="store_true",
        help="send reports that were not acknowledged yet, again: all, or that to the task of URL",
    )
    parser.add_argument("--budget", action="store_true", help="show what every curator was given so far; send nothing")
    parser.add_argument(
        "--limit", type=float, metavar="EPSILON", help="most that this curator may learn, in total and for good"
    )
    parser.add_argument("--reason", help="why the limit of a curator who was answered before is changed; written down")
    parser.add_argument("--insecure", action="store_true", help="allow http to other machines")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Answer one task, or send again."""
    from hedgerow.holder import Client, Holder

    client = Client(tell=waiting(arguments))
    holder = Holder(arguments.home, client=client, insecure=arguments.insecure)
    if arguments.resend:
        return _resend(arguments, holder)
    if arguments.budget:
        return _budget(arguments, holder)
    if arguments.url is None:
        raise HedgerowError("URL is needed: the link to the task (or --resend, or --budget).")
    invitation = holder.fetch(arguments.url, trusted_key=arguments.key)
    if arguments.limit is not None:
        _limit(arguments, holder, invitation.notice.public_key)
        invitation = holder.fetch(arguments.url, trusted_key=arguments.key)  # the words name the limit
    return _join(arguments, holder, invitation)


def _join(arguments: argparse.Namespace, holder: Holder, invitation: Invitation) -> int:
    """Show the task, take the record, draw, show, ask and send."""
    from hedgerow.holder.asking import taken
    from hedgerow.holder.picture import draw_picture

    texts = _texts(arguments)
    record = _record(arguments, invitation)
    if not arguments.json:
        print(invitation.describe(texts.tag), "\n")
    given = bool(arguments.record or arguments.values)
    if not given and arguments.show:
        return _summary(arguments, invitation, texts)
    if not given:
        if holder.store.kept(invitation.notice.id) is None:
            holder.check_open(invitation)
        record = _ask(invitation, texts, record)
    record, notes = taken(invitation.notice.task, record, texts)
    if notes and not arguments.json:
        print("\n".join([texts.say("join.taken"), *(f"  {note}" for note in notes), ""]))
    answer = holder.answer(invitation, record, mask=_mask(arguments, invitation))
    if not arguments.json:
        target = invitation.notice.task.target
        print("\n".join([*draw_picture(answer.picture, target, texts), *_bytes(answer, texts)]))
    if arguments.show:
        return _summary(arguments, invitation, texts, answer)
    if not arguments.yes and not _consent(texts):
        print(texts.say("join.declined"))
        return 1
    token = arguments.token or _fragment(arguments).get("token")
    return _summary(arguments, invitation, texts, answer, holder.send(answer, token=token))


def _texts(arguments: argparse.Namespace) -> Texts:
    """Return the texts of the language that is asked for, or of the locale."""
    from hedgerow.holder.texts import LANGUAGES, Texts, default_language

    texts = Texts(default_language() if arguments.language is None else arguments.language)
    if arguments.language is not None and texts.language != texts.tag.partition("-")[0]:
        known = ", ".join(LANGUAGES)
        warn(
            arguments, f"--language {texts.tag!r} is none of {known}: only questions may be in it, all else is English"
        )
    return texts


def _ask(invitation: Invitation, texts: Texts, known: dict[str, Any]) -> dict[str, Any]:
    """Ask for one value after the other; what can be read in two ways is asked for again."""
    from hedgerow.holder.asking import fields_of

    if not sys.stdin.isatty():
        raise HedgerowError("a record is needed: NAME=VALUE ..., or --record FILE (--show only shows the task).")
    record = dict(known)
    for field in fields_of(invitation.notice.task):
        while field.name not in record:
            try:
                record[field.name] = field.read(input(f"{field.line(texts)}\n> "), texts)
            except HedgerowError as error:
                print(error)
    return record


def _limit(arguments: argparse.Namespace, holder: Holder, key: bytes) -> None:
    """Set a curator's limit; for one that was answered before only with a reason."""
    from hedgerow.holder import Cost

    before = holder.store.limit_of(key)
    wanted = Cost.limit(arguments.limit, before.delta / 10**15)
    if wanted == before:
        return
    if holder.store.knows(key) and not arguments.reason:
        raise HedgerowError(f"this curator's limit is {before}; to change it say why, with --reason.")
    holder.store.set_limit(key, wanted, arguments.reason or "set before the first answer")


def _budget(arguments: argparse.Namespace, holder: Holder) -> int:
    store = holder.store
    rows = [(fingerprint, str(store.spent(key)), str(store.limit_of(key))) for fingerprint, key in store.curators()]
    lines = [
        f"{name}: {spent} of {limit}" for name, spent, limit in [*rows, ("all together", store.spent(), store.total)]
    ]
    summary = {
        "curators": {name: {"spent": spent, "limit": limit} for name, spent, limit in rows},
        "micro_epsilon": store.spent().epsilon,
        "changes": store.changes(),
    }
    report(arguments, summary, [*lines, *store.changes()])
    return 0


def _record(arguments: argparse.Namespace, invitation: Invitation) -> dict[str, Any]:
    """Return the record, numbers as numbers and categories as text."""
    from hedgerow.holder.make import check_question

    record = _in_link(arguments, invitation)
    for item in [*arguments.record, *arguments.values]:
        name, sign, value = item.partition("=")
        if sign and name:
            record[name] = value
        elif item in arguments.record:
            record |= _read(item)
        else:
            raise HedgerowError(f"{item!r} is not NAME=VALUE.")
    names = check_question(invitation.notice.task)
    if unknown := sorted(set(record) - set(names)):
        # No error: who has a field that others lack must not be silent.
        warn(arguments, f"the task does not ask for {unknown}; left out. It asks for {list(names)}")
    return {name: value for name, value in record.items() if name in names}


def _in_link(arguments: argparse.Namespace, invitation: Invitation) -> dict[str, Any]:
    """Return what a link says of the record: its public number, where there is one."""
    number = _fragment(arguments).get("record")
    if number is None or not invitation.notice.task.question().numbered:
        return {}
    return {"record": number}


def _fragment(arguments: argparse.Namespace) -> dict[str, str]:
    """Return what stands after the # of the link, which no server sees."""
    return {name: values[0] for name, values in parse_qs(urlsplit(arguments.url).fragment).items()}


def _read(path: str) -> dict[str, Any]:
    with naming(path), open(path, "rb") as file:
        try:
            content = json.load(file, parse_int=_whole)
        except ValueError as error:
            raise HedgerowError(f"a record is a JSON object: {error}") from None
        if not isinstance(content, dict):
            raise HedgerowError(f"a record is a JSON object. Got {type(content).__name__} instead.")
        return content


def _whole(digits: str) -> int | float:
    """Return a whole number; Python refuses to read one of very many digits, which counts as infinite here."""
    return int(digits) if len(digits) < 1000 else float(digits)


def _mask(arguments: argparse.Namespace, invitation: Invitation) -> Sequence[bool] | None:
    if arguments.private is None:
        return None
    task = invitation.notice.task
    asked = task.question()
    if not asked.chooses:
        raise HedgerowError(
            f"--private is for tasks in which holders choose what is private; this is a {task.kind} task in which they "
            "do not: leave it out."
        )
    chosen = {name for name in arguments.private.split(",") if name}
    names = [feature.name for feature in asked.features]
    if unknown := sorted(chosen - set(names)):
        raise HedgerowError(f"--private names {unknown}; the task asks for {names}.")
    return [name in chosen for name in names]


def _bytes(answer: Answer, texts: Texts) -> list[str]:
    """Return the body in hexadecimal, 32 bytes a line."""
    text = answer.body.hex(" ")
    lines = [f"  {text[i : i + 96].rstrip()}" for i in range(0, len(text), 96)]
    head = texts.say("join.same" if answer.again else "join.bytes", n=len(answer.body))
    return [head, *(lines if len(lines) <= 24 else [*lines[:23], f"  {texts.say('join.lines', n=len(lines) - 23)}"])]


def _consent(texts: Texts) -> bool:
    if not sys.stdin.isatty():
        raise HedgerowError("nobody is there to ask; use --yes to send without asking. Nothing was sent or spent.")
    print(texts.say("join.decide"))
    return input(f"{texts.say('join.send')} ").strip().lower() in texts.say("join.consent").split()


def _summary(
    arguments: argparse.Namespace,
    invitation: Invitation,
    texts: Texts,
    answer: Answer | None = None,
    receipt: Receipt | None = None,
) -> int:
    notice = invitation.notice
    summary: dict[str, Any] = {"task": notice.id, "kind": notice.kind, "key": notice.fingerprint, "sent": False}
    lines = []
    if answer is not None:
        summary |= {"body": answer.body.hex(), "again": answer.again, "micro_epsilon": answer.cost.epsilon}
    if receipt is not None:
        summary |= {"sent": True, "accepted": receipt.accepted, "duplicate": receipt.duplicate, "code": receipt.code}
        lines = [_outcome(receipt, texts)]
    report(arguments, summary, lines)
    return 0 if receipt is None or receipt.final else 1


def _outcome(receipt: Receipt, texts: Texts) -> str:
    if receipt.accepted:
        return texts.say("page.thanks")
    if receipt.duplicate:
        return texts.say("page.had")
    return texts.say("join.refused", code=receipt.code)


def _resend(arguments: argparse.Namespace, holder: Holder) -> int:
    from hedgerow.holder import Place, ServiceError
    from hedgerow.holder.client import read_url

    texts = _texts(arguments)
    only = None if arguments.url is None else read_url(arguments.url, insecure=arguments.insecure)
    results = holder.resend(only)
    left = {Place(base, task_id) for task_id, base, _ in holder.store.waiting()}

    def say(place: Place, result: Receipt | ServiceError) -> str:
        said = str(result) if isinstance(result, ServiceError) else _outcome(result, texts)
        return f"{said} {texts.say('join.kept')}" if place in left else said

    said = {place: say(place, result) for place, result in results.items()}
    lines = [f"{place.task_id[:12]} ({place.base}): {words}" for place, words in said.items()]
    summary = {
        "results": {place.task_url: words for place, words in said.items()},
        "waiting": sorted(place.task_url for place in left),
    }
    report(arguments, summary, lines or [texts.say("join.none")])
    return int(any(isinstance(r, ServiceError) or not r.final for r in results.values()))
