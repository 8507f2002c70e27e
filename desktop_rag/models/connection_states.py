"""Every kind of connection the app can make, with its present state and addresses.

Any worker thread; reading the system's proxy may take a moment. Opens no connection.
"""

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.domain import LINKS, Collection, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.records import checked
from desktop_rag.core.settings import Settings, TranscriptionSettings
from desktop_rag.models.embedding.remote_embedder import endpoint_of, is_address
from desktop_rag.models.endpoint_address import OWN_ADDRESS, is_numeric, is_this_computer
from desktop_rag.models.endpoints.client.connection import proxy_for
from desktop_rag.models.endpoints.endpoint_check import USUAL


class Reach(StrEnum):
    """The farthest place a kind of connection goes to."""

    NETWORK = "over the network"
    COMPUTER = "within this computer"
    NEVER = "never made"


class Place(StrEnum):
    """The place in the window where a kind of connection is switched."""

    MODEL = "Settings, Models"
    HELPER = "Settings, Models, Helper model"
    INDEXING = "Settings, Advanced, Indexing"
    TRANSCRIPTION = "Settings, Models, Transcription"
    LIBRARY = "Library"
    SERVER = "Settings, Advanced, Other programs"
    SHARED_LIBRARY = "Settings, Advanced, Shared library"
    NOWHERE = ""


class ConnectionState(StrEnum):
    """The state of a kind of connection by the settings."""

    ON = "on"
    ON_REQUEST = "only when you ask"
    OFF = "off"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class ConnectionKind:
    """One kind of connection: `recipient`, what is `sent`, and the `occasion`, in full sentences.

    `switch` says how to turn it off or on, `place` where. `modules`, relative to the package, are
    those that open the connection; a test fails when any other module could. It has a `state` where
    that is always the same.
    """

    kind_id: str
    name: str
    reach: Reach
    recipient: str
    sent: str
    occasion: str
    switch: str
    modules: tuple[str, ...] = ()
    place: Place = Place.NOWHERE
    state: ConnectionState | None = None


KIND_TEXTS = ("name", "recipient", "sent", "occasion", "switch")
KIND_TABLE = "privacy/connections.toml"


def _kinds() -> tuple[ConnectionKind, ...]:
    rows = tomllib.loads((resources_dir() / KIND_TABLE).read_text(encoding="utf-8"))["connections"]
    for row in rows:
        row.update(zip(KIND_TEXTS, map(tr, map(row.get, KIND_TEXTS)), strict=True))
    return tuple(checked(ConnectionKind, row, KIND_TABLE) for row in rows)


KINDS = _kinds()


@dataclass(frozen=True, slots=True)
class Connection:
    """A kind of connection with its state and the addresses it goes to."""

    kind: ConnectionKind
    state: ConnectionState
    addresses: tuple[str, ...] = ()

    @property
    def leaves_this_computer(self) -> bool:
        """True when it is made without being asked for each time, to another computer."""
        is_on = self.state is ConnectionState.ON and self.kind.reach is Reach.NETWORK
        return is_on and not all(map(is_this_computer, self.addresses))

    def to_json(self) -> dict[str, Any]:
        """The keys of `privacy --json`."""
        return {
            "id": self.kind.kind_id,
            "name": self.kind.name,
            "reach": self.kind.reach.value,
            "state": self.state.value,
            "addresses": list(self.addresses),
            "leaves_this_computer": self.leaves_this_computer,
            "to": self.kind.recipient,
            "sent": self.kind.sent,
            "when": self.kind.occasion,
            "switch": self.kind.switch,
            "place": self.kind.place.value,
        }


@dataclass(frozen=True, slots=True)
class Facts:
    """All that decides about connections."""

    settings: Settings = field(default_factory=Settings)
    sources: Sequence[Source] = ()
    collections: Sequence[Collection] = ()
    assistants: Sequence[Assistant] = ()
    loaded_model: str = ""  # the embedding model: changes take effect at the next start
    rights_addresses: Sequence[str] = ()  # of applications asked about their users


def connections(facts: Facts) -> tuple[Connection, ...]:
    """Every kind of connection in the order of the table, with its present state."""
    return tuple(
        Connection(kind, *((kind.state, ()) if kind.state else _FOUND[kind.kind_id](facts)))
        for kind in KINDS
    )


_Found = tuple[ConnectionState, tuple[str, ...]]


def _answers(facts: Facts) -> _Found:
    return _on_where(_main(facts))


def _helper(facts: Facts) -> _Found:
    return _on_where([facts.settings.helping_endpoint.base_url] if _main(facts) else [])


def _assistants(facts: Facts) -> _Found:
    known = {endpoint.base_url for endpoint in facts.settings.endpoints}
    return _on_where(a.base_url for a in facts.assistants if a.has_model and a.base_url in known)


