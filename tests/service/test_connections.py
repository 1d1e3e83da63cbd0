"""Without a proxy in front: long heads, silent connections, held bodies and guessed tokens stop nobody else."""

import asyncio
import socket
import threading
import time

import pytest

pytest.importorskip("starlette")
uvicorn = pytest.importorskip("uvicorn")

from starlette.requests import ClientDisconnect  # noqa: E402

from hedgerow.service.bodies import SMALL, Bodies  # noqa: E402
from hedgerow.service.connections import limited  # noqa: E402
from hedgerow.service.problems import Problem  # noqa: E402
from hedgerow.service.settings import Settings  # noqa: E402


class Served:
    """The application of a service behind real sockets, with limits of this test."""

    def __init__(self, app, **limits):
        http = limited(Settings(**limits))
        config = uvicorn.Config(app, port=0, log_config=None, lifespan="off", access_log=False, http=http, ws="none")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.port = self.server.servers[0].sockets[0].getsockname()[1]

    def connect(self):
        made = socket.create_connection(("127.0.0.1", self.port))
        made.settimeout(10)
        return made

    def asks(self, head, body=b""):
        with self.connect() as made:
            made.sendall(head + body)
            return made.recv(4000)

    def stop(self):
        self.server.should_exit = True
        self.thread.join(20)


@pytest.fixture
def served(inside):
    running = []

    def make(service, **limits):
        running.append(Served(service.app, **limits))
        return running[-1]

    yield make
    for server in running:
        server.stop()


GET = b"GET /livez HTTP/1.1\r\nHost: x\r\n"


