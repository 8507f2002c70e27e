"""Documents as the library holds them, from Markdown."""

from dataclasses import replace
from pathlib import Path

from desktop_rag.answer.counting.record_structures import ReadDocument
from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.core.parsed import Heading
from desktop_rag.ingest.read.markup.markdown import headings, parse_front_matter
from desktop_rag.ingest.read.markup.plain_text import line_offsets


def document(markdown: str, path: str = "/library/notes/all.md") -> ReadDocument:
    """The document that such a file becomes."""
    front = parse_front_matter(markdown)
    lead = "".join(f"{line}\n" for _, line in front.others)
    text = f"{lead}\n{markdown[front.end :]}" if lead else markdown[front.end :]
    offsets = line_offsets(text)
    found = tuple(Heading(offsets[n - 1], *heading) for n, heading in headings(text).items())
    stat = FileStat(1, 1, 1)
    state = DocumentState.SEARCHABLE
    row = Document(path, "s", Path(path), front.title, "markdown", stat, "hash", state)
    row = replace(row, dated=front.dated, tags=front.tags)
    return ReadDocument(row, text, "", found)
