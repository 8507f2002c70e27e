"""E-mail messages (EML) and mailboxes (MBOX): header lines, the text of bodies, attached files.

Those become documents of their own. A mailbox has a section for each message, also that of Google
Takeout. Nothing that a message refers to is fetched. Runs in the parser process.
"""

import binascii
import email
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.policy import Compat32
from email.utils import collapse_rfc2231_value
from itertools import islice, zip_longest

from desktop_rag.core.parsed import HEADING_SEPARATOR, Anchor
from desktop_rag.core.text import words
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, LimitReached, one_line
from desktop_rag.ingest.read.foundation.encoding import DISGUISED, NotTextError, decode, usual_name
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.markup import web_page

_REPAIRED = {"from", "to", "cc", "subject", "content-type", "content-disposition"}
_MAX_FIELD_CHARS = 4000
_MAX_WESTERN_SHARE = 0.25
_WESTERN = "cp1252"
_SURROGATES = range(0xDC80, 0xDD00)


class BoundedHeaders(Compat32):
    """Cuts long fields, since parsing one takes time by the square of its length.

    It is the old policy, under which fields are parsed when they are asked for.
    """

    def header_source_parse(self, sourcelines: Sequence[str]) -> tuple[str, str]:
        """The name and the value of a field from its lines."""
        name, value = super().header_source_parse(list(sourcelines))
        return name, value[:_MAX_FIELD_CHARS]


def repair(message: Message) -> None:
    """Decode raw bytes of other encodings in the header, which the library does not."""
    damaged = [
        (name, value)
        for name, value in message.raw_items()
        if name.lower() in _REPAIRED and not value.isascii()
    ]
    seen: set[str] = set()
    for name, value in damaged:
        # Only the first of a name is ever looked at, and that is the one that is replaced.
        if name.lower() not in seen:
            seen.add(name.lower())
            message.replace_header(name, _repaired(value, message))


def field(message: Message, name: str) -> str:
    """A field decoded, "" if it is missing, as it stands if its encoding is unknown."""
    value = str(message.get(name, ""))
    if "=?" not in value:
        return value
    try:
        pieces = decode_header(value)
    except (HeaderParseError, binascii.Error, ValueError):
        return value
    return "".join(
        piece if isinstance(piece, str) else _decoded(piece, charset or "raw-unicode-escape")
        for piece, charset in pieces
    )


def file_name(written: str) -> str:
    """The name of an attached file without the path that it had on another computer."""
    return one_line(written).replace("\\", "/").rpartition("/")[2]


def _decoded(data: bytes, charset: str) -> str:
    try:
        return data.decode(usual_name(charset))
    except (LookupError, ValueError):
        return _readable(data, charset)


def _repaired(value: str, message: Message) -> str:
    strays = sum(ord(char) in _SURROGATES for char in value)
    if not strays:
        return value
    try:
        declared = message.get_content_charset()
    except (LookupError, ValueError, TypeError, AttributeError):
        declared = None
    # Of a few words only, no guess is as good as that they are Western.
    is_western = strays < _MAX_WESTERN_SHARE * len(value)
    charset = declared or (_WESTERN if is_western else "")
    return _readable(value.encode("utf-8", "surrogateescape"), charset)


def _readable(data: bytes, charset: str) -> str:
    try:
        return decode(data, usual_name(charset))[0]
    except NotTextError:
        return data.decode("utf-8", "replace")


