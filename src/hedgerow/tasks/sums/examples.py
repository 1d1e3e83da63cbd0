"""A small sums task: two trees of two leaves each, eight bits of which two are set, after a stump and bumps."""

from __future__ import annotations

import numpy as np

from hedgerow.aggregate.servers import Servers
from hedgerow.portable import Trees
from hedgerow.portable.bumps import Matern
from hedgerow.tasks.assisted.examples import RADIUS, RESIDUALS
from hedgerow.tasks.examples import SPACE, public_model
from hedgerow.tasks.sums.process import Process
from hedgerow.tasks.sums.steps import Step, smooth_part
from hedgerow.tasks.sums.task import SumsTask

__all__ = ["example_task"]


def example_task(epsilon: float = 1.0, servers: Servers | None = None, min_batch_size: int = 1) -> SumsTask:
    """Return the task: a cut of the feature, and one of the public prediction, after one step.

    >>> task = example_task()
    >>> task.length, task.weight, task.variance > 0
    (8, 2, True)
    >>> task.set_bits_of({"x": 0.2, "y": 1.0}, randomness=1).tolist()
    [1, 5]
    """
    feature = np.array([0, -1, -1, 1, -1, -1])
    trees = Trees(np.array([3, 3]), feature, np.array([0.5, 0.4]), np.full(4, 0.5), single=False)
    stump = Trees(np.array([3]), np.array([0, -1, -1]), np.array([0.5]), np.array([-0.1, 0.1]), single=False)
    rows = np.array([[-1.0], [0.0], [1.0]])
    bumps = Matern(rows, np.array([0.02, 0.0, -0.03]), np.array([0.5]), np.array([0.4]))
    step = Step(stump, 0.4, smooth_part(bumps))
    return SumsTask(
        epsilon,
        1e-6,
        (0.0, 1.0),
        SPACE,
        public_model(1),
        (step,),
        trees,
        RADIUS,
        (),
        (1000, 100),
        0,
        RESIDUALS,
        np.array([[0, 0], [0, 1], [1, 1]]),
        np.array([[0], [0], [1]]),
        min_batch_size,
        servers,
        process=Process(1, rows, 2, 0.1),
    )
