"""Every kind of connection the app can make, with its present state and addresses.

Any worker thread; reading the system's proxy may take a moment. Opens no connection.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.domain import Collection, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import Settings
from desktop_rag.models.embedding.remote_embedder import endpoint_of, is_address
from desktop_rag.models.endpoint_address import OWN_ADDRESS, is_numeric, is_this_computer
from desktop_rag.models.endpoints.client.connection import proxy_for
from desktop_rag.models.endpoints.endpoint_check import USUAL
from desktop_rag.models.transcription_client import may_send


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


@dataclass(frozen=True, slots=True)
class ConnectionKind:
    """One kind of connection: `recipient`, what is `sent`, and the `occasion`, in full sentences.

    `switch` says how to turn it off or on, `place` where. `modules`, relative to the package, are
    those that open the connection; a test fails when any other module could.
    """

    kind_id: str
    name: str
    reach: Reach
    recipient: str
    sent: str
    occasion: str
    switch: str
    place: Place = Place.NOWHERE
    modules: tuple[str, ...] = ()


_CLIENT = "models.endpoints.client"
# Also those that the app never makes.
KINDS: tuple[ConnectionKind, ...] = (
    ConnectionKind(
        "answers",
        tr("Answers"),
        Reach.NETWORK,
        tr("The endpoint you chose for answers."),
        tr(
            "Your question, the chat so far, the passages found for it, attached files and"
            " pictures, earlier answers as examples, the instructions of the assistant, your wishes"
            " for style, and the key of the endpoint."
        ),
        tr("When you ask a question."),
        tr("Remove the endpoint, or choose excerpts above the chat."),
        Place.MODEL,
        (
            f"{_CLIENT}.connection",
            f"{_CLIENT}.endpoint_requests",
            f"{_CLIENT}.endpoint_errors",
            f"{_CLIENT}.interruptible_sockets",
            f"{_CLIENT}.chat_client",
            "answer.endpoints.chat_models",
        ),
    ),
    ConnectionKind(
        "helper",
        tr("Background tasks"),
        Reach.NETWORK,
        tr("The endpoint of the helper model, or else the one for answers."),
        tr(
            "Short requests with parts of your question, the chat, the sources and the answer: to"
            " rewrite a follow-up question, suggest questions, query a table, and, where you chose"
            " it, check sentences."
        ),
        tr("Before and after an answer of a model."),
        tr("Suggestions and checks with the model are switched under Answers."),
        Place.HELPER,
        ("answer.endpoints.chat_models",),
    ),
    ConnectionKind(
        "assistants",
        tr("Assistants with a model of their own"),
        Reach.NETWORK,
        tr("The endpoint that an assistant names, if it is one of yours."),
        tr("The same as for answers."),
        tr("When you ask that assistant."),
        tr("Choose another model for the assistant, or remove the endpoint."),
        Place.MODEL,
        ("answer.endpoints.chat_models",),
    ),
    ConnectionKind(
        "examination",
        tr("Measuring a model"),
        Reach.NETWORK,
        tr("Each endpoint with a model in use."),
        tr("Sample text of common words and a small red picture; none of your data."),
        tr("Once for each model, in the background, and again when you press Measure again."),
        tr("Remove the endpoint."),
        Place.MODEL,
        ("answer.endpoints.chat_models", "models.endpoints.examination"),
    ),
    ConnectionKind(
        "endpoint-test",
        tr("Testing an endpoint"),
        Reach.NETWORK,
        tr("The endpoint in the form."),
        tr("A request for its list of models and one sample question."),
        tr("When you press Test, choose a helper model, or run desktop-rag doctor."),
        tr("It happens only on request."),
        Place.MODEL,
        ("models.endpoints.endpoint_check",),
    ),
    ConnectionKind(
        "embeddings",
        tr("Embeddings"),
        Reach.NETWORK,
        tr("The endpoint chosen as embedding model, for all documents or for a collection."),
        tr("The text of all documents it embeds, your questions, and the key of the endpoint."),
        tr("While documents are indexed, and when you ask or search."),
        tr("Choose the built-in model or a folder as embedding model."),
        Place.INDEXING,
        ("models.embedding.joined_embedding", "models.embedding.remote_embedder"),
    ),
    ConnectionKind(
        "transcription",
        tr("Transcription"),
        Reach.NETWORK,
        tr("The transcription server you chose."),
        tr("Your recordings with their file names, and the key of the server."),
        tr("While recordings are indexed, and when you press Test."),
        tr("Remove the address of the server."),
        Place.TRANSCRIPTION,
        ("models.transcription_client",),
    ),
    ConnectionKind(
        "web-pages",
        tr("Web pages you added"),
        Reach.NETWORK,
        tr(
            "The sites of your links, and public sites they redirect to; of the local network only"
            " hosts that a collection allows."
        ),
        tr("Requests for robots.txt, sitemaps and pages, with the name of the app; no cookies."),
        tr("When you add links, on their schedule, and when you refresh them."),
        tr("Remove the links, or choose to fetch them only on request."),
        Place.LIBRARY,
        ("ingest.web.crawler", "ingest.web.transport"),
    ),
    ConnectionKind(
        "names",
        tr("Looking up host names"),
        Reach.NETWORK,
        tr("The name server of this computer."),
        tr("The host names of the addresses above; never those in your documents."),
        tr("Before a connection to one of them."),
        tr("Use numeric addresses, or none."),
        Place.NOWHERE,
        ("ingest.web.transport", f"{_CLIENT}.interruptible_sockets"),
    ),
    ConnectionKind(
        "proxy",
        tr("The proxy of this computer"),
        Reach.NETWORK,
        tr("The proxy that the system or the environment names for an endpoint."),
        tr("The address of the endpoint; for http:// addresses everything that is sent to it."),
        tr(
            "With every request to an endpoint on another computer. Web pages are"
            " fetched without it."
        ),
        tr("Change the proxy of the system, or name the endpoint in NO_PROXY."),
        Place.NOWHERE,
        (f"{_CLIENT}.connection",),
    ),
    ConnectionKind(
        "links",
        tr("Opening links and files"),
        Reach.NETWORK,
        tr("Your browser, or the program that your desktop uses for the file."),
        tr("The address or the path, to that program, which may open connections of its own."),
        tr("When you click a link and confirm its address, or open a file."),
        tr("It happens only on request."),
        Place.NOWHERE,
        (
            "ui.documents.external_viewer",
            "ui.documents.document_opener",
            "features.server.ui.programs_page",
        ),
    ),
    ConnectionKind(
        "local-servers",
        tr("Finding model servers"),
        Reach.COMPUTER,
        tr("The usual ports of model servers on this computer."),
        tr("A request for the list of models, without a key."),
        tr("When you press Find running servers."),
        tr("It happens only on request."),
        Place.MODEL,
        ("models.endpoints.endpoint_check",),
    ),
    ConnectionKind(
        "keyring",
        tr("The keyring"),
        Reach.COMPUTER,
        tr("The key store of the system; on Linux over D-Bus."),
        tr(
            "Keys of endpoints, passwords of files and of the shared library, and the secrets of"
            " the bot for Matrix rooms, when they are saved, read or removed."
        ),
        tr("When an endpoint is used, an encrypted file is read, or a key or password is changed."),
        tr("Without a keyring, keys and passwords are kept until the app ends."),
        Place.NOWHERE,
        (
            "features.matrix.room_client",
            "models.system_keyring",
            "features.shared_library.library_access",
        ),
    ),
    ConnectionKind(
        "running-app",
        tr("The running app"),
        Reach.COMPUTER,
        tr("The open window, over a socket that only you can use."),
        tr("Commands such as ask or search, and their results."),
        tr("When you use the command line or start the app again while the window is open."),
        tr("It is part of the app."),
        Place.NOWHERE,
        ("running_app",),
    ),
    ConnectionKind(
        "server",
        tr("The local server"),
        Reach.NETWORK,
        tr(
            "Programs that ask with a token you made: on this computer, or wherever the address you"
            " chose can be reached from."
        ),
        tr("Answers with their passages, lists of documents and their texts, as the token allows."),
        tr("When such a program asks. The server is off until you turn it on."),
        tr("Turn it off, or revoke the token."),
        Place.SERVER,
        (
            "features.server.server",
            "features.server.network.certificates",
            "features.server.network.listening",
            "features.server.worker_events",
            "features.server.responses",
            "features.server.guards.request_guard",
            "features.server.mcp_server.library_mcp",
            "features.server.mcp_programs.connection_check",
        ),
    ),
    ConnectionKind(
        "library-server",
        tr("The library on a server"),
        Reach.NETWORK,
        tr("The PostgreSQL server that you named in the settings file."),
        tr(
            "All that a library holds: texts of documents, passages, vectors, chats, and the words"
            " of your questions."
        ),
        tr("Whenever the library is read or changed. There is no server until you name one."),
        tr("Remove `engine` under [store] from the settings file: the library is a file again."),
        Place.NOWHERE,
        (
            "features.shared_library.postgres.database.read_replica",
            "features.shared_library.postgres.database.rights",
            "features.shared_library.postgres.database.server_connection",
            "features.shared_library.postgres.database.server_database",
            "features.shared_library.postgres.database.server_schema",
            "features.shared_library.postgres.postgres_engine",
            "features.shared_library.postgres.server_check",
        ),
    ),
    ConnectionKind(
        "shared-library",
        tr("The shared library"),
        Reach.NETWORK,
        tr("The PostgreSQL server that you named as shared library."),
        tr(
            "The name of the role and its password. For each question that may find its documents:"
            " the words searched for, the vector of the question and the filters. No document of"
            " yours."
        ),
        tr(
            "When you press Test or Connect; once it is connected, at each question and once a"
            " minute."
        ),
        tr("Press Disconnect."),
        Place.SHARED_LIBRARY,
        ("features.shared_library.postgres.server_check",),
    ),
    ConnectionKind(
        "rails-actions",
        tr("Actions of your own in rails"),
        Reach.NETWORK,
        tr(
            "Whatever the Python file you chose and confirmed contacts;"
            " the app's own contact nobody."
        ),
        tr("What that file sends: it is a program of yours, and gets what its flows give it."),
        tr("When a conversation through these rails calls such an action."),
        tr("Leave the file out: desktop-rag rails run without --actions."),
        Place.NOWHERE,
        ("features.rails.actions.action_calls", "features.rails.actions.own_actions"),
    ),
    ConnectionKind(
        "registered-programs",
        tr("Programs that you registered"),
        Reach.NETWORK,
        tr("Whatever the program contacts; the app itself contacts nobody."),
        tr("What that program sends. It is given its arguments, and no key of the app's."),
        tr("When you agree to a command that runs it."),
        tr("Don't agree, or remove it in Settings, under Commands."),
        Place.NOWHERE,
        ("features.rails.commands.commands",),
    ),
    ConnectionKind(
        "rights",
        tr("Rights of users of other applications"),
        Reach.NETWORK,
        tr("The address of the application that you named for a collection."),
        tr(
            "The token with which its user asks, and for each document of that collection its id,"
            " its path below the folder you added, and its address; no text."
        ),
        tr("When a program asks the local server for such a user."),
        tr("Remove the rule of the collection: desktop-rag access remove."),
        Place.NOWHERE,
        ("features.server.access.rights_address",),
    ),
    ConnectionKind(
        "matrix",
        tr("The bot for Matrix rooms"),
        Reach.NETWORK,
        tr("The homeserver of the account you made for it, and the local server that it asks."),
        tr(
            "To the homeserver: answers with the titles and addresses of their sources, in the"
            " rooms on your list. To the local server: questions, what came before them in their"
            " thread, messages to be summarised, and tokens that say for whom."
        ),
        tr("While desktop-rag matrix runs, and when you log it in."),
        tr("End it, or take rooms off the list: desktop-rag matrix deny."),
        Place.NOWHERE,
        (
            "features.matrix.room_client",
            "features.matrix.bot_run",
            "features.matrix.growing_message",
            "features.matrix.library_server",
        ),
    ),
    ConnectionKind(
        "parser",
        tr("The process that reads files"),
        Reach.COMPUTER,
        tr("A process of the app without network access, where the system offers that."),
        tr("The opened file, and its text back."),
        tr("While files are indexed, attached or shown."),
        tr("It is part of the app."),
        Place.NOWHERE,
        ("ingest.parsing.parser_process", "ingest.parsing.protocol"),
    ),
    ConnectionKind(
        "local-model",
        tr("The model on this computer"),
        Reach.COMPUTER,
        tr("A process of the app that runs a model, with a key of its own for each start."),
        tr(
            "What an endpoint for answers or background tasks is sent. Nothing leaves the computer."
        ),
        tr("When a model on this computer is used. It ends some minutes after the last request."),
        tr("Choose another endpoint, or remove the model."),
        Place.MODEL,
        ("features.local_model.model_server", "features.local_model.model_child"),
    ),
    ConnectionKind(
        "model-download",
        tr("Fetching a model"),
        Reach.NETWORK,
        tr("huggingface.co, or the host that HF_ENDPOINT names, and the store it points to."),
        tr("The name of the file. Nothing of yours."),
        tr("When you press the button that names the host, the size and the folder."),
        tr("Don't press it."),
        Place.MODEL,
        ("features.local_model.fetcher",),
    ),
    ConnectionKind(
        "desktop",
        tr("Your desktop"),
        Reach.COMPUTER,
        tr("The display, the input method, the tray, and the screen reader if one runs."),
        tr(
            "The contents of the window, the keys you chose for the quick ask, and notifications,"
            " which hold no text of documents."
        ),
        tr(
            "While the app runs, made by Qt as for any program with a window; for a notification"
            " without a tray; and when doctor asks whether there is a tray."
        ),
        tr("Use the command line. Keys are cleared in the settings."),
        Place.NOWHERE,
        ("desktop.bus_notifier", "desktop.hotkeys.portal_hotkeys", "diagnosis.session_bus"),
    ),
    ConnectionKind(
        "telemetry",
        tr("Usage reports"),
        Reach.NEVER,
        tr("Nobody."),
        tr("Nothing. The reports of libraries are switched off before they are loaded."),
        tr("Never."),
        tr("There is nothing to switch."),
    ),
    ConnectionKind(
        "updates",
        tr("Updates"),
        Reach.NEVER,
        tr("Nobody."),
        tr("Nothing. The app neither looks for new versions nor fetches them."),
        tr("Never."),
        tr("There is nothing to switch."),
    ),
    ConnectionKind(
        "downloads",
        tr("Extensions"),
        Reach.NEVER,
        tr("Nobody."),
        tr(
            "Nothing. Models for search come with the app or from a folder of yours; libraries and"
            " the database fetch no parts of their own."
        ),
        tr("Never."),
        tr("There is nothing to switch."),
    ),
)


class ConnectionState(StrEnum):
    """The state of a kind of connection by the settings."""

    ON = "on"
    ON_REQUEST = "only when you ask"
    OFF = "off"
    NEVER = "never"


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
    return tuple(Connection(kind, *_FOUND[kind.kind_id](facts)) for kind in KINDS)


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


def _transcription(facts: Facts) -> _Found:
    transcription = facts.settings.transcription
    return _on_where([transcription.base_url] if may_send(transcription) else [])


def _web_pages(facts: Facts) -> _Found:
    linked = [source.links for source in facts.sources if source.links is not None]
    sites = (_site(url) for links in linked for url in links.urls)
    scheduled = any(links.refresh_hours for links in linked)
    return _on_where(sites) if scheduled or not linked else _on_request(sites)


def _names(facts: Facts) -> _Found:
    addresses = [*_contacted(facts), *_web_pages(facts)[1], *_rights(facts)[1]]
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


def _steady(state: ConnectionState) -> Callable[[Facts], _Found]:
    return lambda _facts: (state, ())


_FOUND: dict[str, Callable[[Facts], _Found]] = {
    "answers": _answers,
    "helper": _helper,
    "assistants": _assistants,
    "examination": lambda facts: _on_where(_asked(facts)),
    "endpoint-test": lambda facts: _on_request(e.base_url for e in facts.settings.endpoints),
    "embeddings": _embeddings,
    "transcription": _transcription,
    "web-pages": _web_pages,
    "names": _names,
    "proxy": _proxy,
    "links": _steady(ConnectionState.ON_REQUEST),
    "local-servers": lambda _facts: _on_request(USUAL.values()),
    "keyring": _steady(ConnectionState.ON),
    "server": _server,
    "rights": _rights,
    "library-server": _library_server,
    "shared-library": _shared_library,
    "matrix": _steady(ConnectionState.ON_REQUEST),
    "rails-actions": _steady(ConnectionState.ON_REQUEST),
    "registered-programs": _steady(ConnectionState.ON_REQUEST),
    "running-app": _steady(ConnectionState.ON),
    "parser": _steady(ConnectionState.ON),
    "model-download": _steady(ConnectionState.ON_REQUEST),
    "local-model": _local_model,
    "desktop": _steady(ConnectionState.ON),
    "telemetry": _steady(ConnectionState.NEVER),
    "updates": _steady(ConnectionState.NEVER),
    "downloads": _steady(ConnectionState.NEVER),
}
