"""A task in plain words, and the command line that shows them."""

import json
import math
from fractions import Fraction

import pytest

from hedgerow.cli import main
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.grid import LabelGrid
from hedgerow.holder.words import _factor, belief, describe
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.mechanisms.words import percent
from hedgerow.partition import grow
from hedgerow.samplers import exp_at_least
from hedgerow.space import FeatureSpace
from hedgerow.tasks.keys import fingerprint
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.partly_public import SemiTask
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.tree.task import LocalTask
from hedgerow.tasks.words import plain
from vectors.assisted import make_task
from vectors.pilot import make_pilot
from vectors.tasks import cases

pytest.importorskip("cryptography")

SPACE = FeatureSpace((NumericFeature("age", 0, 99), CategoricalFeature("home", ("flat", "house"))))


def local_task(epsilon=1.0, **options):
    partition = grow("max_edge", SPACE, None, None, max_depth=2)
    return LocalTask(epsilon, LabelGrid(0.0, 80.0, 16), partition, target="hours", **options)


def words(stub, task, **changes):
    stub.announce(task, **changes)
    return describe(stub.notices[task.id])


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 0.5, 1.0, 2.0, 5.0, 9.21, 16.0, 30.0])
def test_claims_are_never_rounded_down(epsilon):
    shown = Fraction(repr(belief(epsilon)))
    # shown >= e^eps / (1 + e^eps), or: e^eps <= shown / (1 - shown); in exact arithmetic
    assert shown == 1 or not exp_at_least(shown / (1 - shown), Fraction(epsilon))
    assert not exp_at_least(Fraction(_factor(epsilon)), Fraction(epsilon))
    assert float(_factor(epsilon)) < 1.02 * math.exp(epsilon)


def test_the_key_of_invitations_is_named_so_that_people_can_compare_it(stub):
    """A key for one person alone would tell which report is theirs."""
    keys = [b"\xff" * 255 + bytes([last]) for last in (1, 3)]
    said = [words(stub, local_task(), pass_key=key) for key in keys]
    for text, key in zip(said, keys, strict=True):
        assert f"exchanged under the key {fingerprint(key)}" in text
    assert said[0] != said[1] and "exchanged" not in words(stub, local_task())


def test_everything_a_person_should_know_is_there(stub):
    text = words(stub, local_task(), title="Hours", opens=1_700_000_000, closes=1_800_000_000)
    for part in (
        "Hours, asked by Town",
        "What for: Plan buses",
        "age: a number from 0 to 99",
        "home: one of flat, house",
        "hours: a number from 0 to 80",
        "each bit is told truly with probability 56.2 %",
        "epsilon = 1",
        "at most 73.2 % sure",
        "2.72 times",
        "14 November 2023, 22:13 UTC until before 15 January 2027, 08:00 UTC",
        "network address",
        "one report a person",
        stub.notices[local_task().id].fingerprint,
    ):
        assert part in text, part


def test_the_odds_are_those_of_the_mechanism():
    bits = local_task(2.0)
    assert percent(float(bits.encoding.cell.p)) in " ".join(bits.odds())
    for response in ("unary", "k_ary", "subset"):
        task = local_task(2.0, response=response)
        m = task.encoding.mechanism
        chance = m.q if response == "unary" else m.p
        assert percent(float(chance)) in " ".join(task.odds()) and "68 pairs" in " ".join(task.odds())


@pytest.mark.parametrize(("randomizer", "parameter"), [("subset", 3), ("levels", 5)])
def test_the_odds_of_a_task_with_a_public_model(stub, randomizer, parameter):
    task = make_task(2.0, (6, 5), randomizer, parameter, "t", 9.0, 0)
    text = words(stub, task)
    p = [float(j.response.p) if randomizer == "levels" else j.hold / 2**64 for j in task.encoding.joint]
    assert p[0] < p[1] and f"with probability {percent(p[0])} to {percent(p[1])}" in text
    assert "one of 2 trees" in text and "5 to 6 groups" in text and "public model" in text
    assert "rent: a number from -20 to 60" in text and "about your whole record, little" in text
    if randomizer == "subset":
        turned = [float(j._own[1]) for j in task.encoding.joint]
        assert "3 groups are named" in text and f"{percent(min(turned))} to {percent(max(turned))}" in text


