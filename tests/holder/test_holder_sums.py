"""The page's answers to a task that two servers share: Python's shares, sealed so that both servers accept them."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest

from hedgerow.randomness import Randomness
from hedgerow.sealing import Role
from hedgerow.tasks.announcement import task_text
from hedgerow.tasks.keys import base64url
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.sums.examples import example_task
from hedgerow.tasks.sums.steps import smooth_part
from tests.aggregate.parties import KEYS, run, servers
from tests.vdaf.reports import drawn

pytest.importorskip("pyhpke")
RECORDS = [{"x": 0.2, "y": 1.0}, {"x": 0.9, "y": 0.1}, {"x": "none", "y": None}, {}, {"x": 0.45, "y": 0.5}]


class Given(Randomness):
    """Bytes from a list, one after the other."""

    simulation = False

    def __init__(self, data):
        super().__init__()
        self.data, self.used = data, 0

    def bytes(self, n):
        self.used += n
        return self.data[self.used - n : self.used]


def task_for(**changes):
    return example_task(1.0, servers(**changes), 7)


def answered(node, task, records):
    cases = [
        {"task": task_text(task), "record": record, "random": drawn(i, "random", 400).hex()}
        for i, record in enumerate(records)
    ]
    return cases, node("holder_sums.mjs", cases)


def test_shares_are_those_of_python_and_both_servers_add_them_up(node):
    task = task_for()
    cases, found = answered(node, task, RECORDS)
    rows = []
    sums = np.zeros(task.length, dtype=int)
    for case, result in zip(cases, found, strict=True):
        assert "error" not in result, result
        source = Given(bytes.fromhex(case["random"]))
        expected = task.privatize_record(case["record"], randomness=source)
        (report,) = Reports.from_bytes(task, bytes.fromhex(result["body"]))
        assert report.id == expected.id and result["used"] == source.used
        assert report.payload[:64] == expected.payload[:64] and len(report.payload) == len(expected.payload)
        rows.append((report.id, report.payload))
        bits = task.set_bits_of(case["record"], randomness=Given(bytes.fromhex(case["random"])))
        sums[bits] += 1
    ours, theirs = run(task.protocol, rows)
    assert ours.batch.n == theirs.batch.n == len(rows) and ours.refused == theirs.refused == ()
    assert task.protocol.prio3.unshard([ours.batch.total, theirs.batch.total]) == sums.tolist()


def test_the_page_says_who_would_have_to_conspire_and_shows_both_parts(node):
    task = task_for()
    _, (found,) = answered(node, task, RECORDS[:1])
    assert "Town and Club would have to conspire" in found["leaves"] and "at least 7 people" in found["leaves"]
    names = [name for name, _ in found["parts"]]
    assert "sealed for Town" in names[-2] and "sealed for Club" in names[-1]
    assert [size for _, size in found["parts"]][-3:] == [64, task.protocol.leader_sealed, task.protocol.helper_sealed]
    assert "https://town.example" in " ".join(found["words"])
    here = replace(servers().helper, origin="https://town.example:8443")
    _, (shown,) = answered(node, task_for(helper=here), RECORDS[:1])
    assert "demonstration" in shown["leaves"] and "conspire" not in shown["leaves"]


def changed(path, value):
    """Return a task whose servers say something else, as text with its own id."""
    content = json.loads(task_text(task_for()))
    place = content["servers"]
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def test_what_python_refuses_of_servers_the_page_refuses(node):
    from hedgerow.errors import HedgerowError
    from hedgerow.tasks.announcement import read_task

    content = json.loads(task_text(task_for()))["servers"]
    texts = [
        *(changed(("helper", name), content["leader"][name]) for name in content["leader"]),
        changed(("collector_key",), content["leader"]["sealing_key"]),
        changed(("collector_key",), "AAAA"),
        changed(("leader", "origin"), "https://town.example/path"),
        changed(("leader", "origin"), "ftp://town.example"),
        changed(("leader", "origin"), "https://Town.example"),
        changed(("leader", "operator"), ""),
        changed(("leader", "operator"), "a\u0000b"),
        changed(("leader", "operator"), "x" * 201),
    ]
    for text in texts:
        with pytest.raises(HedgerowError):
            read_task(text)
    found = node("holder_sums.mjs", [{"task": text, "record": {}, "random": ""} for text in texts])
    assert all("error" in each for each in found), found


BAD = (None, "", "x", True, -1, 0, 1, 1.5, 2, 1e300, -1e300, 2**53, 10**30, [], [0.0], [1, 2], {}, {"a": 1})


NO_BUMPS = base64.b64encode(smooth_part().to_bytes()).decode()

EARLIER = {
    "sizes": [2, 2],
    "reference": "AAAAAQEB",
    "sums": [-3, 4, 0, 9007199254740992, 1, 2, 3, 4],
    "n_reports": 10,
    "radius": 0.5,
    "sent": [0.0, 0.25, -0.25],
    "open": 1.0,
    "left": 0.25,
}
"""What a group before told, of the rows of the example."""


def mutations():
    """Yield the text of the task with one thing changed, and what that was."""
    content = json.loads(task_text(task_for()))
    for name in content:
        yield f"without {name}", {key: value for key, value in content.items() if key != name}
        for value in BAD:
            if (name, value) != ("target", "x"):  # the name of a feature: Python refuses it in the announcement
                yield f"{name} = {value!r}", {**content, name: value}
    yield "another field", {**content, "more": 1}
    for name in ("bound", "trees", "smooth"):
        for value in (*BAD, content["trees"], content["public_model"], content["steps"][0]["smooth"], NO_BUMPS):
            yield f"steps {name} = {value!r}", {**content, "steps": [{**content["steps"][0], name: value}]}
    for name in ("reference", "trees", "public_model"):
        for text in (content[name][:-4], content[name] + "AAAA", "AAAA", content[name].replace("A", "B")):
            yield f"{name} = {text!r}", {**content, name: text}
    yield "group beyond", {**content, "group": 2}
    yield "levels that fit", {**content, "levels": [0.0, 0.5, -0.5, 0.25]}
    yield "levels too many", {**content, "levels": [0.0] * 5}
    yield "no servers", {**content, "servers": None}
    yield "two steps", {**content, "steps": content["steps"] * 2}
    yield "no process", {**content, "process": None}
    process = content["process"]
    for name in process:
        yield f"process without {name}", {**content, "process": {k: v for k, v in process.items() if k != name}}
        for value in (*BAD, 3, 4, 0.5, 1.0, process["points"][:-4], process["points"] + "AAAA", "AACAfwAAgH8AAIB/"):
            yield f"process {name} = {value!r}", {**content, "process": {**process, name: value}}
    told = json.loads(json.dumps(EARLIER))
    yield "a group before", {**content, "earlier": [told]}
    yield "two groups before", {**content, "earlier": [told, told]}
    for name in told:
        yield f"before without {name}", {**content, "earlier": [{k: v for k, v in told.items() if k != name}]}
        for value in (*BAD, 1.0, 0.5, [0, 1], [2, 2], [0.0, 0.5, -1e101], "AAAB", "AAABAQECAAAA"):
            yield f"before {name} = {value!r}", {**content, "earlier": [{**told, name: value}]}


def test_what_python_refuses_of_a_task_the_page_refuses_and_nothing_else(node):
    from hedgerow.errors import HedgerowError
    from hedgerow.tasks.announcement import read_task

    names = []
    texts = []
    for name, content in mutations():
        names.append(name)
        texts.append(json.dumps(content, sort_keys=True, separators=(",", ":")))
    good = []
    for text in texts:
        try:
            read_task(text)
            good.append(True)
        except HedgerowError:
            good.append(False)
    found = node("holder_sums.mjs", [{"task": text, "read": True} for text in texts])
    wrong = [
        (name, accepted, each)
        for name, accepted, each in zip(names, good, found, strict=True)
        if accepted != ("id" in each)
    ]
    assert wrong == [] and sum(good) >= 10 and good.count(False) >= 300


def test_the_page_checks_both_countersignatures(node):
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from hedgerow.tasks.keys import public_bytes

    keys = {role: Ed25519PrivateKey.from_private_bytes(bytes([role]) * 32) for role in (Role.LEADER, Role.HELPER)}
    pinned = servers()
    task = task_for(
        leader=replace(pinned.leader, signing_key=public_bytes(keys[Role.LEADER])),
        helper=replace(pinned.helper, signing_key=public_bytes(keys[Role.HELPER])),
    )
    good = {role.name.lower(): base64url(key.sign(task.protocol.statement(role))) for role, key in keys.items()}
    swapped = {"leader": good["helper"], "helper": good["leader"]}
    cases = [{"task": task_text(task), "witnesses": each} for each in (good, swapped, {"leader": good["leader"]})]
    first, *others = node("holder_sums.mjs", cases)
    assert first == {"sure": True} and all("error" in each for each in others)
    assert KEYS["leader"].public == pinned.leader.sealing_key
