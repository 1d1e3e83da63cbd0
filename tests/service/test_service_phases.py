"""schemathesis: its coverage, fuzzing and stateful phases find no server error (the description has no examples).

``HEDGEROW_FULL_FUZZ=1`` sends many more requests.
"""

import os
import subprocess
import sys

import pytest

CURATOR = {"Authorization": "Bearer curator-token-of-these-tests"}
FULL = bool(os.environ.get("HEDGEROW_FULL_FUZZ"))
HOOKS = """
import schemathesis

@schemathesis.serializer(
    "application/vnd.hedgerow.reports+bin", "application/vnd.hedgerow.peer+bin", "application/octet-stream"
)
def binary(ctx, value):
    return value if isinstance(value, bytes) else getattr(value, "data", None) or str(value).encode()
"""


def published(server, task, **words):
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", "opens": 0, "closes": 1 << 37, **words}
    assert server.client.post("/v1/tasks", json=body, headers=CURATOR).status_code == 201


def run(folder, server, phases, *more):
    """Run phases to their end."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", server.address + "/openapi.json"]
    command += ["--phases", phases, "--checks", "not_a_server_error", "--seed", "1", "--continue-on-failure"]
    command += ["--max-examples", "60" if FULL else "2", "--suppress-health-check", "all", "--no-color"]
    command += ["-H", f"Authorization:{CURATOR['Authorization']}", *more]
    env = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=3000, check=False)
    print(done.stdout[-3000:])
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    for phase in phases.split(","):
        assert f"✅ {phase.capitalize()}" in done.stdout  # complete: neither skipped nor interrupted


def test_no_phase_of_schemathesis_finds_a_server_error(outside, local_task, holders, tmp_path):
    pytest.importorskip("schemathesis")
    server = outside(options=("--token-rate", "0"))
    task = local_task()
    published(server, local_task("with passes"), passes=True)
    published(server, task)
    media = {"Content-Type": "application/vnd.hedgerow.reports+bin; version=1"}
    server.client.post(f"/v1/tasks/{task.id}/reports", content=holders(task, 50).to_bytes(), headers=media)
    (tmp_path / "hooks.py").write_text(HOOKS)
    run(tmp_path, server, "stateful", "--exclude-operation-id", "deleteTask")  # tasks must be there to be found
    if FULL:
        run(tmp_path, server, "coverage,fuzzing")
    assert server.process.poll() is None
    assert "Traceback" not in server.log.read_text()
