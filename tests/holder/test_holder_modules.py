"""The page's modules: all are served, all are small, and a kind of task is named in its own module only."""

import re
from pathlib import Path

import pytest

import hedgerow.holder.page as page
from hedgerow.holder.page import ASSETS, SCRIPTS, asset
from hedgerow.tasks.registry import TASKS

OWN = {
    "tree.js",
    "labels.js",
    "first_round.js",
    "second_round.js",
    "sums.js",
    "residual.js",
    "assisted.js",
    "assisted_classes.js",
    "pilot.js",
}
REGISTRY = "kinds.js"


def imported(name):
    return set(re.findall(r'from "\./(\w+\.js)"', asset(name).decode()))


def test_the_folder_holds_what_is_served_and_the_first_module_loads_all():
    assert {path.name for path in (Path(page.__file__).parent / "web").iterdir()} | {"texts.js"} == set(
        ASSETS
    )  # made of the files of texts
    reached, waiting = set(), {SCRIPTS[0]}
    while waiting:
        reached |= waiting
        waiting = {found for name in waiting for found in imported(name)} - reached
    assert reached == set(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_modules_are_small(name):
    assert len(asset(name).decode().splitlines()) <= 300


def test_every_kind_has_one_module():
    homes = {form: [name for name in OWN if f'"{form}"' in asset(name).decode()] for form in TASKS}
    assert all(len(names) == 1 for names in homes.values())
    assert {name for names in homes.values() for name in names} == OWN and imported(REGISTRY) >= OWN


@pytest.mark.parametrize("name", sorted(set(SCRIPTS) - OWN))
def test_other_modules_know_no_kind(name):
    words = {*TASKS, *(kind for kind, *_ in TASKS.values())}
    source = asset(name).decode().replace('el("label"', "")  # a tag of HTML
    assert not [word for word in words if f'"{word}"' in source]
    assert name == REGISTRY or not imported(name) & OWN
