"""Statements that every upload needs, by the driver itself: what the engine does besides takes as long again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

__all__ = ["answers_of", "by_driver"]


def by_driver(
    connection: Connection, statement: str, values: Mapping[str, Any] | None = None, *, binary: bool = False
) -> Any:
    """Run a statement within a transaction of the engine's, and return the driver's cursor.

    ``binary`` answers of PostgreSQL have bytes as they are; else they come in hexadecimal digits.
    """
    driver: Any = connection.connection.driver_connection
    errors = connection.dialect.loaded_dbapi.Error
    try:
        if connection.dialect.name == "sqlite":
            return driver.execute(statement, values or {})
        return driver.execute(statement, values, binary=binary)
    except errors as error:
        lost = bool(getattr(driver, "closed", False))
        if lost:
            connection.invalidate()
        raise DBAPIError.instance(
            statement, None, error, errors, connection_invalidated=lost, dialect=connection.dialect
        ) from error


def answers_of(cursor: Any) -> list[list[Any]]:
    """Return the rows of all queries of one message to PostgreSQL."""
    found = []
    more = True
    while more:
        if cursor.description:
            found.append(cursor.fetchall())
        more = cursor.nextset()
    return found
