"""Keep the documentation of every release: put a built site beside those of other versions.

``python docs/_hooks/versions.py SITE FOLDER X.Y`` (``make docs-version FOLDER=...``) copies SITE to FOLDER/X.Y, or
replaces it there, lists all versions in FOLDER/versions.json, which the theme's menu reads, and makes FOLDER/latest and
the front page lead to the newest. Nothing else in FOLDER is touched, so that it can be a checkout of what is served.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
from html import escape
from pathlib import Path

LATEST = "latest"
_REDIRECT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Moved</title>
<meta http-equiv="refresh" content="1; url={where}">
<script>location.replace({code} + location.search + location.hash)</script>
<a href="{where}">Moved to the newest version</a>
"""


def add(site: Path, folder: Path, version: str) -> list[str]:
    """Put a site into the folder; return all versions, the newest first."""
    if not re.fullmatch(r"(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})", version):
        raise SystemExit(f"the version must be X.Y, such as 0.2 (a patch replaces its pages). Got {version!r} instead.")
    front = site / "index.html"
    if not front.is_file():
        raise SystemExit(f"{site} is no built site: it has no index.html.")
    if not re.search(r'"provider":\s*"mike"', front.read_text()):
        raise SystemExit(f"{site} has no menu of versions: build it with HEDGEROW_DOCS_VERSIONS=mike.")
    folder.mkdir(parents=True, exist_ok=True)
    _replace(site, folder / version)
    versions = known(folder)
    _lead_to_newest(folder, versions[0])
    listed = [{"version": v, "title": v, "aliases": [LATEST] if v == versions[0] else []} for v in versions]
    _write(folder / "versions.json", json.dumps(listed, indent=1) + "\n")
    return versions


def known(folder: Path) -> list[str]:
    """Return the versions in a folder, the newest first."""
    found = [p.name for p in folder.iterdir() if p.is_dir() and re.fullmatch(r"\d+\.\d+", p.name)]
    return sorted(found, key=lambda name: tuple(map(int, name.split("."))), reverse=True)


def _replace(source: Path, target: Path) -> None:
    """Copy a folder, whole or not at all."""
    fresh = target.with_name(f".{target.name}.new")
    old = target.with_name(f".{target.name}.old")
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    shutil.copytree(source, fresh)
    if target.exists():
        target.rename(old)
    fresh.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _lead_to_newest(folder: Path, newest: str) -> None:
    """Make a page that leads to the newest version for each of its pages, and for the front."""
    made = folder / f".{LATEST}.made"
    shutil.rmtree(made, ignore_errors=True)
    pages = folder / newest
    for page in sorted(pages.rglob("*.html")):
        path = page.relative_to(pages)
        where = Path(os.path.relpath(Path(newest) / path, Path(LATEST) / path.parent)).as_posix()
        _write(made / path, _redirect(where.removesuffix("index.html")))
    _replace(made, folder / LATEST)
    shutil.rmtree(made)
    _write(folder / "index.html", _redirect(f"{LATEST}/"))
    _write(folder / ".nojekyll", "")  # GitHub would leave out files that begin with an underscore


def _redirect(where: str) -> str:
    code = json.dumps(where).replace("<", "\\u003c")
    return _REDIRECT.format(where=escape(where, quote=True), code=code)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.part")
    partial.write_text(text)
    partial.replace(path)


def main(arguments: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("version")
    given = parser.parse_args(arguments)
    print(f"{given.folder}: {', '.join(add(given.site, given.folder, given.version))} (the first is {LATEST})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
