"""Recordings inside other files: they are named, and not transcribed. Runs in the parser process.

A recording that is a file of its own does not come here: `ingest/recordings` has it transcribed.
"""

from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable


def read(_source: SourceFile, _draft: DocumentDraft) -> str:
    """Refuse the recording."""
    raise Unreadable(
        "unsupported",
        "Not supported: audio or video",
        "Recordings are transcribed where they are files in a folder of the library.",
    )
