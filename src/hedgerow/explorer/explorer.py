"""The page: one file that asks nothing of any other site, with its data, its style and its script inside.

Names and texts of a model are in the data only, and get into the page as text nodes. The policy names the script and
the style by their digests: nothing else can run, whatever is in a name.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from hedgerow.card.text import seen
from hedgerow.errors import HedgerowError
from hedgerow.explorer.program import program_of
from hedgerow.formula.anatomy import Anatomy
from hedgerow.schema.words import one_line

__all__ = ["MODULES", "Explorer", "source"]

MODULES = ("evaluate.js", "words.js", "form.js", "curve.js", "page.js")
"""The modules of the script, each after those that it imports."""
_PLACE = re.compile(r"\{(title|statement)\}")
_IMPORT = re.compile(r"^import .*\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(async )?(function|const|class) )", re.MULTILINE)


def source(name: str) -> str:
    """Return one file of the page.

    >>> source("page.js").startswith("// @ts-check")
    True
    """
    return files("hedgerow.explorer").joinpath("web", name).read_text(encoding="utf-8")


@dataclass(frozen=True, eq=False)
class Explorer:
    """A page on which one record is tried, for whatever has an anatomy (``model.explorer()``)."""

    anatomy: Anatomy

    def to_html(self) -> str:
        """Return the page."""
        style = source("explorer.css")
        script = _script()
        title = f"One prediction: {one_line(self.anatomy.target)}"
        # In a script element only "<" could end it, or start a comment.
        data = json.dumps(program_of(self.anatomy), allow_nan=False).replace("<", "\\u003c")
        words = {"title": title, "statement": str(self.anatomy.formula.facts.get("statement", ""))}
        body = _PLACE.sub(lambda found: _text(words[found[1]]), source("explorer.html"))
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(script, style)}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n'
            f"<title>{_text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}"
            f'<script type="application/json" id="model">{data}</script>\n<script>{script}</script>\n</body>\n</html>\n'
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whose name ends in .html."""
        if os.path.splitext(os.fspath(path))[1].lower() != ".html":
            raise HedgerowError(f"an explorer is a file that ends in .html. Got {os.fspath(path)!r} instead.")
        text = self.to_html()
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)


def _script() -> str:
    """Return all modules as one script that leaves no name behind."""
    parts = [_EXPORT.sub("", _IMPORT.sub("", source(name))) for name in MODULES]
    return '(() => {\n"use strict";\n' + "".join(parts) + "start();\n})();\n"


def _policy(script: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _text(text: str) -> str:
    return escape(seen(" ".join(text.split())))
