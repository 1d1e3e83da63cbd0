"""Which class reads which format: the one list of kinds of tasks and of models.

A new kind of task is a folder below :mod:`hedgerow.tasks` and a line here. Modules are loaded when they are asked for:
a device that answers one kind never loads the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from hedgerow.content import parse
from hedgerow.errors import FormatError

if TYPE_CHECKING:
    from hedgerow.tasks.base import Task

__all__ = ["MODELS", "TASKS", "model_class", "read_model", "read_task", "task_class", "task_classes"]

TASKS = {
    "hedgerow/local-task": ("hedgerow.tasks.tree.task", "LocalTask"),
    "hedgerow/assisted-task": ("hedgerow.tasks.assisted.task", "AssistedTask"),
    "hedgerow/assisted-class-task": ("hedgerow.tasks.assisted.class_task", "AssistedClassTask"),
    "hedgerow/pilot-task": ("hedgerow.tasks.assisted.pilot", "PilotTask"),
    "hedgerow/semi-task": ("hedgerow.tasks.partly_public.task", "SemiTask"),
    "hedgerow/cell-task": ("hedgerow.tasks.partly_public.cells", "CellTask"),
    "hedgerow/residual-task": ("hedgerow.tasks.partly_public.residual", "ResidualTask"),
    "hedgerow/label-task": ("hedgerow.tasks.labels.task", "LabelTask"),
    "hedgerow/sums-task": ("hedgerow.tasks.sums.task", "SumsTask"),
}
"""Module and class of a task, by the format that its content names."""

MODELS = {
    "hedgerow/local-model": ("hedgerow.tasks.tree.model", "TreeModel"),
    "hedgerow/assisted-model": ("hedgerow.tasks.assisted.model", "AssistedModel"),
    "hedgerow/assisted-class-model": ("hedgerow.tasks.assisted.class_model", "AssistedClassModel"),
    "hedgerow/pilot-totals": ("hedgerow.tasks.assisted.pilot_totals", "PilotTotals"),
    "hedgerow/semi-model": ("hedgerow.tasks.partly_public.model", "SemiModel"),
    "hedgerow/corrected-model": ("hedgerow.tasks.partly_public.corrected", "CorrectedModel"),
    "hedgerow/sums-model": ("hedgerow.tasks.sums.model", "SumsModel"),
    "hedgerow/sums-class-model": ("hedgerow.tasks.sums.class_model", "SumsClassModel"),
    "hedgerow/anova-model": ("hedgerow.central.anova.model", "AnovaModel"),
    "hedgerow/forest-model": ("hedgerow.central.model", "ForestModel"),
}
"""Module and class of what the doors read as a model, by format."""


def task_class(name: object) -> type[Task]:
    """Return the class of tasks of a format.

    >>> task_class("hedgerow/label-task").kind
    'label'
    """
    return cast("type[Task]", _class(TASKS, name, "task"))


def task_classes() -> list[type[Task]]:
    """Return the classes of all kinds of task."""
    return [task_class(name) for name in TASKS]


def model_class(name: object) -> Any:
    """Return the class of models of a format."""
    return _class(MODELS, name, "model")


def _class(table: dict[str, tuple[str, str]], name: object, what: str) -> Any:
    if not isinstance(name, str) or name not in table:
        shown = repr(name)[:80]
        raise FormatError(f"this is not a {what} of a known format: {sorted(table)}. Got {shown} instead.")
    module, attribute = table[name]
    return getattr(import_module(module), attribute)


def read_task(text: str | bytes) -> Task:
    """Read a task of any kind from its JSON; whatever is wrong with it is a FormatError.

    >>> from hedgerow.tasks import LocalTask
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1),
    ...                         max_depth=4, response="bits", cell_share=0.5)
    >>> read_task(task.to_json()) == task
    True
    """
    return cast("Task", _read(text, task_class, "task"))


def read_model(text: str | bytes) -> Any:
    """Read a model of any kind from its JSON."""
    return _read(text, model_class, "model")


def _read(text: str | bytes, find: Any, what: str) -> Any:
    data = parse(text, what)
    cls = find(data.get("format") if isinstance(data, dict) else None)
    return cls.from_dict(data)
