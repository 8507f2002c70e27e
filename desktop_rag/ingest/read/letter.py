"""One e-mail message: its header, the text of its body, and what is attached.

Shared by single messages and mailboxes. Nothing it refers to is fetched. Runs in the parser
process.
"""

import email
import email.errors
from collections.abc import Iterator
from email.header import decode_header, make_header
from email.message import Message
from email.utils import collapse_rfc2231_value

from desktop_rag.ingest.read import web_page
from desktop_rag.ingest.read.draft import Draft, one_line
from desktop_rag.ingest.read.encoding import NotTextError, decode
from desktop_rag.ingest.read.source import Unreadable

_HEADER_FIELDS = ("From", "To", "Cc", "Date", "Subject")
_MAX_FIELD_CHARS = 2000
_MAX_PARTS = 2000


class Letter:
    """A message that was taken apart."""

    def __init__(self, data: bytes) -> None:
        """Raises Unreadable for one that is nested without end."""
        try:
            # The old policy: the new one parses header fields in time that grows with their square.
            self._message = email.message_from_bytes(data)
            self._parts = list(_leaves(self._message))
        except RecursionError as exc:
            raise Unreadable("damaged", "The message is nested too deep") from exc
        self.subject = one_line(_field(self._message, "Subject"))

    def write(self, draft: Draft, prefix: str = "") -> None:
        """Add header and body, and attach the rest under names that begin with `prefix`."""
        fields = ((name, _field(self._message, name)) for name in _HEADER_FIELDS)
        draft.add("\n".join(f"{name}: {one_line(value)}" for name, value in fields if value))
        plain = [part for part in self._parts if _is_body(part, "text/plain")]
        pages = [part for part in self._parts if _is_body(part, "text/html")]
        texts = [text for part in plain if (text := _text(part, draft)).strip()]
        bodies = {id(part) for part in (*plain, *pages)}
        if texts:
            draft.add("\n\n" + "\n\n".join(text.strip() for text in texts))
        else:
            for part in pages:
                draft.add("\n\n")
                web_page.write(_text(part, draft), draft)
        for number, part in enumerate(self._parts, start=1):
            if id(part) not in bodies and not _is_inline_picture(part):
                _attach(part, draft, prefix, number)


def _leaves(message: Message) -> Iterator[Message]:
    """The parts that hold no others; an enclosed message is one. Walks without recursion."""
    waiting = [message]
    count = 0
    while waiting and count < _MAX_PARTS:
        part = waiting.pop()
        count += 1
        inner = part.get_payload()
        if part.get_content_maintype() == "multipart" and isinstance(inner, list):
            waiting.extend(part for part in reversed(inner) if isinstance(part, Message))
        else:
            yield part


def _is_body(part: Message, kind: str) -> bool:
    is_attachment = part.get_content_disposition() == "attachment" or _filename(part)
    return part.get_content_type() == kind and not is_attachment


def _is_inline_picture(part: Message) -> bool:
    """A logo in the text of a page says nothing."""
    is_placed = bool(part.get("Content-ID")) and part.get_content_disposition() != "attachment"
    return part.get_content_maintype() == "image" and is_placed


def _attach(part: Message, draft: Draft, prefix: str, number: int) -> None:
    if part.get_content_type() == "message/rfc822":
        payload = part.get_payload()
        inner = payload[0] if isinstance(payload, list) and payload else None
        if isinstance(inner, Message):
            name = one_line(_field(inner, "Subject")) or "message"
            draft.attach(f"{prefix}{name}.eml", inner.as_bytes())
        return
    data = part.get_payload(decode=True)
    if isinstance(data, bytes) and data:
        name = _filename(part) or f"part {number}{_suffix(part)}"
        draft.attach(f"{prefix}{name}", data)


def _suffix(part: Message) -> str:
    kind = part.get_content_type()
    return {"text/plain": ".txt", "text/html": ".html", "text/csv": ".csv",
            "application/pdf": ".pdf"}.get(kind, "")  # fmt: skip


def _filename(part: Message) -> str:
    try:
        name = part.get_filename() or ""
    except (UnicodeError, LookupError, ValueError):
        return "attachment"
    # Only the name: it may be a path from another computer.
    return one_line(_decoded(collapse_rfc2231_value(name))).replace("\\", "/").rpartition("/")[2]


def _text(part: Message, draft: Draft) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    try:
        charset = part.get_content_charset() or ""
    except (UnicodeError, LookupError):
        charset = ""
    try:
        text, warning = decode(data, charset)
    except NotTextError:
        draft.warn("A part of the message is no text.")
        return ""
    if warning:
        draft.warn(warning)
    return text


def _field(message: Message, name: str) -> str:
    return _decoded(str(message.get(name, ""))[:_MAX_FIELD_CHARS])


def _decoded(value: str) -> str:
    """A header field in plain words; as it stands if its encoding is a mystery."""
    try:
        return str(make_header(decode_header(value)))
    except (email.errors.HeaderParseError, LookupError, UnicodeError, ValueError):
        return value
