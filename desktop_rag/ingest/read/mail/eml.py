"""E-mail messages (EML): header lines, body, attachments as documents of their own.

Runs in the parser process.
"""

from desktop_rag.core.anchors import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.mail.mail_message import MailMessage


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the subject."""
    letter = MailMessage(source.data)
    if letter.subject:
        draft.mark(Anchor(heading=letter.subject))
    # The subject is the title already, so headings in the body are not put below it.
    letter.write(draft, Anchor())
    return letter.subject
