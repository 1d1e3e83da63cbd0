"""The holder's side of label privacy: a task, reports, a data set of noisy labels."""

import json

import numpy as np
import pytest

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.label import GaussianMechanism, LaplaceMechanism, RPWithPrior, RROnBins, UnbiasedRandomizer
from hedgerow.tasks.labels.task import LabelReports, LabelTask

TASKS = [
    LaplaceMechanism(1.0, label_bounds=(0, 80)).task,
    GaussianMechanism(1.0, delta=1e-3, label_bounds=(0, 80)).task,
    RPWithPrior(1.0, label_bounds=(0, 80), prior=[3, 2, 1]).task,
    RROnBins(1.0, label_bounds=(0, 80), prior=[3, 2, 1]).task,
    UnbiasedRandomizer(1.0, label_bounds=(0, 80), prior=[3, 2, 1], n_steps=6, n_outputs=8).task,
]
tasks = pytest.mark.parametrize("task", TASKS, ids=lambda t: t.mechanism.kind)


@tasks
def test_task_and_reports_survive_the_wire(task):
    copy = LabelTask.from_json(task.to_json())
    assert copy == task and copy.id == task.id
    y = np.linspace(-5, 90, 50)
    reports = task.privatize(np.arange(50), y, randomness=1)
    again = LabelReports.from_bytes(copy, reports.to_bytes())
    records, labels = again.dataset(50)
    assert records.tolist() == list(range(50)) and again.simulation and again.guarantee.simulation
    assert labels.tolist() == task.randomize(y, 1).tolist()


@tasks
def test_a_changed_task_is_refused(task):
    data = json.loads(task.to_json())
    with pytest.raises(FormatError, match="id"):
        LabelTask.from_json(json.dumps({**data, "title": "other"}))
    with pytest.raises(FormatError):
        LabelTask.from_json(json.dumps({**data, "version": 3}))
    with pytest.raises(FormatError, match="unknown fields"):
        LabelTask.from_json(json.dumps({**data, "extra": 1}))


def test_a_task_whose_noise_breaks_its_claim_is_refused():
    data = json.loads(TASKS[-1].to_json())
    data["mechanism"]["epsilon"] = 0.5
    with pytest.raises(FormatError, match="differentially private"):
        LabelTask.from_json(json.dumps(data))


def test_foreign_and_broken_bytes_are_refused():
    task = TASKS[0]
    data = task.privatize([0, 1], [1.0, 2.0], randomness=0).to_bytes()
    for bad in (data[:-1], data + b"x", b"", b"HDGX" + data[4:], data[:60]):
        with pytest.raises(FormatError):
            LabelReports.from_bytes(task, bad)
    with pytest.raises(FormatError, match="another task"):
        LabelReports.from_bytes(TASKS[2], data)
    forged = bytearray(data)
    forged[-4:] = (10**9).to_bytes(4, "little")
    with pytest.raises(FormatError, match="no holder"):
        LabelReports.from_bytes(task, bytes(forged))


def test_a_report_sent_twice_counts_once_and_two_reports_are_refused():
    task = TASKS[0]
    one = task.privatize([3, 1], [5.0, 6.0], randomness=0)
    records, _ = (one + one).dataset()
    assert records.tolist() == [1, 3]
    with pytest.raises(HedgerowError, match="two different reports"):
        (one + task.privatize([3], [5.0], randomness=9)).dataset()
    with pytest.raises(HedgerowError, match="names record 3"):
        one.dataset(2)
    with pytest.raises(HedgerowError, match="'records'"):
        task.privatize([-1], [1.0])
