"""Every kind of connection the app can make, and those it never makes: one table.

`connection_states.py` adds the state that each kind has by the settings. `modules` are those that
open the connection; a test fails when any other module could. Pure.
"""

from dataclasses import dataclass
from enum import StrEnum


class Reach(StrEnum):
    """The farthest place a kind of connection goes to."""

    NETWORK = "over the network"
    COMPUTER = "within this computer"
    NEVER = "never made"


class Place(StrEnum):
    """The place in the window where a kind of connection is switched."""

    MODEL = "Settings, Model"
    HELPER = "Settings, Helper model"
    ANSWERS = "Settings, Answers"
    INDEXING = "Settings, Indexing"
    LIBRARY = "Library"
    SERVER = "Settings, Server"
    NOWHERE = ""

    @property
    def section(self) -> str:
        """The heading of the section on the settings page; "" for another page."""
        return self.value.partition(", ")[2]


@dataclass(frozen=True, slots=True)
class ConnectionKind:
    """One kind of connection: `recipient`, what is `sent`, and the `occasion`, in full sentences.

    `switch` says how to turn it off or on, `place` where. `modules` are relative to the package.
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

KINDS: tuple[ConnectionKind, ...] = (
    ConnectionKind(
        "answers",
        "Answers",
        Reach.NETWORK,
        "The endpoint you chose for answers.",
        "Your question, the chat so far, the passages found for it, attached files and pictures,"
        " earlier answers as examples, the instructions of the assistant, your wishes for style,"
        " and the key of the endpoint.",
        "When you ask a question.",
        "Remove the endpoint, or choose excerpts above the chat.",
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
        "Background tasks",
        Reach.NETWORK,
        "The endpoint of the helper model, or else the one for answers.",
        "Short requests with parts of your question, the chat, the sources and the answer: to"
        " rewrite a follow-up question, suggest questions, query a table, and, where you chose"
        " it, check sentences.",
        "Before and after an answer of a model.",
        "Suggestions and checks with the model are switched under Answers.",
        Place.HELPER,
        ("answer.endpoints.chat_models",),
    ),
    ConnectionKind(
        "assistants",
        "Assistants with a model of their own",
        Reach.NETWORK,
        "The endpoint that an assistant names, if it is one of yours.",
        "The same as for answers.",
        "When you ask that assistant.",
        "Choose another model for the assistant, or remove the endpoint.",
        Place.MODEL,
        ("answer.endpoints.chat_models",),
    ),
    ConnectionKind(
        "examination",
        "Measuring a model",
        Reach.NETWORK,
        "Each endpoint with a model in use.",
        "Sample text of common words and a small red picture; none of your data.",
        "Once for each model, in the background, and again when you press Measure again.",
        "Remove the endpoint.",
        Place.MODEL,
        ("answer.endpoints.examiner", "models.endpoints.examination"),
    ),
    ConnectionKind(
        "endpoint-test",
        "Testing an endpoint",
        Reach.NETWORK,
        "The endpoint in the form.",
        "A request for its list of models and one sample question.",
        "When you press Test, choose a helper model, or run desktop-rag doctor.",
        "It happens only on request.",
        Place.MODEL,
        ("models.endpoints.endpoint_check",),
    ),
    ConnectionKind(
        "embeddings",
        "Embeddings",
        Reach.NETWORK,
        "The endpoint chosen as embedding model, for all documents or for a collection.",
        "The text of all documents it embeds, your questions, and the key of the endpoint.",
        "While documents are indexed, and when you ask or search.",
        "Choose the built-in model or a folder as embedding model.",
        Place.INDEXING,
        ("models.embedding.embedder_opener", "models.embedding.remote_embedder"),
    ),
    ConnectionKind(
        "web-pages",
        "Web pages you added",
        Reach.NETWORK,
        "The sites of your links, and public sites they redirect to.",
        "Requests for robots.txt, sitemaps and pages, with the name of the app; no cookies.",
        "When you add links, on their schedule, and when you refresh them.",
        "Remove the links, or choose to fetch them only on request.",
        Place.LIBRARY,
        ("ingest.web.crawler", "ingest.web.transport", "ingest.web.web_access"),
    ),
    ConnectionKind(
        "names",
        "Looking up host names",
        Reach.NETWORK,
        "The name server of this computer.",
        "The host names of the addresses above; never those in your documents.",
        "Before a connection to one of them.",
        "Use numeric addresses, or none.",
        Place.NOWHERE,
        ("ingest.web.transport", f"{_CLIENT}.interruptible_sockets"),
    ),
    ConnectionKind(
        "proxy",
        "The proxy of this computer",
        Reach.NETWORK,
        "The proxy that the system or the environment names for an endpoint.",
        "The address of the endpoint; for http:// addresses everything that is sent to it.",
        "With every request to an endpoint on another computer. Web pages are fetched without it.",
        "Change the proxy of the system, or name the endpoint in NO_PROXY.",
        Place.NOWHERE,
        (f"{_CLIENT}.system_proxy", f"{_CLIENT}.connection"),
    ),
    ConnectionKind(
        "links",
        "Opening links and files",
        Reach.NETWORK,
        "Your browser, or the program that your desktop uses for the file.",
        "The address or the path, to that program, which may open connections of its own.",
        "When you click a link and confirm its address, or open a file.",
        "It happens only on request.",
        Place.NOWHERE,
        (
            "ui.documents.external_viewer",
            "ui.documents.file_opener",
            "ui.documents.link_confirmation",
        ),
    ),
    ConnectionKind(
        "local-servers",
        "Finding model servers",
        Reach.COMPUTER,
        "The usual ports of model servers on this computer.",
        "A request for the list of models, without a key.",
        "When you press Find running servers.",
        "It happens only on request.",
        Place.MODEL,
        ("models.endpoints.local_servers",),
    ),
    ConnectionKind(
        "keyring",
        "The keyring",
        Reach.COMPUTER,
        "The key store of the system; on Linux over D-Bus.",
        "Keys of endpoints and passwords of files, when they are saved, read or removed.",
        "When an endpoint is used, an encrypted file is read, or a key or password is changed.",
        "Without a keyring, keys and passwords are kept until the app ends.",
        Place.NOWHERE,
        ("models.endpoints.keys", "models.file_passwords", "models.system_keyring"),
    ),
    ConnectionKind(
        "running-app",
        "The running app",
        Reach.COMPUTER,
        "The open window, over a socket that only you can use.",
        "Commands such as ask or search, and their results.",
        "When you use the command line or start the app again while the window is open.",
        "It is part of the app.",
        Place.NOWHERE,
        ("running_app", "local_socket"),
    ),
    ConnectionKind(
        "server",
        "The local server",
        Reach.NETWORK,
        "Programs that ask with a token you made: on this computer, or wherever the address you"
        " chose can be reached from.",
        "Answers with their passages, lists of documents and their texts, as the token allows.",
        "When such a program asks. The server is off until you turn it on.",
        "Turn it off, or revoke the token.",
        Place.SERVER,
        (
            "serve.server",
            "serve.worker_events",
            "serve.waiting_for_end",
            "serve.guards.paced_protocol",
            "serve.guards.request_guard",
            "serve.mcp_server.library_mcp",
            "serve.mcp_server.mcp_over_stdio",
        ),
    ),
    ConnectionKind(
        "parser",
        "The process that reads files",
        Reach.COMPUTER,
        "A process of the app without network access, where the system offers that.",
        "The opened file, and its text back.",
        "While files are indexed, attached or shown.",
        "It is part of the app.",
        Place.NOWHERE,
        ("ingest.parsing.child_link", "ingest.parsing.request_channel"),
    ),
    ConnectionKind(
        "desktop",
        "Your desktop",
        Reach.COMPUTER,
        "The display, the input method, the tray, and the screen reader if one runs.",
        "The contents of the window, the keys you chose for the quick ask, and notifications, which"
        " hold no text of documents.",
        "While the app runs, made by Qt as for any program with a window; for a notification"
        " without a tray; and when doctor asks whether there is a tray.",
        "Use the command line. Keys are cleared in the settings.",
        Place.NOWHERE,
        ("desktop.bus_notifier", "desktop.hotkeys.portal_hotkeys", "diagnosis.session_bus"),
    ),
    ConnectionKind(
        "telemetry",
        "Usage reports",
        Reach.NEVER,
        "Nobody.",
        "Nothing. The reports of libraries are switched off before they are loaded.",
        "Never.",
        "There is nothing to switch.",
    ),
    ConnectionKind(
        "updates",
        "Updates",
        Reach.NEVER,
        "Nobody.",
        "Nothing. The app neither looks for new versions nor fetches them.",
        "Never.",
        "There is nothing to switch.",
    ),
    ConnectionKind(
        "downloads",
        "Models and extensions",
        Reach.NEVER,
        "Nobody.",
        "Nothing. Models come with the app or from a folder of yours; libraries and the"
        " database fetch no parts of their own.",
        "Never.",
        "There is nothing to switch.",
    ),
)
