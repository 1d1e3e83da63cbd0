"""Sums by group, and trimmed totals of them: the library's numbers, whatever waits, crashes or is forged."""

import json

import numpy as np
import pytest

from hedgerow.cli import main
from hedgerow.service.curators import digest_of
from hedgerow.tasks.examples import examples
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.trimmed import Groups, group_of, trimmed

TOKEN = "curator-token-of-these-tests"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    return f"sqlite:///{tmp_path}/hedgerow.db" if request.param == "sqlite" else request.getfixturevalue("postgres")


def parts_of(service, task):
    """Return the totals of groups, as the service keeps them."""
    return service.service._sums(service.service.collection(task.id)).parts


def test_trimmed_totals_are_those_of_the_library(url, inside, local_task, holders, part):
    """For the same key: some reports are added up, some wait, some came after a restart, some twice."""
    service, task = inside(url), local_task()
    service.publish(task, groups=5, target=400)
    reports = holders(task, 600)
    service.send(task, part(reports, 0, 250))
    service.service.aggregator.turn()
    service.send(task, part(reports, 200, 400))
    service.service.aggregator.turn()
    service = inside(url)
    service.send(task, part(reports, 400))
    key = service.service.collection(task.id).group_key
    same = Groups(task, 5, key).add(reports)
    assert [p.to_bytes() for p in parts_of(service, task)] == [p.to_bytes() for p in same.parts]
    assert len(key) == 32 and service.get(task, "model").text == same.total.model().to_json()
    for trim in ("0.2", "0.5"):
        expected = trimmed(same.parts, float(trim)).totals.model()
        assert service.get(task, f"model?trim={trim}").text == expected.to_json()
        assert service.get(task, f"leaves?trim={trim}").json()["n_reports"] == expected.n_reports < 600
    status = service.status(task)
    assert status["groups"] == 5 and "up to 1 reports" in status["trimming"]


def test_a_gateway_that_forges_is_in_one_group(inside, local_task, holders, part):
    """Half of all reports are copies of one message, and came with one token."""
    service, task = inside(), local_task(max_depth=1)
    service.publish(task, tokens=True, groups=5, target=2400)
    tokens = service.post(task, "tokens", {"count": 60, "quota": 2000}).json()["tokens"]
    honest, worst = holders(task, 2360), holders(task, 1)
    forged = holders(task, 2000)
    copies = Reports(task, forged.tokens, np.repeat(worst.payloads, 2000, axis=0))
    for i, token in enumerate(tokens[1:]):
        service.send(task, part(honest, 40 * i, 40 * i + 40), Authorization=f"Bearer {token}")
    clean = service.get(task, "model?trim=0.2").json()
    assert service.send(task, copies, Authorization=f"Bearer {tokens[0]}").json()["accepted"] == 2000
    service.service.aggregator.turn()
    collection = service.service.collection(task.id)
    groups = [group_of(token.encode(), 5, collection.group_key) for token in tokens]
    counts = 40 * np.bincount(groups[1:], minlength=5)
    counts[groups[0]] += 2000
    assert [p.n_reports for p in parts_of(service, task)] == counts.tolist()
    # What is stored of a token does not tell its group.
    told = [group_of(digest_of(token), 5, collection.group_key) for token in tokens]
    assert told != groups
    means = {}
    for name, query in (("plain", ""), ("trimmed", "?trim=0.2")):
        means[name] = [leaf["mean"] for leaf in service.get(task, f"leaves{query}").json()["leaves"]]
    assert clean["n_reports"] < 2360
    service.client.post("/dashboard/sign-in", data={"token": TOKEN})
    page = service.client.get(f"/dashboard/tasks/{task.id}").text
    assert "Sums are kept by 5 groups" in page and "1 % forgers could move this by" in page
    assert page.count("without the groups at both ends it is") == 2 and "model.json?trim=0.3" in page
    assert service.client.get(f"/dashboard/tasks/{task.id}/model.json?trim=0.3").json()["n_reports"] < 4360
    far = {name: np.abs(np.array(found) - [0.25, 0.75]).max() for name, found in means.items()}
    assert far["trimmed"] < far["plain"]


