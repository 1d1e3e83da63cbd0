"""Invitations are exchanged for passes that do not say whose they are; each is good for one report."""

import hashlib
import math

import pytest

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")

from hedgerow.blind import Blinding, PublicKey, Signer
from hedgerow.service import scrub
from hedgerow.service.sealing import move_piece
from hedgerow.tasks.announcement import Announcement
from hedgerow.tasks.passes import blinded_of, message_of, pass_of


class Guest:
    """A holder who makes a pass of an invitation."""

    def __init__(self, service, task, invitation):
        self.service, self.task, self.invitation = service, task, invitation
        self.key = Announcement.from_json(service.client.get(f"/v1/tasks/{task.id}").text).verify().pass_key
        self.kept = PublicKey.from_bytes(self.key).draw()

    def exchange(self, blinded=None):
        shown = blinded_of(self.key, self.task.id, self.kept) if blinded is None else blinded
        headers = {"Authorization": f"Bearer {self.invitation}", "Content-Type": "application/octet-stream"}
        return self.service.client.post(f"/v1/tasks/{self.task.id}/passes", content=shown, headers=headers)

    def made(self):
        return pass_of(self.key, self.task.id, self.kept, self.exchange().content)


@pytest.fixture
def invited(inside, local_task):
    """A service with a task by invitation; makes guests."""
    service, task = inside(), local_task()
    service.publish(task, passes=True)

    def guest(invitation=None, quota=1):
        made = service.post(task, "tokens", {"quota": quota}).json()["tokens"][0]
        return Guest(service, task, invitation or made)

    return service, task, guest


def upload(service, task, reports, token):
    return service.send(task, reports, Authorization=f"Bearer {token}").json()


def test_a_pass_brings_one_report(invited, holders):
    service, task, guest = invited
    made = guest().made()
    one, other = holders(task, 1, seed=1), holders(task, 1, seed=2)
    assert upload(service, task, one, made)["accepted"] == 1
    assert upload(service, task, one, made)["duplicates"] == 1
    assert upload(service, task, other, made)["code"] == "token-spent"
    assert upload(service, task, holders(task, 2, seed=3), guest().made())["code"] == "token-spent"


def test_an_invitation_is_exchanged_once_and_its_answer_given_again(invited):
    _, _, guest = invited
    one = guest()
    signed = one.exchange()
    assert signed.status_code == 200
    assert one.exchange().content == signed.content
    another = Guest(one.service, one.task, one.invitation)
    assert another.exchange().json()["code"] == "token-spent"


def test_an_invitation_for_several(invited):
    _, _, guest = invited
    one = guest(quota=2)
    others = [Guest(one.service, one.task, one.invitation) for _ in range(2)]
    assert [each.exchange().status_code for each in (one, *others)] == [200, 200, 403]


def test_an_invitation_is_no_pass_and_a_pass_no_invitation(invited, holders):
    service, task, guest = invited
    one = guest()
    assert upload(service, task, holders(task, 1), one.invitation)["code"] == "token-unknown"
    assert guest(invitation=one.made()).exchange().json()["code"] == "token-unknown"


@pytest.mark.parametrize("spoil", ["cut", "changed", "prefix", "other task", "text"])
def test_forged_passes_are_refused(invited, holders, local_task, spoil):
    service, task, guest = invited
    made = guest().made()
    if spoil == "other task":
        other = local_task("another")
        service.publish(other, passes=True)
        invitation = service.post(other, "tokens").json()["tokens"][0]
        made = Guest(service, other, invitation).made()
    changed = "A" if made[100] != "A" else "B"
    forged = {
        "cut": made[:-4],
        "changed": made[:100] + changed + made[101:],
        "prefix": "hu_" + made[3:],
        "other task": made,
        "text": "hp_",
    }[spoil]
    assert upload(service, task, holders(task, 1), forged)["code"] == "token-unknown"


@pytest.mark.parametrize("size", [0, 255, 257])
def test_what_is_no_blinded_message_costs_no_invitation(invited, size):
    _, _, guest = invited
    one = guest()
    assert one.exchange(bytes(size)).status_code in (400, 413)
    assert one.exchange(b"\xff" * 256).status_code == 400
    assert one.exchange().status_code == 200


@pytest.mark.parametrize("what", ["another token", "a forged pass"])
def test_wrong_passes_are_counted_and_answered_late(invited, holders, monkeypatch, what):
    service, task, guest = invited
    one = guest()
    made = one.made()
    forged = made[:-4] + ("AAAA" if not made.endswith("AAAA") else "BBBB")
    guesses = service.service.guesses
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    monkeypatch.setattr("hedgerow.service.guesses.asyncio.sleep", sleep)
    guesses.seconds = 7.0
    before = guesses.count
    wrong = one.invitation if what == "another token" else forged
    assert upload(service, task, holders(task, 1), wrong)["code"] == "token-unknown"
    assert (guesses.count, waited) == (before + 1, [7.0])
    monkeypatch.setattr("hedgerow.service.guesses._AT_ONCE", 0)
    assert upload(service, task, holders(task, 1), wrong)["code"] == "too-many-attempts"
    assert upload(service, task, holders(task, 1), made)["accepted"] == 1  # a right one is not made to wait
    assert (guesses.count, waited) == (before + 2, [7.0])


