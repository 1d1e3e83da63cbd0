"""``hedgerow search``: choose settings on private records that this machine holds, and learn with the best."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING, Any

from hedgerow.commands.booking import booked, left_lines, open_ledger
from hedgerow.commands.files import (
    add_command,
    add_output,
    check_output,
    naming,
    report,
    warn,
    warn_of_seed,
    write_text,
)
from hedgerow.commands.fit import add_private_records, known_facts, read_records
from hedgerow.commands.progress import Progress
from hedgerow.errors import FormatError, HedgerowError

if TYPE_CHECKING:
    from hedgerow.search import PrivateSearchCV

_DESCRIPTION = """\
Try several settings of a model on PRIVATE records, choose the best, learn with it,
and write the model as JSON. All of it together costs the epsilon that is given: by a
coin of its own each record is in the group of one setting, in the group that compares
them, or in that of the final fit. Scores are printed with noise; true ones never are.

With --public settings are compared on public records instead, which costs nothing,
and all private records go into the final fit.

  hedgerow search forest private.csv --target kwh --epsilon 1 --label-bounds 0:60 \\
      --feature-bounds area=20:150 --try max_depth=2,4,6 -o model.json
"""
_LONGEST = 1 << 20  # bytes of a file of settings: a hundred of them take a few thousand


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "search", "choose settings on private records, and learn", _DESCRIPTION)
    parser.add_argument("kind", choices=("anova", "forest"), help="what to learn")
    add_private_records(parser)
    parser.add_argument("--delta", type=float, metavar="D", help="anova; 0: pure epsilon (default: 1e-5)")
    settings = parser.add_mutually_exclusive_group(required=True)
    settings.add_argument(
        "--try",
        dest="tried",
        action="append",
        type=_values,
        metavar="NAME=A,B",
        help="values of a parameter; may be repeated: all combinations are tried",
    )
    settings.add_argument(
        "--settings", metavar="FILE", help="JSON: an object of lists, or a list of objects, each of which is tried"
    )
    parser.add_argument("--public", metavar="FILE", help="compare on these public records, CSV or Parquet")
    parser.add_argument("--validation-share", type=float, metavar="S", help="records that compare (default: 0.2)")
    parser.add_argument("--candidate-share", type=float, metavar="S", help="records of all candidates (default: 0.3)")
    parser.add_argument("--score-share", type=float, metavar="S", help="epsilon for noisy scores (default: 0.2)")
    parser.add_argument("--no-refit", action="store_true", help="no final fit: the best candidate is the model")
    parser.add_argument("--loss", choices=("squared", "absolute"), help="of a number (default: squared)")
    add_output(parser, "the model, JSON")
    parser.set_defaults(run=run)


def _values(text: str) -> tuple[str, list[Any]]:
    """Read ``NAME=A,B``; values are numbers, true, false, null or words."""
    name, separator, rest = text.partition("=")
    if not separator or not name or not rest:
        raise argparse.ArgumentTypeError(f"expected NAME=A,B such as max_depth=2,4. Got {text!r} instead.")
    return name, [_value(word) for word in rest.split(",")]


def _value(word: str) -> Any:
    try:
        value = json.loads(word)
    except ValueError:
        return word
    return word if isinstance(value, list | dict) else value


def run(arguments: argparse.Namespace) -> int:
    """Read, search, write."""
    named = (arguments.private, arguments.public, arguments.schema, arguments.settings, arguments.ledger)
    check_output(arguments, [name for name in named if name])
    ledger = open_ledger(arguments)
    options = _options(arguments)
    settings = _settings(arguments)
    known, names, text = known_facts(arguments)
    warn_of_seed(arguments)
    if math.isinf(arguments.epsilon):
        warn(arguments, "epsilon is infinite: nothing is protected")
    records, labels = read_records(arguments, arguments.private, names, text)
    public: dict[str, Any] = {}
    if arguments.public is not None:
        X, y = read_records(arguments, arguments.public, names, text)
        public = {"X_public": X, "y_public": y}
    from hedgerow.search import PrivateSearchCV

    with Progress("searching", "fits") as progress:
        options["callback"] = progress.step
        search = PrivateSearchCV(_estimator(arguments, known), settings, **options, ledger=ledger)
        search.fit(records, labels, **public)
    write_text(arguments.output, search.model_.to_json() + "\n")
    summary = {
        "output": arguments.output,
        "features": names,
        "best": search.best_params_,
        "settings": _tried(search),
        "guarantee": search.guarantee_.to_dict(),
        "statement": str(search.guarantee_),
        **booked(ledger),
    }
    lines = [f"model -> {arguments.output}", *_table(search), str(search.guarantee_), *left_lines(ledger)]
    report(arguments, summary, lines)
    return 0


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what the search is told; refuse by name what a public one does not have."""
    names = ("validation_share", "candidate_share", "score_share", "loss")
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    if arguments.no_refit:
        given["refit"] = False
    unused = [name for name in given if name != "loss"]
    if arguments.public is not None and unused:
        option = "no-refit" if unused[0] == "refit" else unused[0].replace("_", "-")
        raise HedgerowError(f"--{option} is for a search on private records; with --public leave it out.")
    if arguments.no_refit and arguments.candidate_share is not None:
        raise HedgerowError("--candidate-share is for a search with a final fit; with --no-refit leave it out.")
    where = "private" if arguments.public is None else "public"
    return {**given, "search": where, "random_state": arguments.seed}


def _settings(arguments: argparse.Namespace) -> Any:
    if arguments.settings is None:
        names = [name for name, _ in arguments.tried]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise HedgerowError(f"--try {twice[0]} is there twice; give all of its values at once.")
        return dict(arguments.tried)
    with open(arguments.settings, "rb") as file, naming(arguments.settings):
        data = file.read(_LONGEST + 1)
        if len(data) > _LONGEST:
            raise FormatError("this is too long for a file of settings.")
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"not JSON: {error}.") from error


def _estimator(arguments: argparse.Namespace, known: dict[str, Any]) -> Any:
    import hedgerow

    kind = {"anova": "PrivateAnova", "forest": "DiPriMeForest"}[arguments.kind]
    kind += "Regressor" if arguments.classes is None else "Classifier"
    options: dict[str, Any] = {"neighbours": arguments.neighbours}
    if arguments.delta is not None:
        if arguments.kind != "anova":
            raise HedgerowError("--delta is for anova; a forest costs a pure epsilon: leave it out.")
        options["delta"] = arguments.delta
    return getattr(hedgerow, kind)(arguments.epsilon, **known, **options)


def _tried(search: PrivateSearchCV) -> list[dict[str, Any]]:
    """Return each setting with what was released of it."""
    results = search.cv_results_
    found = []
    for i, setting in enumerate(results["params"]):
        row: dict[str, Any] = {"setting": setting}
        if "mean_test_score" in results:
            row["score"] = float(results["mean_test_score"][i])
            row["standard_error"] = float(results["std_test_score"][i])
        found.append(row)
    return found


def _table(search: PrivateSearchCV) -> list[str]:
    lines = []
    for i, row in enumerate(_tried(search)):
        mark = "*" if i == search.best_index_ else " "
        score = f"  score {row['score']:.4g} +- {row['standard_error']:.2g}" if "score" in row else ""
        lines.append(f"{mark} {json.dumps(row['setting'])}{score}")
    return lines
