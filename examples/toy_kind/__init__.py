"""A kind of task in one folder: what share of people pay more than a public tariff.

``import toy_kind`` registers it; a kind of the library has these lines in ``tasks/registry.py`` and in
``tasks/message.py``.
"""

from hedgerow.tasks.message import CODES
from hedgerow.tasks.registry import MODELS, TASKS

CODES["share"] = 120
TASKS["example/share-task"] = ("toy_kind.task", "ShareTask")
MODELS["example/share-model"] = ("toy_kind.model", "ShareModel")
