"""Every kind of task, from publication to result, equal to the library's own way."""

import csv
import html
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.tasks.examples import examples
from hedgerow.tasks.labels.task import LabelReports, LabelTask
from hedgerow.tasks.models import Model
from hedgerow.tasks.partly_public import CellReports, CellTask, SemiTask
from hedgerow.tasks.registry import task_classes
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate


def failures(receipt):
    return [(f["index"], f["code"]) for f in receipt["failures"]]


@pytest.mark.parametrize("response", ["bits", "unary", "k_ary", "subset"])
def test_local_models_are_bit_for_bit_the_librarys(inside, local_task, holders, part, response):
    service, task = inside(), local_task(response=response)
    service.publish(task)
    reports = holders(task, 900)
    for start in range(0, 900, 100):
        assert service.send(task, part(reports, start, start + 100)).json()["accepted"] == 100
        if start % 300 == 0:
            service.service.aggregator.turn()
    expected = Aggregate(task).add(reports)
    assert service.status(task)["aggregated"] == 700
    assert service.get(task, "model").text == expected.model().to_json()
    chosen = service.client.get(
        f"/v1/tasks/{task.id}/model?fallback=none", headers={"Authorization": "Bearer curator-token-of-these-tests"}
    )
    assert chosen.text == expected.model(fallback="none").to_json()
    service.service.aggregator.turn()
    assert service.service.total(service.service.collection(task.id)).to_bytes() == expected.to_bytes()


def test_classes(inside, holders):
    from hedgerow.tasks.holder import privatize_many
    from hedgerow.tasks.tree.task import LocalTask

    task = LocalTask.design(
        epsilon=3.0, classes=["a", "b", "c"], features=2, feature_bounds=(0, 1), max_depth=2, response="unary"
    )
    service = inside()
    service.publish(task)
    X = np.random.default_rng(0).random((500, 2))
    reports = privatize_many(task, X, np.array(["a", "b"])[(X[:, 0] > 0.5) * 1])
    service.send(task, reports)
    assert service.get(task, "model").text == Aggregate(task).add(reports).model().to_json()
    table = service.get(task, "leaves").json()
    assert set(table["leaves"][0]["classes"]) == {"a", "b", "c"} and table["forecasts"] == []


def page_of(service, task):
    """The dashboard's page of a task, as it reads."""
    assert service.client.post("/dashboard/sign-in", data={"token": "curator-token-of-these-tests"}).status_code == 200
    return html.unescape(service.client.get(f"/dashboard/tasks/{task.id}").text)


def one_of_each():
    """The first example of every registered kind of task: a new kind is covered by being registered."""
    found = {}
    for example in examples():
        found.setdefault(type(example.build(2.0)), example)
    assert set(found) == {kind for kind in task_classes() if not kind.sealed}
    return list(found.values())


def answers(task, records, mask=None, kept=None):
    """Reports of records, numbered through where a task asks for numbers."""
    sent = []
    for i, record in enumerate(records):
        given = {**record, "record": i} if task.question().numbered else record
        private = mask if task.takes_mask else None
        sent.append(task.privatize_record(given, private=private, kept=None if kept is None else kept[i]))
    return sent


every_kind = pytest.mark.parametrize("example", one_of_each(), ids=lambda example: example.name)


@pytest.fixture
def collected(inside):
    """Publish a task of a kind, and the round before it where there is one; send 60 reports to it."""

    def run(example, n=60):
        service, task = inside(), example.build(2.0)
        records = [example.records[i % len(example.records)] for i in range(n)]
        kept = None
        if task.before is not None:
            first = answers(task.before, records, example.mask)
            service.publish(task.before)
            assert service.send(task.before, Reports.collect(task.before, first)).json()["accepted"] == n
            kept = [report.kept for report in first]
        service.publish(task)
        reports = Reports.collect(task, answers(task, records, example.mask, kept))
        assert service.send(task, reports).json() == {"accepted": n, "duplicates": 0, "failures": []}
        return service, task, reports

    return run


