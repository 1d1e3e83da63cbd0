"""Groups of private values that are told with an error: what is sent, what is refused, what is learnt."""

from dataclasses import replace

import numpy as np
import pytest

from hedgerow.errors import FormatError
from hedgerow.export import formula_of
from hedgerow.export.check import awkward_records, check_program
from hedgerow.export.program import program_of
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.mechanisms.unbiased import MatrixResponse, k_ary_levels
from hedgerow.partition.tree import Partition
from hedgerow.randomness import SeededRandomness
from hedgerow.semi.symbols import Symbols, symbol_scale
from hedgerow.space import FeatureSpace
from hedgerow.tasks.models import Model
from hedgerow.tasks.partly_public.symbols import k_ary_symbols
from hedgerow.tasks.registry import read_task
from tests.semi.test_residual_task import SPACE, task
from tests.small import few_corrections

N = 6000
CELLS = Partition(SPACE, [0, -1, -1], [5.0, 0, 0], [1, 1, 2], [-1] * 3, [])  # poor and rich


def asked(epsilon=4.0, n_levels=3, **changes):
    """Return a task that tells which half of incomes a holder is in, with the error."""
    made = task(mechanism=k_ary_levels(epsilon, n_levels), epsilon=epsilon)
    return replace(made, **{"cells": CELLS, "mechanism": k_ary_symbols(epsilon, 2, n_levels), **changes})


def records(seed=0, effect=0.8):
    """Return records whose label strays from the income with age, the other way round for the rich."""
    rng = np.random.default_rng(seed)
    age, sex, income = rng.uniform(0, 99, N), rng.integers(0, 2, N), rng.uniform(2, 8, N)
    turned = np.where((age > 50) == (income > 5), effect, -effect)
    return np.column_stack([income, age, sex.astype(float)]), income + turned + rng.normal(0, 0.4, N)


def sent(one, X, y, seed=0):
    drawn = one.draw(one.space.encode(X), one.labels(y), SeededRandomness(seed))
    return one.batch(np.zeros((len(y), 12), dtype=np.uint8), drawn.payloads, True)


@pytest.fixture(scope="module", autouse=True)
def few_trees():
    with pytest.MonkeyPatch.context() as patch:
        few_corrections(patch)
        yield


@pytest.fixture(scope="module")
def model():
    one = asked()
    return one.totals().add(sent(one, *records())).model()


def test_a_symbol_names_group_and_level():
    """Without noise the code is the symbol: the group of the income times the number of levels, and the level."""
    one = asked(60.0)
    X = [[3.0, 40.0, "M"], [7.0, 40.0, "M"], [5.0, 40.0, "M"]]
    codes = one.encoding.read(one.privatize(X, [1.5, 8.5, 5.0], randomness=0).payloads)[0]
    assert codes.tolist() == [0, 5, 4]
    assert one.n_cells == 2 and one.grid.n_steps == 2 and one.mechanism.n_inputs == 6


def test_the_claim_covers_the_symbol():
    claim = asked().guarantee
    assert claim.epsilon == 4.0 and claim.protects == "private features and label"
    assert any("one randomised symbol" in note for note in claim.notes)


@pytest.mark.parametrize(
    "changes",
    [
        {"mechanism": k_ary_levels(4.0, 6)},  # its outputs stand for six levels
        {"mechanism": k_ary_symbols(4.0, 1, 5)},
        {"mechanism": k_ary_symbols(4.0, 2, 1)},
        {"mechanism": LaplaceNoise(4.0, 5)},
        {"mechanism": MatrixResponse(4.0, ((1 << 62,) * 4,) * 4, (0.0, 1.0, 0.0, 1.0))},
        {"cells": Partition(SPACE, [-1], [0], [0], [-1], [])},
        {"cells": Partition(FeatureSpace.from_bounds((0, 1), 1), [0, -1, -1], [0.5, 0, 0], [1, 1, 2], [-1] * 3, [])},
    ],
)
def test_what_is_no_response_among_groups_and_levels_is_refused(changes):
    with pytest.raises(FormatError):
        asked(**changes)


def test_json_and_words():
    one = asked()
    assert read_task(one.to_json()) == one
    words = " ".join(one.odds())
    assert "income < 5" in words and "one of 6 symbols" in words and "91.6%" in words
    lines = one.data(one.totals().add(sent(one, *(part[:50] for part in records()))))[1].decode().splitlines()
    assert lines[0] == 'income,age,sex,"group, noisy","y minus prediction, noisy"'
    assert all("income < 5" in line or "income >= 5" in line for line in lines[1:])


def test_sums_over_symbols_are_without_bias():
    """A and B estimate E[error f] and E[f^2] without shares; 5 standard errors have a chance below 1e-6."""
    one = asked(1.0, 2)
    X, y = records(1)
    codes = one.encoding.read(sent(one, X, y).payloads)[0]
    f = np.column_stack([np.sin(X[:, 1]), 0.5 + np.cos(X[:, 1])])
    A, B = Symbols(one, codes).moments(f)
    group = (X[:, 0] >= 5).astype(int)
    own = f[np.arange(N), group]
    symbols = Symbols(one, codes)
    low, high = symbols.values
    share = (np.clip(y - X[:, 0], -1.5, 1.5) + 1.5) / 3
    read = low + (high - low) * share
    for found, true in ((A, read * own), (B, own**2)):
        assert abs(found.mean() - true.mean()) < 5 * (found - true).std() / np.sqrt(N)


def test_corrections_depend_on_the_private_group(model):
    X = [[3.0, 20.0, "F"], [3.0, 80.0, "F"], [7.0, 20.0, "F"], [7.0, 80.0, "F"]]
    assert np.abs(model.predict(X) - [3.8, 2.2, 6.2, 7.8]).max() < 0.35
    assert "the group of income" in str(model.explain())
    copy = Model.from_json(model.to_json())
    assert copy == model and copy.predict(X).tolist() == model.predict(X).tolist()


def test_what_is_exported_predicts_the_same(model):
    formula = formula_of(model)
    check = check_program(program_of(formula), model, awkward_records(formula, 200))
    assert check.difference < 1e-9


def test_noise_alone_corrects_nothing():
    one = asked(1.0)
    X, _ = records(3)
    y = X[:, 0] + np.random.default_rng(3).normal(0, 1, N)
    found = one.totals().add(sent(one, X, y)).model()
    assert np.mean((found.predict(X) - X[:, 0]) ** 2) < 0.02


def test_a_correction_that_harms_is_not_used():
    rng = np.random.default_rng(0)
    assert symbol_scale(rng.normal(-0.1, 1, 9000), np.ones(9000), 1.0) < 0.02
    assert symbol_scale(rng.normal(1.0, 1, 9000), np.ones(9000), 1.0) == pytest.approx(1.0, abs=0.03)