def test_what_cannot_be_trimmed_is_refused_by_name(inside, local_task, holders):
    service, task = inside(), local_task()
    body = {"task": task.to_dict(), "opens": 1000, "closes": 2000, "purpose": "To test", "curator": "Town"}
    headers = {"Authorization": f"Bearer {TOKEN}"}

    def publish(**words):
        return service.client.post("/v1/tasks", json=body | words, headers=headers)

    for groups, why in ((2, "at least 3"), (1001, "at most 1000"), (-1, "at least 3")):
        assert publish(groups=groups).json()["code"] == "invalid-request"
        assert why in publish(groups=groups).json()["detail"]
    for words in ({}, {"target": 399}, {"max_reports": 399}, {"target": 400, "max_reports": 399}):
        answer = publish(groups=5, **words).json()
        assert answer["code"] == "invalid-request" and "5 groups need 400 reports" in answer["detail"]
    assert publish(groups=5, target=400).status_code == 201 and publish(groups=5, target=500).status_code == 200
    assert publish(groups=6, target=600).json()["code"] == "task-exists"
    service.send(task, holders(task, 30))
    for query, why in (("trim=0.2", "needs 80 reports"), ("trim=nan", "above 0"), ("trim=much", "such as 0.1")):
        for what in ("model", "leaves"):
            answer = service.get(task, f"{what}?{query}").json()
            assert answer["code"] == "invalid-request" and why in answer["detail"]
    plain = local_task("plain")
    service.publish(plain)
    assert service.get(plain, "model?trim=0.2").json()["code"] == "not-available"


def test_groups_that_stay_small_are_put_together_when_the_task_is_closed(url, inside, local_task, holders, part):
    """The sum of one report is the report."""
    service, task = inside(url), local_task()
    service.publish(task, groups=3, target=144)
    reports = holders(task, 40)
    service.send(task, part(reports, 0, 30))
    service.service.aggregator.turn()
    before = [p.n_reports for p in parts_of(service, task)]
    assert sum(before) == 30 and max(before) < 30  # all in one: with probability 3 ** -29
    service.send(task, part(reports, 30))
    service.post(task, "close")
    service.service.aggregator._rest_until = 0.0  # to scrub in this turn, too
    service.service.aggregator.turn()
    collection = service.service.collection(task.id)
    with service.service.database.read() as connection:
        row = connection.exec_driver_sql("SELECT n, sums, revision, scrubbed FROM partials").one()
    parts = collection.kind.aggregate(row.sums).parts
    assert [p.n_reports for p in parts] == [40, 0, 0] and row.n == 40 and row.revision == row.scrubbed
    assert service.get(task, "model").text == task.totals().add(reports).model().to_json()
    assert service.get(task, "model?trim=0.5").json()["code"] == "invalid-request"
    service.service.aggregator.turn()
    with service.service.database.read() as connection:
        assert connection.exec_driver_sql("SELECT revision FROM partials").scalar() == row.revision


def test_groups_that_are_large_enough_are_kept_when_the_task_is_closed(inside, local_task, holders):
    service, task = inside(), local_task()
    service.publish(task, groups=3, target=144)
    service.send(task, holders(task, 240))
    before = service.get(task, "model?trim=0.5").text
    service.post(task, "close")
    service.service.aggregator.turn()
    assert min(p.n_reports for p in parts_of(service, task)) >= 48
    assert service.get(task, "model?trim=0.5").text == before


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_every_kind_keeps_groups_or_says_that_it_cannot(example, inside):
    service, task = inside(), example.build(2.0)
    if not (task.retains or task.sealed):
        if task.before is not None:
            service.publish(task.before)
        service.publish(task, groups=3, max_reports=144)
        assert service.service.collection(task.id).kind.n_groups == 3
        return
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", "groups": 3}
    body["tokens"] = task.question().numbered
    answer = service.client.post("/v1/tasks", json=body, headers={"Authorization": f"Bearer {TOKEN}"}).json()
    assert answer["code"] == "invalid-request"
    assert f"a {task.kind} task are not added up by group" in answer["detail"]


def test_a_curator_trims_by_commands(outside, local_task, holders, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HEDGEROW_CURATOR_TOKEN", TOKEN)
    server, task = outside(), local_task()
    (tmp_path / "task.json").write_text(task.to_json())
    words = ["--to", server.address, "--purpose", "Plan buses", "--curator", "Town", "--open", "--groups", "3"]
    words += ["--target", "144"]
    assert main(["publish", str(tmp_path / "task.json"), *words, "--json"]) == 0
    link = json.loads(capsys.readouterr().out)["url"]
    media = {"Content-Type": "application/vnd.hedgerow.reports+bin; version=1"}
    body = holders(task, 300).to_bytes()
    assert server.client.post(f"/v1/tasks/{task.id}/reports", content=body, headers=media).status_code == 200
    model = tmp_path / "model.json"
    assert main(["fetch", link, "--trim", "0.4", "-o", str(model)]) == 0
    assert "without 0.4 of the groups at each end" in capsys.readouterr().out
    assert json.loads(model.read_text())["n_reports"] < 300
    assert main(["status", link]) == 0
    assert "Sums are kept by 3 groups" in capsys.readouterr().out
    assert main(["fetch", link, "--trim", "0.4", "--data", "-o", str(tmp_path / "x")]) == 2
    assert "'trim' is for models" in capsys.readouterr().err
