"""Run every sample of the documentation as it is printed, and compare what it prints with the page.

``python docs/_hooks/samples.py [PAGE ...]`` (``make docs`` does it for all pages). Each page starts in an empty folder.
Its blocks run in order: ``python`` in one namespace, ``console`` and ``bash`` as commands (after ``$ ``, with what
each prints below it); a block with a ``title`` is a file; a ``text`` block is what the one before it must print,
with ``...`` for what may differ. Blocks in ``py`` and ``sh`` are for other machines (a cluster, a server of one's own):
they are only checked for commands that exist.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_SHELL = re.compile(r"[|&;<>*$`()]")


class SampleError(Exception):
    """A sample does not run, or prints something else than the page says."""


def pages() -> list[Path]:
    """Return all pages that are written by hand."""
    written = [page for page in sorted(DOCS.rglob("*.md")) if "results" not in page.parts]
    return [*written, ROOT / "README.md"]


def blocks(page: Path) -> list[tuple[str, str | None, str]]:
    """Return (language, title, text) of all blocks of code of a page."""
    return [(m[1], m[2], m[3]) for m in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def commands(text: str) -> list[str]:
    """Return the commands of a block, those of several lines in one, without comments."""
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def run_page(page: Path) -> float:
    """Run the samples of one page in a new folder; return the seconds that it took."""
    start = time.monotonic()
    names: dict[str, Any] = {"__name__": "__main__"}
    printed: str | None = None
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("error")
        for language, title, text in blocks(page):
            try:
                if title is not None:
                    Path(title).write_text(text, encoding="utf-8")
                elif language == "python":
                    printed = run_python(text, names)
                elif language in ("console", "bash"):
                    printed = run_block(text, language)
                elif language == "text" and printed is not None:
                    compare(text, printed)
            except Exception as error:
                raise SampleError(f"{page.relative_to(ROOT)}: {error}\nin the block\n{text}") from None
            if language == "text":
                printed = None
    return time.monotonic() - start


def compare(wanted: str, printed: str) -> None:
    """Refuse an output that is not the one on the page."""
    if not doctest.OutputChecker().check_output(wanted, printed, FLAGS):
        raise SampleError(f"expected\n{wanted}\ngot\n{printed}")


def run_python(text: str, names: dict[str, Any]) -> str:
    """Run Python in the namespace of its page; return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "sample", "exec"), names)
    return out.getvalue()


def run_block(text: str, language: str) -> str:
    """Run commands; return what they print. Those of ours run in this process, which saves their imports."""
    if language == "bash":
        return in_shell(text)
    if text.startswith("$ "):
        return run_transcript(text)
    return "".join(in_shell(line) if _is_foreign(line) else in_process(line) for line in commands(text))


def run_transcript(text: str) -> str:
    """Run commands after a prompt, and compare what each prints with the lines below it; return it all."""
    printed = ""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, wanted = part.replace("\\\n", " ").partition("\n")
        found = in_shell(command) if _is_foreign(command) else in_process(command)
        if wanted.strip():
            compare(wanted, found)
        printed += found
    return printed


def _is_foreign(line: str) -> bool:
    return not line.startswith("hedgerow ") or bool(_SHELL.search(re.sub(r'"[^"]*"|\'[^\']*\'|#.*', "", line)))


def in_process(line: str) -> str:
    """Run one command of ours; return what it prints."""
    from hedgerow import cli

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = cli.main(shlex.split(line, comments=True)[1:])
        except SystemExit as stop:
            code = int(stop.code or 0)
    if code:
        raise SampleError(f"{line}\nended with {code}:\n{out.getvalue()}")
    return out.getvalue()


def in_shell(text: str) -> str:
    """Run commands in a shell; return what they print."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        env={**os.environ, "PATH": path, "PYTHONWARNINGS": "error"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        raise SampleError(f"{text}\nended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def main() -> int:
    """Run all pages, or those that are named; return the exit code."""
    parser = argparse.ArgumentParser(description="Run the samples of the documentation.")
    parser.add_argument("pages", nargs="*", type=Path, help="pages (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="pages at once (default: 2)")
    options = parser.parse_args()
    os.environ.setdefault("MPLBACKEND", "Agg")
    chosen = [path.resolve() for path in options.pages] or pages()
    chosen = [page for page in chosen if any(language != "text" for language, _, _ in blocks(page))]
    failed = 0
    # One process a page: samples may change what the next page would see.
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        running = {page: pool.submit(run_page, page) for page in chosen}
        for page, result in running.items():
            try:
                print(f"{result.result():6.1f} s  {page.relative_to(ROOT)}", flush=True)
            except Exception as error:
                failed += 1
                print(f"FAILED {error}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
