"""The command line: ``hedgerow COMMAND ...``. Each command is one module under :mod:`hedgerow.commands`.

Exit codes: 0 all well, 1 the command ran and the answer is bad (a violated claim, say), 2 bad arguments or
input; with 2 one line on standard error says what is wrong and what to do.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from hedgerow.commands import COMMANDS
from hedgerow.commands.parser import Parser
from hedgerow.commands.progress import say
from hedgerow.errors import HedgerowError, HedgerowWarning

__all__ = ["build_parser", "main"]

_DESCRIPTION = "Regression trees learnt under differential privacy, with guarantees that are true and tested."
_EPILOG = "Run 'hedgerow COMMAND --help' for one command. Exit codes: 0 all well, 1 a bad answer, 2 bad arguments."


class _Help(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 16  # argparse forgets the indent of commands and would break their lines


class _Version(argparse.Action):
    """Print the version; it is looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from hedgerow import __version__

        print(f"hedgerow {__version__}")
        parser.exit(0)


def build_parser(names: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser of all commands, or of those named: loading the others takes as long as a small command."""
    parser = Parser(
        prog="hedgerow", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=_Help, allow_abbrev=False
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", required=True)
    for name in names:
        importlib.import_module(f"hedgerow.commands.{name}").register(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = _parse(argv)
    try:
        with _telling(arguments.command):
            code = int(arguments.run(arguments))
        sys.stdout.flush()
        return code
    except HedgerowError as error:
        return _fail(arguments.command, str(error))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader (head, less) has gone; point stdout elsewhere so that the final flush is quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        name = f"{error.filename}: " if error.filename is not None else ""
        return _fail(arguments.command, f"{name}{error.strerror or error}")


@contextlib.contextmanager
def _telling(command: str) -> Iterator[None]:
    """Print our own warnings as the command line does: in one line, each once."""
    told: set[str] = set()

    def tell(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        text = " ".join(str(message).split())
        if not issubclass(category, HedgerowWarning):
            plain(message, category, *place, **more)
        elif text not in told:
            told.add(text)
            say(f"hedgerow {command}: warning: {text}")

    with warnings.catch_warnings():
        plain = warnings.showwarning
        warnings.simplefilter("always", HedgerowWarning)
        warnings.showwarning = tell
        yield


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse; a record's NAME=VALUE may also follow the options, which argparse by itself does not take."""
    given = sys.argv[1:] if argv is None else argv
    chosen = [name for name in COMMANDS if given and name == given[0]]
    parser = build_parser(chosen or COMMANDS)
    arguments, rest = parser.parse_known_args(given)
    if rest and getattr(arguments, "values", None) is not None and all(_is_value(word) for word in rest):
        arguments.values = [*arguments.values, *rest]
    elif rest:
        prog = f"{parser.prog} {arguments.command}"
        parser.exit(2, f"{prog}: unrecognized arguments: {' '.join(rest)} (see '{prog} --help')\n")
    return arguments


def _is_value(word: str) -> bool:
    return "=" in word and not word.startswith("-")


def _fail(command: str, message: str) -> int:
    """Say in one line what is wrong."""
    print(f"hedgerow {command}: {' '.join(message.split())}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
