"""The chat models in use: made once for each setting of their endpoint, closed at the end.

Worker threads; the keyring and the network are asked here.
"""

import logging
from collections.abc import Sequence
from threading import Event

from desktop_rag.core.domain import EndpointReport
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.models.chat_client import ChatClient
from desktop_rag.models.endpoints import probe_endpoint
from desktop_rag.models.keys import KeyStore
from desktop_rag.models.local_servers import LocalServer, running_servers
from desktop_rag.models.ports import ChatModel

log = logging.getLogger(__name__)


class ChatModels:
    """The model that answers, the one for small jobs, and what concerns their endpoints."""

    def __init__(self, keys: KeyStore, settings: Settings) -> None:
        self._keys = keys
        self._settings = settings
        self._stopping = Event()
        # All clients made so far, those in use last: an earlier one may still be answering.
        self._clients: list[tuple[EndpointSettings, str, ChatModel]] = []

    def apply(self, settings: Settings) -> None:
        """Use these settings from the next call on."""
        self._settings = settings

    def main(self) -> ChatModel | None:
        """The model that answers questions; None when no endpoint is set."""
        endpoint = self._settings.endpoint
        return self._client(endpoint) if endpoint.is_set else None

    def helper(self) -> ChatModel | None:
        """The model for small jobs beside the answer: today the one that answers."""
        return self.main()

    def warm_up(self) -> None:
        """Load the client of the endpoint, if one is set, before the first question needs it."""
        try:
            if model := self.main():
                model.warm_up()
        except AppError as error:
            log.info("the endpoint cannot be used: %s", error.title)  # the question says so

    def stop(self) -> None:
        """End what waits for an endpoint outside of answers; those have their own `cancel`."""
        self._stopping.set()

    def close(self) -> None:
        """Give up the connections to endpoints. No answer may be under way."""
        for _, _, client in self._clients:
            client.close()
        self._clients.clear()

    def test_endpoint(self, endpoint: EndpointSettings, key: str = "") -> EndpointReport:
        """Ask the endpoint for its models and for a first word; an empty key means the stored."""
        return probe_endpoint(endpoint, key or self._keys.get(endpoint.base_url), self._stopping)

    def running_servers(self) -> Sequence[LocalServer]:
        """The model servers that run on this computer."""
        return running_servers(self._stopping)

    def has_key(self, base_url: str) -> bool:
        """Whether a key is known for this endpoint."""
        return bool(self._keys.get(base_url))

    def save_key(self, base_url: str, key: str) -> bool:
        """Remember the key (an empty one forgets it); False when only for this session."""
        if not key:
            self._keys.delete(base_url)
            return True
        return self._keys.save(base_url, key)

    def _client(self, endpoint: EndpointSettings) -> ChatModel:
        key = self._keys.get(endpoint.base_url)
        for known, known_key, client in reversed(self._clients):
            if (known, known_key) == (endpoint, key):
                return client
        client = ChatClient(endpoint, key)
        self._clients.append((endpoint, key, client))
        return client
