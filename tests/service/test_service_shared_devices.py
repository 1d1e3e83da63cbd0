"""Devices and two servers: what is checked before anything is drawn, and what a curator gets in the end."""

import json
from dataclasses import replace

import pytest

pytest.importorskip("starlette")
pytest.importorskip("pyhpke")

from hedgerow.collector import collect, generate_key, load_key, servers_of
from hedgerow.curator import Server
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.holder import Holder
from hedgerow.tasks.sums.examples import example_task
from tests.service.shared import COLLECTOR, ORIGINS, Pair
from tests.service.test_service_shared import TOKEN, published


@pytest.fixture
def pair(inside, tmp_path):
    return Pair(inside, {role: f"sqlite:///{tmp_path}/{role}.db" for role in ("leader", "helper")})


def device(pair, folder, number=0):
    return Holder(folder / f"device{number}", client=pair.wire, clock=lambda: 1500)


def test_devices_answer_and_the_collector_gets_a_model(pair, tmp_path, monkeypatch):
    task = published(pair)
    pair.leader.clock.now = 1500
    for i in range(6):
        holder = device(pair, tmp_path, i)
        invitation = holder.fetch(f"{ORIGINS['leader']}/join/{task.id}")
        assert "Town and Club would have to conspire" in invitation.describe()
        assert holder.send(holder.answer(invitation, {"x": i / 6, "y": 0.5})).accepted
    monkeypatch.setattr("hedgerow.curator.Client", lambda **_: pair.wire)
    notice, totals = collect(Server(ORIGINS["leader"], TOKEN), task.id, COLLECTOR)
    assert totals.n_reports == 6 and len(totals.sums) == task.length
    assert notice.task.model(totals).predict([[0.5]]).shape == (1,)
    with pytest.raises(HedgerowError, match="not the collector's key"):
        collect(Server(ORIGINS["leader"], TOKEN), task.id, generate_key(tmp_path / "other.key"))
    assert load_key(tmp_path / "other.key").public != COLLECTOR.public


def test_a_device_refuses_a_helper_that_does_not_know_of_it(pair, tmp_path):
    task = published(pair)
    link = f"{ORIGINS['leader']}/join/{task.id}"
    once = pair.wire._once

    def lying(request):
        body = once(request)
        if request.full_url.endswith("/v1/operator"):
            content = json.loads(body)
            content["operator"]["operator"] = "Somebody else"
            return json.dumps(content).encode()
        if request.full_url.endswith("/witnesses") and swapped:
            content = json.loads(body)
            return json.dumps({"leader": content["helper"], "helper": content["leader"]}).encode()
        return body

    pair.wire._once = lying
    swapped = []
    with pytest.raises(FormatError, match="another helper"):
        device(pair, tmp_path).fetch(link)
    swapped = ["yes"]
    with pytest.raises(FormatError, match="has not countersigned"):
        device(pair, tmp_path).fetch(link)


def test_a_device_sends_to_the_leader_only(pair, tmp_path):
    task = published(pair)
    with pytest.raises(FormatError, match="is answered at"):
        device(pair, tmp_path).fetch(f"{ORIGINS['helper']}/join/{task.id}")


def test_servers_that_do_not_know_each_other_are_told_apart(pair):
    with pytest.raises(HedgerowError, match="do not know each other"):
        servers_of(ORIGINS["leader"], ORIGINS["leader"], COLLECTOR, pair.wire)
    swapped = servers_of(ORIGINS["helper"], ORIGINS["leader"], COLLECTOR, pair.wire)
    assert swapped.leader.operator == "Club" and swapped.verify_key_digest != pair.servers.verify_key_digest


def test_both_servers_of_one_operator_are_called_a_demonstration(pair):
    here = replace(pair.servers.helper, origin="https://town.example:8443")
    task = example_task(1.0, replace(pair.servers, helper=here), 5)
    from hedgerow.holder.texts import Texts
    from hedgerow.holder.words import _servers

    assert "demonstration" in " ".join(_servers(task, Texts("en"))) and task.protocol.servers.one_machine
