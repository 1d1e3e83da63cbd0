"""Prio3: one holder's measurement as shares for several servers, who verify it without seeing it, and add up.

Draft-irtf-cfrg-vdaf, section 7.2; every message is the draft's, byte for byte (7.2.7). The holder calls
:meth:`Prio3.shard`. Each server calls :meth:`Prio3.verify_init` on its own share and sends the verifier share to the
others; from all of them :meth:`Prio3.verifier_shares_to_message` makes the message without which
:meth:`Prio3.verify_next` hands nothing over that could be added up.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.errors import FormatError, HedgerowError, InvalidReport
from hedgerow.vdaf.circuit import Circuit, MultihotCountVec
from hedgerow.vdaf.derive import Derivations
from hedgerow.vdaf.field import FIELD128, Vector, vector
from hedgerow.vdaf.flp import Flp
from hedgerow.vdaf.kernel import native
from hedgerow.vdaf.xof import SEED_SIZE

__all__ = ["MULTIHOT_COUNT_VEC", "NONCE_SIZE", "VERIFY_KEY_SIZE", "Prio3", "Report", "Verifying"]

NONCE_SIZE = 16
"""Bytes of a nonce, drawn by the holder from a secure source."""

VERIFY_KEY_SIZE = SEED_SIZE
"""Bytes of the key that all servers share: fixed before the first report, and known to no holder."""

MULTIHOT_COUNT_VEC = 5
"""The code point of Prio3MultihotCountVec."""

_MOST_SERVERS = 255  # a server's number is one byte


@dataclass(frozen=True)
class Report:
    """What one server has of one report: the nonce, the share that all servers have, and its own share."""

    nonce: bytes
    public_share: bytes
    input_share: bytes


@dataclass(frozen=True)
class Verifying:
    """A report between the two steps of verification: what to send, and what to keep until the answer."""

    verifier_share: bytes
    out_share: bytes
    joint_rand_seed: bytes


class Prio3:
    """Prio3 with one circuit.

    Parameters
    ----------
    circuit : Circuit
        What is proved of a measurement.
    algorithm : int
        The code point of this variant.
    servers : int
        Number of servers; the first, number 0, is the leader.

    Examples
    --------
    >>> prio3 = Prio3(MultihotCountVec(length=4, max_weight=2, chunk=2))
    >>> public, inputs = prio3.shard(b"test", [0, 1, 1, 0], bytes(16), bytes(prio3.rand_size))
    >>> reports = [Report(bytes(16), public, share) for share in inputs]
    >>> states = [prio3.verify_init(bytes(32), b"test", i, report) for i, report in enumerate(reports)]
    >>> message = prio3.verifier_shares_to_message(b"test", [state.verifier_share for state in states])
    >>> totals = [prio3.aggregate([prio3.verify_next(state, message)]) for state in states]
    >>> prio3.unshard(totals)
    [0, 1, 1, 0]
    """

    def __init__(self, circuit: Circuit, algorithm: int = MULTIHOT_COUNT_VEC, servers: int = 2) -> None:
        if not 2 <= servers <= _MOST_SERVERS:
            raise HedgerowError(f"'servers' must be in 2 .. {_MOST_SERVERS}. Got {servers!r} instead.")
        self.circuit = circuit
        self.algorithm = algorithm
        self.servers = servers
        self.flp = Flp(circuit)
        self.field = circuit.field
        blind = SEED_SIZE if circuit.joint_rand_length else 0
        self.rand_size = (SEED_SIZE + blind) * servers
        self.public_share_size = blind * servers
        self.leader_share_size = (circuit.measurement_length + self.flp.proof_length) * self.field.size + blind
        self.helper_share_size = SEED_SIZE + blind
        self.verifier_share_size = self.flp.verifier_length * self.field.size + blind

    # ---- 7.2.1 sharding -------------------------------------------------------------------------------------------

    def shard(self, ctx: bytes, measurement: Any, nonce: bytes, rand: bytes) -> tuple[bytes, list[bytes]]:
        """Return the public share, and an input share for each server.

        Parameters
        ----------
        ctx : bytes
            The application's context; servers with another one refuse the report.
        measurement : object
            What the circuit takes; one that it does not allow is refused.
        nonce, rand : bytes
            ``NONCE_SIZE`` and ``rand_size`` bytes of a secure source, for this report only.
        """
        _sized("nonce", nonce, NONCE_SIZE)
        _sized("rand", rand, self.rand_size)
        derive = Derivations(self.flp, self.algorithm, ctx)
        step = self.helper_share_size
        helpers = [rand[i * step : (i + 1) * step] for i in range(self.servers - 1)]
        if (compiled := _Compiled.of(self, derive)) is not None:
            public_share, leader = compiled.shard(measurement, nonce, rand)
        else:
            public_share, leader = self._shard(derive, self.circuit.encode(measurement), nonce, rand, helpers)
        return public_share, [leader, *helpers]

    def _shard(
        self, derive: Derivations, encoded: Vector, nonce: bytes, rand: bytes, helpers: Sequence[bytes]
    ) -> tuple[bytes, bytes]:
        """Return the public share and the leader's."""
        step = self.helper_share_size
        blinds = [rand[(self.servers - 1) * step : -SEED_SIZE], *(helper[SEED_SIZE:] for helper in helpers)]

        shares = [derive.meas_shares(i, [helper[:SEED_SIZE]])[0] for i, helper in enumerate(helpers, 1)]
        shares.insert(0, self._less(encoded, shares))
        public_share = b""
        joint_rand = self.field.zeros(0)
        if self.circuit.joint_rand_length:
            parts = [
                derive.joint_rand_parts(i, [blind], [self.field.encode(share)], [nonce])[0]
                for i, (blind, share) in enumerate(zip(blinds, shares, strict=True))
            ]
            public_share = b"".join(parts)
            (joint_rand,) = derive.joint_rands(derive.joint_rand_seeds([public_share]))
        proof = self.flp.prove(encoded, derive.prove_rand(rand[-SEED_SIZE:]), joint_rand)
        proofs = [derive.proof_shares(i, [helper[:SEED_SIZE]])[0] for i, helper in enumerate(helpers, 1)]
        return public_share, self.field.encode(shares[0]) + self.field.encode(self._less(proof, proofs)) + blinds[0]

    def _less(self, whole: Vector, parts: Sequence[Vector]) -> Vector:
        for part in parts:
            whole = (whole - part) % self.field.modulus
        return whole

    # ---- 7.2.2 verification ---------------------------------------------------------------------------------------

    def verify_init(self, verify_key: bytes, ctx: bytes, server: int, report: Report) -> Verifying:
        """Return the first step of the verification of one report by one server."""
        (found,) = self.verify_init_many(verify_key, ctx, server, [report])
        if isinstance(found, HedgerowError):
            raise found
        return found

    def verify_init_many(
        self, verify_key: bytes, ctx: bytes, server: int, reports: Sequence[Report]
    ) -> list[Verifying | HedgerowError]:
        """Return the first step for each report, or the error of one that cannot be verified.

        Without the compiled kernel, many reports at once take a fraction of the time of one after the other.
        """
        _sized("verify_key", verify_key, VERIFY_KEY_SIZE)
        if not 0 <= server < self.servers:
            raise HedgerowError(f"'server' must be in 0 .. {self.servers - 1}. Got {server!r} instead.")
        derive = Derivations(self.flp, self.algorithm, ctx)
        compiled = _Compiled.of(self, derive)
        found: dict[int, Verifying | HedgerowError] = {}
        left: list[int] = []
        for i, report in enumerate(reports):
            try:
                self._check(server, report)
                if compiled is not None:
                    found[i] = compiled.verify_init(verify_key, server, report)
                    continue
                if server == 0:
                    self.field.decode(self._elements(report.input_share))
                left.append(i)
            except HedgerowError as error:
                found[i] = error
        if left:
            verified = self._verify(derive, verify_key, server, [reports[i] for i in left])
            found.update(zip(left, verified, strict=True))
        return [found[i] for i in range(len(reports))]

    def _check(self, server: int, report: Report) -> None:
        """Refuse a report whose parts do not have the sizes that the circuit gives them."""
        _sized("nonce", report.nonce, NONCE_SIZE)
        _sized("public_share", report.public_share, self.public_share_size)
        _sized("input_share", report.input_share, self.helper_share_size if server else self.leader_share_size)

    def _elements(self, leader_share: bytes) -> bytes:
        """Return the bytes of the leader's share that are elements of the field, without the blind."""
        return leader_share[: (self.circuit.measurement_length + self.flp.proof_length) * self.field.size]

    def _verify(
        self, derive: Derivations, verify_key: bytes, server: int, reports: Sequence[Report]
    ) -> list[Verifying | HedgerowError]:
        inputs = [report.input_share for report in reports]
        if server == 0:
            elements = [self.field.decode(self._elements(share)) for share in inputs]
            shares = [both[: self.circuit.measurement_length] for both in elements]
            proofs = [both[self.circuit.measurement_length :] for both in elements]
        else:
            shares = derive.meas_shares(server, [share[:SEED_SIZE] for share in inputs])
            proofs = derive.proof_shares(server, [share[:SEED_SIZE] for share in inputs])
        nonces = [report.nonce for report in reports]
        parts = [b""] * len(reports)
        seeds = [b""] * len(reports)
        joint_rands = [self.field.zeros(0)] * len(reports)
        if self.circuit.joint_rand_length:
            blinds = [share[-SEED_SIZE:] for share in inputs]
            parts = derive.joint_rand_parts(server, blinds, [self.field.encode(share) for share in shares], nonces)
            start = server * SEED_SIZE
            # The holder's word for this server's own part is not taken.
            publics = [report.public_share for report in reports]
            both = [a[:start] + part + a[start + SEED_SIZE :] for a, part in zip(publics, parts, strict=True)]
            seeds = derive.joint_rand_seeds(both)
            joint_rands = derive.joint_rands(seeds)
        query_rands = derive.query_rands(verify_key, nonces)
        found: list[Verifying | HedgerowError] = []
        for share, proof, query, joint, part, seed in zip(
            shares, proofs, query_rands, joint_rands, parts, seeds, strict=True
        ):
            try:
                verifier = self.flp.query(share, proof, query, joint, self.servers)
            except HedgerowError as error:
                found.append(error)
                continue
            out = self.field.encode(self.circuit.truncate(share))
            found.append(Verifying(self.field.encode(verifier) + part, out, seed))
        return found

    def verifier_shares_to_message(self, ctx: bytes, verifier_shares: Sequence[bytes]) -> bytes:
        """Return what all servers must agree on, from the verifier shares of all, in their order; or refuse the report.

        Raises
        ------
        InvalidReport
            If the proof fails: the measurement is not allowed, or a share was changed.
        """
        if len(verifier_shares) != self.servers:
            raise HedgerowError(f"There must be {self.servers} verifier shares. Got {len(verifier_shares)} instead.")
        size = self.flp.verifier_length * self.field.size
        total = self.field.zeros(self.flp.verifier_length)
        for share in verifier_shares:
            _sized("verifier_share", share, self.verifier_share_size)
            total = (total + self.field.decode(share[:size])) % self.field.modulus
        if not self.flp.decide(total):
            raise InvalidReport("The proof of a report fails.")
        if not self.circuit.joint_rand_length:
            return b""
        derive = Derivations(self.flp, self.algorithm, ctx)
        (seed,) = derive.joint_rand_seeds([b"".join(share[size:] for share in verifier_shares)])
        return seed

    def verify_next(self, state: Verifying, message: bytes) -> bytes:
        """Return the share that may be added up, given the message; or refuse the report.

        Raises
        ------
        InvalidReport
            If the servers did not use the same joint randomness: the holder told them different things.
        """
        if not hmac.compare_digest(state.joint_rand_seed, message):
            raise InvalidReport("The servers were told different things about a report.")
        return state.out_share

    # ---- 7.2.4 aggregation, 7.2.5 unsharding ----------------------------------------------------------------------

    def aggregate(self, shares: Iterable[bytes]) -> bytes:
        """Return the sum of shares: of outputs, of totals, or of both."""
        size = self.circuit.output_length * self.field.size
        if (compiled := native()) is not None and self.field is FIELD128:
            added = bytearray(size)
            for share in shares:
                _sized("share", share, size)
                if not compiled.add(added, share):
                    raise FormatError("An element of the field is not below its modulus.")
            return bytes(added)
        total = self.field.zeros(self.circuit.output_length)
        for share in shares:
            _sized("share", share, size)
            total = total + self.field.decode(share)
        return self.field.encode(total % self.field.modulus)

    def shifted(self, agg_share: bytes, numbers: Sequence[int]) -> bytes:
        """Return a total with whole numbers added to it, such as a server's noise; they may be negative."""
        if len(numbers) != self.circuit.output_length:
            raise HedgerowError(f"There must be {self.circuit.output_length} numbers. Got {len(numbers)} instead.")
        added = self.field.encode(vector([int(number) % self.field.modulus for number in numbers]))
        return self.aggregate([agg_share, added])

    def unshard(self, agg_shares: Sequence[bytes], *, signed: bool = False) -> Any:
        """Return the total, from the totals of all servers.

        With ``signed``, the upper half of the field stands for negative numbers: totals with noise may be negative.
        """
        if len(agg_shares) != self.servers:
            raise HedgerowError(f"There must be {self.servers} aggregate shares. Got {len(agg_shares)} instead.")
        total = self.field.decode(self.aggregate(agg_shares))
        if signed:
            half = self.field.modulus // 2
            total = (total + half) % self.field.modulus - half
        return self.circuit.decode(total)


