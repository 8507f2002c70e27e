"""Outlook messages (MSG), and mails that Outlook packed into one attachment, winmail.dat.

Header lines, body and attachments, after [MS-OXMSG] and [MS-OXTNEF]. Damage ends the reading; what
was read until then stays. Runs in the parser process.
"""

import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.parser import HeaderParser

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line
from desktop_rag.ingest.read.foundation.encoding import NotTextError, decode
from desktop_rag.ingest.read.foundation.ole import Container, encoding_of
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.mail.mail_message import BoundedHeaders, field, file_name
from desktop_rag.ingest.read.markup import web_page
from desktop_rag.ingest.read.old_office import rich_text

_HEADER = struct.Struct("<IIII")
_COMPRESSED, _PLAIN = 0x75465A4C, 0x414C454D
# The initial content of the window.
_FIRST = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern "
    b"\\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0"
    b"\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_WINDOW = 4096
_LENGTH_BITS, _LENGTH_MASK, _MIN_LENGTH = 4, 0xF, 2
_RUNS = 8


class NotCompressedRtfError(ValueError):
    """The bytes are something else."""


def decompressed(data: bytes) -> bytes:
    """Rich text as Outlook packs it, after [MS-OXRTFCP], as far as it goes.

    At most nine times as long as the data.
    """
    if len(data) < _HEADER.size:
        raise NotCompressedRtfError
    _, size_bytes, kind, _ = _HEADER.unpack_from(data)
    content = data[_HEADER.size :]
    if kind == _PLAIN:
        return content[:size_bytes]
    if kind != _COMPRESSED:
        raise NotCompressedRtfError
    return _inflated(content)[len(_FIRST) :][:size_bytes]


def _inflated(content: bytes) -> bytes:
    """The beginning of the window with all that follows it."""
    output = bytearray(_FIRST)
    position = 0
    while position < len(content):
        flags = content[position]
        position += 1
        for run in range(_RUNS):
            if not flags >> run & 1:
                output += content[position : position + 1]
                position += 1
                continue
            if position + 1 >= len(content):
                return bytes(output)
            reference = content[position] << 8 | content[position + 1]
            position += 2
            offset = reference >> _LENGTH_BITS
            distance = (len(output) - offset) % _WINDOW
            if not distance:
                # Where the window would be written next: the end.
                return bytes(output)
            start = len(output) - distance
            for index in range((reference & _LENGTH_MASK) + _MIN_LENGTH):
                # Before the beginning the window holds nothing.
                output.append(output[start + index] if start + index >= 0 else 0)
    return bytes(output)


_SUBJECT, _HEADERS, _BODY, _PAGE, _RICH_TEXT = 0x0037, 0x007D, 0x1000, 0x1013, 0x1009
_SENDER, _SENDER_ADDRESSES = (0x0C1A, 0x0042), (0x5D01, 0x0C1F)
_SHOWN_TO, _SHOWN_CC, _SENT, _DELIVERED = 0x0E04, 0x0E03, 0x0039, 0x0E06
_NAME, _ADDRESSES, _KIND, _TO, _CC = 0x3001, (0x39FE, 0x3003), 0x0C15, 1, 2
_DATA, _FILE_NAMES, _MIME_TYPE, _CONTENT_ID = 0x3701, (0x3707, 0x3704, 0x3001), 0x370E, 0x3712
_CODE_PAGE, _PAGE_CODE_PAGE = 0x3FFD, 0x3FDE
_WIDE, _NARROW, _BINARY, _OBJECT = "001F", "001E", "0102", "000D"
_FIXED = "__properties_version1.0"
_ENTRY = struct.Struct("<HHIQ")
# Entries begin behind a header, which is longer in messages than in what belongs to them.
_MESSAGE_OFFSET, _INNER_OFFSET, _ITEM_OFFSET = 32, 24, 8
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_MAX_RECIPIENTS = 50


@dataclass(frozen=True, slots=True)
class Attached:
    """A file, or a message, that is attached to a message."""

    name: str
    data: bytes
    item: "OutlookItem | None"
    is_shown_in_page: bool


