"""``hedgerow bench which``, ``page``, ``claims``, ``status``, ``figures`` and ``data``: results to read, and data."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from hedgerow.errors import HedgerowError

__all__ = ["register_pages"]

_DEFAULT = Path("experiments/results")
_SOURCE = Path(__file__).parents[2] / "results"  # where they are in the source tree, whatever folder one is in


def register_pages(verbs: Any) -> None:
    """Add the verbs."""
    which = verbs.add_parser(
        "which",
        help="what to use when: for each trust model, with the evidence",
        description="Say what to use for a trust model at an epsilon, what it keeps of what can be learnt, and how it "
        "does beside its rivals, the public model and DP-EBM. Without arguments: all trust models at epsilon 1.",
    )  # fmt: skip
    which.add_argument("--trust", nargs="+", metavar="MODEL", help="of local, aggregate, semi, label, central")
    which.add_argument("--epsilon", type=float, default=1.0, metavar="E", help="of a record (default: 1)")
    which.add_argument("--json", action="store_true", help="print JSON")
    which.set_defaults(run=_which)
    page = verbs.add_parser("page", help="write the pages of results, first of all one that says what to use when")
    page.add_argument("--to", type=Path, default=Path("docs/results"), metavar="FOLDER",
                      help="where to write them (default: docs/results)")  # fmt: skip
    page.set_defaults(run=_page)
    claims = verbs.add_parser("claims", help="check what the papers claim against the results")
    claims.add_argument("--json", action="store_true", help="print JSON")
    claims.set_defaults(run=_claims)
    status = verbs.add_parser("status", help="where every table and figure of the papers stands")
    status.add_argument("--json", action="store_true", help="print JSON")
    status.set_defaults(run=_status)
    figures = verbs.add_parser("figures", help="draw the curves of an experiment as SVG and PNG")
    figures.add_argument(
        "name", metavar="NAME", help="a name from 'hedgerow bench list', lpdt-figure4, lpdt-figure6 or lpdt-tree"
    )
    figures.add_argument("--to", type=Path, metavar="FOLDER", help="where to draw (default: FOLDER/figures)")
    figures.set_defaults(run=_figures)
    for parser in (which, page, claims, status, figures):
        parser.add_argument("--out", type=Path, default=_DEFAULT, metavar="FOLDER",
                            help="folder of the results (default: experiments/results)")  # fmt: skip
    data = verbs.add_parser("data", help="where each data set is found; fetch what is missing")
    data.add_argument("codes", nargs="*", metavar="CODE", help="such as ABA; all by default")
    data.add_argument("--fetch", action="store_true", help="download what is missing from its public origin")
    data.add_argument("--json", action="store_true", help="print JSON")
    data.set_defaults(run=_data)


def _which(arguments: argparse.Namespace) -> int:
    from hedgerow.recommended import RECOMMENDED
    from hedgerow_experiments.found import Evidence
    from hedgerow_experiments.page.which import answers, in_words, measured, to_json

    known = [one.key for one in RECOMMENDED]
    wanted = [word for words in arguments.trust or () for word in words.split(",")]
    for key in wanted:
        if key not in known:
            raise HedgerowError(f"--trust must be among {', '.join(known)}. Got {key!r} instead.")
    found = Evidence.load(_results(arguments.out))
    if not arguments.epsilon > 0:
        raise HedgerowError(f"--epsilon must be above 0. Got {arguments.epsilon:g} instead.")
    at = measured(found, arguments.epsilon)
    some = answers(found, wanted, at)
    if not some:
        raise HedgerowError("no results of library: run 'hedgerow bench run library' first.")
    if arguments.epsilon not in at:
        nearest = " and ".join(f"{e:g}" for e in at)
        print(f"epsilon {arguments.epsilon:g} was not measured; this is at {nearest}.", file=sys.stderr)
    print(json.dumps(to_json(some), indent=1) if arguments.json else in_words(found, some))
    return 0


def _page(arguments: argparse.Namespace) -> int:
    from hedgerow_experiments.pages import write_pages

    for path in write_pages(_results(arguments.out), arguments.to):
        print(path)
    return 0


def _claims(arguments: argparse.Namespace) -> int:
    from hedgerow_experiments.claims.page import check_all, count
    from hedgerow_experiments.found import Evidence

    checked = check_all(Evidence.load(_results(arguments.out)))
    if arguments.json:
        said = [{"paper": c.paper, "where": c.where, "claim": c.text, **v._asdict()} for c, v in checked]
        print(json.dumps(said, indent=1))
        return 0
    for claim, verdict in checked:
        print(f"{claim.paper}, {claim.where}: {claim.text}\n    {verdict.word}: {verdict.evidence}")
    print(", ".join(f"{n} {word}" for word, n in count(checked).items()))
    return 0


def _status(arguments: argparse.Namespace) -> int:
    from hedgerow_experiments.ages import ages
    from hedgerow_experiments.found import Evidence
    from hedgerow_experiments.registry import all_experiments
    from hedgerow_experiments.status import HEAD, cells, status, summary, to_json

    found = Evidence.load(_results(arguments.out))
    checked = status(found)
    if arguments.json:
        print(to_json(checked))
        return 0
    for one in checked:
        paper, where, *rest = cells(one)
        said = [f"{name} {text}" for name, text in zip(HEAD[2:], rest, strict=True) if text != "-"]
        print(f"{paper}, {where}: {'; '.join(said)}")
    print(summary(found, checked))
    for name in found.experiments:
        print(f"{name}: {ages(all_experiments()[name], found.rows(name))}")
    return 0


def _figures(arguments: argparse.Namespace) -> int:
    from hedgerow_experiments.draw import draw
    from hedgerow_experiments.export import load_rows
    from hedgerow_experiments.pictures import PICTURES, draw_picture
    from hedgerow_experiments.registry import find_experiment

    if arguments.name in PICTURES:
        for path in draw_picture(arguments.name, arguments.to or _results(arguments.out)):
            print(path)
        return 0
    experiment = find_experiment(arguments.name)
    rows = load_rows(experiment, _results(arguments.out))
    if not rows:
        raise HedgerowError(f"no results of {experiment.name}: run 'hedgerow bench run {experiment.name}' first.")
    for path in draw(experiment, rows, arguments.to or arguments.out / "figures"):
        print(path)
    return 0


def _results(folder: Path) -> Path:
    if folder == _DEFAULT and not folder.is_dir():
        folder = _SOURCE
    if not folder.is_dir():
        raise HedgerowError(f"--out {folder}: there is no such folder of results.")
    return folder


def _data(arguments: argparse.Namespace) -> int:
    from hedgerow_experiments.data.datasets import TARGETS, fetch_dataset, find_dataset
    from hedgerow_experiments.data.public_facts import FACTS
    from hedgerow_experiments.data.sources import SOURCES

    for code in arguments.codes:
        if code not in TARGETS:
            raise HedgerowError(f"CODE must be among {', '.join(sorted(TARGETS))}. Got {code!r} instead.")
    listed = []
    failed = 0
    for code in arguments.codes or TARGETS:
        path: object = "comes with scikit-learn" if code == "DIA" else find_dataset(code)
        problem = ""
        if path is None and arguments.fetch:
            try:
                path = fetch_dataset(code)
            except HedgerowError as error:
                problem = str(error)
                failed = failed + 1
        listed.append({"code": code, "name": FACTS[code].name, "file": str(path) if path else None,
                       "origin": SOURCES[code].page, "problem": problem})  # fmt: skip
    if arguments.json:
        print(json.dumps(listed, indent=1))
    else:
        for item in listed:
            print(f"{item['code']:<6} {item['problem'] or item['file'] or 'not here; origin: ' + str(item['origin'])}")
    return 1 if failed else 0
