"""From a task to people: the form, the link, the code, the invitation, and what everybody may see."""

import re

import pytest

from hedgerow.tasks.keys import fingerprint, from_base64url

TOKEN = "curator-token-of-these-tests"


@pytest.fixture
def signed_in(inside):
    service = inside()
    service.clock.now = 1_700_000_000.0
    service.client.post("/dashboard/sign-in", data={"token": TOKEN})
    return service


def form(service, task, /, **changes):
    csrf = re.search(r'name="csrf" value="([0-9a-f]{64})"', service.client.get("/dashboard/publish").text)[1]
    words = {"purpose": "Plan <b>buses</b>", "curator": "Town", "closes": "2023-12-31", "title": "Hours"}
    data = {"csrf": csrf, "task": task.to_json(), **words, **changes}
    return service.client.post("/dashboard/publish", data=data, follow_redirects=False)


def test_a_task_is_published_by_the_form_and_shared(signed_in, local_task):
    task = local_task()
    answer = form(signed_in, task)
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"] == f"/dashboard/tasks/{task.id}/share"
    notice = signed_in.client.get(f"/v1/tasks/{task.id}").json()
    assert (notice["closes"], notice["tokens"]) == (1_704_067_200, False)  # the last day is a whole one
    page = signed_in.client.get(answer.headers["location"]).text
    assert f"http://testserver/join/{task.id}" in page
    assert "Plan &lt;b&gt;buses" in page
    assert "Town asks" in page
    code = signed_in.client.get(f"/dashboard/tasks/{task.id}/code.svg")
    assert code.headers["content-type"] == "image/svg+xml"
    assert code.content.startswith(b"<svg")


def test_the_letter_names_the_key_of_invitations(signed_in, local_task):
    task = local_task()
    page = signed_in.client.get(form(signed_in, task, tokens="yes").headers["location"]).text
    key = signed_in.client.get(f"/v1/tasks/{task.id}").json()["pass_key"]
    assert f"The key of invitations is {fingerprint(from_base64url(key, 256, 'key'))}" in page


def test_the_code_is_that_of_the_link():
    segno = pytest.importorskip("segno")
    from hedgerow.service.dashboard.sharing import code_svg

    link = "https://town.example/join/" + "0" * 64
    size = segno.make(link, error="m", micro=False).symbol_size(scale=4, border=4)[0]
    assert f'width="{size}"'.encode() in code_svg(link)
    assert code_svg(link) != code_svg(link + "1")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"task": "{"}, "not a task"),
        ({"task": "[]"}, "not a task"),
        ({"task": '{"format": "hedgerow/none"}'}, "known format"),
        ({"purpose": " "}, "purpose"),
        ({"curator": ""}, "curator"),
        ({"closes": "soon"}, "a date"),
        ({"closes": "2001-01-01"}, "opens"),
        ({"closes": "9999-12-31"}, "10000"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_typed_stays(signed_in, local_task, changes, why):
    answer = form(signed_in, local_task(), **changes)
    assert answer.status_code == 400
    assert why in answer.text
    assert signed_in.client.get("/v1/tasks").json()["tasks"] == []
    typed = {"curator": "Town", **changes}["curator"]
    assert f'name="curator" maxlength="200" required value="{typed}"' in answer.text


def test_a_form_from_elsewhere_publishes_nothing(signed_in, local_task):
    answer = form(signed_in, local_task(), csrf="0" * 64)
    assert answer.status_code == 400
    assert signed_in.client.get("/v1/tasks").json()["tasks"] == []


def test_everybody_sees_open_questions_and_the_key(inside, local_task):
    service = inside()
    service.publish(local_task("Hours"), purpose="Plan <i>buses</i>")
    service.publish(local_task("Later"), opens=1500, closes=1600)
    closed = local_task("Closed")
    service.publish(closed)
    service.post(closed, "close")
    page = service.client.get("/")
    assert page.status_code == 200
    assert "Hours" in page.text
    assert "Plan &lt;i&gt;buses" in page.text
    assert "Later" not in page.text
    assert "Closed" not in page.text
    from hedgerow.tasks.keys import fingerprint, public_bytes

    assert fingerprint(public_bytes(service.service.key)) in page.text
    assert "script" not in page.headers["content-security-policy"].replace("script-src 'self'", "")
