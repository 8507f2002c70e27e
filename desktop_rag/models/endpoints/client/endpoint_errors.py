"""Turns the errors of openai, its HTTP layer and our stream parser into AppErrors. Runs on the
calling worker thread.
"""

import email.utils
import math
import re
import socket
import ssl
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop_rag.core.errors import SERVER_SAYS, AppError, Cancelled
from desktop_rag.core.settings import ASSUMED_CONTEXT_TOKENS, EndpointSettings
from desktop_rag.models.endpoint_address import host_of, normalise_base_url, with_version
from desktop_rag.models.endpoints.client.endpoint_faults import (
    EndpointFaultError,
    Fault,
    StreamError,
    server_message,
)
from desktop_rag.models.endpoints.client.length_limit import limit_in

if TYPE_CHECKING:
    import openai

CONNECT_TIMEOUT_S = 10.0
_LONGEST_MESSAGE_CHARS = 300
_LONGEST_WAIT_S = 86_400.0
# A shorter key is no secret, and removing it would garble the message.
_SHORTEST_KEY_CHARS = 4
# Detected in the message, because status codes differ from server to server.
_MODEL_MESSAGE = re.compile(
    r"(?i)model[_ ]not[_ ]found|(?:unknown|invalid|no such) model|not a valid model"
    r"|\bmodel\b[^.]{0,80}?\b(?:not found|not exist|doesn't exist|not available|not loaded)"
)
_LENGTH_MESSAGE = re.compile(
    r"(?i)context[_ ]length|context[_ ]size|context[_ ]window|maximum context"
    r"|prompt is too long|too large to process|too many tokens|exceeds the available context"
    r"|too large for model with|input token count|max_new_tokens. must be <="
)
_CREDIT_MESSAGE = re.compile(r"(?i)insufficient[_ ](?:quota|balance|credits?)")


@contextmanager
def mapping_endpoint_errors(endpoint: EndpointSettings, key: str = "") -> Generator[None]:
    """Turn faults of the network, the server or its answer into an EndpointFaultError.

    Other exceptions are bugs and pass unchanged. The key never gets into the error.
    """
    try:
        yield
    except (AppError, Cancelled):
        raise
    except Exception as exc:
        found = _find(exc, bool(key))
        if found is None:
            raise
        # A server may repeat the key in its message, which a traceback would show.
        cause = None if key and key.strip() in str(exc) else exc
        raise _in_words(found, endpoint, key) from cause


@dataclass(frozen=True, slots=True)
class _FaultReport:
    fault: Fault
    said: str = ""
    status: int = 0
    wait_s: float | None = None
    limit_tokens: int = 0


def _find(exc: Exception, has_key: bool) -> _FaultReport | None:
    import openai

    match exc:
        case StreamError():
            return _by_stream_error(exc)
        case openai.APIStatusError():
            return _by_status(exc, has_key)
        case openai.APIConnectionError():
            return _FaultReport(Fault.UNREACHABLE, str(exc.__cause__ or ""))
        case _:
            return _by_connection(exc)


def _by_connection(exc: Exception) -> _FaultReport | None:
    import httpcore2
    import httpx2

    match exc:
        case httpcore2.ConnectTimeout() | httpcore2.PoolTimeout():
            return _FaultReport(Fault.NO_CONNECTION_IN_TIME)
        case httpcore2.ReadTimeout() | httpcore2.WriteTimeout():
            return _FaultReport(Fault.SILENT)
        case httpcore2.ConnectError():
            return _by_socket_error(exc.args[0] if exc.args else None)
        case httpcore2.ProxyError():
            return _FaultReport(Fault.PROXY, str(exc))
        case httpcore2.RemoteProtocolError() if "disconnected" not in str(exc):
            return _FaultReport(Fault.NOT_HTTP)
        case httpcore2.RemoteProtocolError() | httpcore2.ReadError() | httpcore2.WriteError():
            return _FaultReport(Fault.CLOSED)
        case httpx2.InvalidURL():
            return _FaultReport(Fault.UNKNOWN_HOST)
        case _:
            return None


def _by_socket_error(cause: object) -> _FaultReport:
    match cause:
        case ConnectionRefusedError():
            return _FaultReport(Fault.REFUSED)
        case socket.gaierror() | UnicodeError():
            return _FaultReport(Fault.UNKNOWN_HOST)
        case ssl.SSLCertVerificationError():
            return _FaultReport(Fault.CERTIFICATE, cause.verify_message)
        case ssl.SSLError():
            return _FaultReport(Fault.NO_TLS)
        case _:
            return _FaultReport(Fault.UNREACHABLE, str(cause or ""))


