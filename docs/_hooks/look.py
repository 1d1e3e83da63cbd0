"""Look at every page of a built site in Chromium, as wide as a phone and as a screen: nothing sticks out or fails.

``python docs/_hooks/look.py SITE [--shots FOLDER]`` (``make docs`` does it where Playwright and Chromium are there).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

WIDTHS = (375, 1280)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
# What is wider than the window, unless something around it scrolls.
WIDE = """() => {
  const page = document.documentElement;
  const width = page.clientWidth;
  const scrolls = (node) => ["auto", "scroll", "hidden"].includes(getComputedStyle(node).overflowX);
  const found = [];
  if (page.scrollWidth > width) found.push(`the page is ${page.scrollWidth} wide`);
  for (const node of document.querySelectorAll("main *")) {
    const box = node.getBoundingClientRect();
    if (box.width === 0 || box.right <= width + 1) continue;
    let around = node;
    while (around && !scrolls(around)) around = around.parentElement;
    if (!around) found.push(`${node.tagName} ends at ${Math.round(box.right)}`);
  }
  return found.slice(0, 3);
}"""


def serve(site: Path) -> ThreadingHTTPServer:
    """Serve a folder on a free port."""

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, directory=str(site), **options)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def look(browser: Any, base: str, names: list[str], width: int, shots: Path | None) -> list[str]:
    """Return what is wrong with the pages at one width."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    heard: list[str] = []
    page.on("console", lambda m: heard.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: heard.append(str(e)))
    page.on("response", lambda r: heard.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    page.on("request", lambda r: None if r.url.startswith((base, "data:", "blob:")) else heard.append(f"asks {r.url}"))
    wrong = []
    for name in names:
        heard.clear()
        page.goto(f"{base}/{name}/", wait_until="load")
        wrong += [f"{name} at {width}: {problem}" for problem in [*heard, *page.evaluate(WIDE)]]
        if shots is not None:
            page.screenshot(path=shots / f"{name.replace('/', '_')}_{width}.png")
    page.close()
    return wrong


def main() -> int:
    """Look at all pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--shots", type=Path, help="where to leave pictures of all pages")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("not looked at: Playwright or Chromium is not installed", file=sys.stderr)
        return 0
    if options.shots is not None:
        options.shots.mkdir(parents=True, exist_ok=True)
    names = sorted(str(path.parent.relative_to(options.site)) for path in options.site.rglob("index.html"))
    server = serve(options.site)
    base = f"http://127.0.0.1:{server.server_port}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        wrong = [line for width in WIDTHS for line in look(browser, base, names, width, options.shots)]
        browser.close()
    server.shutdown()
    print("\n".join(wrong) or f"{len(names)} pages looked at, {' and '.join(map(str, WIDTHS))} pixels wide")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
