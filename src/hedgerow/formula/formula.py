"""A formula: inputs, what is computed of them, and what the people behind the model were promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hedgerow.formula.inputs import Input, inputs_of
from hedgerow.formula.terms import Term
from hedgerow.guarantee import Guarantee
from hedgerow.space import FeatureSpace

__all__ = ["Formula"]


@dataclass(frozen=True, eq=False)
class Formula:
    """What ``predict`` (and ``predict_proba``) computes.

    Attributes
    ----------
    inputs : tuple of NumberInput and TextInput
        The columns of a raw record, in the order of the columns of :func:`~hedgerow.formula.terms.records`.
    value : Term
        One column an output; or the probability of each class.
    classes : tuple or None
        Class labels, in the order of the columns; None for numbers.
    n_outputs : int
        How many numbers are predicted.
    facts : mapping
        What travels with it: guarantee, its statement, the schema and the id of the task, as JSON has them.
    """

    inputs: tuple[Input, ...]
    value: Term
    classes: tuple[Any, ...] | None = None
    n_outputs: int = 1
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        space: FeatureSpace,
        value: Term,
        guarantee: Guarantee | None,
        *,
        classes: tuple[Any, ...] | None = None,
        n_outputs: int = 1,
        task: str | None = None,
        inputs: tuple[Input, ...] | None = None,
    ) -> Formula:
        """Return a formula over the columns of a schema, with the facts that travel with it."""
        facts = {"schema": space.to_dict(), "task": task, **promised(guarantee)}
        return cls(inputs or inputs_of(space), value, classes, n_outputs, facts)


def promised(guarantee: Guarantee | None) -> dict[str, Any]:
    """Return what was promised, for machines and for people."""
    if guarantee is None:
        return {"guarantee": None, "statement": "No private record is behind this model."}
    return {"guarantee": guarantee.to_dict(), "statement": str(guarantee)}
