"""The tables of the service, as they are now; :mod:`hedgerow.service.migrate` brings older databases there.

Nothing in here says who sent a report: no address, no time of arrival, no token beside a report. Ids are kept as
digests, apart from payloads and in the order of the digests, so that neither leads to the other.

Databases remember more than their rows: which transaction wrote each, in which order, and what stood there before.
So what uploads write (:data:`YOUNG`) is packed, not one row a report, and is written anew, whole, soon after
(:mod:`hedgerow.service.scrub`). What grows large goes to tables that are written in batches of tens of thousands only
(``report_ids``, ``sealed_segments``, and, by way of ``sealing``, ``upload_tokens``).
"""

from __future__ import annotations

import sqlalchemy as sa

__all__ = ["LEVEL", "YOUNG", "metadata"]

metadata = sa.MetaData()
_Blob = sa.LargeBinary
# SQLite counts up only in columns that are exactly INTEGER.
_Count = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

settings = sa.Table(
    "settings",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
"""The curator's signing key, who runs the server, and notes: of pages to write anew, of tasks being deleted."""

curators = sa.Table(
    "curators",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("digest", _Blob, nullable=False, unique=True),
    sa.Column("scopes", sa.Text, nullable=False),
    sa.Column("created", sa.BigInteger, nullable=False),
    sa.Column("revoked", sa.BigInteger),
)
"""Who may do what: the digest of a token, and the words of :data:`hedgerow.service.curators.SCOPES`."""

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("digest", _Blob, primary_key=True),
    sa.Column("curator", sa.Integer, nullable=False),
    sa.Column("expires", sa.BigInteger, nullable=False),
)
"""Signed-in browsers: the digest of a cookie. Signing out deletes the row, on every server at once."""

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("seq", _Count, primary_key=True, autoincrement=True),
    sa.Column("time", sa.BigInteger, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("task", sa.String(64)),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("chain", _Blob, nullable=False),
)
"""What curators did, never what holders did; rows are only ever added (:mod:`hedgerow.service.audit`)."""

tasks = sa.Table(
    "tasks",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("id", sa.String(64), nullable=False, unique=True),
    sa.Column("announcement", sa.Text, nullable=False),
    sa.Column("first", sa.Integer),
    sa.Column("simulation", sa.Boolean, nullable=False),
    sa.Column("created", sa.BigInteger, nullable=False),
    sa.Column("closed", sa.BigInteger),
    sa.Column("finished", sa.Boolean, nullable=False, default=False),
    sa.Column("deleted", sa.BigInteger),
    sa.Column("groups", sa.Integer, nullable=False, server_default="0"),
    sa.Column("group_key", _Blob),
)
"""Published tasks. Of a deleted one its number, its id and the time are left: neither is ever used again.

Where sums are kept by group, so many are, and the key says which reports go into which.
"""

uploads = sa.Table(
    "uploads",
    metadata,
    sa.Column("seq", _Count, primary_key=True, autoincrement=True),
    sa.Column("task", sa.Integer, nullable=False, index=True),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("simulation", sa.Boolean, nullable=False),
    sa.Column("body", _Blob, nullable=False),
)
"""Payloads that were acknowledged and not yet aggregated."""

segments = sa.Table(
    "segments",
    metadata,
    sa.Column("seq", _Count, primary_key=True, autoincrement=True),
    sa.Column("task", sa.Integer, nullable=False, index=True),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("simulation", sa.Boolean, nullable=False),
    sa.Column("body", _Blob, nullable=False),
)
"""Rows of tasks that deliver a data set instead of sums, sorted by their bytes; one segment grows for each task."""

sealed_segments = sa.Table(
    "sealed_segments",
    metadata,
    sa.Column("seq", _Count, primary_key=True, autoincrement=True),
    sa.Column("task", sa.Integer, nullable=False, index=True),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("simulation", sa.Boolean, nullable=False),
    sa.Column("body", _Blob, nullable=False),
)
"""Segments that have grown large; they never change."""

partials = sa.Table(
    "partials",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.Column("n", sa.BigInteger, nullable=False),
    sa.Column("sums", _Blob, nullable=False),
    sa.Column("events", _Blob, nullable=False),
    sa.Column("scrubbed", sa.BigInteger, nullable=False, default=0),
)
"""Partial sums of a task, the counts that the detector of forgeries looks at, and the revision last scrubbed."""