def _by_status(exc: "openai.APIStatusError", has_key: bool) -> _FaultReport:
    status = exc.status_code
    said, code = server_message(exc.body)
    is_page = "html" in exc.response.headers.get("content-type", "").lower()
    said = "" if is_page else _without_page(said)
    wait_s = wait_s_of(exc.response.headers.get("retry-after", ""))
    fault = _fault_named(f"{code} {said}")
    if 300 <= status < 400:  # noqa: PLR2004  the class of redirects
        fault, said = Fault.REDIRECT, _without_query(exc.response.headers.get("location", ""))
    elif status in _BY_STATUS:
        fault = fault if status == 429 and fault is Fault.NO_CREDIT else _BY_STATUS[status]  # noqa: PLR2004
        fault = Fault.NO_KEY if fault is Fault.BAD_KEY and not has_key else fault
    elif status == 404 and fault is None:  # noqa: PLR2004
        fault = Fault.WEB_PAGE if is_page else Fault.NOTHING_THERE
    elif status == 503 and "loading" in said.lower():  # noqa: PLR2004
        fault = Fault.LOADING
    elif fault is None:
        fault = Fault.FAILED if status >= 500 else Fault.REJECTED  # noqa: PLR2004
    limit = limit_in(said, exc.body) if fault is Fault.TOO_LONG else 0
    return _FaultReport(fault, said, status, wait_s, limit)


_BY_STATUS = {
    401: Fault.BAD_KEY,
    402: Fault.NO_CREDIT,
    403: Fault.FORBIDDEN,
    405: Fault.NOTHING_THERE,
    413: Fault.TOO_LONG,
    429: Fault.BUSY,
}


def _by_stream_error(exc: StreamError) -> _FaultReport:
    fault = exc.fault
    if fault is Fault.FAILED:
        is_busy = exc.code in ("429", "rate_limit_exceeded")
        fault = _fault_named(f"{exc.code} {exc.said}") or (Fault.BUSY if is_busy else fault)
    return _FaultReport(fault, _without_page(exc.said), limit_tokens=limit_in(exc.said))


def _without_page(said: str) -> str:
    """The message, empty if it is a web page."""
    return "" if said.lstrip().startswith("<") else said


def _fault_named(words: str) -> Fault | None:
    if _CREDIT_MESSAGE.search(words):
        return Fault.NO_CREDIT
    if _LENGTH_MESSAGE.search(words):
        return Fault.TOO_LONG
    return Fault.UNKNOWN_MODEL if _MODEL_MESSAGE.search(words) else None


def _in_words(found: _FaultReport, endpoint: EndpointSettings, key: str) -> EndpointFaultError:
    try:
        url = normalise_base_url(endpoint.base_url)
    except AppError:
        url = ""
    version = with_version(url) if url else ""
    # Control characters of a server must not reach a terminal.
    said = "".join(char if char.isprintable() else " " for char in found.said)
    said = " ".join(said.split())
    if len(key) >= _SHORTEST_KEY_CHARS:
        said = said.replace(key.strip(), "…")
    whole = said
    if len(said) > _LONGEST_MESSAGE_CHARS:
        said = said[:_LONGEST_MESSAGE_CHARS] + "…"
    if said and found.fault not in (Fault.REDIRECT, Fault.EMPTY, Fault.ENCODED):
        said = f"{SERVER_SAYS}{said}”"
    if found.status and found.fault in (Fault.FAILED, Fault.REJECTED):
        said = f"Status {found.status}. {said}"
    fields = {
        "host": host_of(url),
        "url": url,
        "model": endpoint.model,
        "context_tokens": endpoint.context_tokens or ASSUMED_CONTEXT_TOKENS,
        "connect_s": f"{CONNECT_TIMEOUT_S:g}",
        "silence_s": f"{endpoint.timeout_s:g}",
        "try_version": f"Most end in /v1: try {version}." if version else "",
        "wait": f"{found.wait_s:.0f} seconds" if found.wait_s else "a little",
        "said": said or ("that" if found.fault is Fault.REDIRECT else ""),
    }
    title, hint = (" ".join(text.format(**fields).split()) for text in found.fault.value)
    return EndpointFaultError(
        found.fault,
        title,
        hint,
        found.wait_s,
        said=whole,
        limit_tokens=found.limit_tokens,
        status=found.status,
    )


def wait_s_of(header: str) -> float | None:
    """The seconds of a Retry-After header, a number or a date; None without a valid one."""
    try:
        wait_s = float(header)
    except ValueError:
        wait_s = math.nan
        if (moment := email.utils.parsedate_tz(header)) is not None:
            with suppress(OverflowError, ValueError):
                wait_s = email.utils.mktime_tz(moment) - time.time()
    return min(max(wait_s, 0.0), _LONGEST_WAIT_S) if math.isfinite(wait_s) else None


def _without_query(location: str) -> str:
    """The target of a redirect, without parts that may contain secrets."""
    return re.split(r"[?#]", location.rpartition("@")[2], maxsplit=1)[0]
