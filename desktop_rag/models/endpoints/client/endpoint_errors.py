"""Turns the errors of openai, its HTTP layer and our stream parser into AppErrors without the key.

Runs on the calling worker thread.
"""

import html
import re
import socket
import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from desktop_rag.core.errors import SERVER_SAYS, AppError, Cancelled
from desktop_rag.core.settings import ASSUMED_CONTEXT_TOKENS, EndpointSettings
from desktop_rag.core.waits import wait_s_in
from desktop_rag.models.endpoint_address import host_of, normalise_base_url, with_version
from desktop_rag.models.endpoints.client.endpoint_faults import (
    EndpointFaultError,
    Fault,
    StreamError,
)
from desktop_rag.models.endpoints.client.refusals.refusal_kinds import (
    allowance_in,
    fault_of,
    limit_in,
    parsed_body,
    server_message,
)

if TYPE_CHECKING:
    import openai

_MASK = "…"
# This many characters in a row that are also in the key are a part of it.
_PART_CHARS = 8
# A shorter key is no secret, and removing it would garble the message.
_SHORTEST_KEY_CHARS = 4
# Abbreviated by servers: "sk-ab****wxyz", "sk-…wxyz", "gsk_abc...".
_STARRED = re.compile(
    r"[\w\-.:/+=]{0,40}(?:\*{3,}|[•●]{3,}|(?<![a-zA-Z])x{4,}|X{4,})[\w\-.:/+=*•●]*"
)
_CUT = re.compile(r"\b[\w\-]{4,60}(?:\.{3}|…)[\w\-]*")
_PREFIXED = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|csk|nvapi|AIza|fw|key|r8|pplx|tgp|fpk)[-_]?[\w\-]{16,}"
)
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\([^\w\s])")


def without_key(said: str, key: str) -> str:
    """The message without the key, even escaped, cut or starred, and without lookalikes."""
    key = key.strip()
    if len(key) >= _SHORTEST_KEY_CHARS:
        plain = next((d for d in (decode(said) for decode in _DECODERS) if key in d), said)
        said = _without_parts(plain, key)
    said = _STARRED.sub(_MASK, said)
    said = _PREFIXED.sub(_MASK, said)
    return _CUT.sub(lambda found: _MASK if _is_of(found[0], key) else found[0], said)


def _without_parts(said: str, key: str) -> str:
    """The message with a mask in place of each run of characters that are also in the key."""
    size = min(len(key), _PART_CHARS)
    parts = {key[at : at + size] for at in range(len(key) - size + 1)}
    kept: list[str] = []
    masked_until = 0
    for at, char in enumerate(said):
        if said[at : at + size] in parts:
            kept += [_MASK] if at >= masked_until else []
            masked_until = at + size
        if at >= masked_until:
            kept.append(char)
    return "".join(kept)


def _is_of(shown: str, key: str) -> bool:
    """True when the beginning or end of this abbreviation is that of the key."""
    head, _, tail = re.sub(r"\.{3}|…", "\0", shown).partition("\0")
    return (len(head) >= 3 and key.startswith(head)) or (len(tail) >= 3 and key.endswith(tail))  # noqa: PLR2004


def _unescaped(said: str) -> str:
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[2], said)


_DECODERS: tuple[Callable[[str], str], ...] = (str, unquote, html.unescape, _unescaped)


CONNECT_TIMEOUT_S = 10.0
_LONGEST_MESSAGE_CHARS = 300
_LONGEST_READ_CHARS = 2_000
# Their hints contain the server's words in a sentence of their own.
_WITHOUT_QUOTE = frozenset(
    {Fault.REDIRECT, Fault.EMPTY, Fault.ENCODED, Fault.BROKEN_OFF, Fault.ODD_ENDING}
)
_A_MINUTE_S, _AN_HOUR_S = 60.0, 3600.0


@dataclass(frozen=True, slots=True)
class FaultReport:
    """A fault with what the server states about it."""

    fault: Fault
    said: str = ""
    status: int = 0
    wait_s: float | None = None
    limit_tokens: int = 0


def in_words(found: FaultReport, endpoint: EndpointSettings, key: str) -> EndpointFaultError:
    """The error for the person, without the key."""
    try:
        url = normalise_base_url(endpoint.base_url)
    except AppError:
        url = ""
    version = with_version(url) if url else ""
    whole = _printable(without_key(found.said[:_LONGEST_READ_CHARS], key))
    fields = {
        "host": host_of(url),
        "url": url,
        "model": endpoint.model,
        "context_tokens": endpoint.context_tokens or ASSUMED_CONTEXT_TOKENS,
        "connect_s": f"{CONNECT_TIMEOUT_S:g}",
        "try_version": f"Most end in /v1: try {version}." if version else "",
        "wait": wait_in_words(found.wait_s) if found.wait_s else "a little",
        "said": _quoted(found, whole) or ("that" if found.fault is Fault.REDIRECT else ""),
    }
    title, hint = (" ".join(text.format(**fields).split()) for text in found.fault.value)
    return EndpointFaultError(
        found.fault, title, hint, found.wait_s,
        said=whole, limit_tokens=found.limit_tokens, status=found.status,
    )  # fmt: skip


def wait_in_words(wait_s: float) -> str:
    """An amount of time, rounded up: "34 seconds", "5 minutes"."""
    if wait_s >= 2 * _AN_HOUR_S:
        return f"{-(-wait_s // _AN_HOUR_S):.0f} hours"
    if wait_s >= 2 * _A_MINUTE_S:
        return f"{-(-wait_s // _A_MINUTE_S):.0f} minutes"
    count = max(1, round(wait_s))
    return "1 second" if count == 1 else f"{count} seconds"


