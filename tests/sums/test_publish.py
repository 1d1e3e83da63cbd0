"""Tasks of a chain as doors design them: the chain's own, group by group."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.sums.design import Chain
from hedgerow.sums.publish import sums
from hedgerow.tasks.designs import Facts
from tests.aggregate.parties import servers

N = 6000


@pytest.fixture(scope="module")
def facts():
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    y = X[:, 0] + (X[:, 1] > 0.5)
    return Facts(4.0, "y", (0.0, 2.0), X=X, y=y, feature_bounds=[(0, 0), (1, 1)])


def chain(facts, **more):
    known = {"epsilon": 4.0, "delta": 1e-6, "label_bounds": (0.0, 2.0), "feature_bounds": [(0, 0), (1, 1)]}
    return Chain.of(facts.X, facts.y, **known, n_holders=N, public_model=Ridge(), **more)


def test_the_first_group_and_those_after_it_are_the_chains(facts, tmp_path):
    (tmp_path / "servers.json").write_text(servers().to_json())
    options = {"n_holders": N, "public_model": Ridge(), "servers": str(tmp_path / "servers.json")}
    first, about = sums(facts, **options)
    whole = chain(facts, servers=servers())
    assert first == whole.first() and first.servers == servers() and first.protocol is not None
    assert about.facts["group"] == 1 and about.facts["n_group"] == first.sizes[0]
    model = first.model(first.simulate(facts.X.repeat(10, axis=0), facts.y.repeat(10), 1))
    (tmp_path / "model.json").write_text(model.to_json())
    second, _ = sums(facts, after=str(tmp_path / "model.json"), **options)
    assert second.group == 1 and second == whole.after(model)
    wide = replace(facts, label_bounds=(0.0, 3.0))
    noisy = replace(facts, epsilon=3.999)  # groups are as large, and what earlier ones told has another noise
    for known, other in ((facts, {"n_holders": 90_000}), (facts, {"delta": 1.001e-6}), (wide, {}), (noisy, {})):
        with pytest.raises(HedgerowError, match="another chain"):
            sums(known, after=str(tmp_path / "model.json"), **{**options, **other})


def test_files_that_are_something_else_are_named(facts, tmp_path):
    (tmp_path / "x.json").write_text("{}")
    for name in ("servers", "after"):
        with pytest.raises(FormatError, match=r"x\.json"):
            sums(facts, n_holders=N, public_model=Ridge(), **{name: str(tmp_path / "x.json")})