def test_wrong_invitations_are_counted(invited):
    service, _, guest = invited
    before = service.service.guesses.count
    assert guest(invitation="hu_guessed").exchange().json()["code"] == "token-unknown"
    assert service.service.guesses.count == before + 1


def test_nothing_that_the_service_keeps_joins_a_pass_to_an_invitation(invited, holders):
    """With the whole database, and its own private key, the service finds every pair of them equally possible."""
    service, task, guest = invited
    guests = [guest() for _ in range(3)]
    passes = [each.made() for each in guests]
    for i, made in enumerate(passes):
        assert upload(service, task, holders(task, 1, seed=i), made)["accepted"] == 1
    with service.service.database.read() as connection:
        signer = Signer.of(connection.exec_driver_sql("SELECT key FROM pass_keys").scalar())
        rows = connection.exec_driver_sql("SELECT invitation, blinded FROM exchanges").all()
    n = signer.public.n
    shown = [blinded_of(each.key, task.id, each.kept) for each in guests]
    assert {bytes(row[1]) for row in rows} == {hashlib.sha256(each).digest() for each in shown}
    for each in guests:
        signature = PublicKey.from_bytes(each.key).finalize(message_of(task.id), each.kept, each.exchange().content)
        for seen in shown:  # some factor makes this pass of that exchange
            factor = int.from_bytes(signer.sign(seen), "big") * pow(int.from_bytes(signature, "big"), -1, n) % n
            assert math.gcd(factor, n) == 1
            again = Blinding(each.kept.prefix, each.kept.salt, factor)
            assert blinded_of(each.key, task.id, again) == seen


def test_used_passes_stay_used_when_ids_are_sealed(invited, holders, monkeypatch):
    service, task, guest = invited
    monkeypatch.setattr(scrub, "SEALED", 1)
    made = guest().made()
    assert upload(service, task, holders(task, 1, seed=1), made)["accepted"] == 1
    database = service.service.database
    with database.write_uploads() as connection:
        scrub.scrub(database, connection)
    with database.write_uploads() as connection:
        assert move_piece(connection) and not move_piece(connection)
    assert upload(service, task, holders(task, 1, seed=2), made)["code"] == "token-spent"


def test_a_task_published_again_has_the_same_key(invited):
    service, task, _ = invited
    first = service.client.get(f"/v1/tasks/{task.id}").text
    body = {"task": task.to_dict(), "opens": 1000, "closes": 2000, "purpose": "To test", "curator": "Town"}
    headers = {"Authorization": "Bearer curator-token-of-these-tests"}
    again = service.client.post("/v1/tasks", json={**body, "passes": True}, headers=headers)
    assert (again.status_code, again.text) == (200, first)
    other = service.client.post("/v1/tasks", json=body, headers=headers)
    assert other.json()["code"] == "task-exists"


def test_closed_and_other_tasks_give_no_pass(inside, local_task, invited):
    service, task, guest = invited
    one = guest()
    service.post(task, "close")
    assert one.exchange().json()["code"] == "task-closed"
    plain = local_task("plain")
    service.publish(plain, tokens=True)
    invitation = service.post(plain, "tokens").json()["tokens"][0]
    answer = service.client.post(
        f"/v1/tasks/{plain.id}/passes", content=b"", headers={"Authorization": f"Bearer {invitation}"}
    )
    assert answer.json()["code"] == "not-available"


def test_deleting_a_task_deletes_its_key_and_exchanges(invited):
    service, task, guest = invited
    guest().exchange()
    service.post(task, "close")
    service.client.delete(f"/v1/tasks/{task.id}", headers={"Authorization": "Bearer curator-token-of-these-tests"})
    with service.service.database.read() as connection:
        for table in ("pass_keys", "exchanges", "upload_tokens"):
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == 0


@pytest.mark.parametrize("tokens", [True, False])
def test_a_task_without_passes_says_so_and_not_that_a_message_is_too_long(inside, local_task, tokens):
    service, task = inside(), local_task()
    service.publish(task, tokens=tokens)
    headers = {"Authorization": "Bearer hu_x"}
    answer = service.client.post(f"/v1/tasks/{task.id}/passes", content=bytes(256), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-available")


def test_nothing_is_read_or_signed_for_who_was_not_invited(inside, local_task, monkeypatch):
    """A signature takes milliseconds of Python's lock, and anybody may ask for one."""
    from hedgerow.service import routes

    service, task = inside(), local_task()
    service.publish(task, tokens=True, passes=True)
    asked = []
    monkeypatch.setattr(routes, "exchange", lambda *given: asked.append(given))
    monkeypatch.setattr(service.service.bodies, "receive", lambda *given: asked.append(given))
    before = service.service.guesses.count
    answer = service.client.post(
        f"/v1/tasks/{task.id}/passes", content=bytes(256), headers={"Authorization": "Bearer hu_x"}
    )
    assert (answer.status_code, answer.json()["code"], asked) == (403, "token-unknown", [])
    assert service.service.guesses.count == before + 1
    service.service._flush()
    assert service.status(task)["refused"] == {"token-unknown": 1}
