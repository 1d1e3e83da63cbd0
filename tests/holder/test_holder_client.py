"""The time of an attempt is that of all of it, whatever the other side sends in pieces."""

import contextlib
import socket
import threading
import time
import urllib.error

import pytest

from hedgerow.holder import Client, ServiceError

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"


class Dripping:
    """A server that answers one connection after the other: at once so far, and from there on a byte now and then."""

    def __init__(self, at_once, rest):
        self.at_once, self.rest = at_once, rest
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}/"
        self.over = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client):
        with client, contextlib.suppress(OSError):
            client.recv(10_000)
            client.sendall(self.at_once)
            for byte in self.rest:
                if self.over.wait(0.05):
                    return
                client.sendall(bytes([byte]))
            self.over.wait(30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.over.set()
        self.listening.close()


@pytest.mark.parametrize(
    ("at_once", "rest"),
    [(HEAD.replace(b": 2", b": 999"), b" " * 999), (HEAD[:30], b"x" * 999), (b"", HEAD * 9), (HEAD[:-4], b"")],
    ids=["body", "header", "first line", "silence"],
)
def test_who_sends_a_byte_now_and_then_is_not_listened_to_for_ever(at_once, rest):
    with Dripping(at_once, rest) as server:
        start = time.monotonic()
        with pytest.raises(ServiceError, match="cannot be reached"):
            Client(attempts=1, timeout=0.6).get(server.url)
        assert 0.4 < time.monotonic() - start < 10


def test_a_slow_answer_in_time_is_read():
    with Dripping(HEAD, b"{}") as server:
        assert Client(attempts=1, timeout=30).get(server.url) == b"{}"


def refusing(after):
    """A client's one try at a server that listens after so many."""
    tries = iter(range(10_000))

    def once(request):
        if next(tries) < after:
            raise urllib.error.URLError(ConnectionRefusedError(111, "Connection refused"))
        return b"{}"

    return once


def test_a_server_of_this_machine_is_waited_for_until_it_listens():
    slept, said = [], []
    client = Client(attempts=1, sleep=slept.append, tell=said.append)
    client._once = refusing(12)
    assert client.get("http://127.0.0.1:8000/v1/tasks") == b"{}"
    assert slept == 12 * [0.2]
    assert said == ["nothing listens at 127.0.0.1:8000 yet; waiting for it, 10 seconds at most"]


@pytest.mark.parametrize(
    ("url", "options", "waited"),
    [
        ("http://localhost:8000/", {"tell": print}, 10.0),
        ("http://localhost:8000/", {}, 0.0),
        ("https://town.example/", {"tell": print}, 0.0),
    ],
)
def test_a_server_that_never_listens_is_given_up(url, options, waited):
    """After ten seconds on this machine, where somebody is told; elsewhere as ever, by attempts."""
    slept = []
    client = Client(attempts=3, sleep=slept.append, **options)
    client._once = refusing(10_000)
    with pytest.raises(ServiceError, match="cannot be reached"):
        client.get(url)
    assert sum(slept[:-2]) == pytest.approx(waited)
