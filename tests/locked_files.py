"""Encrypted files for tests: PDF by pypdf, Office files by the library that opens them."""

import hashlib
import io
import random
import struct
from pathlib import Path

from msoffcrypto.format.ooxml import OOXMLFile
from msoffcrypto.method.rc4 import DocumentRC4

from desktop_rag.ingest.read.foundation.ole import Container
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from tests.unit.ingest.read.old_office.test_old_word import Para, make_doc
from tests.unit.ingest.read.pdf_samples import changed, make_pdf
from tests.unit.ingest.read.samples import make_docx, make_ole, paragraph

PASSWORD = "canary-sésame-7f31"
_SALT = bytes(range(16))
_ENCRYPTED, _HEADER_BYTES, _PLAIN_BYTES = 0x0100, 52, 0x44


def locked_pdf(text: str, password: str = PASSWORD, algorithm: str = "AES-256") -> bytes:
    """A PDF of one page, which opens with the password only."""
    return changed(
        make_pdf([text]), lambda writer: writer.encrypt(password, "owner", algorithm=algorithm)
    )


def locked_docx(text: str, password: str = PASSWORD) -> bytes:
    """A Word file in the container that Office writes for a password."""
    # The library writes files below 4 KB in a way that it can't read.
    filling = random.Random(1).randbytes(4096).hex()
    plain = io.BytesIO(make_docx(f"{paragraph(text)}<!-- {filling} -->"))
    locked = io.BytesIO()
    OOXMLFile(plain).encrypt(password, locked)
    return locked.getvalue()


def locked_doc(text: str, password: str = PASSWORD) -> bytes:
    """A Word 97 file encrypted with RC4, as [MS-DOC] and [MS-OFFCRYPTO] describe it."""
    plain = make_doc([Para(f"{text}\r")], flags=_ENCRYPTED, table_start=_HEADER_BYTES)
    container = Container(SourceFile(Path("plain.doc"), plain))
    word, table = container.stream("WordDocument"), container.stream("1Table")
    assert word
    assert table
    verifier = bytes(range(16, 32))
    # Both are one stretch of the stream of keys.
    proof = _encrypted(verifier + hashlib.md5(verifier).digest(), password)
    header = struct.pack("<HH", 1, 1) + _SALT + proof
    start = bytearray(word[:_PLAIN_BYTES])
    struct.pack_into("<I", start, 0x0E, len(header))
    return make_ole(
        {
            "WordDocument": bytes(start) + _encrypted(word, password)[_PLAIN_BYTES:],
            "1Table": header + _encrypted(table, password)[len(header) :],
        }
    )


def _encrypted(content: bytes, password: str) -> bytes:
    # The same operation in both directions.
    return DocumentRC4.decrypt(password, _SALT, io.BytesIO(content)).read()
