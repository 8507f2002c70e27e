"""The server under a few hundred random requests; benchmarks/serving/fuzz.py sends many more."""

from urllib.parse import urlsplit

import httpx2

from desktop_rag.features.server.access.access_tokens import TokenScope
from tests.driving.random_requests import RandomRequests, Sender, noted_ids
from tests.integration.serving.conftest import Server
from tests.servers.chat_server import ChatServer


def test_no_request_makes_the_server_fail_or_hang(server: Server, endpoint: ChatServer) -> None:
    parts = urlsplit(server.address)
    document = httpx2.get(f"{server.address}/api/openapi.json", trust_env=False).json()
    secrets = [server.token(scope) for scope in TokenScope]
    secrets += [secrets[-1]] * len(secrets)
    requests = RandomRequests(7, document, secrets, parts.netloc)
    sender = Sender((parts.hostname or "", parts.port or 0))
    for _ in range(250):
        requests.ids += noted_ids(sender.send(requests.one()))
    sender.close()
    assert sender.outcome.faults == []
    assert len(sender.outcome.statuses) > 5
    assert sender.outcome.statuses[200] > 20
