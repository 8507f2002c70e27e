"""The faults of endpoints, each with a title and a hint. Pure."""

from enum import Enum

from desktop_rag.core.errors import AppError


class Fault(Enum):
    """A fault is its title and hint; fields in braces are filled in."""

    REFUSED = (
        "The endpoint refused the connection.",
        "Is the server at {host} running? Start it, or check the address in Settings.",
    )
    UNKNOWN_HOST = (
        "The endpoint's address was not found.",
        "Check {host} in Settings, and whether this computer is online.",
    )
    UNREACHABLE = (
        "The endpoint cannot be reached.",
        "Check the address {host} in Settings, and the network. {said}",
    )
    NO_CONNECTION_IN_TIME = (
        "The endpoint did not answer within {connect_s} seconds.",
        "Is the server at {host} running? Check the address in Settings, and the network.",
    )
    CERTIFICATE = (
        "The endpoint's certificate was not accepted.",
        "Check {host} in Settings. Have the certificate of your own server trusted here. {said}",
    )
    NO_TLS = (
        "The endpoint does not support https.",
        "Write its address with http:// in Settings, if it is on a network you trust.",
    )
    PROXY = (
        "The proxy of this computer did not let the request through.",
        "Check the proxy settings, or add {host} to NO_PROXY. {said}",
    )
    NOT_HTTP = (
        "The endpoint does not answer like a web server.",
        "Check the address and the port {host} in Settings.",
    )
    CLOSED = (
        "The endpoint closed the connection without an answer.",
        "Press Retry. If it happens again, check the server's log.",
    )
    SILENT = (
        "The endpoint sent nothing for too long.",
        "The model may still be loading: press Retry, or allow more time in Settings.",
    )
    SLOW = (
        "The endpoint did not produce an answer in time.",
        "It only kept the connection open. Press Retry, or check the server's log. {said}",
    )
    CUT = (
        "The answer was cut off.",
        "The endpoint ended the connection before the answer was finished. Press Retry. {said}",
    )
    NO_KEY = ("The endpoint requires a key.", "Enter your key for {host} in Settings. {said}")
    BAD_KEY = ("The key was not accepted.", "Enter the key for {host} again in Settings. {said}")
    ODD_KEY = (
        "The key contains invalid characters.",
        "Copy it again from where you got it, and enter it in Settings.",
    )
    FORBIDDEN = (
        "The endpoint did not allow this.",
        "The key may not cover “{model}”. Choose another model, or ask who runs the server. {said}",
    )
    UNKNOWN_MODEL = (
        "The endpoint does not know the model “{model}”.",
        "Pick one of its models in Settings. {said}",
    )
    NO_MODEL = (
        "The endpoint has no model loaded.",
        "Load one in the program at {host}, then press Retry. {said}",
    )
    NOTHING_THERE = (
        "The endpoint has nothing at this address.",
        "Check the address in Settings. {try_version} {said}",
    )
    WEB_PAGE = (
        "The endpoint answered with a web page.",
        "The address {url} is not that of an API: check it in Settings. {try_version}",
    )
    REDIRECT = (
        "The endpoint points to another address.",
        "If {said} is right, enter it in Settings. Nothing was sent there.",
    )
    BUSY = (
        "The endpoint's limit of requests is reached.",
        "It takes only so many in a time. Wait {wait}, then press Retry. {said}",
    )
    OVER_RATE = (
        "The question with its sources is more than the endpoint takes in a minute.",
        "Reduce the context in Settings (now {context_tokens} tokens). {said}",
    )
    OVERLOADED = (
        "The endpoint is overloaded.",
        "This passes by itself. Wait {wait}, then press Retry. {said}",
    )
    NO_CREDIT = (
        "The account at the endpoint has no credit left.",
        "Add credit at {host}, or choose another endpoint in Settings. {said}",
    )
    TOO_LONG = (
        "The question with its sources is too long for the model.",
        "Reduce the context in Settings (now {context_tokens} tokens) or start a new chat. {said}",
    )
    TOO_LARGE = (
        "The request is too large for the endpoint.",
        "Attach fewer or smaller pictures and files, or start a new chat. {said}",
    )
    LOADING = (
        "The endpoint is still loading its model.",
        "Wait a little, then press Retry. {said}",
    )
    FAILED = (
        "The endpoint failed.",
        "Press Retry. If it happens again, check the server's log. {said}",
    )
    REJECTED = (
        "The endpoint did not accept the request.",
        "Press Retry, or choose another model in Settings. {said}",
    )
    UNREADABLE = (
        "The endpoint's answer could not be read.",
        "It may not be an OpenAI-compatible address: check {url} in Settings. {try_version} {said}",
    )
    GARBLED = (
        "The endpoint's answer became unreadable.",
        "Press Retry. If it happens again, check the server's log. {said}",
    )
    ENCODED = (
        "The endpoint's answer is compressed in a way that cannot be read.",
        "It came as {said}, although it was asked for plain. Turn that off at {host} or its proxy.",
    )
    ENDLESS = (
        "The endpoint's answer did not end.",
        "It was stopped for its length. Press Retry, or pick another model in Settings. {said}",
    )
    EMPTY = ("The model gave no answer.", "Press Retry, or pick another model in Settings. {said}")
    UNFINISHED = (
        "The answer is not complete.",
        "The answer reached the length limit of the endpoint. Ask the model to continue. {said}",
    )
    BROKEN_OFF = (
        "The answer was broken off.",
        "The endpoint ended it with “{said}”. Press Retry; what came before is kept.",
    )
    ODD_ENDING = (
        "The answer may not be complete.",
        "The endpoint ended it with “{said}”, which does not mean that all was said. Press Retry.",
    )
    REPEATING = (
        "The model repeats itself.",
        "It wrote the same again and again, so it was stopped. Press Retry, or pick another model.",
    )
    TRICKLING = (
        "The answer came too slowly.",
        "Only a few letters came in minutes, so it was stopped. Press Retry, or see its log.",
    )
    FILTERED = (
        "The endpoint withheld the answer.",
        "Its content filter stopped it. Rephrase the question, or choose another endpoint. {said}",
    )


# Only these are retried automatically, and only before the answer has begun.
_PASSING = frozenset({Fault.CLOSED, Fault.BUSY, Fault.LOADING, Fault.OVERLOADED})


class EndpointFaultError(AppError):
    """An AppError with its fault, and the wait before a retry that the server asks for.

    `said` is the server's message, without the key; `limit_tokens` the context length it states;
    `status` that of its response, 0 where the fault came before or after it.
    """

    def __init__(
        self,
        fault: Fault,
        title: str,
        hint: str,
        wait_s: float | None = None,
        *,
        said: str = "",
        limit_tokens: int = 0,
        status: int = 0,
    ) -> None:
        super().__init__(title, hint)
        self.fault = fault
        self.wait_s = wait_s
        self.said = said
        self.limit_tokens = limit_tokens
        self.status = status

    @property
    def is_passing(self) -> bool:
        """True when the same request may succeed in a moment."""
        return self.fault in _PASSING


class StreamError(Exception):
    """The response is not a valid answer. Callers see it as an AppError.

    `said` is the server's own message, `code` its own name for the error.
    """

    def __init__(self, fault: Fault, said: str = "", code: str = "") -> None:
        super().__init__(fault.name, said, code)
        self.fault = fault
        self.said = said
        self.code = code
