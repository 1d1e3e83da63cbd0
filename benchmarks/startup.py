"""Start-up: importing the library, and answering a task in a process that has just begun."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from benchmarks.timing import Row, fresh
from hedgerow import LocalTask

_IMPORT = "import sys, time; t = time.process_time(); exec(sys.argv[1]); print(time.process_time() - t)"
_ANSWER = """
import sys, time
from hedgerow import LocalTask, privatize
task = LocalTask.from_json(open(sys.argv[1]).read())
privatize(task, [0.5] * 10, 0.5).to_bytes()
print(time.process_time())
"""


def run(quick: bool) -> list[Row]:
    """Measure start-up."""
    rounds = 5 if quick else 15
    lines = {
        "numpy": "import numpy",
        "hedgerow": "import hedgerow",
        "holder": "from hedgerow import LocalTask, privatize",
    }
    seconds: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(rounds):
        for name, line in lines.items():
            seconds[name].append(float(fresh(_IMPORT, line)))
    median = {name: statistics.median(values) for name, values in seconds.items()}
    return [
        Row("import hedgerow / import numpy", median["hedgerow"] / median["numpy"], "x", 1.3),
        Row("import of the holder's side / import numpy", median["holder"] / median["numpy"], "x"),
        Row("privatise one record in a cold process, 1,024 leaves", _cold(rounds), "s", 0.5),
    ]


def _cold(rounds: int) -> float:
    task = LocalTask.design(
        epsilon=2.0,
        label_bounds=(0, 1),
        features=10,
        feature_bounds=(0, 1),
        max_depth=10,
        response="bits",
        cell_share=0.5,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "task.json"
        path.write_text(task.to_json())
        return statistics.median(float(fresh(_ANSWER, str(path))) for _ in range(rounds))
