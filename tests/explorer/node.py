"""Run the script of the page of one prediction in Node."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from hedgerow.explorer.explorer import MODULES, source


def run(folder, programs=(), numbers=(), deviations=()):
    """Evaluate programs on records: values of categories are their places, -1 for any other, None for none."""
    command = shutil.which("node")
    if command is None:
        pytest.skip("node is not installed")
    (folder / "package.json").write_text('{"type": "module"}')
    for name in MODULES:
        (folder / name).write_text(source(name))
    data = {"programs": list(programs), "numbers": list(numbers), "deviations": list(deviations)}
    (folder / "data.json").write_text(json.dumps(data, allow_nan=False))
    script = Path(__file__).parent / "explorer_check.mjs"
    arguments = [command, str(script), str(folder), str(folder / "data.json")]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
