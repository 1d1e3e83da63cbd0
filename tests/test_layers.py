"""Dependencies point downwards only. The layers are listed here, lowest first; a new module needs a place."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hedgerow
from hedgerow.tasks.registry import MODELS, TASKS, task_classes

ROOT = Path(hedgerow.__file__).parent

# A module may import its own package and anything in a layer above it in this list: nothing further down, and
# nothing else on its own line.
LAYERS = [
    ["errors", "types"],
    ["kernels", "forms", "ranges", "values", "checks", "digits", "recommended", "cluster"],
    ["content", "arrays", "blind", "vdaf", "sealing"],
    ["randomness", "guarantee", "wording"],
    ["samplers", "ledger", "grid", "frames"],
    ["features", "discrete_gaussian"],
    ["aggregate"],  # two servers that see no record, without network or disk
    ["space"],
    ["counting", "spending", "classes", "schema"],
    ["chart", "datasets", "summary"],
    ["card", "given"],
    ["mechanisms", "portable"],  # know nothing of partitions
    ["noise_sums", "partition"],
    ["formula"],  # what a model computes
    ["explorer"],  # a page of it
    ["tasks"],  # know nothing of estimators
    ["tables"],  # files of records
    ["sources"],  # records larger than memory
    ["estimators", "public"],  # what estimators share
    ["local", "label", "central"],  # know nothing of each other, of engines or of the service
    ["semi", "sums"],  # "semi" learns from noisy errors as "label" does, "sums" designs as "local" does
    ["baselines"],
    ["export", "search"],
    ["collect"],
    ["holder"],
    ["audit", "curator"],  # of what runs on devices, too; a server, seen by its curator
    ["collector"],  # who alone can read the sums of two servers
    ["service"],
    ["compare"],
    ["commands"],
    ["cli"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

# Up to here, and in what `hedgerow --help` loads, module level may import NumPy and the standard library only.
LIGHT = {name for name, level in LEVEL.items() if level <= LEVEL["tasks"]} | {"audit", "holder", "commands", "cli"}


def part(dotted):
    """Return the first name below hedgerow, or "" for hedgerow itself."""
    return [*dotted.split("."), ""][1]


def imports(tree, *, eager_only):
    """Yield the modules that a syntax tree imports; with ``eager_only`` those that loading it imports."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if eager_only and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if eager_only and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            yield node.module
            # `from hedgerow import x` reaches the module x, or a name that the package loads on demand.
            yield from (f"hedgerow.{alias.name}" for alias in node.names if node.module == "hedgerow")
        todo += ast.iter_child_nodes(node)


