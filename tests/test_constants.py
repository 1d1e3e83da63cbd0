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
