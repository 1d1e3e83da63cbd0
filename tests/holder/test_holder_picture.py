"""Page and Python draw the same picture of the same report: the same bars, chances and marks."""

import gzip
import json

import pytest

from hedgerow.holder.picture import picture_of
from hedgerow.tasks.announcement import read_task


def record_of(task, vector):
    """Return a record as a second round uses it: what was sent in clear counts as it was sent."""
    kept = vector.get("secrets")
    if kept is None:
        return vector["record"]
    columns = task.question().features
    features = zip(columns, kept["clear"][: len(columns)], strict=True)
    clear = {feature.name: feature.decode(value) for feature, value in features if value is not None}
    # Behind the columns stands which numbers were missing, where the task has indicators of that.
    flagged = [feature for feature in columns if getattr(feature, "indicator", False)]
    for feature, missing in zip(flagged, kept["clear"][len(columns) :], strict=True):
        if missing:
            clear[feature.name] = None
    return {**vector["record"], **clear}


def test_page_and_python_draw_the_same(node, vectors_file):
    stored = json.loads(gzip.decompress(vectors_file.read_bytes()))
    chosen = [vector for i, vector in enumerate(stored["vectors"]) if i % 11 == 0]
    pictures = node("holder_picture.mjs", {"tasks": stored["tasks"], "vectors": chosen})
    tasks = [read_task(task["text"]) for task in stored["tasks"]]
    kinds = set()
    for vector, page in zip(chosen, pictures, strict=True):
        task = tasks[vector["task"]]
        name = stored["tasks"][vector["task"]]["name"]
        ours = picture_of(task, bytes.fromhex(vector["body"]), record_of(task, vector), vector.get("mask"))
        assert [panel.kind for panel in ours] == [panel["kind"] for panel in page], name
        for panel, shown in zip(ours, page, strict=True):
            if not panel.bars:
                continue  # a law that is only added up on the page
            kinds.add((task.kind, panel.kind))
            assert [(b.what, b.sent, b.count) for b in panel.bars] == [
                (b["what"], b["sent"], b["count"]) for b in shown["bars"]
            ], name
            for bar, other in zip(panel.bars, shown["bars"], strict=True):
                assert other["chance"] == pytest.approx(bar.chance, rel=1e-7, abs=1e-9), name
                assert (other["low"], other["high"]) == pytest.approx((bar.low, bar.high), rel=1e-9, abs=1e-9), name
    assert {kind for kind, _ in kinds} == {task.kind for task in tasks}
