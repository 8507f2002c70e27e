"""Reads recipes. The parser process alone imports this, and what it needs."""

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.source_file import SourceFile


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """The first line is the title, each other one a step; returns the title."""
    title, *steps = draft.decoded(source.data).splitlines()
    for number, step in enumerate(steps, 1):
        draft.mark(Anchor(line=number + 1))
        draft.add(f"Step {number}: {step}\n")
    return title
