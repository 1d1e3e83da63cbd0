"""Every planted fault still fits the code; that each is caught is shown by ``make mutants``."""

import pytest

from mutants.check import _verdict
from mutants.fault import Fault, MutantError
from mutants.faults import all_faults
from mutants.tree import ROOT


@pytest.mark.parametrize("fault", all_faults(), ids=lambda f: f.name)
def test_fault_can_be_planted(fault):
    assert fault.problems(ROOT) == []


def test_names_are_unique():
    names = [fault.name for fault in all_faults()]
    assert len(set(names)) == len(names)


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "code.py").write_text("noise = 1\n")
    (tmp_path / "test_code.py").write_text("def test_noise(): ...\n")
    return tmp_path


def fault(**changes):
    parts = {"before": "noise = 1", "after": "noise = 0", "caught_by": ("test_code.py::test_noise",)}
    return Fault(name="no noise", path="code.py", **{**parts, **changes})


def test_a_fault_is_planted(tree):
    assert fault().problems(tree) == []
    fault().plant(tree)
    assert (tree / "code.py").read_text() == "noise = 0\n"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"before": "noise = 2"}, "occurs 0 times"),
        ({"after": "noise = 1"}, "the same text"),
        ({"caught_by": ()}, "empty"),
        ({"caught_by": ("test_code.py::test_sound",)}, "has no 'test_sound'"),
        ({"caught_by": ("test_other.py",)}, "does not exist"),
        ({"caught_by": ("audit",)}, "named by"),
        ({"kernels": "fortran"}, "'kernels' must be"),
    ],
)
def test_a_badly_written_fault_is_named(tree, changes, words):
    (problem,) = fault(**changes).problems(tree)
    assert words in str(problem)


@pytest.mark.parametrize("after", ["noise = = 0", "noise = ("])
def test_a_fault_that_is_no_python_is_not_planted(tree, after):
    with pytest.raises(MutantError, match="no Python"):
        fault(after=after).plant(tree)
    assert (tree / "code.py").read_text() == "noise = 1\n"


def cases(*bodies):
    from xml.etree import ElementTree

    return [ElementTree.fromstring(f'<testcase name="t{i}">{body}</testcase>') for i, body in enumerate(bodies)]


def test_only_a_failed_assertion_is_a_catch():
    assert _verdict(cases("", '<failure message="assert 1 == 2"/>'), "") == ("t1",)
    assert _verdict(cases("", ""), "") == ()
    with pytest.raises(MutantError, match="error outside"):
        _verdict(cases('<error message="collection failure"/>'), "")
    with pytest.raises(MutantError, match="did not fail by what it asserts"):
        _verdict(cases('<failure message="ImportError: no bernoulli"/>'), "")
    with pytest.raises(MutantError, match="skipped"):
        _verdict(cases("<skipped/>"), "")
    with pytest.raises(MutantError, match="skipped"):
        _verdict([], "")
