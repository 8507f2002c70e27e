"""The gate before any ZIP container: how much it holds is measured, not believed.

Runs in the parser process.
"""

import io
import struct
import zipfile
import zlib

from desktop_rag.ingest.read.foundation.encryption import encrypted_for_good
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable

_MAX_ENTRIES = 10_000
_MAX_BYTES = 500_000_000
_MAX_RATIO = 200
# Below this a high ratio harms nobody: an empty table of a thousand rows has one.
_RATIO_MATTERS_BYTES = 5_000_000
_ENCRYPTED_FLAG = 0x1
# The libraries raise these for a container that is cut short or altered.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    NotImplementedError,
    UnicodeDecodeError,
)
_LOCAL_HEADER = struct.Struct("<26xHH")
_INPUT_BYTES = 1 << 16
_OUTPUT_BYTES = 1 << 20


def open_archive(source: SourceFile) -> zipfile.ZipFile:
    """Open a ZIP container. Raises Unreadable for one that unpacks to too much."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(source.data))
        _check(archive.infolist(), source.data)
    except _DAMAGE as exc:
        raise Unreadable("damaged", "The file is damaged", "It is cut short or altered.") from exc
    return archive


def _check(entries: list[zipfile.ZipInfo], data: bytes) -> None:
    if len(entries) > _MAX_ENTRIES:
        raise _too_large(f"It holds {len(entries):,} parts.")
    if any(entry.flag_bits & _ENCRYPTED_FLAG for entry in entries):
        raise encrypted_for_good()
    _check_sizes(sum(entry.file_size for entry in entries), data)
    # A header may lie, so what is declared harmless is inflated once and counted.
    total = 0
    for entry in entries:
        total += _inflated_size(entry, data, _MAX_BYTES - total)
        _check_sizes(total, data)


def _check_sizes(inflated: int, data: bytes) -> None:
    if inflated > _MAX_BYTES:
        raise _too_large("Unpacked it is larger than 500 MB.")
    if inflated > _RATIO_MATTERS_BYTES and inflated > _MAX_RATIO * len(data):
        raise _too_large(f"Unpacked it grows more than {_MAX_RATIO} times.")


def _inflated_size(entry: zipfile.ZipInfo, data: bytes, room: int) -> int:
    """Bytes that really come out of an entry; counting stops soon after `room`."""
    if entry.compress_type == zipfile.ZIP_STORED:
        return entry.compress_size
    if entry.compress_type != zipfile.ZIP_DEFLATED:
        raise NotImplementedError(entry.compress_type)
    start = entry.header_offset
    name_bytes, extra_bytes = _LOCAL_HEADER.unpack_from(data, start)
    start += _LOCAL_HEADER.size + name_bytes + extra_bytes
    end = start + entry.compress_size
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    total = 0
    for position in range(start, end, _INPUT_BYTES):
        pending = data[position : min(position + _INPUT_BYTES, end)]
        while pending and not inflater.eof and total <= room:
            total += len(inflater.decompress(pending, _OUTPUT_BYTES))
            pending = inflater.unconsumed_tail
    return total


def _too_large(hint: str) -> Unreadable:
    return Unreadable("too large", "The file unpacks to too much", hint)