_HEADER_FIELDS = ("From", "To", "Cc", "Date", "Subject")
_MAX_PARTS = 2000
_MAX_REPORT_CHARS = 20_000
# A mail server's report about a message; all of it is fields.
_REPORTS = {
    "message/delivery-status", "message/disposition-notification", "message/feedback-report",
}  # fmt: skip
_PAGES = {"text/html", "application/xhtml+xml"}
# Their bytes say nothing to a reader.
_SIGNATURES = {"pgp-signature", "pkcs7-signature", "x-pkcs7-signature"}
_SUFFIXES = {
    "text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "text/calendar": ".ics",
    "text/rfc822-headers": ".txt", "application/pdf": ".pdf",
}  # fmt: skip
# A plain text may only say that there is a page, which then has this much more. A short one may
# be another text.
_MORE_THAN_STUB = 4
_SHORT_CHARS = 300
# Of its words at least this share stands on the page, if both are the same text.
_SAME_SHARE = 0.3
# The library raises these for a damaged message.
_DAMAGE = (LookupError, ValueError, TypeError, AttributeError, AssertionError, binascii.Error)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A part without parts. Those with the same `choice`, unless 0, are alternatives."""

    part: Message
    choice: int


class MailMessage:
    """A message, parsed into its parts."""

    def __init__(self, data: bytes) -> None:
        """Raises Unreadable for one that is nested too deep."""
        try:
            self._message = email.message_from_bytes(data, policy=BoundedHeaders())
        except RecursionError as exc:
            raise Unreadable("damaged", "The message is nested too deep") from exc
        repair(self._message)
        self._leaves = list(islice(_leaves(self._message), _MAX_PARTS + 1))
        for leaf in self._leaves:
            repair(leaf.part)
        self.subject = one_line(field(self._message, "Subject"))

    def pages(self) -> Iterator[Message]:
        """The parts that are pages, or texts."""
        return (leaf.part for leaf in self._leaves if leaf.part.get_content_type() in _PAGES)

    def write(self, draft: DocumentDraft, place: Anchor, prefix: str = "") -> None:
        """Add header and body, and attach the rest under names that begin with `prefix`.

        What stands below headings in the body is at `place`, in a section of it.
        """
        if len(self._leaves) > _MAX_PARTS:
            draft.warn(f"Of one message only {_MAX_PARTS:,} parts were read.")
            self._leaves.pop()
        # First, so that a text that is too long costs no attachment.
        for number, leaf in enumerate(self._leaves, start=1):
            if not _is_text(leaf.part):
                _attach(leaf.part, draft, prefix, number)
        fields = ((name, field(self._message, name)) for name in _HEADER_FIELDS)
        lines = [f"{name}: {one_line(value)}" for name, value in fields if value]
        draft.add("\n".join(lines))
        for number, (part, text) in enumerate(self._bodies(draft)):
            if lines or number:
                draft.add("\n\n")
            if part.get_content_type() == "text/html":
                web_page.write(text, draft, place)
            else:
                draft.add(text.strip())

    def _bodies(self, draft: DocumentDraft) -> list[tuple[Message, str]]:
        """The parts to read, with their text; of alternatives the plain one unless it is a stub."""
        found = [
            (leaf, text)
            for leaf in self._leaves
            if _is_text(leaf.part) and (text := _text(leaf.part, draft)).strip()
        ]
        left_out = {choice: _worse_form(choice, found) for choice in {f.choice for f, _ in found}}
        return [
            (leaf.part, text)
            for leaf, text in found
            if leaf.part.get_content_type() != left_out[leaf.choice]
        ]


def _worse_form(choice: int, found: list[tuple[_Leaf, str]]) -> str:
    """The content type of the poorer alternative of the same text; "" if they are two texts."""
    texts = {"text/plain": "", "text/html": ""}
    for leaf, text in found:
        kind = leaf.part.get_content_type()
        if leaf.choice == choice and kind in texts:
            texts[kind] += text
    plain, page = (text.strip() for text in texts.values())
    if not choice or not plain or not page:
        return ""
    shown = _shown(page)
    if len(shown) > _MORE_THAN_STUB * len(plain):
        return "text/plain"
    if len(plain) >= _SHORT_CHARS:
        return "text/html"
    said, on_page = set(words(plain.casefold())), set(words(shown.casefold()))
    return "text/html" if len(said & on_page) >= _SAME_SHARE * len(said) else ""


def _shown(page: str) -> str:
    draft = DocumentDraft(len(page))
    with suppress(LimitReached):
        web_page.write(page, draft, with_addresses=False)
    return draft.text()


def _leaves(message: Message) -> Iterator[_Leaf]:
    """The parts that hold no others; an enclosed message is one. Walks without recursion."""
    waiting = [_Leaf(message, 0)]
    count = 0
    while waiting:
        leaf = waiting.pop()
        count += 1
        inner = leaf.part.get_payload()
        if leaf.part.get_content_maintype() == "multipart" and isinstance(inner, list):
            is_choice = leaf.part.get_content_subtype() == "alternative"
            choice = count if is_choice else leaf.choice
            waiting.extend(_Leaf(p, choice) for p in reversed(inner) if isinstance(p, Message))
        else:
            yield leaf


def _is_text(part: Message) -> bool:
    """True when a mail program shows it as part of the message."""
    if part.get_content_type() in _REPORTS:
        return True
    # Where the border between the parts was never named, what came is one text.
    is_broken = part.get_content_maintype() == "multipart"
    if not is_broken and part.get_content_type() not in {"text/plain", "text/html"}:
        return False
    return part.get_content_disposition() != "attachment" and not _filename(part)


def _text(part: Message, draft: DocumentDraft) -> str:
    payload = part.get_payload()
    if isinstance(payload, list):
        lines = (f"{name}: {value}" for block in payload if isinstance(block, Message)
                 for name, value in block.items())  # fmt: skip
        return "\n".join(lines)[:_MAX_REPORT_CHARS]
    data = part.get_payload(decode=True)
    charset = usual_name(_said(part.get_content_charset))
    try:
        if not isinstance(data, bytes):
            return ""
        if charset in DISGUISED:
            return data.decode(charset, "replace")
        if part.get_content_type() == "text/html":
            return web_page.decoded(data, draft, charset)
        text = draft.decoded(data, charset)
    except NotTextError:
        draft.warn("A part of the message is no text.")
        return ""
    if _said(part.get_param, "format").lower() != "flowed":
        return text
    return _flowed(text, is_joined=_said(part.get_param, "delsp").lower() == "yes")


def _flowed(text: str, *, is_joined: bool) -> str:
    """The paragraphs of a text whose lines end in a space where they go on, after RFC 3676.

    With `is_joined` that space is no part of the text, as in languages without any.
    """
    lines: list[list[str]] = []
    goes_on, before = False, ""
    for line in text.split("\n"):
        quote = line[: len(line) - len(line.lstrip(">"))]
        words = line[len(quote) :].removeprefix(" ")
        # What stands below two dashes is the sender's card.
        is_border = words == "-- "
        if not (goes_on and quote == before) or is_border:
            lines.append([f"{quote} " if quote else ""])
        goes_on, before = words.endswith(" ") and not is_border, quote
        lines[-1].append(words[:-1] if goes_on and is_joined else words)
    return "\n".join(map("".join, lines))


def _said(ask: Callable[..., object], *names: str) -> str:
    """What a part says of itself, "" where that is damaged."""
    try:
        return str(ask(*names) or "")
    except _DAMAGE:
        return ""


def _attach(part: Message, draft: DocumentDraft, prefix: str, number: int) -> None:
    subtype = part.get_content_subtype()
    if subtype in _SIGNATURES or _is_inline_picture(part):
        return
    if subtype in {"pgp-encrypted", "pkcs7-mime", "x-pkcs7-mime"}:
        draft.warn("The message is encrypted or sealed, which is not undone.")
        return
    payload = part.get_payload()
    if isinstance(payload, list):
        inner = payload[0] if payload else None
        if isinstance(inner, Message):
            repair(inner)
            name = one_line(field(inner, "Subject")) or "message"
            if data := _as_bytes(inner, draft):
                draft.attach(f"{prefix}{name}.eml", data)
        return
    data = part.get_payload(decode=True)
    if isinstance(data, bytes) and data:
        suffix = _SUFFIXES.get(part.get_content_type(), "")
        draft.attach(prefix + (_filename(part) or f"part {number}{suffix}"), data)


def _is_inline_picture(part: Message) -> bool:
    """True for a picture inside the body, such as a logo."""
    is_placed = bool(part.get("Content-ID")) and part.get_content_disposition() != "attachment"
    return part.get_content_maintype() == "image" and is_placed


def _as_bytes(message: Message, draft: DocumentDraft) -> bytes:
    body = message.get_payload()
    if not message.keys() and isinstance(body, str):
        # Some programs encode the enclosed message as a whole.
        try:
            return binascii.a2b_base64("".join(body.split()), strict_mode=True)
        except (binascii.Error, ValueError):
            pass
    try:
        return message.as_bytes()
    except (*_DAMAGE, RecursionError):
        draft.warn("A message inside it is damaged.")
        return b""


def _filename(part: Message) -> str:
    try:
        return file_name(collapse_rfc2231_value(part.get_filename() or ""))
    except _DAMAGE:
        return "attachment"


def _whole(source: SourceFile) -> bytes:
    """The message; Apple's files begin with its size, and end with properties."""
    size, _, rest = source.data.partition(b"\n")
    is_apple = source.suffix == ".emlx" and size.strip().isdigit()
    return rest[: int(size)] if is_apple else source.data


