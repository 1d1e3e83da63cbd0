"""How often somebody may ask: by address and by token, both known here only as digests under a key of this process.

An address is personal. It is written neither to the database nor to the log, and is not kept in memory beyond its
connection. What is kept there is a digest under a key that is drawn when the process starts and is nowhere else, beside
how much of the allowance is left; both are forgotten after a while of silence.

Reports from one token are limited by what the token buys, and to a task by its ``max_reports``; this limits how fast
they come, so that nobody keeps others from being served.
"""

from __future__ import annotations

import hashlib
import ipaddress
import math
import os
import time
from collections.abc import Callable

from hedgerow.service.problems import Problem

__all__ = ["BURST_SECONDS", "Rates", "network_of"]

BURST_SECONDS = 20.0
"""An allowance is filled up to what comes in this time; by hand: a class that answers at once is no attack."""
_MOST = 100_000  # digests in memory: some twenty megabytes; by hand
_PREFIX = 64  # bits of an address of IPv6 that name a household: it has all addresses below (RFC 6177)
_HERE = frozenset({"127.0.0.1", "::1"})


def network_of(host: str) -> str:
    """Return whose address this is, as far as it can be told: of IPv6 the network; "" for this machine.

    What comes from this machine is its operator's, or of a proxy that does not say for whom.

    >>> network_of("203.0.113.9"), network_of("2001:db8:1:2:3::4"), network_of("::ffff:203.0.113.9")
    ('203.0.113.9', '2001:db8:1:2::', '203.0.113.9')
    >>> network_of("127.0.0.1"), network_of("")
    ('', '')
    """
    if not host or host in _HERE:
        return ""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return "" if address.is_loopback else str(address)
    if address.ipv4_mapped is not None:
        return network_of(str(address.ipv4_mapped))
    return str(ipaddress.IPv6Address(int(address) >> _PREFIX << _PREFIX))


class Rates:
    """Allowances that fill with time: each request takes one.

    Parameters
    ----------
    address, token : float
        Requests a second; 0 for no limit.
    clock : callable
        Seconds that only grow.

    Examples
    --------
    >>> rates = Rates(address=0.1, token=0.0, clock=lambda: 0.0)  # two requests at once, then one in ten seconds
    >>> [rates.take_address("203.0.113.9") for _ in range(2)]
    [None, None]
    >>> try:
    ...     rates.take_address("203.0.113.9")
    ... except Problem as problem:
    ...     problem.code, problem.headers
    ('too-many-requests', {'Retry-After': '10'})
    """

    def __init__(self, address: float, token: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.address = address
        self.token = token
        self._clock = clock
        self._key = os.urandom(32)
        self._left: dict[bytes, tuple[float, float]] = {}

    def take_address(self, host: str) -> None:
        """Take one from the allowance of an address; refuse where nothing is left."""
        if self.address and (network := network_of(host)):
            self._take(b"address", network, self.address)

    def take_token(self, token: str) -> None:
        """Take one from the allowance of a token."""
        if self.token and token:
            self._take(b"token", token, self.token)

    def _take(self, purpose: bytes, what: str, rate: float) -> None:
        """Take one; ``what`` itself is forgotten here."""
        digest = hashlib.blake2b(what.encode(), digest_size=16, key=self._key, person=purpose).digest()
        now = self._clock()
        full = max(1.0, BURST_SECONDS * rate)
        left, since = self._left.pop(digest, (full, now))
        left = min(full, left + (now - since) * rate)
        if left < 1:
            self._left[digest] = (left, now)
            seconds = str(math.ceil((1 - left) / rate))
            raise Problem("too-many-requests", "Wait a little before the next request.", {"Retry-After": seconds})
        if len(self._left) >= _MOST:
            del self._left[next(iter(self._left))]  # the one that has been silent for longest
        self._left[digest] = (left - 1, now)

    def forget(self) -> None:
        """Forget whoever has been silent for so long that the allowance is whole again."""
        now = self._clock()
        old = [digest for digest, (_, since) in list(self._left.items()) if now - since > BURST_SECONDS]
        for digest in old:
            self._left.pop(digest, None)
