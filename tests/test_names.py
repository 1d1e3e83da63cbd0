"""The names that ``hedgerow`` offers."""

import pytest

import hedgerow
import hedgerow.baselines

FURTHER = sorted(set(hedgerow._HOME_OF) - set(hedgerow.__all__))


def test_the_top_level_lists_what_users_need():
    assert set(dir(hedgerow)) == set(hedgerow.__all__)
    assert len(hedgerow.__all__) <= 40
    assert not set(hedgerow.__all__) & set(hedgerow.baselines.__all__)


@pytest.mark.parametrize("name", [*hedgerow.__all__, *FURTHER])
def test_every_name_can_be_imported(name):
    assert getattr(hedgerow, name) is not None


def test_every_baseline_can_be_imported_from_the_top_level():
    assert set(hedgerow.baselines.__all__) == set(hedgerow._FURTHER["hedgerow.baselines"])


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'KernelRidge'"):
        _ = hedgerow.KernelRidge
