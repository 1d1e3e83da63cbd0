"""Sums that no server sees a summand of: what leader, helper, collector and holder do, without network or disk.

The words are DAP's (draft-ietf-ppm-dap). A holder shares its bits between two servers
(:mod:`~hedgerow.aggregate.report`), which run at different organisations (:mod:`~hedgerow.aggregate.servers`). The
leader verifies reports together with the helper (:mod:`~hedgerow.aggregate.job`,
:mod:`~hedgerow.aggregate.verify`), each adds up its own shares
(:mod:`~hedgerow.aggregate.batch`), adds noise once, and seals what it has for the collector
(:mod:`~hedgerow.aggregate.release`). :mod:`hedgerow.service` puts this on HTTP and into a database.
"""

from __future__ import annotations

from hedgerow.aggregate.batch import Batch
from hedgerow.aggregate.protocol import Protocol
from hedgerow.aggregate.release import combine, release
from hedgerow.aggregate.report import share
from hedgerow.aggregate.servers import Server, Servers
from hedgerow.aggregate.verify import Party

__all__ = ["Batch", "Party", "Protocol", "Server", "Servers", "combine", "release", "share"]
