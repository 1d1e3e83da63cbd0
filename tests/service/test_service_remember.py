"""How long ids and upload tokens outlive the closing of their task is the curator's choice."""

import math
from types import SimpleNamespace

import pytest

from hedgerow.cli import main
from hedgerow.errors import HedgerowError
from hedgerow.service.settings import Settings

COUNTED = {"accepted": 0, "duplicates": 1, "failures": []}


@pytest.fixture(params=["sqlite", "postgres"])
def closed(request, inside, local_task, holders, ids_in):
    """A closed task with one report that a token brought, and how many digests of either are left after a turn."""

    def make(**options):
        service = inside(None if request.param == "sqlite" else request.getfixturevalue("postgres"), **options)
        task = local_task()
        service.publish(task, tokens=True)
        (token,) = service.post(task, "tokens").json()["tokens"]
        mine, report = {"Authorization": f"Bearer {token}"}, holders(task, 1)
        assert service.send(task, report, **mine).json()["accepted"] == 1
        service.post(task, "close")

        def left(after):
            service.clock.now = 1000.0 + after
            service.service.aggregator.turn()
            with service.service.database.read() as connection:
                tokens = connection.exec_driver_sql("SELECT count(*) FROM upload_tokens").scalar()
            return ids_in(service.service.database), tokens

        return SimpleNamespace(left=left, again=lambda: service.send(task, report, **mine).json())

    return make


def test_zero_forgets_at_once(closed):
    task = closed(remember_seconds=0)
    assert task.left(0) == (0, 0)
    assert task.again()["code"] == "task-closed"


def test_after_the_time_they_are_gone(closed):
    task = closed(remember_seconds=600.0)
    assert task.left(0) == task.left(599) == (1, 1)
    assert task.again() == COUNTED
    assert task.left(600) == (0, 0)
    assert task.again()["code"] == "task-closed"


@pytest.mark.parametrize("value", [-1, -1e-9, math.inf, math.nan])
def test_settings_refuse_what_is_no_duration(value):
    with pytest.raises(HedgerowError, match="'remember_seconds' setting must be a finite number of at least 0"):
        Settings(remember_seconds=value)


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "1e308", "a week", ""])
def test_the_command_refuses_what_is_no_duration(text, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", f"--remember={text}"])
    assert ended.value.code == 2
    assert f"--remember: expected a number of hours of at least 0, such as 24; 0 forgets at once. Got {text!r}" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("options", "seconds"), [([], 604_800), (["--remember", "0"], 0), (["--remember", "1.5"], 5400)]
)
def test_the_command_passes_hours_on(options, seconds, tmp_path, monkeypatch):
    import uvicorn

    served = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **_: served.append(app.state.service))
    database = ["--database", f"sqlite:///{tmp_path}/hedgerow.db"]
    assert main(["serve", "init", *database]) == 0
    assert main(["serve", *database, *options]) == 0
    (service,) = served
    service.database.close()
    assert service.settings.remember_seconds == service.aggregator.remember == seconds
