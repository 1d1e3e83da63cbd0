"""The ASGI application."""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from hedgerow.service.database import Database
from hedgerow.service.http import HANDLERS
from hedgerow.service.operations import OPERATIONS
from hedgerow.service.routes import V1
from hedgerow.service.service import Service
from hedgerow.service.settings import Settings
from hedgerow.service.shared.routes import SHARED
from hedgerow.service.uploads import UPLOADS, Gate

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["create_app"]


def create_app(
    database: str = "sqlite:///hedgerow.db",
    *,
    clock: Callable[[], float] = time.time,
    settings: Settings | None = None,
    key: Ed25519PrivateKey | None = None,
    curator_token: str | None = None,
    routes: Sequence[BaseRoute] = (),
) -> Starlette:
    """Return the application; its :class:`Service` is ``app.state.service``.

    Parameters
    ----------
    database : str
        ``sqlite:///file.db`` or ``postgresql+psycopg://user@host/name``; made before, by ``hedgerow serve init``.
    clock : callable
        Unix seconds; read once a request.
    key : Ed25519PrivateKey, optional
        Signs tasks; by default the one in the database.
    curator_token : str, optional
        A curator's token besides those in the database; by default ``HEDGEROW_CURATOR_TOKEN``.
    routes : sequence of routes, optional
        Further pages, see also :func:`pages`.
    """
    token = curator_token or os.environ.get("HEDGEROW_CURATOR_TOKEN") or None
    service = Service(Database(database), settings=settings, clock=clock, key=key, curator_token=token)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        service.start()
        try:
            yield
        finally:
            await run_in_threadpool(service.stop)

    app = Starlette(
        routes=[*UPLOADS, *V1, *SHARED, *OPERATIONS, *routes, *pages()],
        middleware=[Middleware(Gate, service=service)],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # Starlette would send to whatever host the request names, over http
    app.state.service = service
    return app


def pages() -> list[BaseRoute]:
    """Return the routes of the holder's page and of the dashboard, as far as they are installed.

    Each is a module with a function ``routes()``; handlers find the service in ``request.app.state.service`` and look
    at tasks through :class:`hedgerow.service.overview.Overview`.
    """
    found: list[BaseRoute] = []
    for name in ("hedgerow.holder.page", "hedgerow.service.dashboard"):
        with contextlib.suppress(ModuleNotFoundError):
            module = importlib.import_module(name)
            found += module.routes() if hasattr(module, "routes") else []
    return found
