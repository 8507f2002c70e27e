"""Outlook messages (MSG): header lines, body, attachments as documents of their own.

Runs in the parser process.
"""

from typing import TYPE_CHECKING

from desktop_rag.core.anchors import Anchor
from desktop_rag.ingest.read import web_page
from desktop_rag.ingest.read.draft import Draft, one_line
from desktop_rag.ingest.read.source import SourceFile, Unreadable

if TYPE_CHECKING:
    from oxmsg import Message


def read(source: SourceFile, draft: Draft) -> str:
    """Fill the draft; the title is the subject."""
    from oxmsg import Message

    try:
        message = Message.load(source.data)
        header = "\n".join(_header(message))
        body, page = message.body, message.html_body
        attachments = [(a.file_name, a.file_bytes) for a in message.attachments]
    except MemoryError:
        raise
    except Exception as exc:  # the library lets any error of a damaged file through
        raise Unreadable("damaged", "The file is damaged", "It is no valid message.") from exc
    subject = one_line(_field(message.subject))
    if subject:
        draft.mark(Anchor(heading=subject))
    draft.add(header)
    if body and body.strip():
        draft.add("\n\n" + body.replace("\r\n", "\n").strip())
    elif page:
        draft.add("\n\n")
        web_page.write(page, draft)
    for number, (name, data) in enumerate(attachments, start=1):
        if data:
            draft.attach(name or f"attachment {number}", data)
    return subject


def _header(message: "Message") -> list[str]:
    fields = {name.lower(): value for name, value in message.message_headers.items()}
    to = fields.get("to") or "; ".join(
        f"{person.name} <{person.email_address}>" for person in message.recipients
    )
    sent = message.sent_date
    pairs = (
        ("From", _field(message.sender)),
        ("To", to),
        ("Cc", fields.get("cc", "")),
        ("Date", fields.get("date") or (sent.isoformat(" ", "minutes") if sent else "")),
        ("Subject", _field(message.subject)),
    )
    return [f"{name}: {one_line(value)}" for name, value in pairs if value]


def _field(value: str | None) -> str:
    """Some programs end a field with the zero that ends a text in memory."""
    return (value or "").rstrip("\0")
