"""E-mail messages (EML): header lines, body, attachments as documents of their own.

Runs in the parser process.
"""

from desktop_rag.core.anchors import Anchor
from desktop_rag.ingest.read.draft import Draft
from desktop_rag.ingest.read.letter import Letter
from desktop_rag.ingest.read.source import SourceFile


def read(source: SourceFile, draft: Draft) -> str:
    """Fill the draft; the title is the subject."""
    letter = Letter(source.data)
    if letter.subject:
        draft.mark(Anchor(heading=letter.subject))
    # The subject is the title already, so headings in the body are not put below it.
    letter.write(draft, Anchor())
    return letter.subject
