"""A public model as the library makes them, stacked from scikit-learn's, evaluated by the browser's code."""

import json
import os
import shutil
import subprocess

import numpy as np
import pytest

from hedgerow.holder.page import SCRIPTS, asset
from hedgerow.protocol.announcement import task_text

NODE = shutil.which("node")

PLACE = """
import { readFileSync } from "node:fs";
const holder = await import(process.env.HOLDER_MODULE);
const { text, records } = JSON.parse(readFileSync(process.env.HOLDER_TASK, "utf8"));
const task = await holder.readTask(text);
const source = { simulation: true, take: (n) => new Uint8Array(n) };
console.log(JSON.stringify(records.map((record) => holder.privatize(task, record, source).truth)));
"""


@pytest.mark.skipif(NODE is None, reason="node is not installed")
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
        base="compact",
        n_trees=4,
        target="hours",
        **schema,
    )
    text = task_text(task)
    assert len(text) < 300_000 and len(task.base.parts) >= 2  # several kinds of model in the stack
    records = [{**row, "hours": 1.0} for row in X[160:].to_dict("records")]
    (tmp_path / "package.json").write_text('{"type": "module"}')
    for name in SCRIPTS:
        (tmp_path / name).write_bytes(asset(name))
    (tmp_path / "place.js").write_text(PLACE)
    (tmp_path / "task.json").write_text(json.dumps({"text": text, "records": records}))
    env = {**os.environ, "HOLDER_MODULE": (tmp_path / "holder.js").as_uri(), "HOLDER_TASK": str(tmp_path / "task.json")}
    command = [NODE, str(tmp_path / "place.js")]
    run = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    prediction, leaves = task.place(task.space.encode(X[160:]))
    np.testing.assert_allclose([f["prediction"] for f in found], prediction, rtol=1e-9)
    # A leaf may differ only where the prediction lies within 1e-9 of a cut, and none of these does.
    assert [f["leaves"] for f in found] == leaves.tolist()
    assert len(np.unique(prediction.round(9))) > 90 and len(np.unique(leaves[:, 0])) > 2