@dataclass(frozen=True)
class _Compiled:
    """The compiled form of one instance in one context; it knows MultihotCountVec only."""

    module: Any
    circuit: MultihotCountVec
    arguments: tuple[Any, ...]

    @classmethod
    def of(cls, prio3: Prio3, derive: Derivations) -> _Compiled | None:
        module = native()
        circuit = prio3.circuit
        if module is None or type(circuit) is not MultihotCountVec:
            return None
        shape = (circuit.length, circuit.max_weight, circuit.chunk, prio3.servers)
        return cls(module, circuit, (*shape, derive.head, derive.ctx))

    def shard(self, measurement: Sequence[int], nonce: bytes, rand: bytes) -> tuple[bytes, bytes]:
        public_share, leader = self.module.shard(*self.arguments, bytes(self.circuit.bits(measurement)), nonce, rand)
        return public_share, leader

    def verify_init(self, verify_key: bytes, server: int, report: Report) -> Verifying:
        try:
            return Verifying(
                *self.module.verify_init(
                    *self.arguments, verify_key, server, report.nonce, report.public_share, report.input_share
                )
            )
        except ValueError as error:
            raise FormatError(str(error)) from error


def _sized(name: str, value: bytes, size: int) -> None:
    if len(value) != size:
        raise FormatError(f"'{name}' must have {size} bytes. Got {len(value)} instead.")
