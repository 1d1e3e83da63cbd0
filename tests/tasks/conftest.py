import numpy as np
import pytest

from hedgerow.grid import LabelGrid
from hedgerow.partition import Partition
from hedgerow.space import FeatureSpace
from hedgerow.tasks import LocalTask
from hedgerow.tasks.tree.tuning import PAPER


@pytest.fixture
def make_task():
    """Tasks over one feature x in [0, 1], cut into ``leaves`` equal cells: leaf j is x in [j/L, (j+1)/L)."""

    def make(response="bits", leaves=2, *, epsilon=2.0, steps=2, bounds=(0.0, 10.0), **options):
        nodes = 2 * leaves - 1
        inner = np.arange(nodes) % 2 == 0
        inner[-1] = False
        cut = np.where(inner, (np.arange(nodes) // 2 + 1) / leaves, 0.0)
        left = np.where(inner, np.arange(nodes) + 1, np.arange(nodes))
        space = FeatureSpace.from_bounds((0, 1), ["x"])
        tree = Partition(space, np.where(inner, 0, -1), cut, left, np.full(nodes, -1), [])
        return LocalTask(epsilon, LabelGrid(*bounds, steps), tree, response, **options)

    return make


@pytest.fixture
def local_task():
    """Tasks over two features in [0, 1], without public records."""

    def make(title="", **options):
        chosen = {"epsilon": 2.0, "max_depth": 3, "response": "unary", **options}
        return LocalTask.design(
            label_bounds=(0, 1), features=2, feature_bounds=(0, 1), title=title, **{**PAPER, **chosen}
        )

    return make
