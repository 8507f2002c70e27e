"""Turns the errors of openai, its HTTP layer and our stream parser into AppErrors. Runs on the
calling worker thread.
"""

import re
import socket
import ssl
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError
from desktop_rag.models.endpoints.client.fault_words import FaultReport, in_words
from desktop_rag.models.endpoints.client.refusals.error_body import parsed_body, server_message
from desktop_rag.models.endpoints.client.refusals.length_limit import limit_in
from desktop_rag.models.endpoints.client.refusals.refusal_kinds import allowance_in, fault_of
from desktop_rag.models.endpoints.client.refusals.wait_hints import wait_s_in

if TYPE_CHECKING:
    import openai

_HAS_CLOSED = re.compile(r"disconnected|closed connection|incomplete")
# Faults after which a server may say when to ask again; others have times in their words too.
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
