"""Small tasks of this kind, by which audits and the conformance suite find it."""

from hedgerow.tasks.examples import SPACE, Example
from toy_kind.task import ShareTask

EXAMPLES = (Example("share", lambda epsilon: ShareTask(epsilon, (0.0, 1.0), SPACE, 0.1, 0.5, 0.25)),)
