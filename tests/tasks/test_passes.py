"""What is signed for a pass names its task."""

import pytest

pytest.importorskip("cryptography")

from hedgerow.blind import Signer
from hedgerow.errors import FormatError
from hedgerow.tasks.passes import blinded_of, message_of, pass_of


def test_a_signature_for_one_task_makes_no_pass_for_another():
    signer = Signer.of(Signer.generate())
    key, kept = signer.public.to_bytes(), signer.public.draw()
    signed = signer.sign(blinded_of(key, "one", kept))
    assert pass_of(key, "one", kept, signed).startswith("hp_")
    with pytest.raises(FormatError, match="does not hold"):
        pass_of(key, "other", kept, signed)
    assert message_of("one") != message_of("other")
