"""Moves the ids of a task that has many to a table with a row for each, in small transactions.

Uploads wait while a transaction runs, and tens of thousands of ids take half a second. So a scrubbing only sets the set
of ids and of spent tokens aside (:func:`set_aside`), cut into pieces by the order of digests; then each piece goes with
a transaction of its own (:func:`move_piece`), uploads between them. What the database remembers of such a transaction
is which piece of a crowd an id was in: that is told by its digest. Nothing depends on what came first, or with what.

A piece is in one place or in the other, whatever crashes.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.database import Database
from hedgerow.service.ids import KEY, MARK
from hedgerow.service.known import pack_tokens, unpack_tokens
from hedgerow.service.schema import sealing

__all__ = ["move_piece", "set_aside"]

_PIECE = 2048  # ids: some milliseconds, as long as a commit of uploads; by hand


def set_aside(connection: Connection, task: int, before: int, ids: bytes, tokens: bytes) -> None:
    """Cut sorted ids and spent tokens into pieces, each a range of digests; ``before`` ids were set aside before.

    The number of a piece is that of its first id: pieces of later scrubbings have larger numbers.
    """
    cuts = range(0, len(ids) // (KEY + MARK), _PIECE)
    spent = list(unpack_tokens(tokens).items())
    rows = []
    for i, start in enumerate(cuts):
        own = spent[i * len(spent) // len(cuts) : (i + 1) * len(spent) // len(cuts)]
        piece = ids[start * (KEY + MARK) : (start + _PIECE) * (KEY + MARK)]
        rows.append({"task": task, "piece": before + start, "ids": piece, "tokens": pack_tokens(dict(own))})
    connection.execute(sealing.insert(), rows)


def move_piece(database: Database, connection: Connection) -> bool:
    """Move the first piece there is, in a transaction of :meth:`Database.write_uploads`; return whether there was one.

    Others that look for known ids or spent tokens do so in such transactions too, and ask which pieces are left.
    """
    first = sa.select(sealing).order_by(sealing.c.task, sealing.c.piece).limit(1)
    row = connection.execute(first).first()
    if row is None:
        return False
    database.seal(connection, row.task, row.ids)
    spent = [{"task": row.task, "digest": digest, "n": n} for digest, n in unpack_tokens(row.tokens).items()]
    if spent:
        connection.execute(_TAKE_OFF, spent)
    connection.execute(sealing.delete().where((sealing.c.task == row.task) & (sealing.c.piece == row.piece)))
    return True


# A pass is good for one report, and has no row until now.
_TAKE_OFF = sa.text(
    "INSERT INTO upload_tokens (task, digest, remaining) VALUES (:task, :digest, 1 - :n) "
    "ON CONFLICT (task, digest) DO UPDATE SET remaining = upload_tokens.remaining - :n"
).bindparams(sa.bindparam("digest", type_=sa.LargeBinary), sa.bindparam("n", type_=sa.BigInteger))
