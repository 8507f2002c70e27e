"""The body and the files of a mail that Outlook packed into one attachment, winmail.dat.

After [MS-OXTNEF]. Damage ends the reading; what was read until then stays. Runs in the parser
process.
"""

import struct
from collections.abc import Iterator

from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.mail.mail_header import file_name
from desktop_rag.ingest.read.mail.outlook import encoding_of, text_of, write_body

_HEADER_BYTES = 6
_ATTRIBUTE = struct.Struct("<BHHI")
_CHECKSUM_BYTES = 2
_CODE_PAGE, _NEW_FILE, _PROPERTIES = 0x9007, 0x9002, {0x9003, 0x9005}
_SUBJECT, _BODY, _PAGE, _RICH_TEXT = 0x0037, 0x1000, 0x1013, 0x1009
_NAMES, _DATA = (0x3707, 0x3704, 0x3001), 0x3701
# What older programs write beside the properties: the property that it is, and whether it is text.
_OLD = {0x8004: (_SUBJECT, True), 0x800C: (_BODY, True), 0x8010: (0x3001, True),
        0x800F: (_DATA, False)}  # fmt: skip
_NARROW, _WIDE, _BINARY, _OBJECT = 0x1E, 0x1F, 0x102, 0x0D
_SIZES = {2: 4, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 0xA: 4, 0xB: 4, 0x14: 8, 0x40: 8, 0x48: 16}
_SEVERAL, _FIRST_NAMED = 0x1000, 0x8000
_GUID_BYTES = 16
# Texts and bytes by the number of the property.
_Found = dict[int, bytes | str]


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the subject."""
    message, *files = _message_and_files(source.data)
    for number, file in enumerate(files, 1):
        name = next((said for key in _NAMES if isinstance(said := file.get(key), str) and said), "")
        data = file.get(_DATA)
        if isinstance(data, bytes) and data:
            draft.attach(file_name(name) or f"attachment {number}", data)
    title = one_line(str(message.get(_SUBJECT, "")))
    draft.add(f"{title}\n\n" * bool(title))
    body, page, rich = (message.get(key, "") for key in (_BODY, _PAGE, _RICH_TEXT))
    page = page.encode("utf-8", "replace") if isinstance(page, str) else page
    packed = rich if isinstance(rich, bytes) else b""
    write_body(body if isinstance(body, str) else "", page, "", packed, source, draft)
    return title


def _message_and_files(data: bytes) -> list[_Found]:
    """What is known of the message, then of each of its files."""
    scopes: list[_Found] = [{}]
    encoding = ""
    for number, content in _attributes(data):
        if number == _CODE_PAGE:
            encoding = encoding_of(int.from_bytes(content[:4], "little"))
        elif number == _NEW_FILE:
            scopes.append({})
        elif number in _PROPERTIES:
            scopes[-1] |= _mapi(content, encoding)
        elif number in _OLD:
            known, is_text = _OLD[number]
            scopes[-1].setdefault(known, text_of(content, encoding) if is_text else content)
    return scopes


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, content) of each attribute of the message and its files."""
    position = _HEADER_BYTES
    while position + _ATTRIBUTE.size <= len(data):
        level, number, _, size = _ATTRIBUTE.unpack_from(data, position)
        position += _ATTRIBUTE.size
        if level not in {1, 2}:
            return
        yield number, data[position : position + size]
        position += size + _CHECKSUM_BYTES


def _mapi(data: bytes, encoding: str) -> _Found:
    """The texts and bytes among the properties of a message or a file, by their number."""
    found: _Found = {}
    words = _Words(data)
    for _ in range(words.number()):
        if words.is_at_end:
            break
        head = words.number()
        kind, number = head & 0xFFFF, head >> 16
        if number >= _FIRST_NAMED:
            words.take(_GUID_BYTES)
            if words.number():
                words.take(words.number())
            else:
                words.number()
        is_long = kind & ~_SEVERAL in {_NARROW, _WIDE, _BINARY, _OBJECT}
        for _ in range(words.number() if is_long or kind & _SEVERAL else 1):
            if words.is_at_end:
                break
            value = words.take(words.number() if is_long else _SIZES.get(kind & ~_SEVERAL, 4))
            if kind == _WIDE:
                found.setdefault(number, value.decode("utf-16-le", "replace").rstrip("\0"))
            elif kind == _NARROW:
                found.setdefault(number, text_of(value, encoding))
            elif is_long:
                found.setdefault(number, value[_GUID_BYTES * (kind == _OBJECT) :])
    return found


class _Words:
    """Takes one value after another from bytes; each begins at a multiple of four."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    @property
    def is_at_end(self) -> bool:
        """True when nothing is left."""
        return self._position >= len(self._data)

    def number(self) -> int:
        """A whole number; 0 at the end."""
        return int.from_bytes(self.take(4), "little")

    def take(self, size: int) -> bytes:
        """So many bytes, or as many as there are."""
        start = self._position
        self._position += size + -size % 4
        return self._data[start : start + size]
