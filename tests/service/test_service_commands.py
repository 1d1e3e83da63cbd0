"""A survey from public records to a model by commands alone, against a real server."""

import json

import numpy as np
import pytest

from hedgerow.cli import main
from hedgerow.commands.server import moment

TOKEN = "curator-token-of-these-tests"


@pytest.fixture
def curator(monkeypatch):
    monkeypatch.setenv("HEDGEROW_CURATOR_TOKEN", TOKEN)


@pytest.fixture
def public(tmp_path):
    rng = np.random.default_rng(0)
    ages = rng.integers(18, 90, 200)
    lines = [f"{age},{age / 2:g}" for age in ages]
    path = tmp_path / "public.csv"
    path.write_text("\n".join(["age,hours", *lines]) + "\n")
    return path


def said(capsys, *words):
    """Run a command; return its exit code and what it printed as JSON."""
    capsys.readouterr()
    code = (
        main([*map(str, words), "--json"])
        if words[0] != "publish"
        else main([words[0], "--json", *map(str, words[1:])])
    )
    out = capsys.readouterr()
    return code, json.loads(out.out) if out.out else out.err


@pytest.mark.usefixtures("curator")
def test_a_survey_in_six_commands(outside, public, tmp_path, capsys):
    server = outside()
    design = [public, "--target", "hours", "--epsilon", "4", "--label-bounds", "0:80", "--max-depth", "1"]
    words = ["--to", server.address, "--purpose", "Plan buses", "--curator", "Town", "--closes", "14d", "--open"]
    code, published = said(capsys, "publish", *words, "--draft", *design)
    assert code == 0, published
    link = published["url"]
    assert link == f"{server.address}/join/{published['id']}"
    for i in range(5):
        assert main(["join", link, "age=40", f"hours={i}", "--yes", "--home", str(tmp_path / f"home{i}")]) == 0
    code, status = said(capsys, "status", link)
    assert (code, status["accepted"], status["state"]) == (0, 5, "open")
    code, listed = said(capsys, "status", server.address)
    assert [task["id"] for task in listed["tasks"]] == [published["id"]]
    assert said(capsys, "close", link)[1]["state"] == "closed"
    model = tmp_path / "model.json"
    assert said(capsys, "fetch", link, "-o", model)[0] == 0
    assert main(["predict", str(model), str(public), "-o", str(tmp_path / "out.csv")]) == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 201
    assert said(capsys, "fetch", link, "--leaves", "-o", tmp_path / "leaves.json")[0] == 0
    code, error = said(capsys, "fetch", link, "--data", "-o", tmp_path / "data")
    assert code == 2
    assert "not-available" in error
    assert not (tmp_path / "data").exists()
    assert said(capsys, "close", link, "--delete")[1]["deleted"] is True
    assert "task-deleted" in said(capsys, "status", link)[1]


@pytest.mark.usefixtures("curator")
@pytest.mark.parametrize("how", ["--invitations", "--tokens"])
def test_a_task_from_a_file_with_links_for_single_holders(outside, local_task, tmp_path, capsys, how):
    server, task = outside(), local_task()
    (tmp_path / "task.json").write_text(task.to_json())
    words = ["--to", server.address + "/", "--purpose", "Plan buses", "--curator", "Town", how, "3"]
    code, published = said(capsys, "publish", *words, tmp_path / "task.json")
    assert code == 0, published
    links = published["links"]
    assert len(set(links)) == 3
    names = [f.name for f in task.question().features]
    record = [*(f"{name}=0.5" for name in names), f"{task.target}=0.5"]
    for i, link in enumerate(links):
        assert main(["join", link, *record, "--yes", "--home", str(tmp_path / f"home{i}")]) == 0
    assert main(["join", links[0], *record, "--yes", "--home", str(tmp_path / "another")]) == 2
    assert said(capsys, "status", links[0].split("#")[0])[1]["accepted"] == 3
    (further,) = said(capsys, "invite", links[0], "1")[1]["links"]
    assert main(["join", further, *record, "--yes", "--home", str(tmp_path / "further")]) == 0
    assert said(capsys, "status", links[0])[1]["accepted"] == 4


def test_what_is_needed_is_said(monkeypatch, tmp_path, capsys, local_task):
    monkeypatch.delenv("HEDGEROW_CURATOR_TOKEN", raising=False)
    (tmp_path / "task.json").write_text(local_task().to_json())
    words = ["publish", str(tmp_path / "task.json"), "--purpose", "x", "--curator", "y", "--open"]
    assert main([*words, "--to", "https://town.example"]) == 2
    assert "HEDGEROW_CURATOR_TOKEN" in capsys.readouterr().err
    (tmp_path / "token").write_text(TOKEN)
    assert main([*words, "--token-file", str(tmp_path / "token"), "--to", "http://town.example"]) == 2
    assert "over http" in capsys.readouterr().err
    monkeypatch.setenv("HEDGEROW_CURATOR_TOKEN", TOKEN)
    assert main(["close", "https://town.example"]) == 2
    assert "link to a task" in capsys.readouterr().err
    assert main(["publish", "--purpose", "x", "--curator", "y", "--open", "--to", "https://town.example"]) == 2
    assert "--draft" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["purpose", "curator"])
