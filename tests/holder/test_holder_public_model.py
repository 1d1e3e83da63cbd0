"""A public model as the library makes them, stacked from scikit-learn's, evaluated by the browser's code."""

import dataclasses
import json
import os
import shutil
import subprocess

import numpy as np
import pytest

from hedgerow.holder.page import SCRIPTS, asset
from hedgerow.portable import Linear, PortableModel
from hedgerow.tasks.announcement import task_text
from vectors.assisted import make_task

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

PLACE = """
import { readFileSync } from "node:fs";
const holder = await import(process.env.HOLDER_MODULE);
const { text, records } = JSON.parse(readFileSync(process.env.HOLDER_TASK, "utf8"));
const task = await holder.readTask(text);
const source = { simulation: true, take: (n) => new Uint8Array(n) };
console.log(JSON.stringify(records.map((record) => task.privatize(record, source).truth)));
"""


def run_page(folder, task, records):
    """Return what the page's code works out for each record."""
    (folder / "package.json").write_text('{"type": "module"}')
    for name in SCRIPTS:
        (folder / name).write_bytes(asset(name))
    (folder / "place.js").write_text(PLACE)
    (folder / "task.json").write_text(json.dumps({"text": task_text(task), "records": records}))
    env = {**os.environ, "HOLDER_MODULE": (folder / "holder.js").as_uri(), "HOLDER_TASK": str(folder / "task.json")}
    command = [NODE, str(folder / "place.js")]
    run = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_the_browser_predicts_what_python_predicts(tmp_path):
    pd = pytest.importorskip("pandas")
    design = pytest.importorskip("hedgerow.local.assisted.design").design_assisted
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=260), "b": rng.random(260), "c": rng.choice(["x", "y", "z"], 260)})
    y = np.sin(3 * X["a"]) + 2 * X["b"] * (X["c"] == "y") + 0.3 * rng.normal(size=260)
    public, labels = X[:160], y[:160].to_numpy()
    schema = {"feature_bounds": (-4, 4), "categories": {"c": ["x", "y", "z"]}}
    task = design(
        public,
        labels,
        epsilon=2.0,
        label_bounds=(-3, 5),
        n_holders=9000,
        public_model="compact",
        n_trees=4,
        target="hours",
        **schema,
    )
    assert len(task_text(task)) < 300_000 and len(task.public_model.parts) >= 2  # several kinds of model in the stack
    records = [{**row, "hours": 1.0} for row in X[160:].to_dict("records")]
    found = run_page(tmp_path, task, records)
    prediction, leaves = task.place(task.space.encode(X[160:]))
    np.testing.assert_allclose([f["prediction"] for f in found], prediction, rtol=1e-9)
    # A leaf may differ only where the prediction lies within 1e-9 of a cut, and none of these does.
    assert [f["leaves"] for f in found] == leaves.tolist()
    assert len(np.unique(prediction.round(9))) > 90 and len(np.unique(leaves[:, 0])) > 2


@pytest.mark.parametrize(("randomizer", "parameter"), [("subset", 2), ("levels", 5)])
def test_a_report_is_made_even_where_the_model_overflows(tmp_path, randomizer, parameter):
    """A curator must not learn who is above an age from who is silent."""
    plain = make_task(1.0, (4, 3), randomizer, parameter, "", 5.0, 0)
    huge = [Linear(np.array([sign * 1e308, 0, 0, 0, 0])) for sign in (1, -1)]
    old = plain.public_model
    base = PortableModel(old.n_columns, old.column, old.code, 0.0, tuple(huge))
    records = [{"age": age, "home": "flat", "pay": 2.0, "rent": 3.0} for age in (0.5, 50.0)]
    found = run_page(tmp_path, dataclasses.replace(plain, public_model=base), records)
    assert [f["prediction"] for f in found] == [0.0, plain.label_bounds[0]]  # infinity minus infinity, for the second
    for place in found:
        assert 0 <= place["level"] < plain.encoding.n_levels and len(place["leaves"]) == 2
