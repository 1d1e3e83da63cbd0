"""Whoever waits at a terminal sees what is being done; whoever reads the output sees nothing of it."""

import io
import sys
import time
import warnings

import pytest

from hedgerow import cli
from hedgerow.commands import progress as module
from hedgerow.commands.progress import Progress, duration
from hedgerow.errors import HedgerowWarning

CLEAR = "\r\033[K"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Return what puts a terminal in place, within the test: pytest changes the stream before it."""

    def put():
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return put


def test_a_bar_is_shown_on_a_terminal_and_cleared(terminal):
    stream = terminal()
    with Progress("reading") as progress:
        progress.update(500, 0.5)
        progress.update(501, 0.5)  # too soon
        time.sleep(0.11)
        progress.update(900, None)
    text = stream.getvalue()
    assert "[###############...............]  50% 500 rows" in text and "501" not in text and "900 rows" in text
    assert text.endswith(CLEAR)


def test_silent_when_piped(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Progress("reading") as progress, progress.aside():
        progress.update(1, 0.5)
    assert sys.stderr.getvalue() == ""


def test_the_clock_goes_on_while_nothing_is_reported(terminal, monkeypatch):
    stream = terminal()
    monkeypatch.setattr(module, "_TICK", 0.02)
    with Progress("designing"):
        time.sleep(0.2)
    assert stream.getvalue().startswith("\rdesigning\033[K\rdesigning, 0 s\033[K\rdesigning, 0 s")
    drawn = stream.getvalue()
    time.sleep(0.1)
    assert stream.getvalue() == drawn  # nothing is written after the end


@pytest.mark.parametrize(
    ("reported", "share", "now", "words"),
    [
        (10.0, 0.25, 10.0, "about 30 s left"),
        (10.0, 0.25, 20.0, "about 20 s left"),  # by the pace until the last report
        (10.0, 0.25, 60.0, "1 min 0 s so far"),  # longer than was foreseen
        (10.0, None, 200.0, "3 min 20 s"),
        (0.0, 0.0, 5.0, "5 s"),
        (0.1, 0.5, 0.2, ""),
    ],
)
def test_time_left(reported, share, now, words):
    progress = Progress("waiting")
    progress._reported, progress._share = reported, share
    assert progress._when(now) == words


def test_durations():
    assert [duration(s) for s in (0.4, 59.4, 59.6, 3601)] == ["0 s", "59 s", "1 min 0 s", "60 min 1 s"]


def test_a_warning_takes_the_place_of_the_line(terminal, monkeypatch):
    stream = terminal()

    def warn(_):
        with Progress("working"):
            warnings.warn("look out", HedgerowWarning, stacklevel=1)
        return 0

    monkeypatch.setattr("hedgerow.commands.audit.run", warn)
    assert cli.main(["audit"]) == 0
    assert f"{CLEAR}hedgerow audit: warning: look out\n" in stream.getvalue()


@pytest.fixture
def few(shell):
    """Leave 25 public records: the public model is then a line, which is fast."""
    lines = (shell.folder / "public.csv").read_text().splitlines()
    (shell.folder / "public.csv").write_text("\n".join([*lines[:26], ""]))
    return shell


KNOWN = ["--label-bounds", "0:60", "--feature-bounds", "area=20:150", "--feature-bounds", "people=1:5"]
TASK = ["design", "public.csv", "--target", "kwh", "--epsilon", "2", "--label-bounds", "0:60"]
TABLE = ["private.csv", "--target", "kwh", "--epsilon", "4", *KNOWN, "--seed", "1", "-o", "m.json"]
COMMANDS = {
    "designing": [*TASK, "--features", "area,people", "--assisted", "-o", "t.json"],
    "advising [": ["advise", "--public", "public.csv", "--target", "kwh", "--n-holders", "1000", "--features", "area"],
    "comparing [": ["compare", "--data", "public.csv", "--target", "kwh", *KNOWN, "--categories",
                    "heating=electric,gas,pump", "--methods", "one value for all", "--repeats", "1"],
    "fitting, stage 1": ["fit", "anova", *TABLE, "--delta", "0"],
    "searching [": ["search", "forest", *TABLE, "--try", "max_depth=0,1"],
    "auditing [": ["audit", "--mechanism", "k-ary response", "--samples", "0", "--epsilon", "1"],
}  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS)
def test_commands_without_a_model(few, monkeypatch, words):
    _same_output_with_a_terminal(few, monkeypatch, words, COMMANDS[words])


def test_commands_with_a_model(made, monkeypatch):
    for words, command in {
        "privatising [": ["privatize", "task.json", "private.csv", "-o", "r.bin"],
        "adding [": ["aggregate", "task.json", "reports.bin", "-o", "m.json"],
        "making the model": ["aggregate", "task.json", "reports.bin", "-o", "m.json"],
        "predicting [": ["predict", "model.json", "new.csv", "-o", "p.csv"],
        "drawing": ["explain", "model.json", "--plot", "tree.svg"],
        "auditing, and making the card": ["card", "model.json", "-o", "card.md"],
        "exporting and checking": ["export", "model.json", "-o", "m.py"],
    }.items():
        _same_output_with_a_terminal(made, monkeypatch, words, command)


def _same_output_with_a_terminal(shell, monkeypatch, words, command):
    code, out, err = shell(*command)
    assert code == 0 and words.split()[0] not in err and "\r" not in err
    stream = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        again, same, _ = shell(*command)
    assert (again, same) == (0, out)
    assert f"\r{words}" in stream.getvalue() and CLEAR in stream.getvalue()


# Commands that are done at once, or print as they go; every other one shows progress, itself or through what it calls.
AT_ONCE = {
    "schema": "reads one table of public or own records",
    "ledger": "reads and writes one small file",
    "serve": "runs until it is stopped, and logs",
    "join": "asks questions of a person",
    "bench": "prints a line for each part",
    "publish": "asks a server once",
    "invite": "asks a server once",
    "status": "asks a server once",
    "close": "asks a server once",
    "fetch": "asks a server once",
}


def used(name):
    """Return the modules that a command imports, with all that those import, as texts by name."""
    import re
    from pathlib import Path

    import hedgerow.commands

    folder = Path(hedgerow.commands.__file__).parent
    found, waiting = set(), {name}
    while waiting:
        found |= waiting
        texts = [(folder / f"{one}.py").read_text() for one in waiting]
        imports = {word for text in texts for word in re.findall(r"from hedgerow\.commands(?:\.| import )(\w+)", text)}
        waiting = {word for word in imports if (folder / f"{word}.py").exists()} - found
    return {one: (folder / f"{one}.py").read_text() for one in found - {"progress"}}


def test_every_command_that_can_take_long_shows_progress():
    from hedgerow.commands import COMMANDS

    silent = {name for name in COMMANDS if not any("Progress(" in text for text in used(name).values())} - set(AT_ONCE)
    assert silent == set(), "show what is being done (commands/progress.py), or say in AT_ONCE why it need not"
