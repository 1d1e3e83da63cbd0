"""The smooth half of corrections: a process that public records leave open, and bumps that stand for it."""

import base64
from dataclasses import replace

import numpy as np
import pytest

from hedgerow.errors import FormatError
from hedgerow.portable import Linear, PortableModel, Trees
from hedgerow.portable.bumps import Matern, matern, squared_distances
from hedgerow.tasks.registry import read_task
from hedgerow.tasks.sums.examples import example_task
from hedgerow.tasks.sums.learn import learn
from hedgerow.tasks.sums.process import CENTRES, Process, correlation
from hedgerow.tasks.sums.steps import Step, corrections, smooth_part
from hedgerow.tasks.sums.told import Leaves, Told

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(60, 2)).astype(np.float32)


def posterior(rows, public, noise):
    """Return the covariance of a process of which ``public`` knows a part, by the textbook formula."""

    def k(A, B):
        return matern(squared_distances(np.float64(A), np.float64(B)))

    seen = k(public, public) + noise * np.eye(len(public))
    return k(rows, rows) - k(rows, public) @ np.linalg.solve(seen, k(public, rows))


def test_the_covariance_is_that_of_a_process_that_public_rows_know_in_part():
    A, _ = Process(2, POINTS, 20, 0.1).features()
    expected = posterior(POINTS, POINTS[:20], 0.1)
    expected /= np.mean(np.diag(expected))
    assert np.allclose(A @ A.T, expected, atol=1e-4)  # jitter is 1e-6 of a variance that public rows have left .2 of


def test_bumps_are_the_process_at_rows_and_elsewhere():
    """Also at rows that are no centres, where the process is interpolated."""
    rows = np.vstack([np.resize(POINTS, (CENTRES, 2)) + RNG.normal(size=(CENTRES, 2)), [[0.3, 0.3], [50.0, 50.0]]])
    process = Process(2, rows, 20, 0.1)
    A, B = process.features()
    assert A.shape == (CENTRES + 2, CENTRES) and B.shape == (CENTRES, CENTRES)
    assert np.allclose(A, correlation(process.points, process.centres) @ B, atol=1e-7)
    far = float(A[-1] @ A[-1])
    assert far < 1e-12, "no centre is near: nothing can be learnt of it"
    z = RNG.normal(size=CENTRES)
    assert np.allclose(process.predict(B @ z), A @ z, atol=1e-7)


def test_public_rows_that_know_all_leave_nothing_open_there():
    variance = np.sum(Process(2, POINTS, 60, 1e-9).features()[0] ** 2, axis=1)
    assert np.isfinite(variance).all()
    half = np.sum(Process(2, POINTS, 30, 1e-6).features()[0] ** 2, axis=1)
    assert half[:30].max() < 0.01 * half[30:].mean()


def test_equal_rows_are_no_obstacle():
    A, B = Process(1, np.zeros((5, 1)), 5, 0.5).features()
    assert np.isfinite(A).all() and np.isfinite(B).all() and np.isclose(np.mean(np.sum(A**2, axis=1)), 1.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": 0},
        {"columns": 2},
        {"points": np.zeros((0, 1))},
        {"points": np.array([[np.nan]])},
        {"points": np.array([[1e39]])},
        {"n_public": 0},
        {"n_public": 4},
        {"noise": 0.0},
        {"noise": 1.5},
        {"noise": float("nan")},
    ],
)
def test_a_process_that_cannot_be_is_refused(changes):
    good = {"columns": 1, "points": np.zeros((3, 1)), "n_public": 3, "noise": 0.5}
    Process(**good)
    with pytest.raises(FormatError):
        Process(**{**good, **changes})


def test_bytes_that_are_no_rows_are_refused():
    data = Process(2, POINTS[:3], 3, 0.5).to_dict()
    assert np.array_equal(Process.from_dict(data).points, POINTS[:3])
    with pytest.raises(FormatError, match="rows of its columns"):
        Process.from_dict({**data, "points": base64.b64encode(b"1234").decode()})


