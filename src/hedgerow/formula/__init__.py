"""What a model computes, as a formula: inputs, a few array operations, and what comes out of them.

A model that is a tree, a forest, a sum of curves or of these says so by ``formula()``; :mod:`hedgerow.export` writes
formulas in other languages. Nothing here knows a kind of model.
"""

from hedgerow.formula.formula import Formula
from hedgerow.formula.inputs import NumberInput, TextInput, inputs_of
from hedgerow.formula.terms import Term

__all__ = ["Formula", "NumberInput", "Term", "TextInput", "inputs_of"]