@pytest.mark.parametrize(
    ("edges", "others"), [((0.0,), "the other one"), ((-11.25, -4.0, 4.0, 11.25), "any of the other 4")]
)
def test_the_odds_of_a_pilot(stub, edges, others):
    task = make_pilot(2.0, edges, "t", 0)
    text = words(stub, task)
    truth = percent(float(task.encoding.response.p))
    assert f"in one of {len(edges) + 1} bins" in text and f"yours with probability {truth}, else {others}" in text
    assert "public model" in text and "rent: a number from -20 to 60" in text and "tree" not in text
    assert "about your whole record, little" in text and "asked nothing else" in text
    assert join(stub.announce(task), "--show") == 0


@pytest.mark.parametrize("case", list(cases())[::3], ids=lambda c: c.name)
def test_every_task_can_be_told(stub, case):
    text = words(stub, case.task)
    assert "What leaves this device" in text and "\x1b" not in text


def test_a_delta_is_told_as_what_it_is(stub):
    text = words(stub, LabelTask(LabelGrid(0.0, 80.0, 8), GaussianNoise(1.0, 8, 1e-5)))
    assert "2.72 times as probable" in text and "plus 1e-05" in text and "sure" not in text


def test_an_infinite_epsilon_is_told_as_what_it_is(stub):
    assert "holds the truth" in words(stub, local_task(math.inf))


def test_choices_that_are_sent_in_clear_are_told(stub):
    text = words(stub, SemiTask.design(SPACE, epsilon=1.5, label_bounds=(0, 80)))
    assert (
        "what you marked" in text
        and "age: a number from 0 to 99, for example 33 (sent in clear unless you mark it" in text
    )
    text = words(stub, SemiTask.design(SPACE, epsilon=1.5, label_bounds=(0, 80), private_columns=["age"]))
    assert "home: one of flat, house (sent in clear)" in text and "age: a number from 0 to 99, for example 33\n" in text
    assert "sent in clear)" not in words(stub, SemiTask.design(SPACE, epsilon=1, label_bounds=(0, 80), hide_mask=True))
    assert "record (sent in clear)" in words(stub, LabelTask(LabelGrid(0.0, 8.0, 8), LaplaceNoise(1.0, 8)))
    assert "(sent in clear" not in words(stub, local_task())


def test_a_curators_words_play_no_tricks(stub):
    text = words(stub, local_task(), title="a\x1b[2J\nWhat it costs: nothing", purpose="\u202eevil")
    assert "\x1b" not in text and "\u202e" not in text and "\nWhat it costs: nothing" not in text
    assert plain("é ☂") == "é ☂"


def join(*arguments):
    return main(["join", *map(str, arguments)])


@pytest.fixture
def url(stub):
    return stub.announce(local_task())


ME = ("age=41", "home=flat", "hours=12.5")


def test_show_sends_nothing(url, stub, tmp_path, capsys):
    assert join(url, "--show", "--home", tmp_path) == 0
    assert "asked by Town" in capsys.readouterr().out
    assert join(url, *ME, "--show", "--home", tmp_path) == 0
    assert "bytes that would leave" in capsys.readouterr().out and not stub.posts


def test_consent_is_asked_for(url, stub, tmp_path, capsys, monkeypatch):
    assert join(url, *ME, "--home", tmp_path) == 2  # nobody there to ask
    assert "nobody is there to ask" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: "n")
    assert join(url, *ME, "--home", tmp_path) == 1 and not stub.posts
    assert "nothing was spent" in capsys.readouterr().out
    monkeypatch.setattr("builtins.input", lambda _: "y")
    assert join(url, *ME, "--home", tmp_path) == 0 and len(stub.posts) == 1
    assert "answered before" in capsys.readouterr().out  # drawn when it was declined


