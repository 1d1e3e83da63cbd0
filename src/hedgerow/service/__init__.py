"""The curator's service: publishes signed tasks, takes reports, adds them up, hands out models.

Needs ``pip install 'hedgerow[service]'``; PostgreSQL also ``hedgerow[postgres]``. Run it with ``hedgerow serve``, or
put :func:`create_app` behind any ASGI server (one process to one SQLite file).
"""

from hedgerow.service.app import create_app

__all__ = ["create_app"]