class _Properties:
    """The properties in one storage: streams by number and type, or in a list of fixed size."""

    def __init__(self, container: Container, path: tuple[str, ...], offset: int) -> None:
        self._container = container
        self._path = path
        fixed = container.stream(*path, _FIXED)
        self.is_there = fixed is not None
        entries = (fixed or b"")[offset:]
        entries = entries[: len(entries) // _ENTRY.size * _ENTRY.size]
        self._fixed = {number: value for _, number, _, value in _ENTRY.iter_unpack(entries)}

    def number(self, property_id: int) -> int:
        """A whole number, 0 if it is missing."""
        return self._fixed.get(property_id, 0) & 0xFFFFFFFF

    def moment(self, property_id: int) -> str:
        """A point in time in words, "" if it is missing."""
        ticks = self._fixed.get(property_id, 0)
        try:
            return (_EPOCH + timedelta(microseconds=ticks // 10)).strftime("%Y-%m-%d %H:%M UTC") * (
                ticks > 0
            )
        except OverflowError:
            return ""

    def binary(self, property_id: int) -> bytes:
        """Bytes, none if they are missing."""
        return self._stream(property_id, _BINARY) or b""

    def text(self, *property_ids: int, code_page: int = 0) -> str:
        """The first text there is, "" without one."""
        return next(filter(None, (self._text(number, code_page) for number in property_ids)), "")

    def _text(self, property_id: int, code_page: int) -> str:
        wide = self._stream(property_id, _WIDE)
        if wide is not None:
            text = wide.decode("utf-16-le", "replace")
        else:
            text = text_of(self._stream(property_id, _NARROW) or b"", encoding_of(code_page))
        # Some programs write the zero that ends a text in memory.
        return text.rstrip("\0").replace("\r\n", "\n")

    def _stream(self, property_id: int, kind: str) -> bytes | None:
        return self._container.stream(*self._path, f"__substg1.0_{property_id:04X}{kind}")


class OutlookItem:
    """A message in a container or a storage of it, after [MS-OXMSG]. Damage makes fields empty."""

    def __init__(self, container: Container, path: tuple[str, ...] = ()) -> None:
        self._container = container
        self._path = path
        self._properties = _Properties(container, path, _INNER_OFFSET if path else _MESSAGE_OFFSET)
        self._code_page = self._properties.number(_CODE_PAGE)
        self.is_message = self._properties.is_there
        self.subject = one_line(self._text(_SUBJECT))

    def header(self) -> str:
        """Sender, recipients, date and subject as lines."""
        sent = HeaderParser(policy=BoundedHeaders()).parsestr(self._text(_HEADERS))
        name, address = self._text(*_SENDER), self._text(*_SENDER_ADDRESSES)
        pairs = (
            ("From", field(sent, "From") or _person(name, address)),
            ("To", field(sent, "To") or self._recipients(_TO) or self._text(_SHOWN_TO)),
            ("Cc", field(sent, "Cc") or self._recipients(_CC) or self._text(_SHOWN_CC)),
            ("Date", field(sent, "Date") or self._date()),
            ("Subject", self.subject),
        )
        return "\n".join(f"{name}: {one_line(value)}" for name, value in pairs if value)

    def body(self) -> str:
        """The plain form, "" without one."""
        own = self._properties.number(_PAGE_CODE_PAGE)
        return self._properties.text(_BODY, code_page=own or self._code_page)

    def page(self) -> bytes:
        """The body as a web page; in `page_encoding`, or as it declares."""
        return self._properties.binary(_PAGE) or self._text(_PAGE).encode("utf-8", "replace")

    @property
    def page_encoding(self) -> str:
        """The encoding of `page`, "" if only the page itself says it."""
        return encoding_of(self._properties.number(_PAGE_CODE_PAGE))

    def packed_rich_text(self) -> bytes:
        """The body as rich text as it is packed, nothing without one."""
        return self._properties.binary(_RICH_TEXT)

    def attachments(self) -> Iterator[Attached]:
        """The attached files, in order."""
        page = self.page()
        for storage in self._storages("__attach_version1.0_#"):
            path = (*self._path, storage)
            properties = _Properties(self._container, path, _ITEM_OFFSET)
            content_id = properties.text(_CONTENT_ID).strip("<>").encode("utf-8", "replace")
            is_picture = properties.text(_MIME_TYPE).startswith("image/")
            inner = OutlookItem(self._container, (*path, f"__substg1.0_{_DATA:04X}{_OBJECT}"))
            yield Attached(
                name=file_name(properties.text(*_FILE_NAMES, code_page=self._code_page)),
                data=properties.binary(_DATA),
                item=inner if inner.is_message else None,
                is_shown_in_page=is_picture and bool(content_id) and b"cid:" + content_id in page,
            )

    def to_mail(self, depth: int) -> bytes:
        """The message as other programs store it, with messages in it down to this depth."""
        mail = EmailMessage()
        body, page = self.body(), self.page()
        if page and not body.strip():
            mail.set_content(page, "text", "html")
        else:
            mail.set_content(body.encode("utf-8", "replace").decode())
        for number, attached in enumerate(self.attachments(), start=1):
            name, data = attached.name or f"attachment {number}", attached.data
            if attached.item and depth:
                name = f"{attached.item.subject or attached.name or 'message'}.eml"
                data = attached.item.to_mail(depth - 1)
            if data and not attached.is_shown_in_page:
                mail.add_attachment(data, "application", "octet-stream", filename=name)
        return b"\n".join([self.header().encode("utf-8", "replace"), mail.as_bytes()])

    def _text(self, *property_ids: int) -> str:
        return self._properties.text(*property_ids, code_page=self._code_page)

    def _date(self) -> str:
        return self._properties.moment(_SENT) or self._properties.moment(_DELIVERED)

    def _recipients(self, kind: int) -> str:
        people: list[str] = []
        for storage in self._storages("__recip_version1.0_#")[:_MAX_RECIPIENTS]:
            found = _Properties(self._container, (*self._path, storage), _ITEM_OFFSET)
            if (found.number(_KIND) or _TO) == kind:
                name = found.text(_NAME, code_page=self._code_page)
                people.append(_person(name, found.text(*_ADDRESSES)))
        return "; ".join(filter(None, people))

    def _storages(self, prefix: str) -> list[str]:
        depth = len(self._path)
        found = {
            path[depth]: None
            for path in self._container.names()
            if len(path) > depth + 1
            and path[:depth] == self._path
            and path[depth].startswith(prefix)
        }
        return sorted(found)


def text_of(data: bytes, encoding: str) -> str:
    """A text as old programs wrote it."""
    try:
        return decode(data.rstrip(b"\0"), encoding)[0]
    except NotTextError:
        return data.decode("ascii", "replace")


def write_body(
    body: str, page: bytes, encoding: str, packed: bytes, source: SourceFile, draft: DocumentDraft
) -> None:
    """Write a body in the form with the most text and the least markup."""
    if body.strip():
        draft.add(body.strip())
    elif page:
        web_page.write(web_page.decoded(page, draft, encoding), draft)
    elif packed:
        with suppress(NotCompressedRtfError):
            rich_text.read(SourceFile(source.path, decompressed(packed)), draft)


def _person(name: str, address: str) -> str:
    if not address or "@" not in address or address == name:
        return name or address
    return f"{name} <{address}>" if name else address


_MAX_DEPTH = 3


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the subject."""
    item = OutlookItem(Container(source))
    if not item.is_message:
        raise Unreadable("damaged", "The file is damaged", "It is no valid message.")
    subject = item.subject
    if subject:
        draft.mark(Anchor(heading=subject))
    # First, so that a text that is too long costs no attachment.
    for number, attached in enumerate(item.attachments(), start=1):
        _attach(attached, number, draft)
    header = item.header()
    draft.add(f"{header}\n\n" if header else "")
    packed = item.packed_rich_text()
    write_body(item.body(), item.page(), item.page_encoding, packed, source, draft)
    return subject


def _attach(attached: Attached, number: int, draft: DocumentDraft) -> None:
    if attached.item:
        name = attached.item.subject or attached.name or "message"
        draft.attach(f"{name}.eml", attached.item.to_mail(_MAX_DEPTH))
    elif attached.data and not attached.is_shown_in_page:
        draft.attach(attached.name or f"attachment {number}", attached.data)


_PACKED_HEADER_BYTES = 6
_ATTRIBUTE = struct.Struct("<BHHI")
_CHECKSUM_BYTES = 2
_OEM_CODE_PAGE, _NEW_FILE, _PROPERTIES = 0x9007, 0x9002, {0x9003, 0x9005}
# What older programs write beside the properties: the property that it is, and whether it is text.
_OLD = {0x8004: (_SUBJECT, True), 0x800C: (_BODY, True), 0x8010: (0x3001, True),
        0x800F: (_DATA, False)}  # fmt: skip
_NARROW_KIND, _WIDE_KIND, _BINARY_KIND, _OBJECT_KIND = 0x1E, 0x1F, 0x102, 0x0D
_SIZES = {2: 4, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 0xA: 4, 0xB: 4, 0x14: 8, 0x40: 8, 0x48: 16}
_SEVERAL, _FIRST_NAMED = 0x1000, 0x8000
_GUID_BYTES = 16
# Texts and bytes by the number of the property.
_Found = dict[int, bytes | str]


def read_winmail(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the subject."""
    message, *files = _message_and_files(source.data)
    for number, file in enumerate(files, 1):
        name = next(
            (said for key in _FILE_NAMES if isinstance(said := file.get(key), str) and said), ""
        )
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
        if number == _OEM_CODE_PAGE:
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
    position = _PACKED_HEADER_BYTES
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
        is_long = kind & ~_SEVERAL in {_NARROW_KIND, _WIDE_KIND, _BINARY_KIND, _OBJECT_KIND}
        for _ in range(words.number() if is_long or kind & _SEVERAL else 1):
            if words.is_at_end:
                break
            value = words.take(words.number() if is_long else _SIZES.get(kind & ~_SEVERAL, 4))
            if kind == _WIDE_KIND:
                found.setdefault(number, value.decode("utf-16-le", "replace").rstrip("\0"))
            elif kind == _NARROW_KIND:
                found.setdefault(number, text_of(value, encoding))
            elif is_long:
                found.setdefault(number, value[_GUID_BYTES * (kind == _OBJECT_KIND) :])
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
