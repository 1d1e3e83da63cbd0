"""The shared vectors: Python makes them, and a browser's code must make the same bytes from the same randomness."""

import gzip
import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from hedgerow.holder.vectors import main, make_vectors, to_json
from hedgerow.protocol.announcement import read_task

HERE = Path(__file__).parent
WEB = Path(__file__).parents[2] / "src" / "hedgerow" / "holder" / "web"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


@pytest.fixture(scope="module")
def stored(vectors_file):
    return json.loads(gzip.decompress(vectors_file.read_bytes()))


def test_python_still_makes_the_stored_vectors(vectors_file):
    fresh = to_json(make_vectors())
    assert gzip.decompress(vectors_file.read_bytes()).decode() == fresh, (
        "the holder draws otherwise than before; if that is meant: "
        "python -m hedgerow.holder.vectors -o tests/holder/holder_vectors.json.gz"
    )


def test_there_are_enough_of_every_kind(stored, vectors_file):
    assert len(stored["vectors"]) >= 500 and vectors_file.stat().st_size < 200_000
    tasks = [read_task(t["text"]) for t in stored["tasks"]]
    assert [t.id for t in tasks] == [t["id"] for t in stored["tasks"]]
    kinds = Counter()
    for vector in stored["vectors"]:
        task = tasks[vector["task"]]
        mechanism = getattr(getattr(task, "mechanism", None), "kind", "")
        kinds[type(task).__name__, getattr(task, "response", mechanism), bool(getattr(task, "classes", None))] += 1
    wanted = {("LocalTask", r, False) for r in ("bits", "unary", "k_ary", "subset")}
    wanted |= {("LocalTask", r, True) for r in ("unary", "k_ary", "subset")}
    wanted |= {("LabelTask", m, False) for m in ("laplace", "staircase", "gaussian", "interval", "bins", "matrix")}
    wanted |= {("SemiTask", "", False), ("CellTask", "k_ary", False), ("CellTask", "bits", False)}
    assert set(kinds) == wanted and min(kinds.values()) >= 16


def test_command_writes_them(tmp_path, capsys, monkeypatch):
    small = {"format": "x", "tasks": [], "version": 1, "vectors": [{"a": 1}, {"b": 2}]}
    monkeypatch.setattr("hedgerow.holder.vectors.make_vectors", lambda: small)
    assert main(["-o", str(tmp_path / "v.json")]) == 0 == main(["-o", str(tmp_path / "v.json.gz")])
    assert json.loads((tmp_path / "v.json").read_bytes()) == small
    assert gzip.decompress((tmp_path / "v.json.gz").read_bytes()) == (tmp_path / "v.json").read_bytes()


def run_node(tmp_path, vectors_file, module):
    """Run the Node test on a copy that every version of Node takes for a module."""
    copy = tmp_path / "holder.mjs"
    copy.write_text(module)
    env = {
        **os.environ,
        "HOLDER_MODULE": copy.as_uri(),
        "HOLDER_CHECK": (HERE / "holder_check.mjs").as_uri(),
        "HOLDER_VECTORS": str(vectors_file),
    }
    command = [NODE, "--test", str(HERE / "holder_vectors.test.mjs")]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False)


@needs_node
def test_node_makes_the_same_bytes(tmp_path, stored, vectors_file):
    run = run_node(tmp_path, vectors_file, (WEB / "holder.js").read_text())
    assert run.returncode == 0, run.stdout[-3000:]
    assert f"checked {len(stored['vectors'])} vectors" in run.stdout


MUTANTS = {
    "a bit": (">> 8n < tail", ">> 8n > tail"),
    "a threshold": ("value - slack, unit", "value - slack - (value >> 62n), unit"),
    "the carry": ("% 256 === 255", "% 256 === 254"),
    "the end": ("value > 0 ? extra : -extra", "value > 0 ? extra : extra"),
    "more bits": ("below(highs, u + 1n), below(lows, u + 1n)", "below(highs, u), below(lows, u)"),
}


@needs_node
@pytest.mark.parametrize("name", MUTANTS)
def test_the_vectors_notice_a_mistake(tmp_path, vectors_file, name):
    before, after = MUTANTS[name]
    source = (WEB / "holder.js").read_text()
    assert before in source
    assert run_node(tmp_path, vectors_file, source.replace(before, after)).returncode != 0


@pytest.mark.skipif(shutil.which("tsc") is None, reason="TypeScript is not installed")
def test_the_types_hold(tmp_path):
    copy = tmp_path / "holder.js"
    copy.write_text((WEB / "holder.js").read_text())
    options = [
        "--noEmit",
        "--allowJs",
        "--checkJs",
        "--strict",
        "--target",
        "es2022",
        "--lib",
        "es2022,dom,dom.iterable",
    ]
    run = subprocess.run(["tsc", *options, str(copy)], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout


CHANCES = """
const holder = await import(process.env.HOLDER_MODULE);
const { readFileSync } = await import("node:fs");
const cases = JSON.parse(readFileSync(process.env.HOLDER_CHANCES, "utf8"));
let worst = 0;
for (const { text, level, codes, chances } of cases) {
  const task = await holder.readTask(text);
  const mechanism = task.message.label;
  codes.forEach((code, i) => {
    const found = mechanism.chance(level, code);
    worst = Math.max(worst, Math.abs(found - chances[i]) / (chances[i] + 1e-9));
  });
}
console.log(JSON.stringify({ worst }));
"""


@needs_node
def test_the_odds_on_the_page_are_those_of_the_law(tmp_path, stored):
    wanted = []
    for item in stored["tasks"]:
        task = read_task(item["text"])
        if not hasattr(task, "law") or task.mechanism.code_range[1] > 800:  # exact laws of wide noise take long
            continue
        for level in (0, task.grid.n_steps // 2, task.grid.n_steps):
            law = task.law(level)
            total, pairs = law.total, zip(law.outputs, law.weights, strict=True)
            chances = [(code, w * 10**15 // total / 10**15) for code, w in pairs][:400]
            codes, chances = zip(*chances, strict=True)
            wanted.append({"text": item["text"], "level": level, "codes": codes, "chances": chances})
    assert len(wanted) >= 30
    (tmp_path / "holder.mjs").write_text((WEB / "holder.js").read_text())
    (tmp_path / "chances.json").write_text(json.dumps(wanted))
    (tmp_path / "run.mjs").write_text(CHANCES)
    env = {
        **os.environ,
        "HOLDER_MODULE": (tmp_path / "holder.mjs").as_uri(),
        "HOLDER_CHANCES": str(tmp_path / "chances.json"),
    }
    command = [NODE, str(tmp_path / "run.mjs")]
    run = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["worst"] < 2e-6
