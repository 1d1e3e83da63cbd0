"""The documentation tells the truth: the tutorial is run, output included, and so are Python blocks and examples."""

import doctest
import os
import re
import runpy
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page):
    """Return (language, title, text) of all blocks of code."""
    return [(m[1], m[2], m[3]) for m in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def shell(command, folder):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def test_tutorial(tmp_path):
    parts = blocks(DOCS / "tutorial.md")
    assert {language for language, _, _ in parts} == {"python", "bash", "text"}
    output = ""
    for language, title, text in parts:
        if language == "python":
            (tmp_path / title).write_text(text)
        elif language == "bash":
            output = shell(text, tmp_path)
        else:
            assert doctest.OutputChecker().check_output(text, output, FLAGS), f"expected\n{text}\ngot\n{output}"
    assert (tmp_path / "predictions.csv").exists()


PAGES = [p for p in sorted(DOCS.rglob("*.md")) if p.parent.name in ("how-to", "concepts") or p.name == "index.md"]


@pytest.mark.parametrize("page", [p for p in PAGES if "```python" in p.read_text()], ids=lambda p: p.stem)
def test_python_in_pages(page, tmp_path, monkeypatch):
    """In this process, which has loaded the libraries; the tutorial runs in processes of its own, as at a reader."""
    script = tmp_path / "page.py"
    script.write_text("\n".join(text for language, _, text in blocks(page) if language == "python"))
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")


EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    start = time.process_time()
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip() and time.process_time() - start < 10
    assert f"{{{{ run: {path.stem} }}}}" in (DOCS / "gallery.md").read_text(), "list it in docs/gallery.md"


def test_pictures_can_be_drawn_again(tmp_path):
    shell(f"python {DOCS / 'images' / 'make_images.py'} {tmp_path}", tmp_path)
    drawn = {p.name for p in tmp_path.glob("*.svg")}
    # What privacy costs is measured on real data sets, by a command of its own.
    here = {p.name for p in (DOCS / "images").glob("*.svg") if not p.name.startswith("costs_")}
    assert drawn == here and drawn
    used = "".join(p.read_text() for p in DOCS.rglob("*.md"))
    assert all(f"images/{name}" in used for name in drawn)


def test_pages_in_the_menu_exist():
    names = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert len(names) > 20
    assert [n for n in names if not (DOCS / n).exists()] == []


def test_commands_in_pages_are_real():
    """Whatever is shown in a console block parses, without being run."""
    from hedgerow.cli import build_parser
    from hedgerow.commands import COMMANDS

    found = 0
    for page in [*PAGES, ROOT / "README.md"]:
        for language, _, text in blocks(page):
            for line in text.replace("\\\n", " ").splitlines() if language == "console" else ():
                words = re.findall(r'"[^"]*"|\S+', line.split("#")[0])
                if words[:1] == ["hedgerow"] and words[1] in COMMANDS:
                    build_parser().parse_args(words[1:])
                    found += 1
    assert found >= 10
