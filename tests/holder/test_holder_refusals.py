"""Mutated tasks of all kinds: whatever Python refuses, the page refuses; what it accepts gets the same answer."""

import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from hedgerow.tasks.registry import TASKS, task_class
from vectors.bases import bases
from vectors.refusals import judge, make_refusals, refusals_json

HERE = Path(__file__).parent
COMMAND = "python -m vectors --refusals tests/holder/holder_refusals.json.gz"


@pytest.fixture(scope="module")
def stored(refusals_file):
    return json.loads(gzip.decompress(refusals_file.read_bytes()))


def mutated(stored, case):
    number, start, left_out, put_in, _ = case
    text = stored["tasks"][number]["text"]
    return text[:start] + put_in + text[start + left_out :]


def test_the_stored_cases_are_current(stored):
    """Every fourth is judged again; HEDGEROW_ALL_VECTORS=1 makes all of them anew."""
    assert [[task["name"], task["text"]] for task in stored["tasks"]] == [list(base) for base in bases()], COMMAND
    if os.environ.get("HEDGEROW_ALL_VECTORS"):
        assert json.loads(refusals_json(make_refusals())) == stored, COMMAND
    wrong = [case for case in stored["cases"][::4] if judge(mutated(stored, case)) != case[-1]]
    assert wrong == [], COMMAND


def test_there_are_enough_of_every_kind(stored, refusals_file):
    kinds, refused, seen = Counter(), Counter(), set()
    for case in stored["cases"]:
        kind = json.loads(stored["tasks"][case[0]]["text"])["format"]
        kinds[kind] += 1
        refused[kind] += not case[-1]
        seen.add(mutated(stored, case))
    assert len(seen) >= 5000 and sum(refused.values()) >= 4500
    assert set(kinds) >= {form for form in TASKS if not task_class(form).sealed} and min(refused.values()) >= 200
    assert min(kinds[kind] - refused[kind] for kind in kinds) >= 15 and refusals_file.stat().st_size < 300_000


def test_valid_tasks_are_accepted(stored):
    answers = {case[0]: case[-1] for case in stored["cases"] if case[2:4] == [0, ""]}
    assert len(answers) == len(stored["tasks"]) and all(answers.values())


def check_in_node(node, stored, *change):
    return node("holder_refusals_node.mjs", {"check": (HERE / "holder_refusals.mjs").as_uri(), "data": stored}, *change)


def test_node_judges_as_python_does(node, stored):
    found = check_in_node(node, stored)
    assert found["wrong"] == []
    assert found["refused"] == sum(not case[-1] for case in stored["cases"])


def test_the_cases_notice_a_hole(node, stored):
    """One of the holes that were found; ``make mutants`` opens the others."""
    some = {**stored, "cases": [case for case in stored["cases"] if "bins" in stored["tasks"][case[0]]["name"]]}
    assert check_in_node(node, some, "starts[0] === 0 &&", "")["wrong"]
