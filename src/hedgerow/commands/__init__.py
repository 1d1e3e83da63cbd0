"""The commands of the command line, one module each, in the order that ``hedgerow --help`` lists them.

A command module has ``register(subparsers)``, which adds its parser and sets ``run``, a function of the parsed
arguments that returns the exit code. Module level imports only the standard library: all modules are loaded
for ``--help``, which is to be instant. Whatever else a command needs, ``run`` imports.
"""

COMMANDS = (
    "example",
    "schema",
    "design",
    "privatize",
    "grow",
    "aggregate",
    "predict",
    "explain",
    "card",
    "export",
    "labels",
    "fit",
    "search",
    "ledger",
    "audit",
    "advise",
    "compare",
    "bench",
    "serve",
    "publish",
    "invite",
    "status",
    "close",
    "fetch",
    "collect",
    "join",
)
