"""The curator's dashboard: server-rendered pages that look at collections through ``Overview``."""

from hedgerow.service.dashboard.pages import routes

__all__ = ["routes"]