# Steps.

STUMP = Trees(np.array([3]), np.array([0, -1, -1]), np.array([0.5]), np.array([-1.0, 1.0]), single=False)


def bumps(*weights):
    return Matern(np.zeros((len(weights), 1)), np.array(weights), [0.0], [1.0])


def test_bumps_are_added_before_the_cut_and_cancelled_parts_count_as_nothing():
    rows = np.array([[0.0], [1.0]])
    found = corrections([Step(STUMP, 1.5, smooth_part(bumps(1.0)))], rows, np.zeros(2))[:, -1]
    assert np.allclose(found, [0.0, 1.5])
    broken = Step(STUMP, 1.5, smooth_part(bumps(1e308, 1e308, -1e308, -1e308)))
    said = broken.added(corrections((), rows, np.zeros(2)))
    assert np.isfinite(said).all()
    far_down = replace(STUMP, value=np.array([-1.7e308, 1.0]))
    lost = Step(far_down, 1.5, smooth_part(bumps(1.7e308, 1.7e308)))
    assert np.isfinite(lost.added(corrections((), rows, np.zeros(2)))).all()


@pytest.mark.parametrize(
    "smooth",
    [
        PortableModel(1, [0], [-1], 1.0, (bumps(1.0),)),
        PortableModel(1, [0], [-1], 0.0, (bumps(1.0), bumps(1.0))),
        PortableModel(1, [0], [-1], 0.0, (Linear([1.0]),)),
        PortableModel(1, [0], [-1], 0.0, ()),
        PortableModel(1, [0], [2], 0.0, (bumps(1.0),)),
    ],
)
def test_anything_but_one_part_of_bumps_is_refused(smooth):
    with pytest.raises(FormatError, match="smooth"):
        Step(STUMP, 1.0, smooth)


def test_a_task_whose_bumps_do_not_fit_is_refused():
    task = example_task()
    assert read_task(task.to_json()) == task
    with pytest.raises(FormatError, match="process"):
        replace(task, process=Process(1, task.process.points[:2], 2, 0.1))
    with pytest.raises(FormatError, match="process"):
        replace(task, steps=(Step(task.steps[0].trees, 0.4),))
    wide = Matern(np.zeros((3, 2)), np.zeros(3), [0.0, 0.0], [1.0, 1.0])
    with pytest.raises(FormatError, match="bumps"):
        replace(task, steps=(replace(task.steps[0], smooth=smooth_part(wide)),), process=None)


# Learning.


def test_a_slope_is_learnt_better_with_bumps_than_by_a_forest_alone():
    """One tree of four leaves is asked; errors are a line. The forest knows four steps, the process a slope."""
    rng = np.random.default_rng(1)
    x = np.linspace(-1, 1, 200)
    leaf = np.minimum((2 * (x + 1)).astype(int), 3)[:, None]
    n, radius = 40_000, 2.0
    mean = np.array([x[leaf[:, 0] == j].mean() for j in range(4)])
    up = n / 4 * (1 + mean / radius) / 2
    down = n / 4 - up
    noise = 100.0
    sums = [part + rng.normal(size=4) * np.sqrt(noise) for part in (up, down)]
    told = Told(*sums, Leaves(leaf, (4,)), n, noise, radius, np.zeros(200), 1.0)
    forest = Leaves(leaf, (4,))
    process = Process(1, x[:, None], 1, 1.0)
    alone = learn([told], forest, 1.0, 10**6)
    both = learn([told], forest, 1.0, 10**6, process=process)
    assert len(alone.weights) == 0 and len(both.weights) == 200
    steps = alone.values[leaf[:, 0]]
    smooth = both.values[leaf[:, 0]] + process.predict(both.weights)
    assert np.mean((smooth - x) ** 2) < 0.6 * np.mean((steps - x) ** 2), "half of the prior is smooth"
    assert np.allclose([smooth[leaf[:, 0] == j].mean() for j in range(4)], mean, atol=0.05), "sums are told as before"
