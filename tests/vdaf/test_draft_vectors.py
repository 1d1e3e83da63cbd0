"""The draft's own test vectors, good and bad, byte for byte."""

import json
from pathlib import Path

import pytest

from hedgerow import kernels
from hedgerow.errors import HedgerowError
from hedgerow.vdaf import MultihotCountVec, Prio3, Report, xof
from hedgerow.vdaf.field import FIELD128
from tests.vdaf.circuits import Count, Histogram

VECTORS = json.loads((Path(__file__).parent / "draft_vectors.json").read_text())
PRIO3 = VECTORS["prio3"]
SHARED = Path(__file__).resolve().parents[3] / "shared" / "reference" / "vdaf"


def instance(name, vector):
    shares = vector["shares"]
    if "Count_" in name:
        return Prio3(Count(), 1, shares)
    if "Histogram" in name:
        return Prio3(Histogram(vector["length"], vector["chunk_length"]), 4, shares)
    return Prio3(MultihotCountVec(vector["length"], vector["max_weight"], vector["chunk_length"]), servers=shares)


class Replay:
    """Carries out the operations that a vector lists, each from the vector's own inputs, and compares the outputs."""

    def __init__(self, name, vector):
        self.prio3 = instance(name, vector)
        self.vector = vector
        self.ctx, self.key = bytes.fromhex(vector["ctx"]), bytes.fromhex(vector["verify_key"])
        self.states = {}

    def run(self):
        for step in self.vector["operations"]:
            report = self.vector["reports"][step["report_index"]] if "report_index" in step else None
            operation = getattr(self, step["operation"])
            if step["success"]:
                operation(step, report)
            else:
                with pytest.raises(HedgerowError):
                    operation(step, report)

    def shard(self, step, report):
        public, inputs = self.prio3.shard(
            self.ctx, report["measurement"], bytes.fromhex(report["nonce"]), bytes.fromhex(report["rand"])
        )
        assert public.hex() == report["public_share"]
        assert [share.hex() for share in inputs] == report["input_shares"]

    def verify_init(self, step, report):
        server = step["aggregator_id"]
        mine = Report(*(bytes.fromhex(report[k]) for k in ("nonce", "public_share")), self.input(report, server))
        state = self.prio3.verify_init(self.key, self.ctx, server, mine)
        self.states[step["report_index"], server] = state
        if server < len(report["verifier_shares"][0]):
            assert state.verifier_share.hex() == report["verifier_shares"][0][server]

    def input(self, report, server):
        return bytes.fromhex(report["input_shares"][server])

    def verifier_shares_to_message(self, step, report):
        shares = [bytes.fromhex(share) for share in report["verifier_shares"][0]]
        assert self.prio3.verifier_shares_to_message(self.ctx, shares).hex() == report["verifier_messages"][0]

    def verify_next(self, step, report):
        server = step["aggregator_id"]
        message = bytes.fromhex(report["verifier_messages"][0])
        out = self.prio3.verify_next(self.states[step["report_index"], server], message)
        assert out.hex() == report["out_shares"][server]

    def aggregate(self, step, report):
        server = step["aggregator_id"]
        shares = [bytes.fromhex(each["out_shares"][server]) for each in self.vector["reports"]]
        assert self.prio3.aggregate(shares).hex() == self.vector["agg_shares"][server]

    def unshard(self, step, report):
        total = self.prio3.unshard([bytes.fromhex(share) for share in self.vector["agg_shares"]])
        assert total == self.vector["agg_result"]


@pytest.mark.parametrize("name", PRIO3)
def test_messages_are_those_of_the_draft(name):
    Replay(name, PRIO3[name]).run()


@pytest.mark.parametrize("name", PRIO3)
def test_messages_are_those_of_the_draft_without_the_kernel(name):
    with kernels.reference():
        Replay(name, PRIO3[name]).run()


@pytest.mark.skipif(not SHARED.is_dir(), reason="the draft's vectors are not beside the repository")
def test_all_vectors_of_the_draft_that_there_are():
    for path in sorted(SHARED.glob("Prio3*.json")):
        if path.name.startswith(("Prio3Count_", "Prio3Histogram", "Prio3Multihot")):
            Replay(path.name, json.loads(path.read_text())).run()


def test_the_vectors_hold_something_that_must_fail_at_each_step():
    failing = {step["operation"] for v in PRIO3.values() for step in v["operations"] if not step["success"]}
    assert failing == {"verifier_shares_to_message", "verify_next"}
    assert sum("bad" in name for name in PRIO3) == 8


def test_the_xof_is_that_of_the_draft():
    case = VECTORS["xof"]
    seed, dst, binder = (bytes.fromhex(case[key]) for key in ("seed", "dst", "binder"))
    assert xof.derive_seeds([seed], dst, [binder])[0].hex() == case["derived_seed"]
    (found,) = xof.expand_into_vectors(FIELD128, [seed], dst, [binder], case["length"])
    assert FIELD128.encode(found).hex() == case["expanded_vec_field128"]