def _printable(said: str) -> str:
    """The message on one line; control characters of a server must not reach a terminal."""
    return " ".join("".join(char if char.isprintable() else " " for char in said).split())


def _quoted(found: FaultReport, said: str) -> str:
    if len(said) > _LONGEST_MESSAGE_CHARS:
        said = said[:_LONGEST_MESSAGE_CHARS] + "…"
    if said and found.fault not in _WITHOUT_QUOTE:
        said = f"{SERVER_SAYS}{said}”"
    if found.status and found.fault in (Fault.FAILED, Fault.REJECTED):
        said = f"Status {found.status}. {said}"
    return said


_HAS_CLOSED = re.compile(r"disconnected|closed connection|incomplete")
# Faults with which a server may state a wait; times in the words of others mean something else.
_HAS_WAIT = frozenset({Fault.BUSY, Fault.LOADING, Fault.OVERLOADED, Fault.FAILED, Fault.REJECTED})


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
        error = in_words(found, endpoint, key)
        # A server may repeat the key in its message, which a traceback would show.
        is_clean = not key or error.said == " ".join(found.said.split())
        raise error from (exc if is_clean and (not key or key.strip() not in str(exc)) else None)


def _find(exc: Exception, has_key: bool) -> FaultReport | None:
    import openai

    match exc:
        case StreamError():
            return _by_stream_error(exc, has_key)
        case openai.APIStatusError():
            return _by_status(exc, has_key)
        case openai.APIConnectionError():
            return FaultReport(Fault.UNREACHABLE, str(exc.__cause__ or ""))
        case _:
            return _by_connection(exc)


def _by_connection(exc: Exception) -> FaultReport | None:
    import httpcore2
    import httpx2

    match exc:
        case httpcore2.ConnectTimeout() | httpcore2.PoolTimeout():
            return FaultReport(Fault.NO_CONNECTION_IN_TIME)
        case httpcore2.ReadTimeout() | httpcore2.WriteTimeout():
            return FaultReport(Fault.SILENT)
        case httpcore2.ConnectError():
            return _by_socket_error(exc.args[0] if exc.args else None)
        case httpcore2.ProxyError():
            return FaultReport(Fault.PROXY, str(exc))
        case httpcore2.RemoteProtocolError() if not _HAS_CLOSED.search(str(exc)):
            return FaultReport(Fault.NOT_HTTP)
        case httpcore2.RemoteProtocolError() | httpcore2.ReadError() | httpcore2.WriteError():
            return FaultReport(Fault.CLOSED)
        case httpx2.InvalidURL():
            return FaultReport(Fault.UNKNOWN_HOST)
        case _:
            return None


def _by_socket_error(cause: object) -> FaultReport:
    match cause:
        case ConnectionRefusedError():
            return FaultReport(Fault.REFUSED)
        case socket.gaierror() | UnicodeError():
            return FaultReport(Fault.UNKNOWN_HOST)
        case ssl.SSLCertVerificationError():
            return FaultReport(Fault.CERTIFICATE, cause.verify_message)
        case ssl.SSLError():
            return FaultReport(Fault.NO_TLS)
        case _:
            return FaultReport(Fault.UNREACHABLE, str(cause or ""))


def _by_status(exc: "openai.APIStatusError", has_key: bool) -> FaultReport:
    response, status = exc.response, exc.status_code
    if 300 <= status < 400:  # noqa: PLR2004  the class of redirects
        return FaultReport(Fault.REDIRECT, _without_query(response.headers.get("location", "")))
    # The library passes on a part of the body only.
    body = parsed_body(response.content)
    is_page = isinstance(body, str) and (
        _is_page(body) or "html" in response.headers.get("content-type", "").lower()
    )
    said, codes = ("", "") if is_page else server_message(body)
    said = "" if _is_page(said) else said
    report = _reported(said, codes, body, dict(response.headers), status)
    if report.fault is Fault.NOTHING_THERE and is_page and status == 404:  # noqa: PLR2004
        return FaultReport(Fault.WEB_PAGE, status=status)
    return _without_given_key(report, has_key)


def _by_stream_error(exc: StreamError, has_key: bool) -> FaultReport:
    said = "" if _is_page(exc.said) else exc.said
    if exc.fault is not Fault.FAILED:
        # An unreadable answer with words that tell a fault is that fault.
        known = fault_of(said, exc.code) if exc.fault is Fault.UNREADABLE and said else Fault.FAILED
        if known in (Fault.FAILED, Fault.REJECTED):
            return FaultReport(exc.fault, said)
    return _without_given_key(_reported(said, exc.code, None, {}, 0), has_key)


def _reported(
    said: str, codes: str, body: object, headers: dict[str, str], status: int
) -> FaultReport:
    """The report of a refusal, with the wait or the limit that it states."""
    wait_s = wait_s_in(said, body, headers)
    fault = fault_of(said, codes, status, has_wait=wait_s is not None)
    limit = limit_in(said, body) if fault is Fault.TOO_LONG else 0
    limit = allowance_in(said) if fault is Fault.OVER_RATE else limit
    return FaultReport(fault, said, status, wait_s if fault in _HAS_WAIT else None, limit)


def _without_given_key(report: FaultReport, has_key: bool) -> FaultReport:
    if report.fault is not Fault.BAD_KEY or has_key:
        return report
    return FaultReport(Fault.NO_KEY, report.said, report.status)


def _is_page(said: str) -> bool:
    return said.lstrip().startswith("<")


def _without_query(location: str) -> str:
    """The target of a redirect, without parts that may contain secrets."""
    return re.split(r"[?#]", location.rpartition("@")[2], maxsplit=1)[0]
