"""Documentation by version: old ones stay, the newest is where "latest" leads, and a half-built site is refused."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def versions():
    spec = importlib.util.spec_from_file_location("versions", ROOT / "docs" / "_hooks" / "versions.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def built(folder, text, pages=("index.html", "how-to/budget/index.html", "404.html")):
    head = '<script id="__config">{"version": {"provider": "mike"}}</script>'
    for name in pages:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + text)
    return folder


def leads_to(path):
    where = re.search(r'url=([^"]*)"', path.read_text())[1]
    target = (path.parent / where).resolve()
    return target / "index.html" if where.endswith("/") or where == "" else target


def test_versions_stand_beside_each_other_and_latest_leads_to_the_newest(versions, tmp_path):
    folder = tmp_path / "all"
    for version in ("0.9", "0.10", "0.2"):  # by number, not by letter, and an old one added late moves nothing
        listed = versions.add(built(tmp_path / version, version), folder, version)
    assert listed == ["0.10", "0.9", "0.2"]
    menu = json.loads((folder / "versions.json").read_text())
    assert [(v["version"], v["aliases"]) for v in menu] == [("0.10", ["latest"]), ("0.9", []), ("0.2", [])]
    for name in ("index.html", "how-to/budget/index.html", "404.html"):
        assert leads_to(folder / "latest" / name) == folder / "0.10" / name
    assert leads_to(folder / "index.html") == folder / "latest" / "index.html"
    assert (folder / "0.9" / "index.html").read_text().endswith("0.9")


def test_a_patch_replaces_its_pages_and_nothing_else(versions, tmp_path):
    folder = tmp_path / "all"
    (folder / ".git").mkdir(parents=True)
    (folder / "CNAME").write_text("docs.example")
    versions.add(built(tmp_path / "a", "old", ("index.html", "gone/index.html")), folder, "0.2")
    versions.add(built(tmp_path / "b", "new"), folder, "0.2")
    assert (folder / "0.2" / "index.html").read_text().endswith("new")
    assert not (folder / "0.2" / "gone").exists() and not (folder / "latest" / "gone").exists()
    assert (folder / "CNAME").read_text() == "docs.example" and (folder / ".git").is_dir()
    assert {p.name for p in folder.iterdir()} == {
        ".git", "CNAME", ".nojekyll", "0.2", "latest", "index.html", "versions.json"
    }  # fmt: skip


@pytest.mark.parametrize("version", ["0.2.0", "v0.2", "latest", "../up", "0.2/..", "00.2", "", "0.2\n"])
def test_other_names_are_refused(versions, tmp_path, version):
    with pytest.raises(SystemExit, match=r"must be X\.Y"):
        versions.add(built(tmp_path / "site", "x"), tmp_path / "all", version)
    assert not (tmp_path / "all").exists()


def test_what_has_no_menu_or_is_no_site_is_refused(versions, tmp_path):
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(SystemExit, match="no built site"):
        versions.add(plain, tmp_path / "all", "0.2")
    (plain / "index.html").write_text('{"version": {"provider": ""}}')
    with pytest.raises(SystemExit, match="HEDGEROW_DOCS_VERSIONS=mike"):
        versions.add(plain, tmp_path / "all", "0.2")


def test_the_theme_is_told_of_versions_only_where_they_are_kept():
    """A plain site would ask for a list that is not there, on every page."""
    assert "provider: !ENV [HEDGEROW_DOCS_VERSIONS" in (ROOT / "mkdocs.yml").read_text()
    target = (ROOT / "Makefile").read_text().split("docs-version:")[1]
    assert "HEDGEROW_DOCS_VERSIONS=mike" in target and "docs/_hooks/versions.py" in target
