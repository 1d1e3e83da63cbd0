"""Which code a cell was computed by: a digest over the source that it can reach.

Starting from the function that computes cells, import statements are followed wherever they stand, in functions too,
and so are strings that name a module (the library loads some by name). Comments, docstrings and what is imported for
types alone do not count: they change no result. Nor do packages of others, whose versions each run states, nor compiled
kernels, which tests hold to the same results as NumPy.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from hedgerow_experiments.experiment import Experiment

__all__ = ["fingerprint", "fingerprints", "reached"]

_OURS = ("hedgerow", "hedgerow_experiments")
_DIGITS = 12  # of a hexadecimal digest: two states of the code are told apart but once in 2^48


class _Read(NamedTuple):
    """A source file: the digest of what it does, modules that it imports, and those that its strings name."""

    digest: str
    imports: frozenset[str]
    named: frozenset[str]


def fingerprints(experiment: Experiment) -> dict[str, str]:
    """Return the digest of every group.

    A group that says which modules it ``uses`` reaches these, and not what strings elsewhere name: a change of one
    method then leaves the cells of others what they were.
    """
    return {group.name: fingerprint(experiment.compute, group.uses) for group in experiment.groups}


def fingerprint(compute: str, uses: Collection[str] = ()) -> str:
    """Return the digest of the code behind a function, given as ``"module:function"``.

    >>> len(fingerprint("hedgerow_experiments.library.compute:compute"))
    12
    """
    return _digest(compute.partition(":")[0], tuple(uses))


@lru_cache(maxsize=1000)
def _digest(module: str, uses: tuple[str, ...]) -> str:
    found = reached(module, uses)
    text = "\n".join(f"{name} {_read(path).digest}" for name, path in sorted(found.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def reached(module: str, uses: Collection[str] = ()) -> dict[str, Path]:
    """Return the files of the modules that one reaches, by name; those of others' packages left out."""
    found: dict[str, Path] = {}
    todo = [module, *uses]
    while todo:
        name = todo.pop()
        path = None if name in found else _path(name, first=name == module)
        if path is None:
            continue
        found[name] = path
        read = _read(path)
        todo += read.imports if uses else read.imports | read.named
    return found


@lru_cache(maxsize=10_000)
def _path(module: str, *, first: bool = False) -> Path | None:
    """Return the source of a module of ours, or of the one to start from; None if there is none."""
    top, *rest = module.split(".")
    if top not in _OURS:
        spec = importlib.util.find_spec(module) if first else None
        return None if spec is None or spec.origin is None else Path(spec.origin)
    root = importlib.util.find_spec(top)
    if root is None or root.origin is None:
        return None
    stem = Path(root.origin).parent.joinpath(*rest)
    paths = (stem / "__init__.py", stem.with_name(f"{stem.name}.py"))
    return next((path for path in paths if path.is_file()), None)


@lru_cache(maxsize=10_000)
def _read(path: Path) -> _Read:
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        _strip(node)
    imports = set()
    named = set()
    for node in ast.walk(tree):
        imports |= set(_imported(node))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.split(".")[0] in _OURS:
            named.add(node.value)
    text = repr(_plain(tree))
    return _Read(hashlib.sha256(text.encode()).hexdigest(), frozenset(imports), frozenset(named))


def _strip(node: ast.AST) -> None:
    """Take out docstrings, of names too, and what is there for types alone."""
    body = getattr(node, "body", None)
    if isinstance(body, list):
        node.body = [one for one in body if not _for_types(one) and not _is_text(one)]  # type: ignore[attr-defined]


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _imported(node: ast.AST) -> Iterator[str]:
    """Yield the modules that a statement may import: of ``from a import b`` both a and a.b, one of which may not be."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _plain(node: Any) -> Any:
    """Return a tree as lists, without fields that are empty: versions of Python differ in which of them there are."""
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if value is not None and value != [])
        return [type(node).__name__, *([name, _plain(value)] for name, value in fields)]
    return [_plain(one) for one in node] if isinstance(node, list) else node
