"""Finds model servers running on this computer. Worker threads; takes up to two seconds."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from threading import Event

from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoints.client.endpoint_requests import EndpointRequests
from desktop_rag.models.endpoints.endpoint_check import list_models
from desktop_rag.models.endpoints.providers import programs


def _usual() -> dict[str, str]:
    """The usual addresses, each with the names of the programs that share it."""
    names: dict[str, list[str]] = {}
    for program in programs():
        names.setdefault(program.address, []).append(program.name)
    return {tr(" or ").join(sharing): address for address, sharing in names.items()}


# The usual addresses of programs that serve models.
USUAL = _usual()
_PATIENCE_S = 2.0
_STEP_S = 0.1


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answers, its probable name, and the models it offers."""

    name: str
    base_url: str
    models: tuple[str, ...]


def running_servers(cancel: Event, usual: Mapping[str, str] = USUAL) -> Sequence[LocalServer]:
    """The usual servers that return a list of models, in their order.

    Requests go to this computer only, and no key is sent.
    """
    _load_library()
    ended = Event()
    with ThreadPoolExecutor(len(usual), thread_name_prefix="local-server") as threads:
        asked = [threads.submit(_asked, ended, name, url) for name, url in usual.items()]
        # A server that sends single bytes is never silent, so the total time is limited too.
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until and not cancel.is_set():
            if not wait(asked, timeout=_STEP_S).not_done:
                break
        ended.set()
    return [server for future in asked if (server := future.result())]


def _load_library() -> None:
    """Import the client library, which may take as long as all servers together may."""
    with closing(EndpointRequests(EndpointSettings("http://localhost"))) as requests:
        requests.open()


def _asked(cancel: Event, name: str, base_url: str) -> LocalServer | None:
    endpoint = EndpointSettings(base_url, timeout_s=_PATIENCE_S)
    try:
        listed = list_models(endpoint, "", cancel)
        return LocalServer(name, base_url, tuple(model.name for model in listed))
    except (AppError, Cancelled):
        return None
