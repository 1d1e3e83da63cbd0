"""Commands know tasks and models by their contracts: no kind is named in them."""

import ast
from pathlib import Path

import hedgerow.commands

FOLDER = Path(hedgerow.commands.__file__).parent
KINDS = tuple(f"hedgerow.tasks.{name}" for name in ("tree", "assisted", "partly_public", "labels"))


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_no_command_imports_a_kind_of_task():
    found = {path.name: [m for m in imported(path) if m.startswith(KINDS)] for path in sorted(FOLDER.glob("*.py"))}
    assert {name: modules for name, modules in found.items() if modules} == {}
