"""The browser's randomisers of a group and a residual: their draws follow the exact law, and the odds shown are its."""

import itertools
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from hedgerow.holder.page import SCRIPTS, asset
from hedgerow.mechanisms.joint import SignedSubset
from hedgerow.tasks.announcement import task_text
from vectors.assisted import make_task

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

FALSE_ALARM = 1e-6  # of all tests of this file together
DRAWS = 60_000
# Epsilon, leaves of the trees, randomiser and parameter; the holder's leaves and level.
CASES = [
    (2.0, (3, 2), "subset", 1, (1, 0), 1),
    (2.0, (3,), "subset", 2, (2,), 0),
    (1.5, (2,), "subset", 2, (0,), 1),
    (1.5, (1,), "subset", 1, (0,), 0),
    (2.0, (2, 3), "levels", 3, (1, 2), 2),
    (2.0, (2,), "levels", 5, (0,), 1),
    (1.5, (2,), "levels", 3, (1,), 1),
]


def tasks():
    return [make_task(e, leaves, kind, parameter, "t", 5.0, 0) for e, leaves, kind, parameter, _, _ in CASES]


def draw(folder, before="", after=""):
    """Return the counts of messages, and the odds shown, of every case."""
    (folder / "package.json").write_text('{"type": "module"}')
    for name in SCRIPTS:
        (folder / name).write_text(asset(name).decode().replace(before, after) if before else asset(name).decode())
    wanted = [
        {"text": task_text(task), "draws": DRAWS, "leaves": case[4], "level": case[5]}
        for task, case in zip(tasks(), CASES, strict=True)
    ]
    (folder / "cases.json").write_text(json.dumps(wanted))
    env = {
        **os.environ,
        "HOLDER_MODULE": (folder / SCRIPTS[0]).as_uri(),
        "HOLDER_CASES": str(folder / "cases.json"),
    }
    command = [NODE, str(Path(__file__).parent / "holder_law.mjs")]
    run = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def read(message, payload):
    """Return a message as an output of the law: the tree, and scores of its leaves or a symbol."""
    row = np.frombuffer(bytes.fromhex(payload), dtype=np.uint8)[None, :]
    message.validate(row)
    (report,) = message._unpack(row)
    tree = int(row[0, 0])
    return tree, int(report) if message.kind == "levels" else tuple(report[: message.leaves[tree]].tolist())


def surprise(task, case, counts):
    """Return the smallest exact binomial tail of any output's count, times the number of tails looked at."""
    message = task.encoding
    value = 0
    for k, own in zip(message.leaves, case[4], strict=True):
        value = value * k + own
    law = message.law(value * message.n_levels + case[5])
    found = {read(message, payload): n for payload, n in counts.items()}
    assert set(found) <= set(law.outputs) and sum(found.values()) == DRAWS
    tails = [1.0]
    for output, weight in zip(law.outputs, law.weights, strict=True):
        p, n = weight / law.total, found.get(output, 0)
        tails += [float(binom.cdf(n, DRAWS, p)), float(binom.sf(n - 1, DRAWS, p))]
    return min(tails) * len(tails)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    return draw(tmp_path_factory.mktemp("law"))


def test_draws_follow_the_exact_law(drawn):
    # Each exact tail is below t with probability at most t: a union bound over tails and cases.
    for task, case, result in zip(tasks(), CASES, drawn, strict=True):
        assert surprise(task, case, result["counts"]) > FALSE_ALARM / len(CASES), case


def test_ten_percent_too_little_noise_is_noticed(tmp_path):
    results = draw(tmp_path, "shareBelow(epsilon,", "shareBelow(1.1 * epsilon,")
    for task, case, result in zip(tasks(), CASES, results, strict=True):
        assert surprise(task, case, result["counts"]) < FALSE_ALARM / len(CASES), case


def test_the_odds_shown_are_those_of_the_law(drawn):
    shown = 0
    for task, result in zip(tasks(), drawn, strict=True):
        for joint, odds in itertools.zip_longest(task.encoding.joint, result["odds"]):
            if isinstance(joint, SignedSubset):
                others = joint.naming[1] if joint.n_leaves > 1 else odds[2]
                exact = (*joint._own, others)
            else:
                exact = (joint.response.p, joint.response.q)
            assert odds == pytest.approx([float(p) for p in exact], rel=1e-12)
            shown += len(odds)
    assert shown >= 20