@every_kind
def test_every_kind_gives_the_librarys_result_bit_for_bit(collected, example):
    service, task, reports = collected(example)
    totals = task.totals().add(reports)
    for _ in range(2):  # before the reports are added up, and after
        if task.retains:
            assert service.get(task, "data").content == task.data(totals)[1]
        if task.retains and task.makes != "model":
            assert service.get(task, "model").json()["code"] == "not-available"
        else:
            text = service.get(task, "model").text
            assert text == totals.model().to_json()
            assert Model.from_json(text) == totals.model() == Model.from_json(Model.from_json(text).to_json())
        service.service.aggregator.turn()


@every_kind
def test_every_kind_drops_copies_and_refuses_conflicts(collected, example):
    service, task, reports = collected(example)
    n = len(reports)
    assert service.send(task, reports).json() == {"accepted": 0, "duplicates": n, "failures": []}
    service.service.aggregator.turn()
    assert service.send(task, reports).json() == {"accepted": 0, "duplicates": n, "failures": []}
    other = next(i for i in range(n) if (reports.payloads[i] != reports.payloads[0]).any())
    swapped = task.batch(reports.tokens[:1], reports.payloads[other : other + 1])
    assert failures(service.send(task, swapped).json()) == [(0, "id-conflict")]


@every_kind
def test_every_kind_shows_forgery_alarms_and_what_reports_tell(collected, example):
    service, task, reports = collected(example)
    service.service.aggregator.turn()
    status, page, forgery = service.status(task), page_of(service, task), task.influence()
    assert task.in_words in service.client.get("/dashboard").text and str(task.guarantee) in page
    assert status["manipulation"]["watched"] == len(task.alarms().events)
    assert status["forgery"] == (None if forgery is None else forgery.to_dict())
    if forgery is not None:
        assert str(forgery) in page
    if task.retains:
        return
    model = task.totals().add(reports).model()
    table, found = service.get(task, "leaves").json(), model.shift()
    assert all({**row, **shown} == shown for row, shown in zip(model.table(), table["leaves"], strict=True))
    assert any("forged" in name for name in table["leaves"][0])
    told = [row for row in table["leaves"] if "forged_percent_shift" in row]
    assert page.count("1 % forgers could move this by") == (len(told) if model.trees() else 0)
    assert forgery.now(model) in page
    assert page.count('class="share"') == (len(model.table()) if model.trees() else 0)
    assert all(row["cell"] in page for row in model.table() if not model.trees())
    assert found is None or found.verdict in page
    csv_rows = list(csv.DictReader(io.StringIO(service.client.get(f"/dashboard/tasks/{task.id}/leaves.csv").text)))
    assert len(csv_rows) == len(model.table())


def label_task():
    return LabelTask(LabelGrid(0.0, 80.0, 16), LaplaceNoise(1.0, 16), target="hours a week")


def token_for(service, task, count=1, first=None):
    """Return the header of a token for some records."""
    body = {"quota": count} if first is None else {"quota": count, "first_record": first}
    token = service.post(task, "tokens", body).json()["tokens"][0]
    return {"Authorization": f"Bearer {token}"}


def test_labels_are_delivered_as_a_table(inside):
    task, service = label_task(), inside()
    service.publish(task, tokens=True)
    mine = token_for(service, task, 40)
    reports = task.privatize(np.arange(40)[::-1], np.linspace(0, 80, 40))
    for part in (slice(0, 25), slice(25, 40)):
        some = LabelReports(task, reports.tokens[part], reports.payloads[part])
        assert service.send(task, some, **mine).json()["accepted"] == len(some)
        service.service.aggregator.turn()
    later = task.privatize([100], [3.0])
    service.send(task, later, **token_for(service, task, first=100))
    answer = service.get(task, "data")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.reader(io.StringIO(answer.text)))
    records, labels = (reports + later).dataset()
    assert rows[0] == ["record", "hours a week"]
    assert [int(r[0]) for r in rows[1:]] == records.tolist()
    assert [float(r[1]) for r in rows[1:]] == labels.tolist()
    assert service.get(task, "model").json()["code"] == "not-available"


