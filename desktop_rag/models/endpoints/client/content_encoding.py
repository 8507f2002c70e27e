"""Reads bodies that a server compressed without being asked. Runs on the calling thread.

Only what the standard library reads is read: gzip and deflate. Decompression is in small pieces, so
that a few bytes can't become many in memory.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence

from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError

_PIECE_BYTES = 64 * 1024
_MOST_LAYERS = 2
_PLAIN = frozenset({"", "identity"})
_READ = frozenset({"gzip", "x-gzip", "deflate"})
# The first bytes of bodies whose header doesn't say that they are compressed.
_GZIP_START = b"\x1f\x8b\x08"
_ZSTD_START = b"\x28\xb5\x2f\xfd"
# A gzip or zlib header is recognised by zlib; deflate may come without one.
_WITH_HEADER, _BARE = zlib.MAX_WBITS | 32, -zlib.MAX_WBITS

Headers = Sequence[tuple[bytes, bytes]]


def encodings_of(headers: Headers) -> tuple[str, ...]:
    """The compressions of a body in the order they were applied; empty for a plain one."""
    stated = [v.decode("latin-1") for n, v in headers if n.lower() == b"content-encoding"]
    named = (name.strip().lower() for name in ",".join(stated).split(","))
    return tuple(name for name in named if name not in _PLAIN)


def unreadable_encoding(headers: Headers) -> str:
    """The first compression of a body that can't be read; empty when all can."""
    encodings = encodings_of(headers)
    unknown = (name for name in encodings if name not in _READ)
    return "many layers" if len(encodings) > _MOST_LAYERS else next(unknown, "")


def without_encoding(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers as they are for the body once it is read."""
    dropped = (b"content-encoding", b"content-length")
    is_plain = not encodings_of(headers)
    return [pair for pair in headers if is_plain or pair[0].lower() not in dropped]


def decoded(parts: Iterable[bytes], encodings: Sequence[str]) -> Iterator[bytes]:
    """The body in pieces of at most 64 KB, read as the caller iterates.

    Raises:
        StreamError: when it is not compressed as it says, or in an unknown way without saying so.
    """
    for _ in encodings:
        parts = _inflated(parts)
    yield from parts if encodings else _checked(parts)


def _checked(parts: Iterable[bytes]) -> Iterator[bytes]:
    """A body that is said to be plain, whose first bytes may say otherwise."""
    rest = iter(parts)
    first = next((part for part in rest if part), b"")
    if first.startswith(_ZSTD_START):
        raise StreamError(Fault.ENCODED, "zstd")
    whole = _chained(first, rest)
    yield from _inflated(whole) if first.startswith(_GZIP_START) else whole


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _inflated(parts: Iterable[bytes]) -> Iterator[bytes]:
    inflate = zlib.decompressobj(_WITH_HEADER)
    is_first = True
    for part in parts:
        waiting = part
        while waiting:
            try:
                piece = inflate.decompress(waiting, _PIECE_BYTES)
            except zlib.error as exc:
                if not is_first:
                    raise StreamError(Fault.UNREADABLE) from exc
                is_first, inflate = False, zlib.decompressobj(_BARE)
                continue
            is_first = False
            waiting = inflate.unconsumed_tail
            if piece:
                yield piece