def test_a_task_without_purpose_or_curator_is_not_published(inside, local_task, missing):
    words = {"purpose": "To test", "curator": "Town", missing: "  "}
    body = {"task": local_task().to_dict(), **words}
    answer = inside().client.post("/v1/tasks", json=body, headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 400
    assert missing in answer.json()["detail"]


def test_times_of_a_window():
    assert moment("2030-01-01T01:00+01:00") == moment("2030-01-01") == 1893456000
    with pytest.raises(Exception, match="14d"):
        moment("soon")


def test_the_survey_of_the_readme_runs_as_printed(tmp_path):
    """Every line of it; the port is another one where somebody has that of the README."""
    import os
    import re
    import socket
    import subprocess
    import sys
    from pathlib import Path

    text = (Path(__file__).parents[2] / "README.md").read_text()
    (block,) = re.findall(r"against a real server:\n\n```sh\n(.*?)```", text, re.DOTALL)
    assert len(re.findall(r"# \d\.", block)) == 6
    with socket.socket() as probe:  # the port of the README, unless somebody has it
        try:
            probe.bind(("127.0.0.1", 8000))
        except OSError:
            probe.bind(("127.0.0.1", 0))
            block = block.replace("8000", str(probe.getsockname()[1]))
    for name, words in {"hedgerow": "-m hedgerow.cli", "python": ""}.items():
        script = tmp_path / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        script.chmod(0o755)
    paths = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "HEDGEROW_HOME": str(tmp_path / "home")}
    environment = {**os.environ, **paths, "OMP_NUM_THREADS": "1"}
    lines = f"set -e\ntrap 'kill %1; wait' EXIT\nhedgerow example\n{block}"
    done = subprocess.run(
        ["bash", "-c", lines], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "model.json").read_text())["format"].startswith("hedgerow/")


@pytest.mark.parametrize("content", [b"hc_one\nhc_two\n", b"\x7fELF\x00\xff", "hc_\u201cquoted\u201d".encode()])
def test_what_is_no_token_is_refused_in_one_line_that_does_not_repeat_it(tmp_path, capsys, content):
    (tmp_path / "token").write_bytes(content)
    link = "http://127.0.0.1:9/join/" + 64 * "0"
    assert main(["status", link, "--token-file", str(tmp_path / "token")]) == 2
    said = capsys.readouterr().err
    assert "not a token" in said and said.count("\n") == 1
    assert "hc_" not in said and "ELF" not in said


@pytest.mark.usefixtures("curator")
def test_more_invitations_than_one_answer_holds(inside, local_task, monkeypatch):
    """Asked for at once the task was published, and none was given out."""
    import hedgerow.curator as module
    from hedgerow.grid import LabelGrid
    from hedgerow.mechanisms.level import LaplaceNoise
    from hedgerow.tasks.labels.task import LabelTask

    service = inside()
    monkeypatch.setattr(module, "MOST_TOKENS", 3)

    def call(self, method, path, content=None, seconds=20.0):
        answer = service.client.request(method, path, json=content, headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.is_success, answer.text
        assert (content or {}).get("count", 0) <= 3
        return answer.content

    monkeypatch.setattr(module.Server, "_call", call)
    server = module.Server("http://127.0.0.1", TOKEN)
    task = local_task()
    service.publish(task, tokens=True)
    assert len(set(server.issue_links(task.id, 8))) == 8
    labels = LabelTask(LabelGrid(0.0, 80.0, 16), LaplaceNoise(1.0, 16))
    service.publish(labels, tokens=True)
    for first, expected in ((None, range(8)), (20, range(20, 28))):
        links = server.issue_links(labels.id, 8, first)
        assert [int(link.split("record=")[1]) for link in links] == list(expected)


def test_a_window_that_is_over_or_mistyped_is_told_in_the_words_of_whoever_typed_it(tmp_path, capsys, local_task):
    (tmp_path / "task.json").write_text(local_task().to_json())
    words = ["publish", str(tmp_path / "task.json"), "--to", "https://town.example", "--purpose", "x", "--curator", "y"]
    for window, remedy in (
        (["--closes", "2020-01-01"], "01 January 2020"),
        (["--opens", "2d", "--closes", "1d"], "after --opens"),
    ):
        assert main([*words, "--open", *window]) == 2
        assert remedy in capsys.readouterr().err
    for wrong in ("14", "2030", "20300131", "\u0663d", "1" * 16):
        with pytest.raises(SystemExit):
            main([*words, "--open", "--closes", wrong])
        assert "14d" in capsys.readouterr().err


@pytest.mark.usefixtures("curator")
def test_an_address_without_its_beginning_is_named(capsys):
    assert main(["status", "town.example"]) == 2
    assert "an address begins with https://" in capsys.readouterr().err


@pytest.mark.usefixtures("curator")
def test_links_that_are_good_for_an_answer_are_for_their_owner_only(outside, public, tmp_path, capsys):
    server, links = outside(), tmp_path / "links"
    words = ["--to", server.address, "--purpose", "Plan buses", "--curator", "Town", "--invitations", "1"]
    design = ["--target", "hours", "--epsilon", "4", "--label-bounds", "0:80"]
    assert main(["publish", *words, "-o", str(links), "--draft", str(public), *design]) == 0
    said = capsys.readouterr()
    assert "task.json" not in said.out + said.err and "from 200 public records\n" in said.err
    more = tmp_path / "more"
    assert main(["invite", links.read_text().strip(), "1", "-o", str(more)]) == 0
    assert [file.stat().st_mode & 0o777 for file in (links, more)] == [0o600, 0o600]
    capsys.readouterr()
    assert main(["status", links.read_text().strip()]) == 0
    assert "0 reports" in capsys.readouterr().out


def test_what_a_draft_lacks_is_told_with_a_help_that_there_is(public, capsys):
    words = ["publish", "--to", "http://127.0.0.1:9", "--purpose", "x", "--curator", "y", "--open"]
    with pytest.raises(SystemExit):
        main([*words, "--token-file", str(public), "--draft", str(public)])
    assert "'hedgerow design --help'" in capsys.readouterr().err