def dotted(path):
    parts = ["hedgerow", *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")
TREES = {path: ast.parse(path.read_text()) for path in FILES}


def climbs(path):
    """Yield what a module imports from its own layer or from above."""
    own = part(dotted(path))
    for name in imports(TREES[path], eager_only=False):
        if name.split(".")[0] == "hedgerow_experiments" and dotted(path) != "hedgerow.commands.bench":
            yield f"{name}: experiments are beside the library, not in it; one command looks for them"
        if name.split(".")[0] != "hedgerow" or part(name) == own:
            continue
        if name in ("hedgerow", "hedgerow.__version__"):
            if own not in ("cli", "commands"):
                yield f"{name}: import from the module that defines it"
        elif part(name) not in LEVEL:
            yield f"{name} is a public name: import it from the module that defines it"
        elif LEVEL[part(name)] >= LEVEL[own]:
            yield f"{name}: {own} must not depend on {part(name)}"


def test_every_module_has_a_layer():
    assert {part(dotted(path)) for path in FILES} == set(LEVEL)


def test_modules_import_only_lower_ones():
    assert {dotted(path): found for path in FILES if (found := list(climbs(path)))} == {}


def test_light_modules_load_numpy_and_the_standard_library_only():
    allowed = sys.stdlib_module_names | {"numpy", "hedgerow"}
    heavy = {}
    for path in FILES:
        found = {name for name in imports(TREES[path], eager_only=True) if name.split(".")[0] not in allowed}
        if found and part(dotted(path)) in LIGHT:
            heavy[dotted(path)] = found
    assert heavy == {}, "import these inside the functions that need them"


# What collects, audits, shows and answers knows `Task` and `Model`; which kinds there are, only the registry knows.
DOORS = ("explorer", "export", "collect", "holder", "audit", "service", "compare", "commands", "cli")
FOLDERS = {module.rpartition(".")[0] for module, _ in TASKS.values()}
NAMES = {name for table in (TASKS, MODELS) for _, name in table.values()} - {"Model"}
KINDS = {cls.kind for cls in task_classes()}


def names_a_kind(tree):
    """Yield where a module names a kind of task: an import, the name of a class, a comparison with its word."""
    for name in imports(tree, eager_only=False):
        if any(name == folder or name.startswith(f"{folder}.") for folder in FOLDERS):
            yield f"imports {name}"
    for node in ast.walk(tree):
        name = getattr(node, "id", getattr(node, "attr", None))
        if isinstance(node, ast.Name | ast.Attribute) and name in NAMES:
            yield f"line {node.lineno}: {name}"
        if isinstance(node, ast.Compare):
            words = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
            if words & KINDS and "kind" in ast.unparse(node):  # "label" is also what a guarantee protects
                yield f"line {node.lineno}: compares with {sorted(words & KINDS)}"


def test_no_kind_of_task_is_named_above_the_tasks():
    doors = [path for path in FILES if part(dotted(path)) in DOORS]
    found = {dotted(path): named for path in doors if (named := list(names_a_kind(TREES[path])))}
    assert found == {}, "ask the task (a method in tasks/base.py) instead of its kind"


def test_a_named_kind_is_seen():
    source = """
from hedgerow.tasks.tree.task import LocalTask
if task.kind == "pilot" or isinstance(model, tasks.AssistedModel):
    pass
"""
    found = list(names_a_kind(ast.parse(source)))
    assert len(found) == 3 and "pilot" in str(found) and "AssistedModel" in str(found)


def test_no_file_is_a_monster():
    lengths = {dotted(p): len(p.read_text().splitlines()) for p in FILES}
    assert {name: n for name, n in lengths.items() if n > 600} == {}


def loaded_by(code):
    """Return the top-level packages in memory after running code in a new interpreter."""
    script = f"{code}\nimport sys\nprint(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True, env=os.environ
    )
    return set(run.stdout.splitlines()[-1].split())


HEAVY = {"sklearn", "scipy", "pandas", "polars", "pyarrow", "matplotlib", "joblib", "dask", "opendp"}
LIGHT_CODE = [
    "import hedgerow",
    "from hedgerow import Guarantee, Ledger, SecureRandomness",
    "import hedgerow.mechanisms, hedgerow.partition, hedgerow.audit, hedgerow.tasks.tree.simulate",
    # The holder's path: what a device runs.
    "from hedgerow import LocalTask, Report, privatize, privatize_many",
    "from hedgerow.cli import build_parser\nbuild_parser().format_help()",
]


@pytest.mark.parametrize("code", LIGHT_CODE)
def test_light_paths_load_neither_scikit_learn_nor_scipy(code):
    assert loaded_by(code) & HEAVY == set()


def test_help_does_not_even_load_numpy():
    assert "numpy" not in loaded_by(LIGHT_CODE[-1])


def test_the_checks_see_what_they_should():
    source = """
import scipy.special
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import pandas
else:
    import polars
class C:
    import matplotlib
    def f(self):
        from sklearn import tree
from hedgerow import service
"""
    tree = ast.parse(source)
    eager = {"scipy.special", "typing", "polars", "matplotlib", "hedgerow", "hedgerow.service"}
    assert set(imports(tree, eager_only=True)) == eager
    assert set(imports(tree, eager_only=False)) == eager | {"pandas", "sklearn"}
