"""The routes between servers, and those for the collector."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.forms import to_base64
from hedgerow.sealing import Role
from hedgerow.service.collection import Collection
from hedgerow.service.http import answer, curator, read_body, service_of
from hedgerow.service.openapi import PEER
from hedgerow.service.problems import Problem
from hedgerow.service.service import Service
from hedgerow.service.shared.operator import Identity
from hedgerow.service.shared.peers import list_peers
from hedgerow.tasks.keys import base64url

__all__ = ["SHARED"]


async def operator(request: Request) -> Response:
    """Return this server's card, and what it has in common with each of its peers."""
    service = service_of(request)
    return answer(await run_in_threadpool(lambda: _card(service)))


def _card(service: Service) -> dict[str, Any]:
    import hashlib

    from hedgerow.aggregate.protocol import verify_key

    identity = service.shared.identity
    if identity is None:
        raise Problem("not-available", "Nobody has said who runs this server: it shares no task.")

    def digest(found: Identity, role: Role, other: bytes) -> str:
        return to_base64(hashlib.sha256(verify_key(role, found.sealing, other)).digest())

    with service.database.read() as connection:
        peers = list_peers(connection)
    common = {
        peer.origin: {
            "leader": digest(identity, Role.LEADER, peer.sealing_key),
            "helper": digest(identity, Role.HELPER, peer.sealing_key),
        }
        for peer in peers
    }
    return {"operator": identity.card.to_dict(), "verify_key_digests": common}


async def _body(request: Request, service: Service) -> bytes:
    if request.headers.get("content-type", "") != PEER:
        raise Problem("unsupported-media-type", f"Send {PEER}.")
    return await read_body(request, service.settings.most_json)


async def share_task(request: Request) -> Response:
    """Agree to be the helper of a task."""
    service = service_of(request)
    body = await _body(request, service)
    found = await run_in_threadpool(service.shared.agree, body, request.url.path)
    return Response(found, media_type=PEER)


async def _shared(request: Request) -> tuple[Service, Collection, bytes]:
    service = service_of(request)
    body = await _body(request, service)
    collection = await run_in_threadpool(service.collection, request.path_params["id"])
    if not collection.kind.shared:
        raise Problem("not-available", "This task has one server.")
    return service, collection, body


async def job(request: Request) -> Response:
    """Verify reports together with the leader."""
    service, collection, body = await _shared(request)
    found = await run_in_threadpool(service.shared.answer, collection, body, request.url.path)
    return Response(found, media_type=PEER)


async def share(request: Request) -> Response:
    """Release the helper's share of the sums."""
    service, collection, body = await _shared(request)
    found = await run_in_threadpool(service.shared.release, collection, body, request.url.path)
    return Response(found, media_type=PEER)


async def witnesses(request: Request) -> Response:
    """Return the countersignatures under a task."""
    service = service_of(request)
    collection = await run_in_threadpool(service.collection, request.path_params["id"])
    leader, helper = await run_in_threadpool(service.shared.witnesses, collection)
    return answer({"leader": base64url(leader), "helper": base64url(helper)})


async def collect(request: Request) -> Response:
    """Close a shared task and return both sealed shares of its sums."""
    service, who = await curator(request, "close")
    collection = await run_in_threadpool(service.collection, request.path_params["id"])
    if not collection.kind.shared:
        raise Problem("not-available", "This task has one server; see /model.")

    def work() -> dict[str, Any]:
        service.note(who, "download", collection, "sealed sums")  # each time: what is collected can be had again
        found = service.collect(collection, who)
        assert found.other is not None
        sealed = {"leader": to_base64(found.sealed), "helper": to_base64(found.other)}
        return {
            "task": collection.id,
            "n": found.n,
            "checksum": found.checksum.hex(),
            "simulation": found.simulation,
            **sealed,
        }

    return answer(await run_in_threadpool(work))


SHARED = [
    Route("/v1/operator", operator, methods=["GET"]),
    Route("/v1/shared/tasks", share_task, methods=["POST"]),
    Route("/v1/shared/{id}/jobs", job, methods=["POST"]),
    Route("/v1/shared/{id}/share", share, methods=["POST"]),
    Route("/v1/tasks/{id}/witnesses", witnesses, methods=["GET"]),
    Route("/v1/tasks/{id}/collect", collect, methods=["POST"]),
]
