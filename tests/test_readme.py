"""What the README says can be typed in: its Python blocks run, its commands exist and do their work."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from hedgerow.cli import main

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Run all Python blocks in order in one namespace, as a reader would; return it and what was printed."""
    names, printed = {"__name__": "readme"}, io.StringIO()
    folder = tmp_path_factory.mktemp("readme")
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        for number, code in enumerate(blocks("python"), 1):
            exec(compile(code, f"README.md, Python block {number}", "exec"), names)
    return names, printed.getvalue()


def test_python_blocks_run(session):
    _, printed = session
    assert len(blocks("python")) >= 3
    assert "Local privacy with epsilon = 2" in printed
    assert "Simulation" not in printed


def test_first_example_learns_something(session):
    names, printed = session
    scores = [float(line) for line in printed.splitlines() if re.fullmatch(r"-?\d+\.\d+", line)]
    assert scores and scores[0] > 0.8  # the step alone explains nine tenths
    mean = names["y_public"].mean()
    error = np.mean((names["model"].predict(names["X_new"]) - names["y_new"]) ** 2)
    assert error < 0.3 * np.mean((names["y_new"] - mean) ** 2)


def test_make_targets_exist():
    named = set(re.findall(r"^make (\w+)", "\n".join(blocks("sh")), flags=re.MULTILINE))
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {"demo", "test"} <= named <= targets


def commands():
    lines = "\n".join(blocks("console")).splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("hedgerow ")]


def test_protocol_commands_run_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    steps = [
        command for command in commands() if command[0] in ("example", "design", "privatize", "aggregate", "predict")
    ]
    assert [step[0] for step in steps] == ["example", "design", "privatize", "aggregate", "predict"]
    steps[0] += ["--n-private", "2000", "--n-new", "50"]
    for step in steps:
        assert main(step) == 0, f"hedgerow {shlex.join(step)}"
    assert len(Path("predictions.csv").read_text().splitlines()) == 51


def test_every_command_named_is_known(capsys):
    for command in commands():
        with pytest.raises(SystemExit) as done:
            main([command[0], "--help"])
        assert done.value.code == 0
    capsys.readouterr()


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("https://") or (ROOT / target).exists(), target
