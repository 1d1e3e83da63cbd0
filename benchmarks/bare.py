"""A bare Starlette handler, the yardstick of the service: ``python -m benchmarks.bare PORT`` reads a body and answers.

It has the server's protocol, event loop and settings of uvicorn, and does nothing with what it reads.
"""

from __future__ import annotations

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


async def reports(request: Request) -> Response:
    """Read the body; say what a receipt says."""
    body = await request.body()
    return JSONResponse({"accepted": len(body) and 1, "duplicates": 0, "failures": []})


async def healthz(request: Request) -> Response:
    """Say that it runs."""
    return JSONResponse({"status": "ok"})


app = Starlette(
    routes=[Route("/v1/tasks/{id}/reports", reports, methods=["POST"]), Route("/healthz", healthz, methods=["GET"])]
)

if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), access_log=False, server_header=False, log_level="error", backlog=4096)
