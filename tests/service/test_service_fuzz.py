"""Anything may be sent: no 500, no crash, no change of state by a refused request."""

import json
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hedgerow.service.kinds import Kind
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate
from hedgerow.tasks.tree.task import LocalTask

CURATOR = {"Authorization": "Bearer curator-token-of-these-tests"}
RELAXED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def make(response):
    return LocalTask.design(
        epsilon=2.0,
        label_bounds=(0, 1),
        features=2,
        feature_bounds=(0, 1),
        max_depth=2,
        response=response,
        cell_share=0.5,
    )


TASKS = {response: make(response) for response in ("bits", "unary", "k_ary", "subset")}
HEADER = struct.Struct("<4sHBB32sQ")


@st.composite
def bodies(draw, task):
    """A valid batch, then damage: bytes changed, cut, added; or a header of our own; or anything."""
    n = draw(st.integers(0, 6))
    rows = privatize_many(task, np.full((n, 2), 0.5), np.zeros(n), randomness=draw(st.integers(0, 5)))
    body = bytearray(Reports(task, rows.tokens, rows.payloads).to_bytes())
    for _ in range(draw(st.integers(0, 3))):
        way = draw(st.sampled_from(["flip", "cut", "add", "header", "payload"]))
        at = draw(st.integers(0, max(0, len(body) - 1)))
        if way == "flip" and body:
            body[at] ^= draw(st.integers(1, 255))
        elif way == "cut":
            del body[at:]
        elif way == "add":
            body += draw(st.binary(max_size=40))
        elif way == "header" and len(body) >= HEADER.size:
            code = draw(st.integers(0, 255))
            body[: HEADER.size] = HEADER.pack(b"HDGR", 1, code, 0, task.digest, draw(st.integers(0, 1 << 63)))
        elif way == "payload" and len(body) > HEADER.size + 12 * n:
            body[HEADER.size + 12 * n :] = draw(st.binary(min_size=1, max_size=64))
    return bytes(body)


@pytest.mark.parametrize("response", list(TASKS))
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_the_service_reads_exactly_what_the_library_reads(response, data):
    task = TASKS[response]
    kind, body = Kind(task), data.draw(bodies(task))
    try:
        theirs = Reports.from_bytes(task, body)
    except ValueError:
        theirs = None
    try:
        ours = kind.read(body)
    except ValueError:
        assert theirs is None
        return
    # A frame that holds; rows that the library refuses are the ones that are set aside.
    assert (theirs is None) == bool(ours.invalid)
    if theirs is not None:
        assert [t.tobytes() for t in theirs.tokens] == [t.tobytes() for t in ours.tokens]
        assert theirs.payloads.tobytes() == ours.payloads.tobytes()
        assert ours.simulation == theirs.simulation
    for i in range(len(ours)):
        one = Reports(task, np.zeros((1, 12), np.uint8), ours.payloads[i : i + 1])
        try:
            Reports.from_bytes(task, one.to_bytes())
            assert i not in ours.invalid
        except ValueError:
            assert i in ours.invalid


@pytest.fixture
def collecting(inside):
    service = inside()
    for task in TASKS.values():
        service.publish(task)
    return service


def counts(service):
    with service.service.database.read() as connection:
        tables = ("tasks", "uploads", "arrivals", "partials", "segments", "upload_tokens", "settings")
        return {t: connection.exec_driver_sql(f"SELECT count(*) FROM {t}").scalar() for t in tables}


@settings(max_examples=120, deadline=None, suppress_health_check=RELAXED)
@given(data=st.data())
def test_uploads_of_anything_count_exactly_what_is_acknowledged(collecting, data):
    task = TASKS[data.draw(st.sampled_from(list(TASKS)))]
    body = data.draw(bodies(task) | st.binary(max_size=200))
    before, had = collecting.service.total(collecting.service.collection(task.id)), counts(collecting)
    answer = collecting.send(task, body)
    after = collecting.service.total(collecting.service.collection(task.id))
    if answer.status_code != 200:
        assert answer.status_code in (400, 413), answer.text
        assert (after.to_bytes(), counts(collecting)) == (before.to_bytes(), had)
        return
    receipt = answer.json()
    assert after.n_reports == before.n_reports + receipt["accepted"]
    indices = [f["index"] for f in receipt["failures"]]
    assert indices == sorted(set(indices))
    (n,) = struct.unpack_from("<Q", body, 40)
    assert receipt["accepted"] + receipt["duplicates"] + len(indices) == n
    again = collecting.send(task, body).json()
    assert again["accepted"] == 0 and again["duplicates"] == receipt["accepted"] + receipt["duplicates"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=RELAXED)
