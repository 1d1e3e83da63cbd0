"""Every option of ``privatize``, ``aggregate`` and ``design``, for every kind of task: used, or refused by name.

A kind is covered by being registered: its first example answers, and its own declarations say what it takes.
"""

import argparse
import contextlib
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgerow import cli, tables
from hedgerow.ledger import Ledger
from hedgerow.schema import NumberColumn, Schema
from hedgerow.tasks.designs import Design
from hedgerow.tasks.examples import examples
from hedgerow.tasks.models import About
from hedgerow.tasks.registry import read_task, task_classes
from hedgerow.tasks.reports import TOKEN_BYTES, Reports
from hedgerow.tasks.sums.examples import example_task
from tests.conformance.collected import table

N = 40
KINDS = {}
for _example in examples():
    KINDS.setdefault(_example.build(4.0).kind, _example)
kinds = pytest.mark.parametrize("kind", KINDS)


def run(*arguments):
    try:
        return cli.main([str(a) for a in arguments])
    except SystemExit as stop:
        return stop.code


def options_of(command):
    """Return the options that a command offers, without the dashes."""
    parser = cli.build_parser()
    (actions,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    chosen = actions.choices[command]
    if chosen.fill is not None:
        chosen.fill()
    return {a.dest for a in chosen._actions if a.option_strings} - {"help", "json"}


class Place:
    """A folder with a task of one kind, records that fit it, and the round before where there is one."""

    def __init__(self, folder, kind):
        self.folder = folder
        self.example = KINDS[kind]
        self.task = self.example.build(4.0)
        X, y = table(self.task, N)
        asked = (self.task.before or self.task).question()
        columns = {"record": X} if asked.numbered else dict(X)
        frame = pd.DataFrame({**columns, asked.label.name: y})
        frame.to_csv(folder / "private.csv", index=False)
        frame.to_parquet(folder / "private.parquet")
        if self.example.mask is not None:
            row = ",".join(str(int(m)) for m in self.example.mask)
            (folder / "mask.csv").write_text("\n".join([",".join(f.name for f in asked.features), *[row] * N]) + "\n")
        (folder / "task.json").write_text(self.task.to_json())
        if self.task.before is not None:
            (folder / "first.json").write_text(self.task.before.to_json())
            mask = ["--mask", self("mask.csv")] if self.task.before.question().chooses else []
            command = ["privatize", self("first.json"), self("private.csv"), "--seed", 1, *mask]
            assert run(*command, "--secrets", self("kept.bin"), "-o", self("first.bin")) == 0

    def __call__(self, name):
        return str(self.folder / name)

    def answer(self, output, *more, records="private.csv", fresh=True):
        """Return the exit code of ``privatize``, with what this kind needs; secrets as if nothing was answered yet."""
        needs = []
        if self.task.question().chooses:
            needs += ["--mask", self("mask.csv")]
        if self.task.keeps or self.task.before is not None:
            path = f"{output}.secrets"
            if fresh:
                self._fresh(path)
            needs += ["--secrets", self(path)]
        return run("privatize", self("task.json"), self(records), *needs, "-o", self(output), *more)

    def _fresh(self, path):
        if self.task.before is not None:
            Path(self(path)).write_bytes(Path(self("kept.bin")).read_bytes())
        elif os.path.exists(self(path)):
            os.unlink(self(path))

    def read(self, name):
        return Path(self(name)).read_bytes()

    def aggregate(self, *files, more=(), output="made"):
        return run("aggregate", self("task.json"), *map(self, files), *more, "-o", self(output))


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    found = {}

    def place(kind):
        if kind not in found:
            found[kind] = Place(tmp_path_factory.mktemp(kind), kind)
            assert found[kind].answer("reports.bin", "--seed", 7) == 0
        return found[kind]

    return place


def test_every_kind_has_an_example():
    # What two servers share is answered to them, never into a file: tests/commands and tests/service have its doors.
    assert set(KINDS) == {kind.kind for kind in task_classes() if not kind.sealed}


# What the device does.


PRIVATIZE = {"seed", "resume", "again", "secrets", "mask", "ledger", "schema", "output"}


def test_no_option_of_privatize_is_left_out():
    assert options_of("privatize") == PRIVATIZE


@kinds
def test_seed_output_and_parquet(places, kind):
    place = places(kind)
    first = place.read("reports.bin")
    assert place.answer("same.bin", "--seed", 7, records="private.parquet") == 0
    assert place.read("same.bin") == first
    assert place.answer("same.parquet", "--seed", 7) == 0
    reports = Reports.from_parquet(place.task, place("same.parquet"))
    assert len(reports) == N and reports.to_bytes() == first
    assert place.answer("other.bin") == 0 and place.read("other.bin") != first


@kinds
def test_resume_and_again(places, kind, monkeypatch, capsys):
    place = places(kind)
    monkeypatch.setattr(tables, "ROWS", 15)
    assert place.answer("resumed.bin", "--resume") == 0
    first = place.read("resumed.bin")
    assert len(Reports.from_bytes(place.task, first)) == N
    assert place.answer("resumed.bin", "--resume", fresh=False) == 0 and place.read("resumed.bin") == first
    capsys.readouterr()
    assert place.answer("x.bin", "--again") == 2 and "--again is for --resume" in capsys.readouterr().err
    code = place.answer("resumed.bin", "--resume", "--again", fresh=False)
    said = capsys.readouterr().err
    if place.task.keeps or place.task.before is not None:
        assert code == 2 and f"--again is for tasks of one round; this is a {kind} task" in said
        assert place.read("resumed.bin") == first
    else:
        assert code == 0 and "epsilon is spent again" in said and place.read("resumed.bin") != first


@kinds
def test_secrets_and_mask(places, kind, capsys):
    place = places(kind)
    two_rounds = place.task.keeps or place.task.before is not None
    plain = ["privatize", place("task.json"), place("private.csv"), "-o", place("x.bin")]
    secrets = ["--secrets", place("x.secrets")]
    if two_rounds:
        assert run(*plain) == 2 and "--secrets FILE is needed" in capsys.readouterr().err
    else:
        assert run(*plain, *secrets) == 2 and "--secrets is for tasks of two rounds" in capsys.readouterr().err
    if place.task.question().chooses:
        assert run(*plain, *secrets) == 2 and "give --mask" in capsys.readouterr().err
    else:
        assert run(*plain, *(secrets if two_rounds else []), "--mask", place("no.csv")) == 2
        assert "--mask is for tasks in which holders choose what is private" in capsys.readouterr().err
    assert not os.path.exists(place("x.bin")) and not os.path.exists(place("x.secrets"))


@kinds
def test_ledger(places, kind, capsys):
    """Each answer is booked; a second round was paid for with its first, and is booked if that is not in the ledger."""
    place = places(kind)
    seeded = place.task.before is not None  # as the first rounds of these places are
    guarantee = replace(place.task.guarantee, simulation=seeded, notes=())
    with contextlib.suppress(FileNotFoundError):
        os.unlink(place("b.ledger"))
    ledger = Ledger(place("b.ledger"), limit=replace(guarantee, epsilon=9.0, delta=1e-2))
    for _ in range(2):
        assert place.answer("booked.bin", "--ledger", place("b.ledger")) == 0
        charged = [entry.charged.epsilon for entry in ledger.entries()]
    assert charged == [4.0, 4.0]
    assert place.answer("refused.bin", "--ledger", place("b.ledger")) == 2
    assert "epsilon = 1 and delta" in capsys.readouterr().err and not os.path.exists(place("refused.bin"))
    first = place.task.before
    if first is not None:
        key = f"task {first.id} of this group"
        other = Ledger(place("paid.ledger"), limit=guarantee)
        other.spend(guarantee, purpose="first round", key=key)
        assert place.answer("paid.bin", "--ledger", place("paid.ledger")) == 0 and len(other.entries()) == 1


@kinds
def test_a_schema_holds_a_task_to_its_question(places, kind, capsys):
    """Of every kind: what a schema does not describe is not answered."""
    place = places(kind)
    other = Schema((NumberColumn("nobody asked", 0, 1),), NumberColumn("nor this", 0, 1))
    other.save(place("other.json"))
    question = place.task.question()
    asked = [f.name for f in question.features] + ([] if question.label is None else [question.label.name])
    assert place.answer("x.bin", "--schema", place("other.json")) == 2
    said = capsys.readouterr().err
    assert "asks for something else than" in said and all(repr(name) in said for name in asked[:20])
    assert not os.path.exists(place("x.bin"))


@pytest.mark.parametrize("command", ["fit", "search", "privatize", "labels"])
def test_whatever_spends_takes_a_ledger(command):
    assert "ledger" in options_of(command) or "ledger" in _options_of_actions(command)


def _options_of_actions(command):
    parser = cli.build_parser()
    (commands,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    inner = [a for a in commands.choices[command]._actions if isinstance(a, argparse._SubParsersAction)]
    return {a.dest for choice in inner[0].choices.values() for a in choice._actions} if inner else set()


# What the curator does.


def test_no_option_of_export_is_left_out():
    """Every kind goes through ``export`` in test_export.py, to each of its outputs."""
    assert options_of("export") == {"output"}


MODEL = {option.name for kind in task_classes() for option in kind.model_options.values()}
AGGREGATE = {"copies", "checkpoint", "engine", "scheduler", "first", "groups", "trim", "output"}


def test_no_option_of_aggregate_is_left_out():
    assert options_of("aggregate") == AGGREGATE | MODEL
    assert options_of("grow") == options_of("aggregate")


@kinds
def test_copies_are_dropped_and_said_or_refused(places, kind, capsys):
    place = places(kind)
    assert place.aggregate("reports.bin") == 0
    once = place.read("made")
    capsys.readouterr()
    assert place.aggregate("reports.bin", "reports.bin") == 0 and place.read("made") == once
    assert f"{N} copies of reports were left out" in capsys.readouterr().out
    assert place.aggregate("reports.bin", "reports.bin", more=["--copies", "refuse"], output="x") == 2
    assert "twice" in capsys.readouterr().err and not os.path.exists(place("x"))


@kinds
def test_groups_are_trimmed_or_refused_by_name(places, kind, capsys):
    place = places(kind)
    why = "needs 48 reports"  # there are fewer here; with enough of them: test_cli_flow.py
    many = "at most 1000"
    if place.task.retains or place.task.sealed:
        why = many = f"a {place.task.kind} task are not added up by group"
    assert place.aggregate("reports.bin", more=["--groups", "3", "--trim", "0.4"], output="x") == 2
    assert why in capsys.readouterr().err
    for more, said in (
        (["--trim", "0.2"], "--trim belongs to --groups"),
        (["--groups", "some"], "must be a number or 'files'"),
        (["--groups", "3", "--scheduler", "tcp://nobody:1"], "--scheduler is for --engine dask"),
        (["--groups", "1001"], many),
        (["--groups", "3", "--checkpoint", place("point")], "--checkpoint cannot be had with --groups"),
    ):
        assert place.aggregate("reports.bin", more=more, output="x") == 2
        assert said in capsys.readouterr().err
    assert not os.path.exists(place("x"))


@kinds
def test_two_different_reports_under_one_id_are_refused(places, kind, capsys):
    place = places(kind)
    reports = Reports.from_bytes(place.task, place.read("reports.bin"))
    assert place.answer("again.bin", "--seed", 8) == 0
    other = Reports.from_bytes(place.task, place.read("again.bin"))
    changed = int(np.flatnonzero((reports.payloads != other.payloads).any(axis=1))[0])
    forged = Reports(place.task, reports.tokens[[changed]], other.payloads[[changed]], True)
    assert forged.tokens.shape == (1, TOKEN_BYTES)
    Path(place("forged.bin")).write_bytes(forged.to_bytes())
    capsys.readouterr()
    for copies, why in (("drop", "have the id of another report but differ from it"), ("refuse", "are there twice")):
        assert place.aggregate("reports.bin", "forged.bin", more=["--copies", copies], output="x") == 2
        said = capsys.readouterr().err
        assert why in said and "forged.bin" in said
    assert not os.path.exists(place("x"))


@pytest.fixture(scope="module")
def cluster():
    from distributed import Client

    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        yield client


@kinds
def test_engine_scheduler_and_checkpoint(places, kind, cluster, monkeypatch, capsys):
    from hedgerow.collect import dask

    place = places(kind)
    assert place.aggregate("reports.bin") == 0
    plain = place.read("made")
    assert place.aggregate("reports.bin", more=["--checkpoint", place("point")]) == 0 and place.read("made") == plain
    Path(place("point")).write_bytes(b"damaged")
    assert place.aggregate("reports.bin", more=["--checkpoint", place("point")], output="x") == 2
    assert "not a checkpoint" in capsys.readouterr().err
    assert place.aggregate("reports.bin", more=["--scheduler", "tcp://dead"], output="x") == 2
    assert "--scheduler is for --engine dask" in capsys.readouterr().err
    dead = ["--engine", "dask", "--scheduler", "tcp://dead", "--checkpoint", place("point")]
    assert place.aggregate("reports.bin", more=dead, output="x") == 2
    assert "--checkpoint is for --engine files" in capsys.readouterr().err

    @contextlib.contextmanager
    def connected(scheduler):
        assert scheduler == "tcp://here"
        yield cluster

    monkeypatch.setattr(dask, "connect", connected)
    more = ["--engine", "dask", "--scheduler", "tcp://here"]
    capsys.readouterr()
    assert place.aggregate("reports.bin", "reports.bin", more=more) == 0 and place.read("made") == plain
    assert f"{N} copies of reports were left out" in capsys.readouterr().out


@kinds
def test_reports_of_the_first_round(places, kind, capsys):
    place = places(kind)
    first = ["--first", place("first.bin")]
    if place.task.before is None:
        assert place.aggregate("reports.bin", more=first, output="x") == 2
        assert f"--first is for second rounds; this is a {kind} task" in capsys.readouterr().err
    else:
        assert place.aggregate("reports.bin", more=first) == 0
        Path(place("first.bin.part")).write_bytes(_without_last(place, "first.bin"))
        assert place.aggregate("reports.bin", more=["--first", place("first.bin.part")], output="x") == 2
        assert "no report of the first" in capsys.readouterr().err


def _without_last(place, name):
    reports = Reports.from_bytes(place.task.before, place.read(name))
    return Reports(place.task.before, reports.tokens[:-1], reports.payloads[:-1], True).to_bytes()


VALUES = {"whole": 3, "seed": 7, "number": 0.25, "share": 0.7, "words": "What?", "file": "totals.json", "names": "a"}


def value_of(option):
    """Return arguments that say something about an option."""
    flag = f"--{option.name.replace('_', '-')}"
    if option.takes == "flag":
        return [flag]
    return [flag, option.choices[1] if option.choices else VALUES[option.takes]]


@kinds
@pytest.mark.parametrize("name", sorted(MODEL))
def test_options_of_models(places, kind, name, monkeypatch, capsys):
    place = places(kind)
    own = {option.name: (parameter, option) for parameter, option in place.task.model_options.items()}
    if name not in own:
        any_option = next(o for k in task_classes() for o in k.model_options.values() if o.name == name)
        assert place.aggregate("reports.bin", more=value_of(any_option), output="x") == 2
        said = capsys.readouterr().err
        assert f"--{name.replace('_', '-')} is for " in said and f"{kind} task: leave it out" in said
        return
    parameter, option = own[name]
    seen = {}
    model = type(place.task).model

    def spy(self, totals, **options):
        seen.update(options)
        return model(self, totals, **options)

    monkeypatch.setattr(type(place.task), "model", spy)
    given = value_of(option)
    code = place.aggregate("reports.bin", more=given)
    assert seen == {parameter: given[1]}
    assert code == 0 or "must" in capsys.readouterr().err  # a value that this small example has no room for


# Design.


DESIGNED = {kind.kind: kind for kind in task_classes() if kind.designed is not None}
DESIGN = {option.name for kind in DESIGNED.values() for option in kind.designed.options}
FACTS = {"target", "epsilon", "label_bounds", "classes", "features", "categorical", "categories", "feature_bounds"}
designs = pytest.mark.parametrize("kind", DESIGNED)


def test_no_option_of_design_is_left_out():
    assert options_of("design") == DESIGN | FACTS | {"schema", "output"}


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    folder = tmp_path_factory.mktemp("public")
    source = np.random.default_rng(0)
    a, b = source.random((2, 60)).round(4)
    for name, y in (("numbers", (a + b) / 2), ("classes", np.where(a + b < 1, "low", "high"))):
        pd.DataFrame({"a": a, "b": b, "y": y}).to_csv(folder / f"{name}.csv", index=False)
    return folder


def asked_for(kind):
    """Return the arguments that ask for this kind: from public records, two rounds must be asked for."""
    chosen_by = {*DESIGNED[kind].designed.chosen_by[:1], *(["two_rounds"] if kind == "semi-first" else [])}
    return [word for option in DESIGNED[kind].designed.options if option.name in chosen_by for word in value_of(option)]


def design(public, kind, *more, label=None):
    """Return the exit code of ``design``, with a label that this kind may have."""
    of_classes = DESIGNED[kind].designed.classes and DESIGNED[kind].designed.chosen_by
    if label is None:
        label = ("--classes", "low,high") if of_classes else ("--label-bounds", "0:1")
    records = public / ("classes.csv" if of_classes else "numbers.csv")
    return run("design", records, "--target", "y", "--epsilon", 4, *label, *more, "-o", public / "task.json")


@pytest.fixture
def spied(monkeypatch):
    """What a kind's own function would get; nothing is designed."""
    seen = {}

    def spy(self, facts, **options):
        seen.update(options, facts=facts)
        kind = next(name for name, kind in DESIGNED.items() if kind.designed is self)
        made = KINDS[kind].build(4.0) if kind in KINDS else example_task(4.0)  # sealed kinds are no examples
        return made, About("made")

    monkeypatch.setattr(Design, "__call__", spy)
    return seen


@designs
@pytest.mark.parametrize("name", sorted(DESIGN))
def test_options_of_designs(public, kind, name, spied, capsys):
    """Either the kind's own function gets it, or it is refused by name; never is it ignored."""
    own = {option.name: option for option in DESIGNED[kind].designed.options}
    if name in own:
        given = value_of(own[name])
        others = [] if name in DESIGNED[kind].designed.chosen_by else asked_for(kind)
        assert design(public, kind, *others, *given) == 0, capsys.readouterr().err
        assert spied[own[name].parameter or name] == (True if len(given) == 1 else _read(given[1], own[name]))
        return
    option = next(o for k in DESIGNED.values() for o in k.designed.options if o.name == name)
    code = design(public, kind, *asked_for(kind), *value_of(option))
    said = capsys.readouterr().err
    if code == 0:  # it asks for another kind, one that takes all that was said
        assert (option.parameter or name) in spied
    else:
        assert code == 2 and not spied
        assert " is for " in said and ("leave it out" in said or "give it to 'hedgerow aggregate'" in said)


def _read(value, option):
    return [value] if option.takes == "names" else value


@designs
def test_a_kind_takes_its_options_all_at_once(public, kind, small_models):
    """And the task says so: it is one of this kind."""
    own = DESIGNED[kind].designed
    said = [o for o in own.options if o.takes != "file" and o.name not in {*own.chosen_by[1:]} - {"two_rounds"}]
    assert design(public, kind, *(word for option in said for word in value_of(option))) == 0
    assert read_task((public / "task.json").read_text()).kind == kind


def write_schema(public, kind):
    """Write a schema of the public records, with a rule of its own for gaps; return its space."""
    of_classes = DESIGNED[kind].designed.classes and DESIGNED[kind].designed.chosen_by
    schema = Schema((NumberColumn("a", 0, 2, missing=0.5), NumberColumn("b", 0, 1)))
    schema = schema.with_label("y", classes=["low", "high"]) if of_classes else schema.with_label("y", bounds=(0, 1))
    schema.save(public / "schema.json")
    return schema.space


@designs
def test_a_schema_is_all_facts(public, kind, spied):
    space = write_schema(public, kind)
    assert design(public, kind, *asked_for(kind), label=("--schema", str(public / "schema.json"))) == 0
    facts = spied["facts"]
    assert (facts.label_bounds or facts.classes) in ((0, 1), ["low", "high"])
    assert (facts.feature_bounds if DESIGNED[kind].designed.records else facts.space) == space


@designs
def test_what_a_schema_says_of_gaps_is_in_the_task(public, kind, small_models):
    space = write_schema(public, kind)
    assert design(public, kind, *asked_for(kind), label=("--schema", str(public / "schema.json"))) == 0
    task = read_task((public / "task.json").read_text())
    assert task.kind == kind and task.question().features == space.columns


@designs
def test_facts(public, kind, spied, capsys):
    """Facts reach the kind's own function; those that it has no use for are refused."""
    own = DESIGNED[kind].designed
    same = [k for k in DESIGNED.values() if k.designed.chosen_by == own.chosen_by and k.designed.classes]
    if not same:
        assert design(public, kind, *asked_for(kind), label=("--classes", "a,b")) == 2
        assert "--classes" in capsys.readouterr().err
    assert design(public, kind, *asked_for(kind), "--categorical", "c") == 2
    assert "--categorical names 'c'" in capsys.readouterr().err
    assert design(public, kind, *asked_for(kind), "--features", "a", "--feature-bounds", "a=0:2") == 0
    facts = spied["facts"]
    assert (facts.epsilon, facts.target) == (4, "y")
    assert (facts.label_bounds or facts.classes) in ((0, 1), ["low", "high"])
    if own.records:
        assert facts.X.columns == ("a",) and facts.feature_bounds == {"a": (0, 2)}
    else:
        assert facts.space.names == ("a",) and facts.space.high[0] == 2
