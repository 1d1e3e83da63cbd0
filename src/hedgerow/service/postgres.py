"""Connections to PostgreSQL that do not wait for ever.

A server that is stopped or cut off says nothing: its time-outs do not run, and the kernel may keep the connection
alive. So the wait itself has an end: :class:`Bounded` gives up where no byte has come for a while, and closes.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL

from hedgerow.service.drivers import answers_of, by_driver

__all__ = ["ANSWER_SECONDS", "CONNECT_SECONDS", "patient", "postgres_engine"]

# By hand: a commit takes milliseconds, a backlog's segment a second; stopping must end within half a minute.
ANSWER_SECONDS = 10.0
CONNECT_SECONDS = 5
_IDLE_SECONDS = 1.0  # after which a connection is asked whether it lives; by hand
_LONG_SECONDS = 3600.0  # for what rewrites whole tables, such as VACUUM; by hand


def within(steps: Generator[Any, Any, Any], seconds: float, error: type[Exception]) -> Generator[Any, Any, Any]:
    """Run a driver's steps; raise ``error`` where it is not ready to read or write for that long.

    >>> def steps():
    ...     ready = yield "read"
    ...     return ready
    >>> list(within(steps(), 0.0, TimeoutError))
    Traceback (most recent call last):
    ...
    TimeoutError: cannot connect on: the server has not answered for 0 seconds
    """
    last = time.monotonic()
    ready: Any = None
    while True:
        try:
            wanted = steps.send(ready)
        except StopIteration as end:
            return end.value
        ready = yield wanted
        now = time.monotonic()
        if ready:
            last = now
        elif now - last >= seconds:
            steps.close()
            raise error(f"cannot connect on: the server has not answered for {seconds:g} seconds")


@cache
def _bounded() -> Any:
    """Return the class of connections; psycopg is loaded only where it is used."""
    import psycopg

    class Bounded(psycopg.Connection[Any]):
        """A connection that is closed if its server does not answer for ``answer_seconds``."""

        answer_seconds = ANSWER_SECONDS

        def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
            """Wait for the server, for a while."""
            steps = within(gen, self.answer_seconds, psycopg.OperationalError)
            try:
                return super().wait(steps, *args, **options)
            except psycopg.OperationalError as error:
                if "has not answered" in str(error):
                    self.pgconn.finish()
                raise

    return Bounded


def postgres_engine(url: URL, pool_size: int, *, read_only: bool = False, snapshots: bool = False) -> Engine:
    """Return an engine whose connections have time-outs at every end.

    With ``snapshots`` the driver begins transactions, at the isolation that is asked for. Without, the engine does, and
    sends what the connection's option ``turn`` says right after BEGIN, in the same message. A query in its option
    ``first`` goes with it, as part of the transaction, and so do those of the option ``asked``, which see what is there
    when the turn has come: ``connection.info["first"]`` and ``connection.info["asked"]`` are their answers.
    """
    dialect = url.get_dialect()()
    plain, named = dialect.create_connect_args(url)
    milliseconds = round(1000 * ANSWER_SECONDS)
    # Our statements take milliseconds, and the server believes that looking up a thousand ids takes long: it would
    # compile that statement anew for every commit, which takes 100 milliseconds and more.
    settings = f"-c jit=off -c idle_in_transaction_session_timeout={6 * milliseconds}"
    if read_only:
        settings += " -c default_transaction_read_only=on"
    options = {
        "connect_timeout": CONNECT_SECONDS,
        "tcp_user_timeout": milliseconds,
        "keepalives_idle": CONNECT_SECONDS,
        "keepalives_interval": 1,
        "keepalives_count": CONNECT_SECONDS,
        **named,
        "options": f"{named.get('options', '')} {settings}".strip(),
    }

    def connect() -> Any:
        return _bounded().connect(*plain, autocommit=not snapshots, **options)

    engine = sa.create_engine(
        url, creator=connect, pool_size=pool_size, max_overflow=pool_size, pool_pre_ping=snapshots,
        pool_timeout=ANSWER_SECONDS,
    )  # fmt: skip
    if not snapshots:
        sa.event.listen(engine, "checkout", _look_alive)
        sa.event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    first = options.get("first", "")
    asked = options.get("asked", ()) if first else ()
    # The query stands before BEGIN, for the driver hands out the first answer; the server takes both as one block.
    cursor = by_driver(connection, "; ".join(filter(None, (first, "BEGIN", options.get("turn", ""), *asked))))
    answers = answers_of(cursor)
    connection.info["first"] = answers[0][0][0] if answers and answers[0] else None
    connection.info["asked"] = answers[len(answers) - len(asked) :]


def _look_alive(driver: Any, record: Any, _: object) -> None:
    """Ask a connection that has not been used for a while whether it lives; the pool makes another if it does not.

    One that is used all the time is not: that would be one more journey for every commit. What fails is sent again.
    """
    now = time.monotonic()
    if now - record.info.get("used", now) > _IDLE_SECONDS:
        try:
            driver.execute("SELECT 1")
        except Exception:
            raise sa.exc.DisconnectionError from None
    record.info["used"] = now


@contextmanager
def patient(driver: Any) -> Iterator[None]:
    """Let one statement take long, such as the rewriting of a large table."""
    if not hasattr(driver, "answer_seconds"):
        yield
        return
    driver.answer_seconds = _LONG_SECONDS
    try:
        yield
    finally:
        driver.answer_seconds = ANSWER_SECONDS
