"""The shared vectors: Python makes them, and a browser's code must make the same bytes from the same randomness."""

import gzip
import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from hedgerow.holder.page import SCRIPTS, asset
from hedgerow.tasks.announcement import read_task
from hedgerow.tasks.records import one
from hedgerow.tasks.reports import Reports
from vectors.__main__ import main, make_vectors, to_json

HERE = Path(__file__).parent
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


@pytest.fixture(scope="module")
def stored(vectors_file):
    return json.loads(gzip.decompress(vectors_file.read_bytes()))


@pytest.fixture(scope="module")
def tasks(stored):
    return [read_task(task["text"]) for task in stored["tasks"]]


def predictions(vectors):
    """Take out predictions: their last digits depend on how a processor adds up products."""
    return [vector["place"].pop("prediction") for vector in vectors["vectors"] if "place" in vector]


def test_python_still_makes_the_stored_vectors(vectors_file):
    fresh, kept = json.loads(to_json(make_vectors())), json.loads(gzip.decompress(vectors_file.read_bytes()))
    assert predictions(fresh) == pytest.approx(predictions(kept), rel=1e-9)
    assert fresh == kept, (
        "the holder draws otherwise than before; if that is meant: "
        "python -m vectors -o tests/holder/holder_vectors.json.gz"
    )


def test_strange_records_are_answered_with_bodies_of_one_length(stored):
    """Of every task: nothing at all, None, text, a number in text, numbers beyond all floats, true, a list."""
    lengths, strange = {}, Counter()
    for vector in stored["vectors"]:
        lengths.setdefault(vector["task"], set()).add(len(vector["body"]))
        values = [v for name, v in vector["record"].items() if name != "record"]
        strange[vector["task"]] += not values or values[0] in (None, "old", "1e400", [3]) or values[0] is True
    assert all(len(found) == 1 for found in lengths.values()) and len(lengths) == len(stored["tasks"])
    assert min(strange[number] for number in lengths) >= 6


def test_class_vectors_draw_every_class_and_answer_truly_and_not(stored, tasks):
    seen = Counter()
    for vector in stored["vectors"]:
        if "drawn" not in vector.get("place", ()):
            continue
        task = tasks[vector["task"]]
        own = task.classes[int(task.labels(one(vector["record"].get(task.target)))[0])]
        drawn = task.asked[vector["place"]["drawn"]]
        seen[len(task.classes), drawn, own == drawn] += 1
    assert Counter(n for n, _ in {(n, name) for n, name, _ in seen}) == {2: 1, 3: 3, 4: 4}
    assert {(n, own) for n, _, own in seen} == {(n, own) for n in (2, 3, 4) for own in (True, False)}


def test_assisted_vectors_reach_both_sides_of_every_choice(stored, tasks):
    """Clipped and unclipped residuals, every kind of part, first and last trees, leaves and levels."""
    kinds, parts, seen = Counter(), Counter(), {}
    for vector in stored["vectors"]:
        if "leaves" not in vector.get("place", ()) or "drawn" in vector["place"]:
            continue
        task = tasks[vector["task"]]
        kinds[task.randomizer] += 1
        parts.update(part.kind for part in task.public_model.parts)
        tree = Reports.from_bytes(task, bytes.fromhex(vector["body"])).payloads[0, 0]
        label = task.labels(one(vector["record"].get("rent")))[0]
        far = abs(label - vector["place"]["prediction"]) > task.radius
        for name, value in {"tree": tree, "level": vector["place"]["level"], "far": far}.items():
            seen.setdefault((vector["task"], name), set()).add(value)
        seen.setdefault((vector["task"], "leaf"), set()).update(enumerate(vector["place"]["leaves"]))
    assert min(kinds["subset"], kinds["levels"]) >= 100 and set(parts) == {"trees", "linear", "kernel", "matern"}
    for (number, name), values in seen.items():
        message = tasks[number].encoding
        wanted = {"tree": len(message.leaves), "level": min(3, message.n_levels), "far": 1}
        assert len(values) >= wanted.get(name, min(3, sum(message.leaves))), (number, name, values)


def test_pilot_vectors_lie_on_edges_and_in_many_bins(stored, tasks):
    on, beside, bins, told, cut = Counter(), Counter(), {}, Counter(), 0
    for vector in stored["vectors"]:
        if "bin" not in vector.get("place", ()):
            continue
        task, number = tasks[vector["task"]], vector["task"]
        low, high = task.label_bounds
        cut += vector["place"]["prediction"] in (low, high)
        error = task.labels(one(vector["record"].get("rent")))[0] - vector["place"]["prediction"]
        gap = min(abs(error - edge) for edge in task.edges)
        on[number] += gap == 0
        beside[number] += 0 < gap < 1e-12
        bins.setdefault(number, set()).add(vector["place"]["bin"])
        sent = Reports.from_bytes(task, bytes.fromhex(vector["body"])).payloads[0, 0]
        told[bool(sent == vector["place"]["bin"])] += 1
    assert sum(on.values()) >= 25 and sum(n > 0 for n in on.values()) >= 5 and sum(beside.values()) >= 15 and cut >= 5
    assert {len(seen) for seen in bins.values()} >= {2, 3, 5, 6} and min(told.values()) >= 40


