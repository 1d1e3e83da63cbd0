import gc
import os
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import settings

from hedgerow.randomness import Randomness
from tests.small import few_corrections, few_public_trees

# The suite draws the same examples everywhere: what passes here passes on a clean clone. `make fuzz` draws new ones.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("fuzz", max_examples=1_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


def pytest_sessionstart():
    gc.disable()


def pytest_collection_finish():
    """Thousands of tests and their modules stay to the end: garbage need not be looked for among them."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def home(tmp_path_factory):
    """No test writes into the home of who runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDGEROW_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(autouse=True)
def fitted_stacks(request, monkeypatch, _stacks):
    """Fit a stack of public models once for the same records and seed; where fitting itself is tested, each time."""
    stack = sys.modules.get("hedgerow.public.stack")  # whoever does not load it fits none
    if stack is None or request.path.parent.name == "public":
        return
    fit = stack._fit_stack

    def remembered(D, y, seed):
        key = (D.shape, D.tobytes(), y.tobytes(), seed, stack.members)
        if key not in _stacks:
            _stacks[key] = fit(D, y, seed)
        return _stacks[key]

    monkeypatch.setattr(stack, "_fit_stack", remembered)


@pytest.fixture(scope="session")
def _stacks():
    return {}


@pytest.fixture
def small_models(monkeypatch):
    """Public models of few trees, for tests of what carries them."""
    few_public_trees(monkeypatch)


@pytest.fixture
def small_learners(monkeypatch):
    """Learners of corrections with few trees, for tests of what carries corrections, not of how good they are."""
    few_corrections(monkeypatch)


@pytest.fixture
def same_law():
    """Chi-square test of outputs against exact probabilities, at a false-alarm rate of 1e-7 a call."""

    def check(outputs, law):
        from scipy.special import chdtrc

        n, counts = len(outputs), Counter(outputs)
        assert set(counts) <= set(law), f"impossible outputs: {sorted(set(counts) - set(law))[:5]}"
        assert abs(float(sum(law.values())) - 1) < 1e-9
        # Cells that expect fewer than 10 are merged, smallest first: the approximation needs full cells.
        observed, expected, o, e = [], [], 0, 0.0
        for output in sorted(law, key=lambda k: law[k]):
            o, e = o + counts[output], e + n * float(law[output])
            if e >= 10:
                observed.append(o)
                expected.append(e)
                o, e = 0, 0.0
        observed[-1] += o
        expected[-1] += e
        observed, expected = np.array(observed), np.array(expected)
        if len(observed) == 1:
            return
        statistic = float(((observed - expected) ** 2 / expected).sum())
        assert chdtrc(len(observed) - 1, statistic) > 1e-7

    return check


class Script(Randomness):
    """A source that hands out given bytes, once, and fails when asked for more."""

    def __init__(self, *parts):
        super().__init__()
        self.left = b"".join(parts)

    def bytes(self, n):
        assert n <= len(self.left), f"asked for {n} bytes, {len(self.left)} are left"
        taken, self.left = self.left[:n], self.left[n:]
        return taken


@pytest.fixture
def script():
    return Script


@pytest.fixture
def probabilities():
    """A Law as a dict from output to its probability, rounded to the nearest float."""

    def convert(law):
        total = law.total
        return {o: w / total for o, w in zip(law.outputs, law.weights, strict=True)}

    return convert
