"""Two more circuits of the draft, for its vectors of things that must fail: it has none of MultihotCountVec."""

from dataclasses import dataclass

from hedgerow.vdaf.circuit import range_wires
from hedgerow.vdaf.field import FIELD64, FIELD128, vector


class Count:
    """Section 7.4.1: a bit."""

    field = FIELD64
    chunk = calls = measurement_length = outputs = output_length = 1
    joint_rand_length = 0

    def encode(self, measurement):
        return vector([int(measurement)])

    def wires(self, measurement, joint_rand, shares):
        return vector([[measurement[0], measurement[0]]])

    def zeros(self, measurement, gadget, shares):
        return (gadget - measurement) % self.field.modulus

    def truncate(self, measurement):
        return measurement

    def decode(self, total):
        return total[0]


@dataclass
class Histogram:
    """Section 7.4.4: one bit among many is set."""

    length: int
    chunk: int
    field = FIELD128
    outputs = 2

    def __post_init__(self):
        self.measurement_length = self.output_length = self.length
        self.calls = self.joint_rand_length = -(-self.length // self.chunk)

    def encode(self, measurement):
        return vector([int(i == measurement) for i in range(self.length)])

    def wires(self, measurement, joint_rand, shares):
        return range_wires(self.field, measurement, joint_rand, self.chunk, shares)

    def zeros(self, measurement, gadget, shares):
        p = self.field.modulus
        return vector([gadget.sum() % p, (measurement.sum() - self.field.inverse(shares)) % p])

    def truncate(self, measurement):
        return measurement

    def decode(self, total):
        return list(total)