arrivals = sa.Table(
    "arrivals",
    metadata,
    sa.Column("seq", _Count, primary_key=True, autoincrement=True),
    sa.Column("task", sa.Integer, nullable=False),
    sa.Column("ids", _Blob, nullable=False),
    sa.Column("tokens", _Blob, nullable=False),
)
"""What one commit brought to one task: ids (key and mark, 24 bytes each) and spent tokens (digest and number, 40)."""

known = sa.Table(
    "known",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("sealed", sa.BigInteger, nullable=False),
    sa.Column("ids", _Blob, nullable=False),
    sa.Column("tokens", _Blob, nullable=False),
)
"""The same of all earlier commits together, sorted; ``sealed`` ids of the task are in ``report_ids``."""

sealing = sa.Table(
    "sealing",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("piece", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("tokens", _Blob, nullable=False),
)
"""Pieces of a large sorted set of spent tokens, on their way to ``upload_tokens``."""

report_ids = sa.Table(
    "report_ids",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("run", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("first", _Blob, primary_key=True),
    sa.Column("ids", _Blob, nullable=False),
    sqlite_with_rowid=False,
)
"""Digests of report ids, with a fingerprint of the payload that only the id can open: of tasks that have many.

They are packed and sorted, some tens in a row. A run is a batch of them: its number is that of all ids that had left
before it, or, of batches that were merged, the number of the last of these and :data:`LEVEL` more.
"""
LEVEL = 1 << 48
"""More ids than a task ever has."""

upload_tokens = sa.Table(
    "upload_tokens",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("digest", _Blob, primary_key=True),
    sa.Column("remaining", sa.BigInteger, nullable=False),
    sa.Column("first_record", sa.BigInteger),
    sa.Column("last_record", sa.BigInteger),
    sqlite_with_rowid=False,
)
"""How many reports each upload token may bring, without what ``known`` and ``arrivals`` say of it; never which ones.

Where reports name the public number of their record, a token is for the records from the first to the last of these.
"""

pass_keys = sa.Table(
    "pass_keys",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("key", _Blob, nullable=False),
)
"""The private key that signs a task's passes."""

exchanges = sa.Table(
    "exchanges",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("invitation", _Blob, primary_key=True),
    sa.Column("blinded", _Blob, primary_key=True),
    sqlite_with_rowid=False,
)
"""Which invitations were exchanged, and the digest of what was signed, so that a lost answer can be given again."""

refusals = sa.Table(
    "refusals",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("code", sa.String(40), primary_key=True),
    sa.Column("n", sa.BigInteger, nullable=False),
)

timeline = sa.Table(
    "timeline",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("until", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("n", sa.BigInteger, nullable=False),
)
"""How many reports came up to a full hour since the row before, a crowd at least: :mod:`hedgerow.service.timeline`."""

targets = sa.Table(
    "targets",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("n", sa.BigInteger, nullable=False),
)
"""How many reports the curator hopes for: a note of his own, no part of what is signed."""

peers = sa.Table(
    "peers",
    metadata,
    sa.Column("signing_key", _Blob, primary_key=True),
    sa.Column("card", sa.Text, nullable=False),
    sa.Column("created", sa.BigInteger, nullable=False),
)
"""Servers of other operators that this one shares tasks with, by their operator's key."""

batches = sa.Table(
    "batches",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("role", sa.Integer, nullable=False),
    sa.Column("leader", _Blob, nullable=False),
    sa.Column("helper", _Blob, nullable=False),
    sa.Column("simulation", sa.Boolean, nullable=False, default=False),
    sa.Column("collected", sa.BigInteger),
    sa.Column("n", sa.BigInteger),
    sa.Column("checksum", _Blob),
    sa.Column("sealed", _Blob),
    sa.Column("other", _Blob),
)
"""Of a task that two servers share: this one's role, both countersignatures, and what was released, once and for ever.

``partials`` has this server's share of the sums (after the checksum of ids) until then.
"""

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", _Blob, nullable=False),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("simulation", sa.Boolean, nullable=False),
    sa.Column("body", _Blob, nullable=False),
)
"""At the leader: reports that the helper was asked about, or will be; one job a task at a time."""

answers = sa.Table(
    "answers",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", _Blob, primary_key=True),
    sa.Column("digest", _Blob, nullable=False),
    sa.Column("body", _Blob, nullable=False),
)
"""At the helper: what it answered to a job, so that the same job again changes nothing."""

YOUNG = (arrivals, known, partials, segments, uploads, jobs, refusals, exchanges)
"""What holders' requests and the aggregation write to, in the order in which transactions use them."""