@given(data=st.data())
def test_tasks_of_anything_are_refused_without_a_trace(collecting, data):
    content = TASKS["unary"].to_dict()
    content.pop("id")
    name = data.draw(st.sampled_from([*content, "new"]))
    content[name] = data.draw(json_values)
    had = counts(collecting)
    body = json.dumps({"task": content})
    answer = collecting.client.post("/v1/tasks", content=body, headers=CURATOR)
    assert answer.status_code in (200, 201, 400, 409), answer.text
    if answer.status_code >= 400:
        assert counts(collecting) == had
    else:
        LocalTask.from_json(
            json.dumps({**json.loads(answer.json()["task_text"]), "id": answer.headers["location"][-64:]})
        )


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=300), cut=st.integers(0, 400))
def test_sums_of_anything_are_refused(data, cut):
    task = TASKS["unary"]
    good = Aggregate(task).to_bytes()
    for body in (data, good[:cut], good + data):
        if body != good:
            with pytest.raises(ValueError):  # noqa: PT011
                Aggregate.from_bytes(task, body)


def _check(operation, task_id, seen):
    """Send what the description allows, and what it does not, with and without a curator's token."""
    from schemathesis.specs.openapi import checks

    names = ("status_code_conformance", "content_type_conformance", "response_schema_conformance")
    conformance = [getattr(checks, name) for name in (*names, "response_headers_conformance")]
    phases = [Phase.explicit, Phase.generate]
    quiet = list(HealthCheck)
    # Closing may change things, so it only ever gets ids of no task.
    here = "{id}" in operation.path and not operation.path.endswith("/close")

    @settings(max_examples=8, deadline=None, phases=phases, suppress_health_check=quiet, database=None)
    @given(case=operation.as_strategy(), known=st.booleans(), headers=st.sampled_from([{}, CURATOR]))
    def check(case, known, headers):
        if here and known:
            case.path_parameters["id"] = task_id
        case.headers = {**(case.headers or {}), **headers}
        answer = case.call()
        assert answer.status_code < 500, answer.text
        case.validate_response(answer, checks=conformance)
        seen.add((operation.label, answer.status_code))

    check()


def test_the_description_is_kept(outside, local_task, holders):
    """schemathesis: what the OpenAPI description says is what happens, whatever is sent."""
    schemathesis = pytest.importorskip("schemathesis")
    server, task = outside(), local_task()
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", "opens": 0, "closes": 1 << 37}
    server.client.post("/v1/tasks", json=body, headers=CURATOR)
    media = {"Content-Type": "application/vnd.hedgerow.reports+bin; version=1"}
    url = f"/v1/tasks/{task.id}"
    server.client.post(url + "/reports", content=holders(task, 50).to_bytes(), headers=media)
    before = server.client.get(url + "/model", headers=CURATOR).text

    @schemathesis.serializer("application/vnd.hedgerow.reports+bin", "application/vnd.hedgerow.peer+bin")
    def binary(ctx, value):
        return value if isinstance(value, bytes) else getattr(value, "data", None) or str(value).encode()

    schema = schemathesis.openapi.from_url(server.address + "/openapi.json")
    seen = set()
    for result in schema.get_all_operations():
        _check(result.ok(), task.id, seen)
    assert {label for label, _ in seen} == {r.ok().label for r in schema.get_all_operations()}
    assert len(seen) > 20
    assert server.client.get(url + "/model", headers=CURATOR).text == before
    assert server.process.poll() is None
