"""Sums that no server sees a summand of: what leader, helper, collector and holder do, without network or disk.

The words are DAP's (draft-ietf-ppm-dap). A holder shares its bits between two servers
(:mod:`~hedgerow.sharing.report`), which run at different organisations (:mod:`~hedgerow.sharing.servers`). The
leader verifies reports together with the helper (:mod:`~hedgerow.sharing.job`,
:mod:`~hedgerow.sharing.verify`), each adds up its own shares
(:mod:`~hedgerow.sharing.batch`), adds noise once, and seals what it has for the collector
(:mod:`~hedgerow.sharing.release`). :mod:`hedgerow.service` puts this on HTTP and into a database.
"""

from __future__ import annotations

from hedgerow.sharing.batch import Batch
from hedgerow.sharing.protocol import Protocol
from hedgerow.sharing.release import combine, release
from hedgerow.sharing.report import share
from hedgerow.sharing.servers import Server, Servers
from hedgerow.sharing.verify import Party

__all__ = ["Batch", "Party", "Protocol", "Server", "Servers", "combine", "release", "share"]
