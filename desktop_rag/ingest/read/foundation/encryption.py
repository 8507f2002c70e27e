"""Encrypted Office files, opened with the right password, and the gate before ZIP containers.

How much a container holds is measured, not believed. PDF files are opened by their own reader. Runs
in the parser process.
"""

import io
import logging
import struct
import zipfile
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop_rag.core.domain import NEEDS_PASSWORD
from desktop_rag.ingest.read.foundation.ole import MAGIC
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from msoffcrypto.format.doc97 import Doc97File
    from msoffcrypto.format.ooxml import OOXMLFile
    from msoffcrypto.format.ppt97 import Ppt97File
    from msoffcrypto.format.xls97 import Xls97File

    OfficeFile = OOXMLFile | Doc97File | Xls97File | Ppt97File


def encrypted() -> Unreadable:
    """The refusal of a file that a password would open, or another one than those tried."""
    return Unreadable("encrypted", NEEDS_PASSWORD)


def encrypted_for_good() -> Unreadable:
    """The refusal of a file that stays closed even with its password."""
    hint = "Save a copy without a password."
    return Unreadable("encrypted", "Encrypted in a way that cannot be opened here", hint)


def decrypted(source: SourceFile) -> SourceFile:
    """The contents of an encrypted Office file; any other file as it is.

    Raises Unreadable when no password is right, or the encryption is unknown. Without passwords
    nothing is tried, and the reader of the file refuses it.
    """
    if not source.passwords or not source.data.startswith(MAGIC):
        return source
    # The library logs what it reads from the file.
    logging.getLogger("msoffcrypto").setLevel(logging.CRITICAL)
    import msoffcrypto
    from msoffcrypto.exceptions import InvalidKeyError

    for password in source.passwords:
        try:
            office = msoffcrypto.OfficeFile(io.BytesIO(source.data))
            if not office.is_encrypted():
                return source
            data = _opened(office, password)
        except InvalidKeyError:
            continue
        except MemoryError:
            raise
        except Exception as exc:  # it lets any error of a damaged file through
            log.info("an Office file can't be decrypted: %s", type(exc).__name__)
            raise encrypted_for_good() from exc
        return replace(source, data=data, is_unlocked=True)
    raise encrypted()


def _opened(office: "OfficeFile", password: str) -> bytes:
    from msoffcrypto.format.ooxml import OOXMLFile

    contents = io.BytesIO()
    if isinstance(office, OOXMLFile):
        office.load_key(password=password, verify_password=True)
    else:
        office.load_key(password=password)  # of the old formats, which always verify
    office.decrypt(contents)
    return contents.getvalue()


_MAX_ENTRIES = 10_000
_MAX_BYTES = 500_000_000
_MAX_RATIO = 200
# Below this a high ratio is harmless: an empty table of a thousand rows has one.
_RATIO_MATTERS_BYTES = 5_000_000
_ENCRYPTED_FLAG = 0x1
# The libraries raise these for a container that is cut short or altered.
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, UnicodeDecodeError)
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