def test_a_record_from_a_file(url, stub, tmp_path, capsys):
    file = tmp_path / "me.json"
    file.write_text(json.dumps({"age": 41, "home": "flat", "hours": 12.5}))
    assert join(url, "--yes", "--json", "--home", tmp_path / "home", "--record", file, "age=42") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["accepted"] and summary["body"] == stub.bodies[0].hex()
    assert len(Reports.from_bytes(local_task(), stub.bodies[0])) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "a record is needed"),
        (("age",), "not NAME=VALUE"),
        ((*ME, "--private", "age"), "--private is for tasks in which holders choose"),
        (("--record", "/nowhere.json"), "No such file"),
        ((*ME, "--key", "A" * 43), "trusted key"),
    ],
)
def test_mistakes_are_told_and_cost_nothing(url, stub, tmp_path, capsys, arguments, message):
    assert join(url, *arguments, "--yes", "--home", tmp_path) == 2
    assert message in capsys.readouterr().err and not stub.posts


@pytest.mark.parametrize(
    "arguments",
    [
        (*ME, "wage=3"),
        ("age=41", "home=flat"),
        ("age=41", "home=tent", "hours=3"),
        ("age=old", "home=flat", "hours="),
        ("--record", "empty.json"),
        ("--record", "odd.json"),
    ],
)
def test_whatever_is_in_a_record_it_is_sent(url, stub, tmp_path, monkeypatch, arguments):
    """A field too many or too few, or a value that is none, must not make a device silent."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.json").write_text("{}")
    (tmp_path / "odd.json").write_text('{"age": [NaN], "home": {}, "hours": ' + "9" * 5000 + ', "more": null}')
    assert join(url, *arguments, "--yes", "--home", tmp_path) == 0
    assert join(url, *ME, "--yes", "--home", tmp_path / "other") == 0
    assert len({len(body) for body in stub.bodies}) == 1 and len(stub.bodies) == 2


def test_fields_that_the_task_does_not_ask_for_are_named_and_left_out(url, stub, tmp_path, capsys):
    assert join(url, *ME, "wage=3", "--yes", "--home", tmp_path) == 0
    assert "does not ask for ['wage']; left out" in capsys.readouterr().err


def test_a_token_in_the_link(stub, tmp_path, capsys):
    url = stub.announce(local_task(), tokens=True)
    assert join(url, *ME, "--yes", "--home", tmp_path) == 2
    assert "token" in capsys.readouterr().err
    assert join(url + "#token=abc", *ME, "--yes", "--home", tmp_path) == 0
    assert stub.posts[0][2]["Authorization"] == "Bearer abc" and "abc" not in stub.posts[0][1]


def test_personal_masks(stub, tmp_path):
    from hedgerow.tasks.partly_public import FirstReports

    task = SemiTask.design(SPACE, epsilon=1.5, label_bounds=(0, 80), target="hours")
    assert join(stub.announce(task), *ME, "--private", "home", "--yes", "--home", tmp_path) == 0
    assert FirstReports.from_bytes(task, stub.bodies[0]).private.tolist() == [[False, True]]


def test_resend(url, stub, tmp_path, capsys):
    from hedgerow.holder import Client, Holder, ServiceError

    holder = Holder(tmp_path, client=Client(attempts=1))
    answer = holder.answer(holder.fetch(url), {"age": 41, "home": "flat", "hours": 3})
    stub.instead = [(503, {}, {})]
    with pytest.raises(ServiceError):
        holder.send(answer)
    stub.instead = [(410, {"code": "task-ended"}, {})]
    assert join("--resend", "--home", tmp_path) == 1
    assert "410" in (said := capsys.readouterr().out)
    assert "The report is kept, and sent again with --resend." in said
    assert join("--resend", "--home", tmp_path) == 0
    assert "Thank you" in capsys.readouterr().out and stub.bodies == [answer.body]
    assert join("--resend", "--home", tmp_path) == 0
    assert "No report is waiting" in capsys.readouterr().out


def test_resend_of_a_link_sends_that_answer_alone(url, stub, tmp_path, capsys):
    from hedgerow.holder import Client, Holder, ServiceError

    holder = Holder(tmp_path, client=Client(attempts=1))
    addresses = [url, url.replace("127.0.0.1", "localhost")]
    for address in addresses:
        answer = holder.answer(holder.fetch(address), {"age": 41, "home": "flat", "hours": 3})
        stub.instead = [(503, {}, {})]
        with pytest.raises(ServiceError):
            holder.send(answer)
    assert join(addresses[1], "--resend", "--json", "--home", tmp_path) == 0
    said = json.loads(capsys.readouterr().out)
    assert [place.startswith("http://localhost") for place in said["results"]] == [True]
    assert len(stub.bodies) == 1 and [base for _, base, _ in holder.store.waiting()] == [url.rsplit("/join", 1)[0]]
    assert join(addresses[1], "--resend", "--home", tmp_path) == 0
    assert "No report is waiting" in capsys.readouterr().out and len(stub.bodies) == 1


@pytest.mark.parametrize(("tag", "warned"), [("xx", True), ("it-CH", True), ("de-AT", False), ("en", False)])
def test_a_language_that_is_not_there_is_told(url, tmp_path, capsys, tag, warned):
    assert join(url, *ME, "--show", "--language", tag, "--home", tmp_path) == 0
    said = capsys.readouterr().err
    assert said.count("\n") == warned
    assert not warned or f"--language '{tag}' is none of en, de, fr" in said


def test_one_question_of_two_curators_waits_at_each(url, stub, tmp_path, capsys):
    """What became of it at one address says nothing of the other: the last one must not stand for both."""
    from hedgerow.holder import Client, Holder, Receipt, ServiceError

    holder = Holder(tmp_path, client=Client(attempts=1))
    addresses = [url, url.replace("127.0.0.1", "localhost")]
    for address in addresses:
        answer = holder.answer(holder.fetch(address), {"age": 41, "home": "flat", "hours": 3})
        stub.instead = [(503, {}, {})]
        with pytest.raises(ServiceError):
            holder.send(answer)
    first, second = [base for _, base, _ in holder.store.waiting()]
    stub.instead = [(503, {}, {})]
    results = holder.resend()
    assert {place.base: type(result) for place, result in results.items()} == {first: ServiceError, second: Receipt}
    holder.store.settle(answer.invitation.notice.id, second, "ready")
    stub.instead = [(410, {"code": "task-ended"}, {})]
    assert join("--resend", "--json", "--home", tmp_path) == 1
    said = json.loads(capsys.readouterr().out)
    (bad, good) = [f"{base}/v1/tasks/{answer.invitation.notice.id}" for base in (first, second)]
    assert sorted(said["results"]) == sorted([bad, good]) and said["waiting"] == [bad]
    assert "410" in said["results"][bad] and "410" not in said["results"][good]


def test_limits_from_the_command_line(url, stub, tmp_path, capsys):
    home = ("--home", tmp_path)
    assert join(url, *ME, "--yes", "--limit", 0.5, *home) == 2
    assert "may learn epsilon = 0.5" in capsys.readouterr().err and not stub.posts
    assert join(url, *ME, "--yes", "--limit", 1, *home) == 2  # it was set; to change it needs a reason
    assert "--reason" in capsys.readouterr().err
    assert join(url, *ME, "--yes", "--limit", 1, "--reason", "I trust them", *home) == 0
    assert "of epsilon = 1" in capsys.readouterr().out
    assert join("--budget", *home) == 0
    shown = capsys.readouterr().out
    assert "epsilon = 1 of epsilon = 1" in shown and "all together: epsilon = 1 of epsilon = 16" in shown
    assert "I trust them" in shown
    assert join("--budget", "--json", *home) == 0
    assert json.loads(capsys.readouterr().out)["micro_epsilon"] == 1_000_000
