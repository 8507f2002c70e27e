"""E-mail messages (EML): header lines, the text of the body, attachments as documents of their own.

Mailboxes share it. Nothing that a message refers to is fetched. Runs in the parser process.
"""

import binascii
import email
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from email.message import Message
from email.utils import collapse_rfc2231_value
from itertools import islice

from desktop_rag.core.parsed import Anchor
from desktop_rag.core.text import words
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, LimitReached, one_line
from desktop_rag.ingest.read.foundation.encoding import DISGUISED, NotTextError, usual_name
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.mail.mail_header import BoundedHeaders, field, file_name, repair
from desktop_rag.ingest.read.markup import web_page

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
