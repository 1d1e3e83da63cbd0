"""Two services in this process, with two databases, that talk to each other without a network."""

import io
import urllib.error
from urllib.parse import urlsplit

from hedgerow.collector import servers_of
from hedgerow.holder.client import Client
from hedgerow.sealing import KeyPair
from hedgerow.service.database import Database
from hedgerow.service.shared.operator import set_operator
from hedgerow.service.shared.peers import Caller, add_peer

ORIGINS = {"leader": "https://town.example", "helper": "https://club.example"}
COLLECTOR = KeyPair.of(b"c" * 32)


class Wire(Client):
    """Requests go to the services below their origins; counts them, and can lose an answer."""

    def __init__(self, services):
        super().__init__(attempts=1)
        self.services = services
        self.asked = []
        self.lose = lambda path: False

    def _once(self, request):
        parts = urlsplit(request.full_url)
        service = self.services[f"{parts.scheme}://{parts.netloc}"]
        self.asked.append((request.get_method(), parts.path))
        headers = {**request.headers, **request.unredirected_hdrs}
        answer = service.client.request(request.get_method(), parts.path, content=request.data, headers=headers)
        if self.lose(parts.path):
            raise OSError("the answer was lost")
        if answer.status_code >= 300:
            raise urllib.error.HTTPError(
                request.full_url, answer.status_code, "refused", answer.headers, io.BytesIO(answer.content)
            )
        return answer.content


class Pair:
    """A leader and a helper that know each other."""

    def __init__(self, inside, urls):
        for role, url in urls.items():
            with Database(url, "create") as database, database.write() as connection:
                set_operator(connection, {"leader": "Town", "helper": "Club"}[role], ORIGINS[role], now=1)
        self.leader, self.helper = inside(urls["leader"]), inside(urls["helper"])
        self.wire = Wire({ORIGINS["leader"]: self.leader, ORIGINS["helper"]: self.helper})
        self.services = {"leader": self.leader.service, "helper": self.helper.service}
        for role, other in (("leader", "helper"), ("helper", "leader")):
            card = self.services[other].shared.identity.card
            with self.services[role].database.write() as connection:
                add_peer(connection, card, now=1)
            self.services[role].shared.caller = Caller(self.wire)
        self.servers = servers_of(ORIGINS["leader"], ORIGINS["helper"], COLLECTOR, self.wire)

    def verify(self, task):
        """Let the leader deal with all that waits."""
        shared = self.leader.service.shared
        collection = self.leader.service.collection(task.id)
        while shared.waiting(collection):
            shared.turn(collection)

    def batches(self, task):
        """Return what each server has added up: number and checksum."""
        from hedgerow.service.shared.state import batch_of

        found = []
        for service in self.services.values():
            number = service.collection(task.id).number
            with service.database.read() as connection:
                batch = batch_of(connection, task.protocol, number)[1]
                found.append((batch.n, batch.checksum))
        return found

    def collect(self, task):
        return self.leader.post(task, "collect")
