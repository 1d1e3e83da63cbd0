"""Curators by name and scope, sessions, an audit log that only grows, deleted tasks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_BLOB = sa.LargeBinary
_COUNT = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_EVERYTHING = "admin close publish read"
_TOKENS = {"tokens": "curator:%"}


def upgrade() -> None:
    """Create the tables, and make curators of the tokens that were among the settings."""
    op.add_column("tasks", sa.Column("deleted", sa.BigInteger))
    curators = op.create_table(
        "curators",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("digest", _BLOB, nullable=False, unique=True),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("revoked", sa.BigInteger),
    )
    op.create_table(
        "sessions",
        sa.Column("digest", _BLOB, primary_key=True),
        sa.Column("curator", sa.Integer, nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("seq", _COUNT, primary_key=True, autoincrement=True),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("task", sa.String(64)),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("chain", _BLOB, nullable=False),
    )
    _only_grows()
    found = op.get_bind().execute(sa.text("SELECT name FROM settings WHERE name LIKE :tokens ORDER BY name"), _TOKENS)
    digests = [bytes.fromhex(name.split(":")[1]) for name in found.scalars()]
    rows = [
        {"name": f"curator {i}", "digest": digest, "scopes": _EVERYTHING, "created": 0}
        for i, digest in enumerate(digests, 1)
    ]
    if rows:
        op.bulk_insert(curators, rows)
    op.get_bind().execute(sa.text("DELETE FROM settings WHERE name LIKE :tokens"), _TOKENS)


def _only_grows() -> None:
    """Let the database itself refuse changes of the audit log."""
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_no_{verb.lower()} BEFORE {verb} ON audit "
                "BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION audit_only_grows() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit log only grows'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_only_grows()"
    )
