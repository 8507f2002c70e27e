"""Finds the model servers that run on this computer. Worker threads; takes up to two seconds."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from threading import Event

from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.chat_client import ChatClient

# Where they listen unless told otherwise.
USUAL = {
    "Ollama": "http://localhost:11434/v1",
    "LM Studio": "http://localhost:1234/v1",
    "llama.cpp or LocalAI": "http://localhost:8080/v1",
    "vLLM": "http://localhost:8000/v1",
    "Jan": "http://localhost:1337/v1",
}
_PATIENCE_S = 2.0


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answers, what it probably is, and the models it offers."""

    name: str
    base_url: str
    models: tuple[str, ...]


def running_servers(cancel: Event, usual: Mapping[str, str] = USUAL) -> Sequence[LocalServer]:
    """Those of the usual servers that give a list of models, in their order.

    Nothing but this computer is asked, and no key is sent.
    """
    with ThreadPoolExecutor(len(usual), thread_name_prefix="local-server") as threads:
        found = threads.map(partial(_asked, cancel), usual.keys(), usual.values())
    return [server for server in found if server]


def _asked(cancel: Event, name: str, base_url: str) -> LocalServer | None:
    endpoint = EndpointSettings(base_url, timeout_s=_PATIENCE_S)
    try:
        with closing(ChatClient(endpoint, "")) as client:
            return LocalServer(name, base_url, client.list_models(cancel))
    except (AppError, Cancelled):
        return None
