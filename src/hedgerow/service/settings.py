"""What can be set about a running service."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hedgerow.errors import HedgerowError

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """Limits and rhythms; the defaults suit one machine.

    Attributes
    ----------
    most_bytes, most_reports : int
        Largest upload.
    most_json : int
        Largest control message (a task, say).
    most_head, head_seconds
        Longest head of a request, in bytes, and how long it may take to arrive.
    most_connections : int
        Beyond them, or beyond what the system's limit of open files leaves, the connection that has been idle for
        longest is dropped.
    most_waiting_bytes : int
        Of large bodies that are arriving; beyond, they are refused with ``busy``.
    body_seconds : float
        How long a body may take to arrive.
    most_unread_bytes : int
        Of answers that were made and are not read yet; beyond, whoever has been connected for longest without reading
        is dropped.
    send_seconds : float
        In which of a long answer a little at least must be read (1 kB a second), else the connection ends.
    group, waiting : int
        Most reports in one commit, and waiting for one; beyond, uploads are refused with ``busy``.
    aggregate_seconds : float
        Rhythm of aggregation.
    remember_seconds : float
        How long after a task was closed the digests of its reports' ids and of its upload tokens are kept, so that a
        device whose receipt was lost learns that its report counted; a week by default, 0 forgets at the next turn of
        aggregation.
    log_seconds : float
        How often the log sums up uploads; seldom, so that a line does not tell when one person's report came.
    guess_seconds : float
        How late a wrong token is answered.
    address_rate, token_rate : float
        Requests a second from one address (of IPv6: one network) and with one token; beyond, and beyond what 20 seconds
        of silence have saved up, they are refused with ``too-many-requests``. 0 for no limit. What comes from this
        machine is not limited by address. The holder's page and its scripts are not counted.
    storage : bool
        False acknowledges without storing anything: for measuring what storage costs, never for collecting.
    """

    most_bytes: int = 8 << 20
    most_reports: int = 10_000
    most_json: int = 16 << 20
    most_head: int = 32 << 10
    head_seconds: float = 10.0
    most_connections: int = 4096
    most_waiting_bytes: int = 64 << 20
    body_seconds: float = 20.0
    most_unread_bytes: int = 256 << 20
    send_seconds: float = 20.0
    group: int = 20_000
    waiting: int = 200_000
    aggregate_seconds: float = 1.0
    remember_seconds: float = 7 * 86_400.0
    log_seconds: float = 900.0
    guess_seconds: float = 0.5
    address_rate: float = 50.0
    token_rate: float = 20.0
    storage: bool = True

    def __post_init__(self) -> None:
        for name in ("address_rate", "token_rate"):
            if not 0 <= getattr(self, name) < math.inf:
                raise HedgerowError(
                    f"The {name!r} setting must be a number of requests a second of at least 0 (0 for no limit). "
                    f"Got {getattr(self, name)!r} instead."
                )
        if not 0 <= self.remember_seconds < math.inf:
            raise HedgerowError(
                "The 'remember_seconds' setting must be a finite number of at least 0 (0 forgets at once). "
                f"Got {self.remember_seconds!r} instead."
            )
