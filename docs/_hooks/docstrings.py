"""Docstrings use a few roles of reStructuredText; the site is written in Markdown."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`[~.]*([^`]+)`")
_MATH = re.compile(r":math:`([^`]+)`")
_BLOCK = re.compile(r"^( *)\.\. math::(.*)\n((?:(?:\1 +.*)?\n)*)", re.MULTILINE)


def _block(match: re.Match[str]) -> str:
    body = "\n".join(filter(None, [match[2].strip(), textwrap.dedent(match[3]).strip()]))
    return textwrap.indent(f"\n$$\n{body}\n$$\n\n", match[1])


def to_markdown(text: str) -> str:
    """Return a docstring with roles and formulas in Markdown."""
    text = _BLOCK.sub(_block, text + "\n").rstrip("\n")
    text = _MATH.sub(lambda m: f"${m[1]}$", text)
    return _ROLE.sub(lambda m: f"`{m[1].rsplit('.', 1)[-1] if '.' in m[1] else m[1]}`", text)


class Docstrings(griffe.Extension):
    """Rewrite every docstring as it is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)
