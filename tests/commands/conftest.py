import csv
import os
from pathlib import Path

import numpy as np
import pytest

from hedgerow import cli


class Shell:
    """A folder with public, private and new records, and a way to run commands in it."""

    def __init__(self, folder, capsys, kept):
        self.folder, self.capsys = folder, capsys
        self.kept = kept  # by command: what it printed and the files that it wrote

    def __call__(self, *arguments):
        """Return the exit code, standard output and standard error."""
        self.capsys.readouterr()
        try:
            code = cli.main([str(a) for a in arguments])
        except SystemExit as stop:
            code = stop.code
        return (code, *self.capsys.readouterr())

    def ok(self, *arguments):
        code, out, err = self(*arguments)
        assert code == 0, err
        return out

    def once(self, *arguments):
        """Run a command on the records as they came, in the first test that asks for it; others get its files."""
        if arguments not in self.kept:
            before = set(self.folder.iterdir())
            out = self.ok(*arguments)
            self.kept[arguments] = out, {p.name: p.read_bytes() for p in self.folder.iterdir() if p not in before}
        out, files = self.kept[arguments]
        for name, content in files.items():
            (self.folder / name).write_bytes(content)
        return out

    def fails(self, *arguments):
        """Run a command that must fail with one line and leave no file behind; return that line."""
        before = {p: p.stat().st_mtime_ns for p in self.folder.rglob("*")}
        code, out, err = self(*arguments)
        lines = [line for line in err.splitlines() if ": warning: " not in line]
        assert code == 2 and out == "" and len(lines) == 1, (code, out, err)
        assert lines[0].startswith("hedgerow ")
        assert {p: p.stat().st_mtime_ns for p in self.folder.rglob("*")} == before
        return lines[0]

    def design(self, *more, target="kwh", output="task.json"):
        bounds = [] if "--classes" in more else ["--label-bounds", "0:60"]
        return self.ok("design", "public.csv", "--target", target, "--epsilon", 2, *bounds, "-o", output, *more)

    def rows(self, name):
        with open(name, newline="") as file:
            return list(csv.reader(file))


HEATING = ("electric", "gas", "pump")


def draw(n, seed):
    """Return columns of made-up homes."""
    rng = np.random.default_rng(seed)
    area, people = rng.uniform(20, 150, n).round(1), rng.integers(1, 6, n)
    heating = rng.choice(HEATING, n)
    kwh = (5 + 3 * people + 0.2 * area * (heating == "electric") + rng.normal(0, 2, n)).clip(0, 60).round(2)
    use = np.where(kwh < 15, "low", "high")
    return {"area": area, "heating": heating, "people": people, "kwh": kwh, "use": use}


def write_csv(path, columns):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True))


@pytest.fixture(scope="session")
def ran():
    return {}


@pytest.fixture
def shell(tmp_path, capsys, monkeypatch, small_models, small_learners, ran):
    for name, n, seed in (("public", 300, 1), ("private", 2000, 2), ("new", 50, 3)):
        columns = draw(n, seed)
        kept = ("area", "heating", "people") if name == "new" else ("area", "heating", "people", "kwh")
        write_csv(tmp_path / f"{name}.csv", {c: columns[c] for c in kept})
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys, ran)


@pytest.fixture
def made(shell):
    """The same, after design, privatize and aggregate."""
    facts = ("--target", "kwh", "--epsilon", "2", "--label-bounds", "0:60", "--max-depth", "2", "--response", "unary")
    shell.once("design", "public.csv", *facts, "-o", "task.json")
    shell.once("privatize", "task.json", "private.csv", "-o", "reports.bin")
    shell.once("aggregate", "task.json", "reports.bin", "-o", "model.json")
    return shell


@pytest.fixture
def homes():
    return draw


@pytest.fixture
def write_table():
    return write_csv


@pytest.fixture
def leftovers():
    """Return the hidden files of a folder: what an interrupted write would leave."""
    return lambda folder: [p.name for p in Path(folder).iterdir() if p.name.startswith(".")]


@pytest.fixture
def not_root():
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
