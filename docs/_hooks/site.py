"""What the documentation site does by itself: run the examples, list public names, find optional pages."""

from __future__ import annotations

import base64
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from html import escape, unescape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MODELS = {
    "Semi-feature local model": "semi.md",
    "Label model": "label.md",
    "Central model": "central.md",
    "Functional ANOVA": "anova.md",
}


def on_config(config: Any) -> Any:
    """Add the pages that exist only once their parts do."""
    models = [{title: name} for title, name in MODELS.items() if (DOCS / name).exists()]
    results = [f"results/{p.name}" for p in sorted((DOCS / "results").glob("*.md"))]
    costs = "results/costs.md" if "results/costs.md" in results else None
    others = ["evidence.md", *(page for page in results if page != costs)]
    optional = {"Trust models in detail": models, "What privacy costs": costs, "Results": others}
    at = len(config["nav"]) - 2
    config["nav"][at:at] = [{title: pages} for title, pages in optional.items() if pages]
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in `{{ run: example }}`, `{{ names: module }}`, `{{ recommended }}`, `{{ results }}` and `{{ help }}`."""
    markdown = re.sub(r"^\{\{ (recommended|results) \}\}$", lambda m: LISTS[m[1]](), markdown, flags=re.MULTILINE)
    # `make docs` writes the pages of results first; a link to one that is not there becomes plain text.
    markdown = re.sub(
        r"\[([^\]]+)\]\((?:\.\./)?(results/\w+\.\w+)\)", lambda m: m[0] if (DOCS / m[2]).exists() else m[1], markdown
    )
    markdown = re.sub(r"^\{\{ run: (\S+) \}\}$", lambda m: run_example(m[1]), markdown, flags=re.MULTILINE)
    markdown = re.sub(r"^\{\{ names: (\S+) \}\}$", lambda m: public_names(m[1]), markdown, flags=re.MULTILINE)
    return re.sub(r"^\{\{ help \}\}$", lambda _: command_help(), markdown, flags=re.MULTILINE)


def on_page_content(html: str, **_: Any) -> str:
    """Turn formulas into MathML, which browsers set by themselves."""
    from latex2mathml.converter import convert

    def mathml(match: re.Match[str]) -> str:
        if match[1] != "[":
            return str(convert(unescape(match[2]), display="inline"))
        formula = convert(unescape(match[2]), display="block")
        return f'<span style="display: block; overflow-x: auto">{formula}</span>'  # wide ones scroll on a phone

    return re.sub(
        r'<(?:span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</(?:span|div)>', mathml, html, flags=re.DOTALL
    )


def on_post_build(config: Any, **_: Any) -> None:
    """Let the results page, which is not written in Markdown, link to pages as the site has them."""
    path = Path(config["site_dir"]) / "results" / "index.html"
    if path.exists():
        text = re.sub(r'href="(\w+)\.md"', r'href="\1/"', path.read_text(encoding="utf-8"))
        # By itself it has no icon, for which a browser would ask the site in vain.
        icon = '<link rel="icon" href="../assets/images/favicon.png">\n<title>'
        path.write_text(text.replace("<title>", icon, 1), encoding="utf-8")


def run_example(name: str) -> str:
    """Return the source of an example and what it prints."""
    path = ROOT / "examples" / "gallery" / f"{name}.py"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-W", "error", str(path)]
        environment = {**os.environ, "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        pictures = [picture.read_bytes() for picture in sorted(Path(folder).glob("*.svg"))]
    if done.returncode:
        raise RuntimeError(f"the example {path} failed:\n{done.stderr}")
    source = path.read_text(encoding="utf-8").strip()
    title = source.partition('"""')[2].partition("\n")[0].strip('"')
    shown = "".join(f"\n\n{picture_html(picture, title)}" for picture in pictures)
    printed = "\n".join(textwrap.fill(line, 110) for line in done.stdout.splitlines())
    return f"```python\n{source}\n```\n\nIt prints:\n\n```text\n{printed}\n```{shown}"


def picture_html(svg: bytes, title: str) -> str:
    """Return a picture that an example drew, inside the page; wide ones scroll on a phone."""
    data = base64.b64encode(svg).decode()
    image = f'<img alt="Drawn by: {escape(title)}" src="data:image/svg+xml;base64,{data}">'
    return f'<div style="overflow-x: auto">{image}</div>'


def public_names(module: str) -> str:
    """Return a reference entry for every name that ``hedgerow`` offers from a module, or from the module itself."""
    import importlib

    import hedgerow

    homes = (hedgerow._HOMES, hedgerow._FURTHER)
    names = sorted({name for table in homes for name in table.get(module, ())})
    names = names or importlib.import_module(module).__all__
    home = importlib.import_module(module)
    places = [f"{getattr(getattr(home, n), '__module__', module)}.{n}" for n in names]
    return "\n\n".join(f"::: {place}" for place in places)


def recommended() -> str:
    """Return the table of what to use in which trust model."""
    from hedgerow.recommended import RECOMMENDED

    head = "| Who may see a person's record? | Model | Use |\n|---|---|---|"
    return "\n".join([head, *(one.row() for one in RECOMMENDED)])


def results() -> str:
    """Return links to all pages of results, by their own titles."""
    lines = []
    for path in sorted((DOCS / "results").glob("*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        lines.append(f"- [{title}](results/{path.name})")
    return "\n".join(lines) or "None was written: `hedgerow bench page` does it."


LISTS = {"recommended": recommended, "results": results}


def command_help() -> str:
    """Return the help of all commands."""
    from hedgerow import cli
    from hedgerow.commands import COMMANDS

    os.environ["COLUMNS"] = "90"
    parts = []
    for arguments in ([], *([c] for c in COMMANDS)):
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
            cli.main([*arguments, "--help"])
        title = " ".join(["hedgerow", *arguments])
        parts.append(f"## {title}\n\n```text\n{text.getvalue().rstrip()}\n```")
    return "\n\n".join(parts)