def test_a_record_has_one_label(inside):
    task, service = label_task(), inside()
    service.publish(task, tokens=True)
    mine = token_for(service, task, 20)
    reports = task.privatize([1, 2], [10.0, 20.0])
    assert service.send(task, reports, **mine).json() == {"accepted": 2, "duplicates": 0, "failures": []}
    assert service.send(task, reports, **mine).json() == {"accepted": 0, "duplicates": 2, "failures": []}
    again = service.send(task, task.privatize([3, 2], [1.0, 2.0]), **mine).json()
    assert again["accepted"] == 1 and failures(again) == [(1, "record-taken")]
    twice = service.send(task, task.privatize([7, 7], [1.0, 2.0]), **mine).json()
    assert twice["accepted"] == 1 and failures(twice) == [(1, "record-taken")]
    huge = task.privatize([5], [1.0])
    huge.payloads[0, 7] = 128
    assert failures(service.send(task, huge, **mine).json()) == [(0, "invalid-report")]
    stolen = replace(task.privatize([9], [1.0]), tokens=reports.tokens[:1])
    refused = service.send(task, stolen, **mine).json()
    assert failures(refused) == [(0, "id-conflict")]
    assert refused["failures"][0]["id"] == (task.digest[:4] + reports.tokens[0].tobytes()).hex()


def test_a_token_is_for_its_record_and_no_stranger_takes_another(inside):
    task, service = label_task(), inside()
    service.publish(task, tokens=True)
    answer = service.post(task, "tokens", {"count": 3}).json()
    assert answer["records"] == [[0, 0], [1, 1], [2, 2]]
    assert service.post(task, "tokens", {"count": 2}).json()["records"] == [[3, 3], [4, 4]]
    thief, honest = ({"Authorization": f"Bearer {token}"} for token in answer["tokens"][:2])
    stolen = service.send(task, task.privatize([1], [80.0]), **thief).json()
    assert stolen["accepted"] == 0 and failures(stolen) == [(0, "record-not-yours")]
    assert service.send(task, task.privatize([1], [20.0]), **honest).json()["accepted"] == 1
    assert service.send(task, task.privatize([0], [20.0]), **thief).json()["accepted"] == 1  # it was not spent
    other = service.post(task, "tokens", {"first_record": 1}).json()["tokens"][0]
    again = service.send(task, task.privatize([1], [3.0]), Authorization=f"Bearer {other}").json()
    assert failures(again) == [(0, "record-taken")]


def test_anonymous_records_are_refused(inside):
    task, service = label_task(), inside()
    body = {"task": task.to_dict(), "opens": 1000, "closes": 2000, "purpose": "To test", "curator": "Town"}
    headers = {"Authorization": "Bearer curator-token-of-these-tests"}
    for words, why in (({}, "a stranger could answer"), ({"passes": True}, "a pass hides nothing")):
        refused = service.client.post("/v1/tasks", json={**body, **words}, headers=headers)
        assert refused.status_code == 400 and why in refused.json()["detail"]
    service.publish(task, tokens=True)
    many = task.privatize(np.arange(5000), np.zeros(5000))
    assert service.send(task, many).json()["code"] == "token-required"
    one = token_for(service, task)
    answer = service.send(task, many, **one).json()
    assert answer["accepted"] == 1 and len(answer["failures"]) == 4999
    assert failures(service.send(task, task.privatize([7], [20.0]), **token_for(service, task, first=7)).json()) == []


def semi(masks="personal"):
    options = {"private_columns": ["income"]} if masks == "policy" else {"hide_mask": masks == "hidden"}
    names = ["age", "income"]
    return SemiTask.design(names, epsilon=4.0, label_bounds=(0, 1), feature_bounds=(0, 1), **options)


