"""Tests an endpoint, and finds model servers on this computer. Worker threads; takes seconds."""

import difflib
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from threading import Event

from desktop_rag.activity.activity_event import Purpose
from desktop_rag.activity.recorder import Recorder
from desktop_rag.core.domain import EndpointReport, ListedModel
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoint_address import normalise_base_url
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from desktop_rag.models.endpoints.client.endpoint_errors import mapping_endpoint_errors
from desktop_rag.models.endpoints.client.endpoint_faults import EndpointFaultError, Fault
from desktop_rag.models.endpoints.client.endpoint_requests import EndpointRequests
from desktop_rag.models.endpoints.model_list import listed_models
from desktop_rag.models.endpoints.providers import list_shape_at, programs
from desktop_rag.models.ports import ChatTurn, OwnServer

_QUESTION = ChatTurn("user", "Reply with the word yes.")
# After these faults a second request is useless; others only mean that there is no list.
_FINAL = frozenset({
    Fault.REFUSED, Fault.UNKNOWN_HOST, Fault.UNREACHABLE, Fault.NO_CONNECTION_IN_TIME,
    Fault.CERTIFICATE, Fault.NO_TLS, Fault.PROXY, Fault.NOT_HTTP, Fault.SILENT, Fault.SLOW,
    Fault.NO_KEY, Fault.BAD_KEY, Fault.ODD_KEY, Fault.REDIRECT,
})  # fmt: skip
_KEY_FAULTS = frozenset({Fault.NO_KEY, Fault.BAD_KEY, Fault.ODD_KEY})
_NAMES_SHOWN = 5


def list_models(
    endpoint: EndpointSettings,
    key: str = "",
    cancel: Event | None = None,
    own_server: OwnServer | None = None,
) -> tuple[ListedModel, ...]:
    """The models that an endpoint offers; ignores the model of the settings.

    AppError when it can't be reached or has no such list (`Fault.NOTHING_THERE` and others).
    """
    with (
        closing(EndpointRequests(endpoint, key, own_server=own_server)) as requests,
        mapping_endpoint_errors(endpoint, key),
    ):
        shape = list_shape_at(normalise_base_url(endpoint.base_url))
        return listed_models(requests.model_list(cancel or Event(), shape), shape)


def probe_endpoint(
    endpoint: EndpointSettings,
    key: str,
    cancel: Event | None = None,
    recorder: Recorder | None = None,
    own_server: OwnServer | None = None,
) -> EndpointReport:
    """Request the list of models, then the first words of an answer; the report includes faults.

    `seconds` is the time until the first word. Once `cancel` is set, the report is meaningless.
    """
    listed: tuple[ListedModel, ...] = ()
    cancel = cancel or Event()
    try:
        listed = _models_or_none(endpoint, key, cancel, own_server)
        if not endpoint.model:
            return _without_model(listed)
        made = ChatClient(endpoint, key, recorder=recorder, own_server=own_server)
        with closing(made.serving(Purpose.TEST)) as client:
            started = time.monotonic()
            _hear_first_words(client, cancel)
            return _answered(endpoint.model, listed, time.monotonic() - started)
    except AppError as exc:
        hint = exc.hint
        fault = exc.fault if isinstance(exc, EndpointFaultError) else None
        if fault is Fault.UNKNOWN_MODEL and listed:
            hint = f"{_suggestion(endpoint.model, listed)} {hint}"
        wants_key = fault in _KEY_FAULTS
        return EndpointReport(exc.title, hint, is_ok=False, wants_key=wants_key, listed=listed)


def _models_or_none(
    endpoint: EndpointSettings, key: str, cancel: Event, own_server: OwnServer | None
) -> tuple[ListedModel, ...]:
    try:
        return list_models(endpoint, key, cancel, own_server)
    except Cancelled:
        return ()
    except EndpointFaultError as exc:
        if exc.fault in _FINAL:
            raise
        return ()


def _hear_first_words(client: ChatClient, cancel: Event) -> None:
    """Raise AppError if the model doesn't begin to answer; the rest of the answer isn't read."""
    with closing(client.stream([_QUESTION], cancel)) as answer:
        next(answer, None)


def _without_model(listed: tuple[ListedModel, ...]) -> EndpointReport:
    title, hint = "The endpoint answers. Choose a model.", f"It offers {_named(listed)}."
    if not listed:
        title = "No model is chosen."
        hint = "The endpoint has no list of models: enter the name of one."
    return EndpointReport(title, hint, is_ok=False, is_reached=True, listed=listed)


def _answered(model: str, listed: tuple[ListedModel, ...], seconds: float) -> EndpointReport:
    hint = ""
    if listed and all(model != known.name for known in listed):
        hint = f"It answers although its list does not name it. {_suggestion(model, listed)}"
    title = f"“{model}” answered after {seconds:.1f} seconds."
    return EndpointReport(title, hint, is_ok=True, listed=listed, seconds=seconds)


def _suggestion(model: str, listed: tuple[ListedModel, ...]) -> str:
    if closest := closest_model(model, tuple(known.name for known in listed)):
        return f"The closest name is “{closest}”."
    return f"It offers {_named(listed)}."


def closest_model(model: str, models: tuple[str, ...]) -> str:
    """The offered name most similar to the wanted one; empty when none is similar."""
    by_folded = {name.lower(): name for name in models}
    wanted = model.lower()
    within = [name for name in by_folded if wanted in name or name in wanted]
    # A part of a name is a certain match, however much is missing.
    cutoff = 0.0 if within else 0.6
    closest = difflib.get_close_matches(wanted, within or list(by_folded), n=1, cutoff=cutoff)
    return by_folded[closest[0]] if closest else ""


def _named(listed: tuple[ListedModel, ...]) -> str:
    shown = ", ".join(f"“{model.name}”" for model in listed[:_NAMES_SHOWN])
    more = len(listed) - _NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _usual() -> dict[str, str]:
    """The usual addresses of model servers, by the names of the programs that share them."""
    names: dict[str, list[str]] = {}
    for program in programs():
        names.setdefault(program.address, []).append(program.name)
    return {tr(" or ").join(sharing): address for address, sharing in names.items()}


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
    """Import the client library first, which may take longer than the servers' time limit."""
    with closing(EndpointRequests(EndpointSettings("http://localhost"))) as requests:
        requests.open()


def _asked(cancel: Event, name: str, base_url: str) -> LocalServer | None:
    endpoint = EndpointSettings(base_url, timeout_s=_PATIENCE_S)
    try:
        listed = list_models(endpoint, "", cancel)
        return LocalServer(name, base_url, tuple(model.name for model in listed))
    except (AppError, Cancelled):
        return None
