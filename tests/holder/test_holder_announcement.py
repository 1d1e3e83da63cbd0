"""The signed envelope: nothing in it can be changed, and only a real task can be in it."""

import json
import os
import stat

import pytest

from hedgerow.content import canonical
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.tasks.announcement import Announcement, task_text
from hedgerow.tasks.keys import base64url, from_base64url, generate_key, load_key, public_bytes
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.partly_public import SemiTask
from hedgerow.tasks.tree.task import LocalTask
from hedgerow.tasks.tree.tuning import PAPER

ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
KEY = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32))


def local_task(**options):
    return LocalTask.design(
        epsilon=1.0,
        label_bounds=(0, 80),
        features=["age"],
        feature_bounds=(0, 99),
        title="Hours é",
        **{**PAPER, **options},
    )


TASKS = {
    "local": local_task(),
    "label": LabelTask(LabelGrid(0.0, 80.0, 16), LaplaceNoise(1.0, 16)),
    "semi-first": SemiTask.design(["age"], epsilon=2.0, label_bounds=(0, 1), feature_bounds=(0, 1)),
}


def announce(task=TASKS["local"], key=KEY, **changes):
    words = {"title": "Hours ☂", "purpose": "Plan buses", "curator": "Town", "opens": 100, "closes": 200}
    return Announcement.sign(task, key, **{**words, **changes})


@pytest.mark.parametrize("kind", TASKS)
def test_comes_back_with_its_task(kind):
    notice = Announcement.from_json(announce(TASKS[kind]).to_json()).verify()
    assert notice.kind == kind and notice.task == TASKS[kind] and notice.id == TASKS[kind].id
    assert notice == announce(TASKS[kind])  # Ed25519 is deterministic


def test_the_task_gives_the_title_unless_told():
    assert announce(title=None).title == "Hours é"


CHANGES = {
    "title": "Weeks",
    "purpose": "Sell",
    "curator": "Somebody",
    "opens": 99,
    "closes": 201,
    "tokens": True,
    "pass_key": base64url(b"\xff" * 256),
    "max_reports": 7,
    "task_text": task_text(local_task(max_depth=2)),
    "public_key": base64url(public_bytes(OTHER)),
    "signature": base64url(bytes(64)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_any_change_breaks_the_signature(name):
    passes = b"\xff" * 255 + b"\xfd" if name == "pass_key" else b""
    changed = Announcement.from_dict({**announce(pass_key=passes).to_dict(), name: CHANGES[name]})
    with pytest.raises(FormatError, match="signature does not hold"):
        changed.verify()


def test_every_field_is_covered_by_the_signature():
    assert set(CHANGES) | {"format", "version", "kind"} == set(announce().to_dict())


def test_another_key_is_refused_where_one_is_trusted():
    notice = announce(key=OTHER).verify()
    assert notice.verify(public_bytes(OTHER)) is notice.verify(base64url(public_bytes(OTHER)))
    with pytest.raises(FormatError, match="not with the trusted key"):
        notice.verify(public_bytes(KEY))


@pytest.mark.parametrize(
    "change",
    [
        {"more": 1},
        {"version": 2},
        {"version": True},
        {"format": "hedgerow/local-task"},
        {"kind": "label"},
        {"opens": 100.0},
        {"opens": "100"},
        {"opens": 200},
        {"opens": -1},
        {"closes": 2**54},
        {"tokens": 1},
        {"title": None},
        {"title": "x" * 201},
        {"task_text": "[]"},
        {"task_text": "{"},
        {"task_text": "é"},
        {"task_text": '{"format":"hedgerow/local-model"}'},
        {"public_key": "AAAA"},
        {"public_key": base64url(bytes(32)) + "="},
        {"public_key": base64url(bytes(32))[:-1] + "B"},  # another spelling of the same bytes
        {"signature": 7},
    ],
)
def test_malformed_envelopes_are_refused(change):
    with pytest.raises(FormatError):
        Announcement.from_dict({**announce().to_dict(), **change})


@pytest.mark.parametrize("text", ["", "[]", "nothing", "[" * 100_000])
def test_other_json_is_refused(text):
    with pytest.raises(FormatError):
        Announcement.from_json(text)


def signed_text(text):
    """Sign a text that is not a task's own spelling, as a careless or hostile curator could."""
    draft = Announcement(text, "local", "", "", "", 1, 2, False, b"", 0, public_bytes(KEY), bytes(64))
    return Announcement(text, "local", "", "", "", 1, 2, False, b"", 0, public_bytes(KEY), KEY.sign(draft.signed_bytes))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace('"epsilon":1.0', '"epsilon":1'),
        lambda text: text.replace('"epsilon":1.0', '"epsilon": 1.0'),
        lambda text: text.replace('"epsilon":1.0', '"epsilon":9.0,"epsilon":1.0'),
        lambda text: text.replace('"epsilon":1.0', '"epsilon":"no"'),
        lambda text: text.replace('"partition":{', '"partition":{"more":1,'),
        lambda text: text.replace('"grid":{', '"grid":[{').replace('"partition"', '"partition"', 1) + "]",
    ],
)
def test_a_signed_text_that_is_not_the_tasks_own_is_refused(spoil):
    good = task_text(TASKS["local"])
    assert signed_text(good).verify().task == TASKS["local"]
    assert spoil(good) != good
    with pytest.raises(FormatError):
        signed_text(spoil(good)).verify()


