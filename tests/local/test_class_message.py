"""The classifier's whole message: the class that is drawn and the answer to its task, jointly."""

import pytest

from hedgerow.audit import audit_exact
from hedgerow.errors import HedgerowError
from hedgerow.tasks.assisted import ClassMessage
from hedgerow.tasks.assisted.message import AssistedMessage


def build(epsilon):
    return ClassMessage((AssistedMessage(epsilon, (2,), "subset", 2), AssistedMessage(epsilon, (1, 2), "levels", 3)))


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_class_and_answer_are_private_jointly(epsilon):
    right = audit_exact(build(epsilon))
    assert right.holds
    assert right.measured > 0.99 * epsilon
    assert not audit_exact(build(1.1 * epsilon), epsilon=epsilon).holds


def test_a_class_drawn_from_the_label_is_caught():
    """The same answers, but the class tells the label half of the time."""
    message = build(1.0)

    class Leaky(ClassMessage):
        def law(self, value):
            law = ClassMessage.law(self, value)
            heavy = value % 2
            weights = tuple(w * (3 if c == heavy else 1) for (c, _), w in zip(law.outputs, law.weights, strict=True))
            return type(law)(law.outputs, weights)

    assert not audit_exact(Leaky(message.messages), epsilon=1.0).holds


def test_messages_as_sent_have_the_audited_law():
    message = build(1.0)
    rows = message.randomize([7] * 60_000, 1)
    share = (rows[:, 0] == 0).mean()
    # Six standard deviations: a false alarm has probability below 2e-9.
    assert abs(share - 0.5) < 6 * (0.25 / 60_000) ** 0.5


def test_epsilons_must_agree():
    with pytest.raises(HedgerowError, match="same epsilon"):
        ClassMessage((AssistedMessage(1.0, (2,), "subset", 1), AssistedMessage(2.0, (2,), "subset", 1)))
