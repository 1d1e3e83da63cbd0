"""Pilot tasks in the browser's code: draws follow the exact law, and what Python refuses to read is refused."""

import copy
import dataclasses
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from hedgerow.content import canonical
from hedgerow.errors import HedgerowError
from hedgerow.holder.page import SCRIPTS, asset
from hedgerow.portable import Linear, PortableModel
from hedgerow.tasks.announcement import read_task, task_text
from vectors.pilot import make_pilot

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

FALSE_ALARM = 1e-6  # of the test of the law
DRAWS = 40_000
CASES = [  # epsilon, edges, the holder's bin
    (1.0, (0.0,), 1),
    (2.0, (-4.0, 4.0), 0),
    (2.0, (-11.25, -4.0, 4.0, 11.25), 2),
    (3.0, (-9.0, -6.0, -3.0, 3.0, 6.0, 9.0), 6),
]


def run_node(folder, script, data, before="", after=""):
    """Return what a script prints, with the page's modules (or changed ones) at hand and the data in a file."""
    sources = {name: asset(name).decode() for name in SCRIPTS}
    assert not before or any(before in source for source in sources.values())
    (folder / "package.json").write_text('{"type": "module"}')
    for name, source in sources.items():
        (folder / name).write_text(source.replace(before, after) if before else source)
    (folder / "run.js").write_text(script)
    (folder / "cases.json").write_text(json.dumps(data))
    env = {**os.environ, "HOLDER_MODULE": (folder / "holder.js").as_uri(), "HOLDER_CASES": str(folder / "cases.json")}
    command = [NODE, str(folder / "run.js")]
    run = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def draw(folder, *change):
    """Return each case's task, with the counts of what was sent and the odds shown."""
    tasks = [make_pilot(epsilon, edges, "t", 0) for epsilon, edges, _ in CASES]
    wanted = [{"text": task_text(t), "draws": DRAWS, "bin": c[2]} for t, c in zip(tasks, CASES, strict=True)]
    script = (Path(__file__).parent / "holder_law.mjs").read_text()
    return list(zip(tasks, [c[2] for c in CASES], run_node(folder, script, wanted, *change), strict=True))


def surprise(task, own, counts):
    """Return the smallest exact binomial tail of any bin's count, times the number of tails looked at."""
    law = task.encoding.law(own)
    found = {tuple(bytes.fromhex(payload)): n for payload, n in counts.items()}
    assert set(found) <= set(law.outputs) and sum(found.values()) == DRAWS
    tails = []
    for output, weight in zip(law.outputs, law.weights, strict=True):
        p, n = weight / law.total, found.get(output, 0)
        tails += [float(binom.cdf(n, DRAWS, p)), float(binom.sf(n - 1, DRAWS, p))]
    return min(tails) * len(tails)


def test_draws_follow_the_exact_law_and_the_odds_shown_are_its(tmp_path):
    # Each exact tail is below t with probability at most t: a union bound over tails and cases.
    for task, own, result in draw(tmp_path):
        assert surprise(task, own, result["counts"]) > FALSE_ALARM / len(CASES), task
        response = task.encoding.response
        assert result["odds"] == pytest.approx([float(response.p), float(response.q)], rel=1e-12)


def test_ten_percent_too_little_noise_is_noticed(tmp_path):
    for task, own, result in draw(tmp_path, "shareBelow(epsilon, 1n", "shareBelow(1.1 * epsilon, 1n"):
        assert surprise(task, own, result["counts"]) < FALSE_ALARM / len(CASES), task


READ = """
import { readFileSync } from "node:fs";
const holder = await import(process.env.HOLDER_MODULE);
const outcomes = [];
for (const text of JSON.parse(readFileSync(process.env.HOLDER_CASES, "utf8")))
  outcomes.push(await holder.readTask(text).then(() => "", String));
console.log(JSON.stringify(outcomes));
"""


def damaged(good):
    """Return contents that are no pilot task, each with one thing wrong."""
    age, home, pay = good["space"]["columns"]
    spaces = [[], [age, home], [age, home, age], [{**age, "low": 100.0}, home, pay], [{**age, "low": "0"}, home, pay]]
    spaces += [[{**age, "unit": "a"}, home, pay], [age, {**home, "categories": []}, pay]]
    spaces += [[{**age, "missing": 100.0}, home, pay], [{**age, "missing": "1"}, home, pay]]
    spaces += [[age, {**home, "unknown": "tent"}, pay], [age, {**home, "unknown": None}, pay]]
    spaces += [[age, {**home, "categories": ["a", "a"]}, pay], [age, {**home, "categories": [1]}, pay]]
    edges = [[], [4.0, -4.0], [4.0, 4.0], ["4"], [None], [True], 4.0, None, list(range(255))]
    bounds = [[1.0, 1.0], [2.0, 1.0], [0.0], [0.0, 1.0, 2.0], ["0", "1"], None]
    changes = [{"edges": e} for e in edges] + [{"label_bounds": b} for b in bounds]
    changes += [{"missing": m} for m in (None, "3", True, -100.0, 61.0)]
    changes += [{"epsilon": e} for e in (0.0, -1.0, "1", None, True, 1e-20)]
    changes += [{"space": {"columns": s}} for s in spaces] + [{"space": {**good["space"], "more": 1}}]
    changes += [
        {"version": 1},
        {"version": "2"},
        {"more": 1},
        {"target": 3},
        {"public_model": "SERH"},
    ]
    lacks = [{k: v for k, v in good.items() if k != name} for name in good if name != "format"]
    return [{**copy.deepcopy(good), **change} for change in changes] + lacks


def test_what_python_refuses_to_read_is_refused(tmp_path):
    good = json.loads(task_text(make_pilot(1.0, (-4.0, 4.0), "tl", 0)))
    bad = [canonical(content) for content in damaged(good)]
    for text in bad:
        with pytest.raises(HedgerowError):
            read_task(text)
    outcomes = run_node(tmp_path, READ, [canonical(good), *bad])
    assert outcomes[0] == "" and [t for t, o in zip(bad, outcomes[1:], strict=True) if not o] == []


ANSWER = """
import { readFileSync } from "node:fs";
const holder = await import(process.env.HOLDER_MODULE);
const { text, records } = JSON.parse(readFileSync(process.env.HOLDER_CASES, "utf8"));
const task = await holder.readTask(text);
const source = { simulation: true, take: (n) => new Uint8Array(n) };
console.log(JSON.stringify(records.map((record) => task.privatize(record, source).truth)));
"""


def test_a_report_is_made_even_where_the_model_overflows(tmp_path):
    plain = make_pilot(1.0, (-30.0, 10.0, 30.0), "", 0)
    huge = [Linear(np.array([sign * 1e308, 0, 0, 0, 0])) for sign in (1, -1)]
    base = PortableModel(len(plain.space), plain.public_model.column, plain.public_model.code, 0.0, tuple(huge))
    task = dataclasses.replace(plain, public_model=base)
    records = [{"age": age, "home": "flat", "pay": 2.0, "rent": 3.0} for age in (0.5, 50.0)]
    found = run_node(tmp_path, ANSWER, {"text": task_text(task), "records": records})
    low = task.label_bounds[0]  # infinity minus infinity, for the second
    assert [(f["prediction"], f["bin"]) for f in found] == [(0.0, 1), (low, 2)]
    with np.errstate(all="ignore"):
        errors = 3.0 - base.predict_within([task.space.encode_record(r) for r in records], task.label_bounds)
    assert task.bins(errors).tolist() == [1, 2]
