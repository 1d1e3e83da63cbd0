"""Faults of proofs about reports in shares; planted in the Python form, which the tests run beside the compiled one."""

from __future__ import annotations

from mutants.fault import Fault

_PRIO3 = "tests/vdaf/test_prio3.py"
_FLP = "tests/vdaf/test_flp.py"
_PAGE = "tests/holder/test_holder_prio3.py"

FAULTS = (
    Fault(
        name="a server adds up a report whatever the other servers say",
        path="src/hedgerow/vdaf/prio3.py",
        before="        if not hmac.compare_digest(state.joint_rand_seed, message):\n",
        after="        if not message:\n",
        caught_by=(f"{_PRIO3}::test_nothing_is_handed_over_without_the_right_message",),
    ),
    Fault(
        name="a server takes its own part of the joint randomness from the holder",
        path="src/hedgerow/vdaf/prio3.py",
        before="both = [a[:start] + part + a[start + SEED_SIZE :] for a, part in",
        after="both = [a for a, part in",
        caught_by=(f"{_PRIO3}::test_a_servers_own_part_is_not_taken_from_the_holder",),
    ),
    Fault(
        name="a proof that fails is let through",
        path="src/hedgerow/vdaf/prio3.py",
        before="        if not self.flp.decide(total):\n",
        after="        if False:\n",
        caught_by=(f"{_PRIO3}::test_forgeries_are_refused_and_the_rest_is_exact",),
    ),
    Fault(
        name="the gadget polynomial is believed without a test",
        path="src/hedgerow/vdaf/flp.py",
        before="        return bool((verifier[0] == 0) & (gadget == verifier[-1]))\n",
        after="        return bool(verifier[0] == 0)\n",
        caught_by=(f"{_FLP}::test_the_truth_is_believed_and_a_wrong_proof_is_not",),
    ),
    Fault(
        name="bits beyond the allowed number are let through",
        path="src/hedgerow/vdaf/circuit.py",
        before="(measurement[: self.length].sum() - reported) % p])",
        after="0])",
        caught_by=(f"{_PRIO3}::test_forgeries_are_refused_and_the_rest_is_exact",),
    ),
    Fault(
        name="numbers other than 0 and 1 are let through",
        path="src/hedgerow/vdaf/circuit.py",
        before="return vector([gadget.sum() % p, (measurement",
        after="return vector([0, (measurement",
        caught_by=(f"{_PRIO3}::test_forgeries_are_refused_and_the_rest_is_exact",),
    ),
    Fault(
        name="a test point shows a wire of a holder",
        path="src/hedgerow/vdaf/flp.py",
        before="        if pow(point, self.wire_length, p) == 1:",
        after="        if False:",
        caught_by=(f"{_FLP}::test_a_test_point_that_would_show_wires_is_refused",),
    ),
    Fault(
        name="all servers test a report at a point that its holder knows",
        path="src/hedgerow/vdaf/derive.py",
        before="self._expand([verify_key] * len(nonces),",
        after="self._expand([bytes(32)] * len(nonces),",
        caught_by=(f"{_PRIO3}::test_another_context_or_key_is_refused",),
    ),
    Fault(
        name="page: the leader's share is the measurement itself",
        path="src/hedgerow/holder/web/prio3.js",
        before="    shares[0] = shares[0].map((value, j) => subtract(value, shares[i][j]));\n",
        after="",
        caught_by=(f"{_PAGE}::test_shares_are_those_of_python",),
    ),
    Fault(
        name="page: a stream of random numbers keeps those beyond the modulus",
        path="src/hedgerow/holder/web/field128.js",
        before="      if (value < P) out.push(value);\n",
        after="      out.push(value);\n",
        caught_by=(f"{_PAGE}::test_numbers_beyond_the_modulus_are_left_out",),
    ),
)
