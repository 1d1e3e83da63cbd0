"""The comparison before anything is written: it looks where mistakes are, and refuses them."""

from dataclasses import replace

import numpy as np
import pytest

from hedgerow import LPDTRegressor
from hedgerow.errors import HedgerowError
from hedgerow.export import formula_of
from hedgerow.export.check import awkward_records, check_onnx, check_program
from hedgerow.export.onnx import onnx_model
from hedgerow.export.program import program_of
from hedgerow.formula import NumberInput


@pytest.fixture(scope="module")
def tree():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    return LPDTRegressor(8.0, label_bounds=(0, 1), max_depth=3, random_state=0).fit(
        X, X[:, 0], X_public=X, y_public=X[:, 0]
    )


def refused(formula, tree):
    records = awkward_records(formula_of(tree), 2000).astype(float)
    with pytest.raises(HedgerowError, match="differs from predict by"):
        check_program(program_of(formula), tree, records)
    with pytest.raises(HedgerowError, match="differs from predict by"):
        check_onnx(formula, onnx_model(formula), tree, records)


def test_records_lie_on_thresholds_beside_them_beyond_ranges_and_are_missing(tree):
    formula = formula_of(tree)
    X = awkward_records(formula, 2000).astype(float)
    cut = formula.value.data["threshold"][0]
    column = X[:, formula.value.data["feature"][0]]
    for value in (cut, np.nextafter(cut, 1), np.nextafter(cut, 0)):
        assert (column == value).any()
    assert np.isnan(X).any() and (X > 1).any() and (X < 0).any()


def test_a_threshold_that_is_one_bit_off_is_refused(tree):
    formula = formula_of(tree)
    moved = formula.value.data["threshold"].copy()
    moved[0] = np.nextafter(moved[0], 1)
    data = {**formula.value.data, "threshold": moved}
    refused(replace(formula, value=replace(formula.value, data=data)), tree)


def test_thresholds_in_single_precision_are_refused(tree):
    formula = formula_of(tree)
    moved = (formula.value.data["threshold"] + 0.01).astype(np.float32).astype(float)
    refused(replace(formula, value=replace(formula.value, data={**formula.value.data, "threshold": moved})), tree)


def test_other_rules_for_missing_and_far_values_are_refused(tree):
    formula = formula_of(tree)
    inputs = tuple(NumberInput(column.name, column.low, column.high, column.low) for column in formula.inputs)
    refused(replace(formula, inputs=inputs), tree)


def test_a_graph_that_does_not_run_is_an_error_of_one_line(tree):
    formula = formula_of(tree)
    model = onnx_model(formula)
    model.graph.node[0].op_type = "NoSuchOperator"
    with pytest.raises(HedgerowError, match="ONNX Runtime does not run the export"):
        check_onnx(formula, model, tree, awkward_records(formula, 10).astype(float))