def upload_head(task, length, token=""):
    sent = f"Authorization: Bearer {token}\r\n" if token else ""
    return (
        f"POST /v1/tasks/{task.id}/reports HTTP/1.1\r\nHost: x\r\n{sent}"
        "Content-Type: application/vnd.hedgerow.reports+bin; version=1\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


@pytest.mark.parametrize("ended", [True, False])
def test_long_heads_are_refused_and_short_ones_served(inside, served, ended):
    server = served(inside(), most_head=4096)
    long = GET + b"X: " + b"y" * 5000 + (b"\r\n\r\n" if ended else b"")
    assert server.asks(long).startswith(b"HTTP/1.1 431")
    assert b"200 OK" in server.asks(GET + b"X: " + b"y" * 3000 + b"\r\n\r\n")


def test_many_fields_are_as_long_as_one(inside, served):
    server = served(inside(), most_head=4096)
    assert server.asks(GET + b"X: y\r\n" * 3000 + b"\r\n").startswith(b"HTTP/1.1 431")


def test_each_head_of_a_connection_is_measured(inside, served):
    server = served(inside(), most_head=4096)
    with server.connect() as made:
        made.sendall(GET + b"\r\n")
        assert b"200 OK" in made.recv(4000)
        made.sendall(GET + b"X: " + b"y" * 5000)
        assert made.recv(4000).startswith(b"HTTP/1.1 431")


def test_a_body_does_not_count_as_a_head(inside, served, local_task, holders):
    service, task = inside(), local_task()
    service.publish(task)
    server = served(service, most_head=1024)
    body = holders(task, 200).to_bytes()
    assert len(body) > 1024
    assert b"200 OK" in server.asks(upload_head(task, len(body)), body)


def test_silent_connections_end(inside, served):
    server = served(inside(), head_seconds=0.3)
    with server.connect() as silent, server.connect() as slow:
        slow.sendall(GET)
        assert silent.recv(1) == b""
        assert slow.recv(1) == b""
    assert b"200 OK" in server.asks(GET + b"\r\n")


def test_idle_connections_make_room(inside, served, local_task, holders):
    service, task = inside(), local_task()
    service.publish(task)
    server = served(service, most_connections=8)
    body = holders(task, 3).to_bytes()
    busy = server.connect()
    busy.sendall(upload_head(task, len(body)) + body[:10])
    time.sleep(0.2)
    flood = [server.connect() for _ in range(30)]
    time.sleep(0.2)
    assert b"200 OK" in server.asks(GET + b"\r\n")
    busy.sendall(body[10:])  # whoever sends a body is not idle
    assert b"200 OK" in busy.recv(4000)
    for made in (*flood, busy):
        made.close()
    assert service.status(task)["accepted"] == 3


def test_an_unknown_token_is_refused_before_its_body_came(inside, served, local_task):
    service, task = inside(), local_task()
    service.publish(task, tokens=True)
    before = service.service.guesses.count
    answer = served(service).asks(upload_head(task, 1_000_000, "hu_guessed"))
    assert b"403" in answer and b"token-unknown" in answer
    assert service.service.guesses.count == before + 1


def test_a_known_token_is_asked_for_once(inside, local_task, holders):
    service, task = inside(), local_task()
    service.publish(task, tokens=True)
    (token,) = service.post(task, "tokens", {"quota": 2}).json()["tokens"]
    bearer = {"Authorization": f"Bearer {token}"}
    assert service.send(task, holders(task, 2), **bearer).json()["accepted"] == 2
    assert service.send(task, holders(task, 1), **bearer).json()["code"] == "token-spent"
    assert len(service.service.issued._found) == 1


def test_a_token_of_a_task_that_is_closed_and_forgotten_hears_that_it_is_closed(inside, local_task, holders):
    service, task = inside(), local_task()
    service.publish(task, tokens=True)
    service.post(task, "close")
    answer = service.send(task, holders(task, 1), Authorization="Bearer hu_forgotten")
    assert answer.json()["code"] == "task-closed"


def arriving(chunks, gate=None):
    """Return an ASGI ``receive`` that hands out these chunks; the last one waits for the gate."""
    left = list(chunks)

    async def receive():
        if gate is not None and len(left) == 1:
            await gate.wait()
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    return receive


def test_held_bodies_share_a_purse():
    large = 4 * SMALL

    async def scene():
        bodies, gate = Bodies(room=10 * SMALL, seconds=9.0), asyncio.Event()
        chunks = [bytes(SMALL)] * 4
        held = [asyncio.create_task(bodies.receive(arriving(chunks, gate), "0", large)) for _ in range(6)]
        await asyncio.sleep(0.05)
        assert bodies.waiting <= bodies.room
        assert len(await bodies.receive(arriving([bytes(SMALL)]), "0", large)) == SMALL  # small: always room
        gate.set()
        ends = await asyncio.gather(*held, return_exceptions=True)
        assert bodies.waiting == 0
        return ends

    ends = asyncio.run(scene())
    refused = [end for end in ends if isinstance(end, Problem)]
    whole = [end for end in ends if isinstance(end, bytes)]
    assert {end.code for end in refused} == {"busy"}
    assert len(whole) >= 2 and all(len(end) == large for end in whole)


def test_a_body_that_is_cut_off_gives_its_room_back():
    async def receive():
        return {"type": "http.disconnect"}

    async def scene():
        bodies = Bodies(room=10 * SMALL, seconds=9.0)
        chunks = iter([{"type": "http.request", "body": bytes(2 * SMALL), "more_body": True}])

        async def leaves():
            return next(chunks, None) or await receive()

        with pytest.raises(ClientDisconnect):
            await bodies.receive(leaves, "0", 8 * SMALL)
        assert bodies.waiting == 0

    asyncio.run(scene())


@pytest.fixture
def deaf():
    """Open connections that ask for long answers and read none."""
    held = []

    def make(server, n, times=1):
        for _ in range(n):
            held.append(socket.socket())
            held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            held[-1].connect(("127.0.0.1", server.port))
            held[-1].settimeout(10)
            held[-1].sendall(times * LONG)
        return held

    yield make
    for made in held:
        made.close()


LONG = b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n"
LENGTH = 8 << 20  # more than systems keep of one answer


async def long(request):
    from starlette.responses import Response

    return Response(bytes(LENGTH))


@pytest.fixture
def talkative(inside):
    """A service with a page that is long."""
    service = inside()
    service.app.router.add_route("/long", long)
    return service


def test_who_does_not_read_answers_keeps_nobody_out(talkative, served, deaf):
    """A second request waits until the first answer is read, so that such a connection is never idle."""
    server = served(talkative, most_connections=10, send_seconds=3600.0)
    deaf(server, 10, 2)
    time.sleep(0.5)
    for _ in range(20):
        assert b"200 OK" in server.asks(GET + b"Connection: close\r\n\r\n")


def test_answers_that_nobody_reads_end_their_connection(talkative, served, deaf):
    server = served(talkative, send_seconds=0.3)
    deaf(server, 3)
    time.sleep(0.1)
    assert len(server.server.server_state.connections) == 3
    deadline = time.monotonic() + 5
    while server.server.server_state.connections and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not server.server.server_state.connections
    assert b"200 OK" in server.asks(GET + b"\r\n")


def test_answers_that_nobody_reads_share_a_purse(talkative, served, deaf):
    server = served(talkative, send_seconds=3600.0, most_unread_bytes=3 * LENGTH)
    deaf(server, 8)
    time.sleep(1.0)
    left = [c for c in list(server.server.server_state.connections) if not c.transport.is_closing()]
    assert 0 < sum(c.transport.get_write_buffer_size() for c in left) <= 3 * LENGTH and len(left) < 8


def test_who_reads_slowly_is_served_to_the_end(talkative, served, deaf):
    (made,) = deaf(served(talkative, send_seconds=0.3), 1)
    start = time.monotonic()
    n = 0
    while n < LENGTH and (data := made.recv(1 << 16)):
        n += len(data)
        if time.monotonic() - start < 1.5:
            time.sleep(0.01)
    assert n >= LENGTH


def test_requests_that_come_before_answers_are_few(talkative, served, deaf):
    """They are kept until those before them are answered, each in dozens of times its 18 bytes."""
    server = served(talkative, send_seconds=3600.0)
    with server.connect() as some:
        some.sendall(GET + b"\r\n" + 9 * (GET + b"\r\n"))
        read = b""
        while read.count(b"200 OK") < 10:
            read += some.recv(1 << 16)
    (made,) = deaf(server, 1)
    time.sleep(0.3)
    made.sendall(b"GET / HTTP/1.1\r\n\r\n" * 3000)
    time.sleep(0.3)
    assert sum(len(c.pipeline) for c in list(server.server.server_state.connections)) == 0
