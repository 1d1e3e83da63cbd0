"""Faults of passes: an invitation that buys two, a pass that is used twice, or one that says whose it is."""

from __future__ import annotations

from mutants.fault import Fault

_PASSES = "tests/service/test_passes.py"
_BLIND = "tests/test_blind.py"

FAULTS = (
    Fault(
        name="a pass is not checked",
        path="src/hedgerow/service/passes.py",
        before="    if not token.startswith(PASS) or not key.holds(message_of(collection.id), data[:PREFIX], data[PREFIX:]):\n",
        after="    if not token.startswith(PASS):\n",
        caught_by=(f"{_PASSES}::test_forged_passes_are_refused",),
    ),
    Fault(
        name="a pass is of any task",
        path="src/hedgerow/tasks/passes.py",
        before="    return _DOMAIN + task_id.encode()\n",
        after="    return _DOMAIN\n",
        caught_by=("tests/tasks/test_passes.py",),
    ),
    Fault(
        name="an invitation buys many passes",
        path="src/hedgerow/service/passes.py",
        before="    if len(before) >= most:\n",
        after="    if len(before) > most:\n",
        caught_by=(f"{_PASSES}::test_an_invitation_is_exchanged_once_and_its_answer_given_again",),
    ),
    Fault(
        name="used passes are forgotten when ids are sealed",
        path="src/hedgerow/service/sealing.py",
        before="VALUES (:task, :digest, 1 - :n) ",
        after="VALUES (:task, :digest, 1) ",
        caught_by=(f"{_PASSES}::test_used_passes_stay_used_when_ids_are_sealed",),
    ),
    Fault(
        name="messages are not blinded",
        path="src/hedgerow/blind.py",
        before='        return (m * pow(kept.factor, EXPONENT, self.n) % self.n).to_bytes(self.size, "big")\n',
        after='        return m.to_bytes(self.size, "big")\n',
        caught_by=(f"{_BLIND}::test_vector_of_the_rfc",),
    ),
    Fault(
        name="the device keeps what joins a pass to its invitation",
        path="src/hedgerow/holder/store.py",
        before="UPDATE passes SET pass = ?, blinding = x'' WHERE",
        after="UPDATE passes SET pass = ? WHERE",
        caught_by=("tests/holder/test_holder_service.py::test_a_device_that_stops_at_any_step_loses_no_invitation",),
    ),
    Fault(
        name="a body is read before its token is known",
        path="src/hedgerow/service/uploads.py",
        before="        await _check_token(service, collection, token)\n",
        after="        pass\n",
        caught_by=("tests/service/test_connections.py::test_an_unknown_token_is_refused_before_its_body_came",),
    ),
)
