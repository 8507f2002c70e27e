"""Tells by its first bytes whether an answer is one JSON body or events. The type that servers
declare is often another. On the calling worker thread.
"""

from collections.abc import Callable, Sequence

from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError

_BLANK = b"\xef\xbb\xbf \r\n\t"
_MOST_BLANK_CHUNKS = 1_000


def read_beginning(take: Callable[[], bytes | None]) -> list[bytes]:
    """The first chunks, up to the first that isn't blank; `take` returns None after the last.

    Raises:
        StreamError: when the connection ends before; then nothing was lost.
    """
    begun: list[bytes] = []
    try:
        while (chunk := take()) is not None:
            begun.append(chunk)
            if chunk.strip(_BLANK) or len(begun) > _MOST_BLANK_CHUNKS:
                break
    except StreamError as exc:
        fault = Fault.CLOSED if exc.fault is Fault.CUT else exc.fault
        raise StreamError(fault, exc.said, exc.code) from exc
    return begun


def is_json(begun: Sequence[bytes]) -> bool:
    """True for one JSON body, False for events and anything else."""
    return b"".join(begun).lstrip(_BLANK).startswith((b"{", b"["))