def test_the_window_is_half_open():
    assert [announce().is_open(t) for t in (99, 100, 199, 200)] == [False, True, True, False]


def test_times_are_whole_seconds():
    with pytest.raises(HedgerowError, match="whole unix seconds"):
        announce(opens=1.5)


def test_canonical_is_sorted_ascii_without_spaces():
    text = canonical({"b": [1, 2.5], "a": '\x7f\n"☂\U0001f333'})
    assert text == '{"a":"\\u007f\\n\\"\\u2602\\ud83c\\udf33","b":[1,2.5]}'
    assert json.loads(text) == {"b": [1, 2.5], "a": '\x7f\n"☂\U0001f333'}


def test_base64url_has_one_spelling():
    assert from_base64url("AAAA", 3) == bytes(3)
    for text in ("AAA", "AAAA=", "AA+A", "AA A", "AAAAA", ""):
        with pytest.raises(FormatError):
            from_base64url(text, 3)


def test_keys_are_for_their_owner_only(tmp_path):
    path = tmp_path / "curator.pem"
    before = os.umask(0)
    try:
        key = generate_key(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert public_bytes(load_key(path)) == public_bytes(key)
    with pytest.raises(HedgerowError, match="never replaced"):
        generate_key(path)
    path.chmod(0o640)
    with pytest.raises(HedgerowError, match="chmod 600"):
        load_key(path)


def test_what_is_not_a_key_is_refused(tmp_path):
    path = tmp_path / "curator.pem"
    path.touch(0o600)
    with pytest.raises(FormatError):
        load_key(path)


@pytest.mark.parametrize("kind", ["local", "semi", "label"])
def test_a_label_named_like_a_feature_is_not_published(kind):
    options = {"epsilon": 1.0, "label_bounds": (0, 1), "feature_bounds": (0, 1)}
    if kind == "label":
        task = LabelTask(LabelGrid(0.0, 1.0, 4), LaplaceNoise(1.0, 4), "record")
    else:
        task = (LocalTask if kind == "local" else SemiTask).design(features=["x", "y"], **options)
    with pytest.raises(HedgerowError, match="'target' must not be the name of a feature"):
        Announcement.sign(task, KEY, opens=0, closes=9)


def test_a_format_that_is_no_word_is_refused():
    with pytest.raises(FormatError, match="known format"):
        Announcement('{"format":[]}', "local", "", "", "", 0, 9, False, b"", 0, bytes(32), bytes(64))
