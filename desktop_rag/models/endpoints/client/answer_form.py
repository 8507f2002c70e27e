"""Tells by its first bytes whether an answer is one JSON body or events. The type that servers
declare is often another. On the calling worker thread.
"""

from collections.abc import Iterator, Sequence

from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError

_BLANK = b"\xef\xbb\xbf \r\n\t"
_MOST_BLANK_CHUNKS = 1_000


def read_beginning(chunks: Iterator[bytes]) -> list[bytes]:
    """The first chunks, up to the first that isn't blank.

    Raises:
        StreamError: when the connection ends before.
    """
    import httpcore2

    begun: list[bytes] = []
    try:
        for chunk in chunks:
            begun.append(chunk)
            if chunk.strip(_BLANK) or len(begun) > _MOST_BLANK_CHUNKS:
                break
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as exc:
        raise StreamError(Fault.CLOSED) from exc
    return begun


def is_json(begun: Sequence[bytes]) -> bool:
    """True for one JSON body, False for events and anything else."""
    return b"".join(begun).lstrip(_BLANK).startswith((b"{", b"["))
