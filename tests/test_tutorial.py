"""The documentation tells the truth: commands of all pages are real, and examples run.

``make docs`` runs every sample of every page as printed (``docs/_hooks/samples.py``).
"""

import importlib.util
import re
import runpy
import shlex
from pathlib import Path

import matplotlib
import pytest

from tests.small import few_corrections

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
_spec = importlib.util.spec_from_file_location("samples", DOCS / "_hooks" / "samples.py")
samples = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(samples)


def test_samples_that_fail_are_noticed(tmp_path, monkeypatch):
    """A page whose command fails, whose Python raises or which promises another output is refused."""
    monkeypatch.setattr(samples, "ROOT", tmp_path)
    for text, said in {
        "```console\nhedgerow example -o nowhere\n```\n": "there is no such folder",
        "```python\nraise OSError('torn')\n```\n": "torn",
        "```python\nprint(2)\n```\n\n```text\n3\n```\n": "expected",
        "```bash\nexit 4\n```\n": "ended with 4",
    }.items():
        (tmp_path / "page.md").write_text(text)
        with pytest.raises(samples.SampleError, match=said):
            samples.run_page(tmp_path / "page.md")
    (tmp_path / "page.md").write_text("```python\nx = 2\n```\n```python\nprint(x, 'a')\n```\n```text\n2 ...\n```\n")
    samples.run_page(tmp_path / "page.md")


def test_every_example_is_in_the_gallery():
    """The page runs them when it is built, and a failure ends the build."""
    listed = re.findall(r"\{\{ run: (\w+) \}\}", (DOCS / "gallery.md").read_text())
    assert sorted(listed) == sorted(path.stem for path in (ROOT / "examples" / "gallery").glob("*.py"))


def test_pictures_can_be_drawn_again(tmp_path, monkeypatch):
    script = runpy.run_path(str(DOCS / "images" / "make_images.py"))
    with matplotlib.rc_context(), monkeypatch.context() as patch:
        few_corrections(patch)
        script["main"](tmp_path)
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
    """Whatever is shown as a command parses; what is not run with the pages, too."""
    from hedgerow.cli import build_parser
    from hedgerow.commands import COMMANDS

    found = 0
    parser = build_parser()
    for page in samples.pages():
        for language, _, text in samples.blocks(page):
            for line in samples.commands(text) if language in ("console", "bash", "sh") else ():
                if re.search("[|&;$]", line.split("#")[0]):
                    continue  # a script; it is run, or for another machine
                words = shlex.split(line, comments=True)
                if words[:1] == ["hedgerow"] and words[1] in COMMANDS:
                    parser.parse_args(words[1:])
                    found += 1
    assert found >= 30
