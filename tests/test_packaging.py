"""What strangers install and cite: one version and one address everywhere, and workflows that call the one door."""

import ast
import re
import tomllib
from pathlib import Path

import hedgerow

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_version_is_one_everywhere():
    version = hedgerow.__version__
    assert re.search(r"^version: (.+)$", text("CITATION.cff"), re.MULTILINE).group(1) == version
    assert re.search(r'set version = "(.+)"', text("conda/meta.yaml")).group(1) == version
    newest = re.search(r"^## \[(.+?)\] - (\S+)$", text("CHANGELOG.md"), re.MULTILINE)
    assert newest.group(1) == version
    cited = re.search(r"^date-released: (.+)$", text("CITATION.cff"), re.MULTILINE).group(1)
    assert newest.group(2) == cited


def test_source_address_is_one_everywhere():
    source = PROJECT["project"]["urls"]["Source"]
    for name in ("CITATION.cff", "SECURITY.md", "conda/meta.yaml", ".github/ISSUE_TEMPLATE/config.yml"):
        addresses = set(re.findall(r"https://github\.com/[\w.-]+/[\w.-]+", text(name)))
        assert addresses == {source}, name


def test_conda_recipe_needs_what_the_package_needs():
    needs = {requirement.replace(">=", " >=") for requirement in PROJECT["project"]["dependencies"]}
    run = text("conda/meta.yaml").split("  run:\n")[1].split("\n\n")[0]
    listed = {line.strip().removeprefix("- ") for line in run.splitlines()}
    assert listed == needs | {f"python {PROJECT['project']['requires-python']}"}


def test_hosted_ci_runs_what_a_contributor_runs():
    assert "run: bash .ci/run" in text(".github/workflows/ci.yml")
    for target in ("test", "lint", "demo", "docs", "wheel"):
        assert f"\nmake {target}\n" in text(".ci/run")


def test_user_program_names_only_what_is_public():
    tree = ast.parse(text("packaging/user.py"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert names <= set(hedgerow.__all__)


def test_sources_of_the_kernels_are_in_the_sdist():
    sources = set(re.findall(r'"(csrc/\w+\.c)"', text("setup.py")))
    assert sources == {f"csrc/{file.name}" for file in (ROOT / "csrc").glob("*.c")}
    assert "csrc/*.c" in text("MANIFEST.in")
