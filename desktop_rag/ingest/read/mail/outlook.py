"""Outlook messages (MSG): header lines, body, attachments as documents of their own.

Runs in the parser process.
"""

from desktop_rag.core.anchors import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.ole import Container
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.mail.outlook_item import Attached, OutlookItem
from desktop_rag.ingest.read.markup import web_page
from desktop_rag.ingest.read.old_office import rich_text

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
    _write_body(item, source, draft)
    return subject


def _write_body(item: OutlookItem, source: SourceFile, draft: DocumentDraft) -> None:
    """Write the body in the form with the most text and the least markup."""
    body = item.body().strip()
    if body:
        draft.add(body)
    elif page := item.page():
        web_page.write(web_page.decoded(page, draft, item.page_encoding), draft)
    elif rich := item.rich_text():
        rich_text.read(SourceFile(source.path, rich), draft)


def _attach(attached: Attached, number: int, draft: DocumentDraft) -> None:
    if attached.item:
        name = attached.item.subject or attached.name or "message"
        draft.attach(f"{name}.eml", attached.item.to_mail(_MAX_DEPTH))
    elif attached.data and not attached.is_shown_in_page:
        draft.attach(attached.name or f"attachment {number}", attached.data)