def read_web_archive(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft with the pages of a saved page (MHTML); pictures and styles are left out."""
    archive = MailMessage(source.data)
    title = ""
    for part in archive.pages():
        draft.add("\n\n" * bool(draft.length))
        found = web_page.write(_text(part, draft), draft)
        title = title or found
    return title or archive.subject


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the subject."""
    letter = MailMessage(_whole(source))
    if letter.subject:
        draft.mark(Anchor(heading=letter.subject))
    # The subject is the title already, so headings in the body are not put below it.
    letter.write(draft, Anchor())
    return letter.subject


# A message begins at such a line after an empty one, or at the beginning of the file. A field of
# its header must follow: "From" begins many a sentence, and not every program marks it then.
_LETTER_BEGINS = re.compile(
    rb"\A\s*From [^\n]*\n|"
    rb"(?:(?<=\n\n)|(?<=\r\n\r\n))From [^\n]*\n(?=>?[A-Za-z0-9-]+:[ \t\r\n]|>From )"
)
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_mailbox(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the name of the file, not the first subject."""
    count = 0
    for number, (line, data) in enumerate(_messages(source.data), start=1):
        try:
            letter = MailMessage(data)
        except Unreadable as exc:
            draft.warn(f"Message {number} was left out: {exc.title}.")
            continue
        count += 1
        if draft.length:
            draft.add("\n\n")
        name = letter.subject or f"message {number}"
        draft.add_heading(1, name)
        place = Anchor(heading=name, line=line)
        draft.mark(place)
        draft.add(f"{name}\n\n")
        letter.write(draft, place, prefix=f"message {number}{HEADING_SEPARATOR}")
    if not count:
        raise Unreadable("damaged", "The file is damaged", "No message in it can be read.")
    return source.stem


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(line from 1, bytes without the line that begins it) of each message."""
    begins = list(_LETTER_BEGINS.finditer(data))
    line = 1
    counted = 0
    for found, following in zip_longest(begins, begins[1:]):
        line += data.count(b"\n", counted, found.start())
        counted = found.start()
        end = following.start() if following else len(data)
        yield line, _QUOTED_FROM.sub(rb"\1", data[found.end() : end])