@pytest.mark.parametrize("masks", ["policy", "personal", "hidden"])
@pytest.mark.parametrize("response", ["k_ary", "bits"])
def test_two_rounds(inside, ids_in, masks, response):
    first, service = semi(masks), inside()
    rng = np.random.default_rng(0)
    X, private = rng.random((400, 2)), rng.random((400, 2)) < 0.5
    reports = first.privatize(X, X[:, 0], private=private if masks == "personal" else None)
    secrets = reports.kept
    service.publish(first, title="Income")
    assert service.send(first, reports).json()["accepted"] == 400
    service.service.aggregator.turn()
    assert service.post(first, "second").json()["code"] == "task-still-open"
    service.post(first, "close")
    service.service.aggregator.turn()
    assert service.get(first, "data").content == first.totals().add(reports).reports().to_bytes()

    sizes = {"max_depth": 2, "n_bins": 2, "n_private": 1, "response": response}
    made = service.post(first, "second", {**sizes, "opens": 1000, "closes": 2000})
    assert made.status_code == 201 and made.json()["title"] == "Income"
    second = CellTask.from_json(
        json.dumps({**json.loads(made.json()["task_text"]), "id": made.headers["location"][-64:]})
    )
    answers = second.privatize(X, kept=secrets)
    assert service.send(second, answers).json() == {"accepted": 400, "duplicates": 0, "failures": []}
    assert service.send(second, answers).json() == {"accepted": 0, "duplicates": 400, "failures": []}
    expected = second.totals().add(answers)
    assert service.get(second, "model").text == expected.model().to_json()
    service.service.aggregator.turn()
    assert service.get(second, "model").text == expected.model().to_json()
    assert len(service.get(second, "leaves").json()["leaves"]) == second.n_cells
    assert ids_in(service.service.database) == 1200  # the first round's stay until the second has ended
    service.post(second, "close")
    service.clock.now += service.service.settings.remember_seconds
    service.service.aggregator.turn()
    service.service.aggregator.turn()
    assert ids_in(service.service.database) == 0


def test_the_second_round_is_checked_against_the_first(inside):
    first, service = semi("policy"), inside()
    X = np.random.default_rng(0).random((50, 2))
    reports = first.privatize(X, X[:, 0])
    service.publish(first)
    service.send(first, reports)
    secrets = reports.kept
    second = CellTask.design(reports, n_private=1, n_bins=2, max_depth=1)
    unknown = semi().privatize(X, X[:, 0], private=X > 0.5)
    assert service.client.post(
        "/v1/tasks",
        json={"task": CellTask.design(unknown, n_private=1).to_dict(), "purpose": "To test", "curator": "Town"},
        headers={"Authorization": "Bearer curator-token-of-these-tests"},
    ).json()["code"] == "first-round-unknown"  # fmt: skip
    service.publish(second)
    answers = second.privatize(X, kept=secrets)
    payloads, tokens, levels = answers.payloads.copy(), answers.tokens.copy(), answers.levels
    many = np.flatnonzero(answers.sizes() > 1)
    assert len(many) >= 2
    moved = levels[many[0]] + (1 if levels[many[0]] < 1 else -1) + first.label.coarse.reach
    payloads[many[0], :4] = np.array([moved], dtype="<u4").view(np.uint8)
    tokens[many[1]] ^= np.uint8(1)
    forged = CellReports(second, tokens, payloads)
    receipt = service.send(second, forged).json()
    expected = sorted([(int(many[0]), "label-changed"), (int(many[1]), "first-round-missing")])
    assert receipt["accepted"] == 48 and failures(receipt) == expected
    # The honest report of the same holder is still welcome.
    assert service.send(second, answers).json()["accepted"] == 2
    assert service.get(second, "model").text == second.totals().add(answers).model().to_json()


def test_the_detector_sees_bulk_forgeries_and_not_honest_reports(inside, local_task, holders):
    service, task = inside(), local_task(max_depth=4)
    service.publish(task)
    service.send(task, holders(task, 3000))
    service.service.aggregator.turn()
    assert service.status(task)["manipulation"]["alarms"] == []
    full = np.full((60, task.encoding.width), 255, dtype=np.uint8)
    tokens = np.frombuffer(np.random.default_rng(5).bytes(60 * 12), dtype=np.uint8).reshape(60, 12)
    assert service.send(task, Reports(task, tokens, full)).json()["accepted"] == 60
    service.service.aggregator.turn()
    alarms = service.status(task)["manipulation"]["alarms"]
    assert alarms and "set bits" in alarms[0]["event"] and alarms[0]["seen"] >= 60 > alarms[0]["expected"]