def _embeddings(facts: Facts) -> _Found:
    specs = [facts.loaded_model, facts.settings.index.model_folder]
    specs += [collection.embedder for collection in facts.collections]
    return _on_where(_embedding_addresses(specs))


def may_send(settings: TranscriptionSettings) -> bool:
    """True when recordings may go to the server: it is this computer, or the person agreed."""
    return bool(settings.base_url) and (settings.has_consent or is_this_computer(settings.base_url))


def _transcription(facts: Facts) -> _Found:
    transcription = facts.settings.transcription
    return _on_where([transcription.base_url] if may_send(transcription) else [])


def _web_pages(facts: Facts) -> _Found:
    return _fetched(source for source in facts.sources if source.kind == LINKS)


def _remotes(facts: Facts) -> _Found:
    return _fetched(s for s in facts.sources if s.links and s.kind != LINKS)


def _fetched(sources: Iterable[Source]) -> _Found:
    linked = [source.links for source in sources if source.links is not None]
    sites = [_site(url) for links in linked for url in links.urls]
    scheduled = any(links.refresh_hours for links in linked)
    return _on_where(sites) if scheduled or not linked else _on_request(sites)


def _names(facts: Facts) -> _Found:
    fetched = (*_web_pages(facts)[1], *_remotes(facts)[1])
    addresses = [*_contacted(facts), *fetched, *_rights(facts)[1], *_login(facts)[1]]
    hosts = [urlsplit(address).hostname or "" for address in addresses if not is_numeric(address)]
    return _on_where(hosts)


def _proxy(facts: Facts) -> _Found:
    # Without the name and password that it may contain.
    return _on_where(_site(proxy) for url in _contacted(facts) if (proxy := proxy_for(url)))


def _server(facts: Facts) -> _Found:
    server = facts.settings.server
    scheme = "https" if server.certificate else "http"
    host = f"[{server.host}]" if ":" in server.host else server.host
    return _on_where([f"{scheme}://{host}:{server.port}"] if server.is_on else [])


def _rights(facts: Facts) -> _Found:
    return _on_where(facts.rights_addresses if facts.settings.server.is_on else ())


def _login(facts: Facts) -> _Found:
    server = facts.settings.server
    return _on_where([server.login_issuer] if server.is_on and server.login_issuer else ())


def _library_server(facts: Facts) -> _Found:
    store = facts.settings.store
    named = [each for each in (store.address, store.read_address) if each]
    # Other forms of an address may name a password anywhere.
    return _on_where(_site(each) if "://" in each else "PostgreSQL" for each in named)


def _shared_library(facts: Facts) -> _Found:
    shared = facts.settings.shared_library
    return _on_where([f"postgresql://{shared.host}:{shared.port}"] if shared.is_set else [])


def _local_model(facts: Facts) -> _Found:
    return _on_where(address for address in _asked(facts) if address == OWN_ADDRESS)


def _on_where(addresses: Iterable[str]) -> _Found:
    found = tuple(dict.fromkeys(addresses))
    return (ConnectionState.ON if found else ConnectionState.OFF), found


def _on_request(addresses: Iterable[str] = ()) -> _Found:
    return ConnectionState.ON_REQUEST, tuple(dict.fromkeys(addresses))


def _main(facts: Facts) -> list[str]:
    endpoint = facts.settings.endpoint
    return [endpoint.base_url] if endpoint.is_set else []


def _asked(facts: Facts) -> list[str]:
    return [*_answers(facts)[1], *_helper(facts)[1], *_assistants(facts)[1]]


def _contacted(facts: Facts) -> list[str]:
    """The addresses of all endpoints that requests go to."""
    return [*_asked(facts), *_embeddings(facts)[1], *_transcription(facts)[1]]


def _embedding_addresses(specs: Iterable[str]) -> Iterable[str]:
    for spec in specs:
        if is_address(spec):
            try:
                yield endpoint_of(spec).base_url
            except AppError:  # it cannot be opened, so nothing is sent
                continue


def _site(url: str) -> str:
    """An address without its path, name and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


_FOUND: dict[str, Callable[[Facts], _Found]] = {
    "answers": _answers,
    "helper": _helper,
    "assistants": _assistants,
    "examination": lambda facts: _on_where(_asked(facts)),
    "endpoint-test": lambda facts: _on_request(e.base_url for e in facts.settings.endpoints),
    "embeddings": _embeddings,
    "transcription": _transcription,
    "web-pages": _web_pages,
    "remote-sources": _remotes,
    "names": _names,
    "proxy": _proxy,
    "local-servers": lambda _facts: _on_request(USUAL.values()),
    "server": _server,
    "rights": _rights,
    "login": _login,
    "library-server": _library_server,
    "shared-library": _shared_library,
    "local-model": _local_model,
}
