"""What a link to a file leads to: a document of the library, as in notes. Worker threads."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from desktop_rag.core.domain import Document, StoredText
from desktop_rag.core.notes.note_sources import listed_place
from desktop_rag.core.places import Places
from desktop_rag.core.shared_library import is_shared
from desktop_rag.ui.viewers.document_span import DocumentSpan

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_NUMBER = re.compile(r"\[(\d{1,4})\]")


def linked_document(
    library: "Library", page: StoredText, target: str, words: str
) -> DocumentSpan | None:
    """The document that a relative link with these words leads to; None for no own document.

    Nothing but the library is read. A number of a note leads to the place that the note names.
    """
    path = _path_of(page.document, target)
    if path is None:
        return None
    found = next((d for d in library.documents.below(path) if d.path == path and not d.part), None)
    if found is None:
        return None
    number = _NUMBER.fullmatch(words.strip())
    label = listed_place(page.text, int(number[1]), target) if number else ""
    stored = library.documents.stored_text(found.document_id) if label else None
    start, end = _span_of(stored, label) if stored else (0, 0)
    return DocumentSpan(found.document_id, start, end)


def _path_of(document: Document, target: str) -> Path | None:
    """The file that a link in a document of the person's own names."""
    is_file = not (document.url or document.part or is_shared(document.document_id))
    name = unquote(urlsplit(target).path)
    return Path(os.path.normpath(document.path.parent / name)) if is_file and name else None


def _span_of(stored: StoredText, label: str) -> tuple[int, int]:
    """The first line of the place with this label, such as `page 4`; (0, 0) where there is none."""
    places = Places(stored.marks, stored.headings)
    offsets = sorted({m.offset for m in stored.marks} | {h.offset for h in stored.headings})
    for start in offsets:
        if places.anchor(start, start + 1).label() == label:
            end = stored.text.find("\n", start)
            return start, end if end >= 0 else len(stored.text)
    return 0, 0
