"""Puts a fault into words: what happened, what to do, and what the server says. Pure."""

from dataclasses import dataclass

from desktop_rag.core.errors import SERVER_SAYS, AppError
from desktop_rag.core.settings import ASSUMED_CONTEXT_TOKENS, EndpointSettings
from desktop_rag.models.endpoint_address import host_of, normalise_base_url, with_version
from desktop_rag.models.endpoints.client.endpoint_faults import EndpointFaultError, Fault
from desktop_rag.models.endpoints.client.refusals.key_masking import without_key

CONNECT_TIMEOUT_S = 10.0
_LONGEST_MESSAGE_CHARS = 300
_LONGEST_READ_CHARS = 2_000
# Their hints hold what was said within a sentence of their own.
_WITHOUT_QUOTE = frozenset(
    {Fault.REDIRECT, Fault.EMPTY, Fault.ENCODED, Fault.BROKEN_OFF, Fault.ODD_ENDING}
)
_A_MINUTE_S, _AN_HOUR_S = 60.0, 3600.0


@dataclass(frozen=True, slots=True)
class FaultReport:
    """A fault with all that the server told about it."""

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
        "silence_s": f"{endpoint.timeout_s:g}",
        "try_version": f"Most end in /v1: try {version}." if version else "",
        "wait": wait_in_words(found.wait_s) if found.wait_s else "a little",
        "said": _quoted(found, whole) or ("that" if found.fault is Fault.REDIRECT else ""),
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
