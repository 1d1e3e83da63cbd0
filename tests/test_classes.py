"""The list of classes is declared, or read off the labels by name; every label has a class."""

import numpy as np
import pandas as pd
import pytest

from hedgerow.classes import DECLARED, OBSERVED, class_codes, class_note, read_classes
from hedgerow.errors import BoundsError


def test_a_list_is_required_and_the_error_says_what_to_pass_and_why():
    with pytest.raises(BoundsError, match=r"'classes' is required.*classes=\[...\].*'observed'.*rare class"):
        read_classes(None, ["a", "Pitcairn"])
    assert read_classes(None, ["Pitcairn"], ["b", "a"]).tolist() == ["a", "b"]  # public labels
    assert read_classes("public", ["Pitcairn"], ["b", "a"]).tolist() == ["a", "b"]


@pytest.mark.parametrize("wrong", ["all", "public", [], [["a"]], ["a", "a"], [1, 1.0], ["a", None], 3], ids=repr)
def test_other_lists_are_refused(wrong):
    with pytest.raises(BoundsError, match="'classes'"):
        read_classes(wrong, ["a"])


def test_only_the_named_option_reads_the_labels():
    assert read_classes("observed", [3, 1, 3, None, float("nan")]).tolist() == [1, 3]
    assert read_classes("observed", np.array(["b", "a"], dtype=object)).tolist() == ["a", "b"]
    assert read_classes("observed", np.array([2.0, np.inf, np.nan, 1.0])).tolist() == [1.0, 2.0]
    assert read_classes("observed", [1, "a"]).tolist() == [1, "a"]  # cannot be compared: by name
    assert class_note("observed") == OBSERVED and class_note(["a"]) == class_note(None) == DECLARED


@pytest.mark.parametrize(
    ("classes", "y", "codes"),
    [
        (["no", "yes"], ["yes", "no", "perhaps", None, 7, {"a": 1}, [2]], [1, 0, 0, 0, 0, 0, 0]),
        (["no", "yes"], np.array(["yes", "no", "perhaps"]), [1, 0, 0]),
        (["no", "yes"], pd.Series(["yes", None, "no"], dtype="category"), [1, 0, 0]),
        (["no", "yes"], pd.Series(["yes", pd.NA], dtype="string"), [1, 0]),
        ([3, 1], np.array([1.0, 3.0, np.nan, np.inf, 2.0]), [1, 0, 0, 0, 0]),
        ([3, 1], ["1", 1, 1.0, "1.5", 10**400], [1, 1, 1, 0, 0]),
        (np.array([False, True]), np.array([True, False]), [1, 0]),
        (["False", "True"], np.array([True, False]), [1, 0]),
        ([0, 1], [True, False, "True"], [1, 0, 1]),
        (["1", "2"], np.array([2, 1, 5]), [1, 0, 0]),
    ],
)
def test_every_label_has_a_class(classes, y, codes):
    """Missing labels and those of other classes count as the first."""
    assert class_codes(classes, y).tolist() == codes
