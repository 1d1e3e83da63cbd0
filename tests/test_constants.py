"""Numbers say where they come from: a derivation, or the data they were chosen on, or that they are by hand."""

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "hedgerow"


def is_number(node):
    """Whether an expression is made of nothing but numbers."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.Tuple | ast.List):
        return bool(node.elts) and all(map(is_number, node.elts))
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    return isinstance(node, ast.BinOp) and is_number(node.left) and is_number(node.right)


def silent(text):
    """Return the names of constants of a module that nothing is said of: on the line, or above or below their block."""
    lines = text.splitlines()
    found, block = [], []
    for node in [*ast.parse(text).body, None]:
        number = isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and is_number(node.value)
        if number and (not block or node.lineno == block[-1].end_lineno + 1):
            block.append(node)
            continue
        if block:
            above, below = lines[block[0].lineno - 2], lines[block[-1].end_lineno : block[-1].end_lineno + 1]
            said = above.startswith("#") or any(line.startswith('"""') for line in below)
            found += [] if said else [n for n in block if "#" not in lines[n.end_lineno - 1]]
        block = [node] if number else []
    names = [ast.unparse(n.targets[0] if isinstance(n, ast.Assign) else n.target) for n in found]
    return [name for name in names if "VERSION" not in name]


def test_silent_numbers_are_found():
    assert silent("X = 3\nY: int = 4\n\n_Z = (1 << 4, -0.5)  # why\nVERSION = 1\nW = f(3)\n") == ["X", "Y"]
    assert silent('# why\nX = 3\nY = 4\n\nZ = 5\n"""Why."""\nW = 6\n') == ["W"]


def test_numbers_say_where_they_come_from():
    found = {str(path.relative_to(SOURCE)): silent(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    assert {path: names for path, names in found.items() if names} == {}


# What auditors read. Elsewhere a bare number in a comparison is mostly a matter of layout.
READ = ("mechanisms", "tasks", "samplers.py", "counting.py", "randomness.py", "guarantee.py", "grid.py", "ledger.py")
PLAIN = {0, 1, 2, 0.5, 255, 256, 32, 64}  # pairs, halves, bytes and words


def bare(text):
    """Return lines that compare with a number without a name or a word; what audits instances (lambdas) is left out."""
    lines, tree = text.splitlines(), ast.parse(text)
    inside = {id(node) for found in ast.walk(tree) if isinstance(found, ast.Lambda) for node in ast.walk(found)}
    places = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and id(node) not in inside
        for part in (node.left, *node.comparators)
        if isinstance(part, ast.Constant) and is_number(part) and part.value not in PLAIN
    ]
    return [
        lines[i - 1].strip() for i in places if "#" not in lines[i - 1] and not lines[i - 2].strip().startswith("#")
    ]


def test_comparisons_with_bare_numbers_are_found():
    assert bare("if x > 7:\n    y = x == 2\nz = x < 3  # why\n# why\nw = x < 5\n") == ["if x > 7:"]


def test_no_comparison_that_auditors_read_has_a_bare_number():
    files = [
        path for name in READ for path in ([SOURCE / name] if name[-3:] == ".py" else (SOURCE / name).rglob("*.py"))
    ]
    found = {str(path.relative_to(SOURCE)): bare(path.read_text("utf-8")) for path in sorted(files)}
    assert {path: lines for path, lines in found.items() if lines} == {}
