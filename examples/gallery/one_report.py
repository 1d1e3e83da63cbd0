"""What leaves a device: one report, and what it can and cannot say."""

import math

from hedgerow import LocalTask, privatize

task = LocalTask.design(
    epsilon=1.0, label_bounds=(0, 80), features=["age"], feature_bounds=(0, 99), max_depth=2, response="k_ary"
)
print(task.partition.export_text())

report = privatize(task, {"age": 41, "y": 12.5}, randomness=3)  # a seed: for this page only
data = report.to_bytes()
print(f"sent: {data.hex()} ({len(data)} bytes)")

cell = int.from_bytes(report.payload, "little")
leaf, end = divmod(cell, 2)
print(f"it names leaf {leaf} with the label at {task.grid.values(end):g}; the truth is leaf 1 and 12.5")
factor = math.ceil(100 * math.exp(task.epsilon)) / 100  # a bound is never rounded down
print(f"whatever the truth, no report is more than {factor} times as likely as it would be under another")
