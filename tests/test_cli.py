import json
import re
import subprocess
import sys

import pytest

import hedgerow
from hedgerow import cli
from hedgerow.audit import register, registry
from hedgerow.commands import COMMANDS
from hedgerow.mechanisms import Audit, KaryResponse

QUICK = ["--mechanism", "k-ary response", "--samples", "20000", "--seed", "1"]


def run(capsys, *arguments):
    """Return the exit code, standard output and standard error."""
    try:
        code = cli.main(arguments)
    except SystemExit as stop:
        code = stop.code
    return (code, *capsys.readouterr())


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"hedgerow {hedgerow.__version__}\n", "")


def test_help_names_every_command(capsys):
    code, out, err = run(capsys, "--help")
    assert code == 0 and err == ""
    for command in COMMANDS:
        assert re.search(rf"^ +{command}\b", out, re.MULTILINE)
        code, text, _ = run(capsys, command, "--help")
        assert code == 0 and f"usage: hedgerow {command}" in text


def test_module_can_be_run():
    done = subprocess.run([sys.executable, "-m", "hedgerow.cli", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("hedgerow ")


def test_audit_prints_a_table(capsys):
    code, out, err = run(capsys, "audit", "--epsilon", "0.5,2", *QUICK)
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].split()[0] == "mechanism" and lines[-1] == "all 4 claims hold"
    assert [line.split()[2:6:2] for line in lines[1:-1]] == [[e, t] for e in ("0.5", "2") for t in ("exact", "sampled")]


def test_audit_prints_json(capsys):
    code, out, _ = run(capsys, "audit", "--epsilon", "1", "--json", *QUICK)
    results = json.loads(out)
    assert code == 0 and [r["tier"] for r in results] == ["exact", "sampled"]
    assert set(results[0]) >= {"mechanism", "claim", "measured", "verdict", "seconds"}


def test_audit_lists_what_it_audits(capsys):
    code, out, _ = run(capsys, "audit", "--list")
    rows = [re.split("  +", line) for line in out.splitlines()]
    assert code == 0 and ["k-ary response", "-", "exact, sampled"] in rows
    assert ["whole: tree, k_ary", "task", "exact, sampled"] in rows
    listed = json.loads(run(capsys, "audit", "--list", "--json")[1])
    assert [entry["name"] for entry in listed] == [row[0] for row in rows[1:]]


def test_audit_of_patterns_with_a_heading_for_what_is_whole(capsys):
    code, out, err = run(capsys, "audit", "pilot", "--samples", "0")
    lines = out.splitlines()
    assert (code, err) == (0, "") and [line.split(":")[0] for line in lines[-3:-1]] == ["whole tasks", "whole"]
    assert lines[-1] == "all 4 claims hold"
    code, _, err = run(capsys, "audit", "rot13")
    assert code == 2 and "no audit has 'rot13' in its name" in err


def test_audit_without_samples(capsys):
    code, out, _ = run(capsys, "audit", "response", "--epsilon", "1", "--samples", "0")
    assert code == 0 and "sampled" not in out and "all" in out


def test_audit_fits_whole_estimators(capsys):
    name = "DPExtraTreesClassifier, depth 1"
    code, out, _ = run(capsys, "audit", "--mechanism", name, "--epsilon", "1")
    lines = out.splitlines()
    assert code == 0 and lines[1].startswith("whole fits: ")
    assert "replay" in lines[2] and "neighbouring tables" in lines[-1]


def test_violation_is_exit_code_1(capsys, monkeypatch):
    monkeypatch.setattr(registry, "_ADDED", {})
    register(Audit("liar", lambda epsilon: KaryResponse(1.5 * epsilon, 3)))
    code, out, _ = run(capsys, "audit", "--epsilon", "1", "--mechanism", "liar", "--samples", "50000", "--seed", "0")
    assert code == 1 and "2 of 2 claims VIOLATED" in out and "against" in out
    code, out, _ = run(capsys, "audit", "--epsilon", "1", "--mechanism", "liar", "--samples", "0", "--json")
    assert code == 1 and json.loads(out)[0]["verdict"] == "VIOLATED"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "COMMAND"),
        (["audti"], "invalid choice: 'audti'"),
        (["audit", "--epsilon", "1,x"], "expected numbers such as 0.5,1,2"),
        (["audit", "--epsilon", "0"], "above 0 and finite"),
        (["audit", "--epsilon", "inf"], "above 0 and finite"),
        (["audit", "--epsilon", "nan"], "above 0 and finite"),
        (["audit", "--epsilon", ""], "expected numbers"),
        (["audit", "--samples", "10"], "from 1000 to 1e9"),
        (["audit", "--samples", "many"], "from 1000 to 1e9"),
        (["audit", "--samples", "inf"], "from 1000 to 1e9"),
        (["audit", "--seed", "x"], "--seed"),
        (["audit", "--mechanism", "rot13"], "unknown mechanism 'rot13'; known are"),
        (["audit", "--epsilon", "1e-300", "--samples", "0"], "too small"),
        (["audit", "--frobnicate"], "unrecognized arguments: --frobnicate"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_code_2(capsys, arguments, message):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert len(err.splitlines()) == 1 and err.startswith("hedgerow") and message in err


def test_closed_pipe_is_quiet():
    command = f"{sys.executable} -m hedgerow.cli audit --epsilon 1 --samples 0 | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stderr == "" and done.stdout.startswith("mechanism")


def test_interrupt_is_exit_code_130(capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(registry.Auditable, "exact", interrupted)
    assert run(capsys, "audit")[0] == 130


def test_a_record_may_follow_the_options(monkeypatch):
    from hedgerow.commands import join

    seen = []
    monkeypatch.setattr(join, "run", lambda arguments: seen.append((arguments.url, arguments.values)) or 0)
    for words in (["age=41", "hours=2", "--yes"], ["--yes", "age=41", "hours=2"], ["age=41", "--yes", "hours=2"]):
        assert cli.main(["join", "https://town.example/join/x", *words]) == 0
    assert seen == [("https://town.example/join/x", ["age=41", "hours=2"])] * 3


@pytest.mark.parametrize("words", [["--yes", "age"], ["--yes", "--colour=red"], ["--yes", "age=41", "more"]])
def test_what_is_no_record_does_not(capsys, words):
    with pytest.raises(SystemExit) as stop:
        cli.main(["join", "https://town.example/join/x", *words])
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("hedgerow join: unrecognized arguments: ")


def test_other_commands_take_no_record(capsys):
    with pytest.raises(SystemExit):
        cli.main(["explain", "model.json", "--json", "age=41"])
    assert "hedgerow explain: unrecognized arguments: age=41" in capsys.readouterr().err