def test_there_are_enough_of_every_kind(stored, tasks, vectors_file):
    assert len(stored["vectors"]) >= 500 and vectors_file.stat().st_size < 300_000
    assert [t.id for t in tasks] == [t["id"] for t in stored["tasks"]]
    kinds = Counter()
    for vector in stored["vectors"]:
        task = tasks[vector["task"]]
        mechanism = getattr(getattr(task, "mechanism", None), "kind", "")
        response = getattr(task, "randomizer", getattr(task, "response", mechanism))
        response = "model" if getattr(task, "assist", None) else response
        kinds[type(task).__name__, response, bool(getattr(task, "classes", None))] += 1
    wanted = {("LocalTask", r, False) for r in ("bits", "unary", "k_ary", "subset")}
    wanted |= {("LocalTask", r, True) for r in ("unary", "k_ary", "subset")}
    wanted |= {("LabelTask", m, False) for m in ("laplace", "staircase", "gaussian", "interval", "bins", "matrix")}
    wanted |= {
        ("SemiTask", "", False),
        ("SemiTask", "model", False),
        ("CellTask", "k_ary", False),
        ("CellTask", "bits", False),
    }
    wanted |= {("AssistedTask", "subset", False), ("AssistedTask", "levels", False), ("PilotTask", "", False)}
    wanted |= {("AssistedClassTask", "", True), ("LabelTask", "top", True), ("ResidualTask", "model", False)}
    assert set(kinds) == wanted and min(kinds.values()) >= 16


def test_command_writes_them(tmp_path, capsys, monkeypatch):
    small = {"format": "x", "tasks": [], "version": 1, "vectors": [{"a": 1}, {"b": 2}]}
    monkeypatch.setattr("vectors.__main__.make_vectors", lambda: small)
    assert main(["-o", str(tmp_path / "v.json")]) == 0 == main(["-o", str(tmp_path / "v.json.gz")])
    assert json.loads((tmp_path / "v.json").read_bytes()) == small
    assert gzip.decompress((tmp_path / "v.json.gz").read_bytes()) == (tmp_path / "v.json").read_bytes()


def copied(folder, before="", after=""):
    """Copy the page's modules, with a change, to where every Node takes them for modules; return the first."""
    sources = {name: asset(name).decode() for name in SCRIPTS}
    assert any(before in source for source in sources.values())
    (folder / "package.json").write_text('{"type": "module"}')
    for name, source in sources.items():
        (folder / name).write_text(source.replace(before, after) if before else source)
    return folder / SCRIPTS[0]


def run_node(tmp_path, vectors_file, *change):
    """Run the Node test on a copy of the modules."""
    env = {
        **os.environ,
        "HOLDER_MODULE": copied(tmp_path, *change).as_uri(),
        "HOLDER_CHECK": (HERE / "holder_check.mjs").as_uri(),
        "HOLDER_VECTORS": str(vectors_file),
        "HOLDER_STOP": "1" if change else "",
    }
    command = [NODE, "--test", str(HERE / "holder_vectors.test.mjs")]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False)


@needs_node
def test_node_makes_the_same_bytes(tmp_path, stored, vectors_file):
    run = run_node(tmp_path, vectors_file)
    assert run.returncode == 0, run.stdout[-3000:]
    assert f"checked {len(stored['vectors'])} vectors" in run.stdout


MUTANTS = {
    "a bit": (">> 8n < tail", ">> 8n > tail"),
    "a threshold": ("value - slack, unit", "value - slack - (value >> 62n), unit"),
    "the carry": ("% 256 === 255", "% 256 === 254"),
    "the end": ("value > 0 ? extra : -extra", "value > 0 ? extra : extra"),
    "more bits": ("below(highs, u + 1n), below(lows, u + 1n)", "below(highs, u), below(lows, u)"),
    "a sign": ("signs[j >> 3] >> (7 - (j & 7))", "signs[j >> 3] >> (j & 7)"),
    "the other sign": ("integer(2 * K - size, source) < size", "integer(2 * K - size, source) <= size"),
    "the own group": ("...scores.slice(0, leaf), own", "own, ...scores.slice(0, leaf)"),
    "a level": ("level - (level > top ? 1 : 0)", "level - (level < top ? 1 : 0)"),
    "single precision": ("row.map(Math.fround)", "row"),
    "a boundary": ("> trees.limit[node]", ">= trees.limit[node]"),
    "a category": ("Number(z[c] === model.code[j])", "Number(z[c] !== model.code[j])"),
    "an edge": ("edge <= error", "edge < error"),
    "another bin": ("this.response.draw(bin, source)", "this.response.draw(this.edges.length - bin, source)"),
    "the label's range": ("missing : Math.min(Math.max(found, low), high)", "missing : found"),
    "the raw label": ("reported: label - prediction", "reported: label"),
    "the prediction's range": ("Math.min(Math.max(exact, low), high)", "exact"),
    "a bump": ("/ scale[j])", "* scale[j])"),
}


# Each takes a second: a third of them, unless all are asked for. `make mutants` has more, of the page's privacy.
CHOSEN = list(MUTANTS)[:: 1 if os.environ.get("ALL_MISTAKES") else 3]


@needs_node
@pytest.mark.parametrize("name", CHOSEN)
def test_the_vectors_notice_a_mistake(tmp_path, vectors_file, name):
    assert run_node(tmp_path, vectors_file, *MUTANTS[name]).returncode != 0


@pytest.mark.skipif(shutil.which("tsc") is None, reason="TypeScript is not installed")
def test_the_types_hold(tmp_path):
    copy = copied(tmp_path)
    options = [
        "--noEmit",
        "--allowJs",
        "--checkJs",
        "--strict",
        "--target",
        "es2022",
        "--module",
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
  const mechanism = task.mechanism;
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
    (tmp_path / "chances.json").write_text(json.dumps(wanted))
    (tmp_path / "run.mjs").write_text(CHANCES)
    env = {
        **os.environ,
        "HOLDER_MODULE": copied(tmp_path).as_uri(),
        "HOLDER_CHANCES": str(tmp_path / "chances.json"),
    }
    command = [NODE, str(tmp_path / "run.mjs")]
    run = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["worst"] < 2e-6
