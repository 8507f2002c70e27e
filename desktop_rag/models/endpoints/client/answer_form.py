"""Tells by its first bytes whether an answer is one JSON body or events. The type that servers
declare is often another. On the calling worker thread.
"""

from collections.abc import Callable, Sequence

from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError

_BLANK = b"\xef\xbb\xbf \r\n\t"
_MOST_BLANK_BYTES = 1 << 20


def read_beginning(take: Callable[[], bytes | None]) -> list[bytes]:
    """The first chunk that isn't blank, if one comes soon; `take` returns None after the last.

    Blank ones before it mean nothing and are let go: there may be any number of them.

    Raises:
        StreamError: when the connection ends before; then nothing was lost.
    """
    blank_bytes = 0
    try:
        while blank_bytes < _MOST_BLANK_BYTES and (chunk := take()) is not None:
            if chunk.strip(_BLANK):
                return [chunk]
            blank_bytes += len(chunk)
    except StreamError as exc:
        fault = Fault.CLOSED if exc.fault is Fault.CUT else exc.fault
        raise StreamError(fault, exc.said, exc.code) from exc
    return []


def is_json(begun: Sequence[bytes]) -> bool:
    """True for one JSON body, False for events and anything else."""
    return b"".join(begun).lstrip(_BLANK).startswith((b"{", b"["))
