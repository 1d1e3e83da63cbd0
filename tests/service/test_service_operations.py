"""Backup, restore, logs and the command line."""

import contextlib
import io
import json
import logging
import os
import re
import stat
import sys
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from hedgerow import cli
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.service.backup import backup, restore
from hedgerow.service.database import Database
from hedgerow.service.logs import JsonFormatter


def command(*arguments, cwd):
    """Run ``hedgerow serve``; return its exit code, what it prints, and what it says of errors."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main(["serve", *arguments])
        except SystemExit as stop:
            code = stop.code
    return code, out.getvalue(), err.getvalue()


def filled(inside, local_task, holders):
    service, task = inside(), local_task()
    service.publish(task)
    service.send(task, holders(task, 30))
    return service, task


def test_a_backup_is_whole_private_and_never_overwrites(inside, local_task, holders, tmp_path):
    service, task = filled(inside, local_task, holders)
    path = tmp_path / "copy"
    counts = backup(service.service.database, str(path))
    assert (counts["tasks"], counts["arrivals"], counts["known"]) == (1, 0, 1)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with pytest.raises(HedgerowError, match="never replaced"):
        backup(service.service.database, str(path))
    with pytest.raises(HedgerowError, match="not empty"):
        restore(service.service.database, str(path))
    with Database(f"sqlite:///{tmp_path}/new.db", "create") as new:
        assert restore(new, str(path)) == counts
    moved = inside(f"sqlite:///{tmp_path}/new.db")
    assert moved.get(task, "model").text == service.get(task, "model").text


@pytest.mark.parametrize("damage", ["truncated", "changed", "longer", "foreign"])
def test_a_damaged_backup_restores_nothing(inside, local_task, holders, tmp_path, damage):
    service, _ = filled(inside, local_task, holders)
    path = tmp_path / "copy"
    backup(service.service.database, str(path))
    data = bytearray(path.read_bytes())
    if damage == "truncated":
        del data[-40:]
    elif damage == "changed":
        data[len(data) // 2] ^= 1
    elif damage == "longer":
        data += b"x"
    else:
        data[:4] = b"ZIP!"
    path.write_bytes(data)
    with Database(f"sqlite:///{tmp_path}/new.db", "create") as new:
        with pytest.raises(ValueError):  # noqa: PT011
            restore(new, str(path))
        with new.read() as connection:
            for table in ("tasks", "known", "settings"):
                assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == 0


@pytest.mark.parametrize("wrong", ["missing", "foreign", "cut", "changed"])
def test_a_restore_that_fails_leaves_no_empty_database_behind(inside, local_task, holders, tmp_path, wrong):
    """A server would start on it, with another key, as if nothing had been collected."""
    service, _ = filled(inside, local_task, holders)
    path = tmp_path / "copy"
    backup(service.service.database, str(path))
    data = bytearray(path.read_bytes())
    if wrong == "missing":
        path.unlink()
    elif wrong == "foreign":
        path.write_bytes(b"#!/bin/sh\n")
    elif wrong == "cut":
        path.write_bytes(data[: len(data) // 2])
    else:
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    code, _, said = command("restore", "copy", "--database", "sqlite:///new.db", cwd=tmp_path)
    assert code == 2 and said.count("\n") == 1, said
    assert not (tmp_path / "new.db").exists()


def test_a_backup_of_another_version_is_refused(inside, local_task, holders, tmp_path, monkeypatch):
    from hedgerow.service import backup as module

    service, _ = filled(inside, local_task, holders)
    monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
    backup(service.service.database, str(tmp_path / "copy"))
    monkeypatch.undo()
    with Database(f"sqlite:///{tmp_path}/new.db", "create") as new, pytest.raises(FormatError, match="version"):
        restore(new, str(tmp_path / "copy"))


def test_logs_are_json_and_quote_nothing():
    formatter = JsonFormatter()
    record = logging.LogRecord("hedgerow.service", logging.INFO, "x", 1, "task-created", (), None)
    record.fields = {"task": "ab"}
    line = json.loads(formatter.format(record))
    assert (line["event"], line["level"], line["task"]) == ("task-created", "info", "ab")
    try:
        raise ValueError("secret-text")
    except ValueError:
        record = logging.LogRecord("uvicorn.error", logging.ERROR, "x", 1, "from %s", ("203.0.113.9",), sys.exc_info())
    text = formatter.format(record)
    assert json.loads(text)["error"] == "ValueError"
    assert "secret-text" not in text and "203.0.113.9" not in text


def test_uploads_are_summed_up_seldom(inside, local_task, holders, caplog):
    with caplog.at_level("INFO", logger="hedgerow.service"):
        service, task = filled(inside, local_task, holders)
        service.service.aggregator._idle()
        assert not [r for r in caplog.records if r.getMessage() == "uploads"]
        service.service.settings = replace(service.service.settings, log_seconds=0.0)
        service.send(task, holders(task, 3, seed=1))
        service.service.aggregator._idle()
        lines = [r.fields for r in caplog.records if r.getMessage() == "uploads"]
    assert lines == [{"reports": {"accepted": 33}}]


def test_init_backup_and_restore_from_the_command_line(tmp_path):
    code, printed, said = command("init", "--json", cwd=tmp_path)
    assert code == 0, said
    summary = json.loads(printed)
    assert summary["token"].startswith("hc_") and len(summary["public_key"]) == 43
    assert command("backup", "copy", cwd=tmp_path)[0] == 0
    _, printed, _ = command("restore", "copy", "--database", "sqlite:///new.db", "--json", cwd=tmp_path)
    assert json.loads(printed)["rows"]["curators"] == 1
    for wrong in (["backup"], ["init", "copy"], ["--database", "nonsense", "init"], ["what"]):
        code, _, said = command(*wrong, cwd=tmp_path)
        assert code == 2 and said.count("\n") == 1, said


def test_a_server_that_cannot_listen_says_so_in_one_line_and_does_not_start(tmp_path):
    import socket

    assert command("init", cwd=tmp_path)[0] == 0
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for wrong in (["--port", port], ["--port", port, "--host", "192.0.2.1"], ["--port", "99999"], ["--port", "0"]):
            code, _, said = command(*wrong, cwd=tmp_path)
            assert code == 2 and said.count("\n") == 1 and "listening" not in said, said


@pytest.mark.parametrize("wrong", [["--add", ""], ["--revoke", ""], ["--add", "anna", "--scopes", ""]])
def test_nothing_is_no_name_and_no_scope(tmp_path, wrong):
    """A variable of a script that is empty must not list curators, or allow everything."""
    assert command("init", cwd=tmp_path)[0] == 0
    code, printed, said = command("curators", *wrong, cwd=tmp_path)
    assert code == 2 and printed == "" and said.count("\n") == 1


def test_requests_that_are_none_fill_no_log(outside):
    import socket

    server = outside()
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(b"NONSENSE\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 400")
    server.stop()
    lines = [json.loads(line) for line in server.log.read_text().splitlines()[1:]]
    assert len([line for line in lines if line["event"] == "server"]) == 1


def test_a_served_process_logs_no_address(outside, local_task, holders):
    server, task = outside(), local_task()
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", "opens": 0, "closes": 1 << 37}
    headers = {"Authorization": "Bearer curator-token-of-these-tests", "User-Agent": "device-77"}
    with httpx.Client(timeout=20) as client:
        client.post(server.address + "/v1/tasks", json=body, headers=headers)
        media = {"Content-Type": "application/vnd.hedgerow.reports+bin; version=1"}
        client.post(f"{server.address}/v1/tasks/{task.id}/reports", content=holders(task, 2).to_bytes(), headers=media)
        client.get(server.address + "/nowhere/203.0.113.9")
    server.stop()
    lines = server.log.read_text().splitlines()
    events = [json.loads(line)["event"] for line in lines[1:]]
    assert {"started", "task-created", "stopped"} <= set(events)
    for secret in ("device-77", "203.0.113.9", 'curator"', "client"):
        assert not any(secret in line for line in lines[1:])


def test_the_guide_lists_every_code():
    from hedgerow.service.problems import CODES

    guide = Path(__file__).parents[2] / "docs" / "service" / "deploy.md"
    rows = dict(re.findall(r"^\| (\d+) \| (.+) \|$", guide.read_text(), flags=re.MULTILINE))
    listed = {code: int(status) for status, codes in rows.items() for code in re.findall(r"`([a-z-]+)`", codes)}
    assert listed == {code: status for code, (status, _) in CODES.items()}
