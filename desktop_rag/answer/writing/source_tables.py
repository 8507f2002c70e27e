"""What is around a passage: the tables that it is a part of, the text above, the language.

Needs the store; any thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.places import places_from_json
from desktop_rag.store.contract.documents import DocumentStore

# The head of a table of figures is on the same page, at most one before.
_ABOVE = 3_000


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The header row of the table that a passage is a part of, the text above the passage, and the
    code of its document's language, "" where that is not known.
    """

    header: str = ""
    above: str = ""
    language: str = ""


def surroundings_of(
    documents: DocumentStore, sources: Sequence[SourceRef]
) -> dict[int, Surroundings]:
    """The surroundings of each source, by its number."""
    known = documents.get([source.document_id for source in sources])
    languages = {document.document_id: document.language for document in known}
    return {
        source.n: _around(documents, source, languages.get(source.document_id, ""))
        for source in sources
    }


def _around(documents: DocumentStore, source: SourceRef, language: str) -> Surroundings:
    text, places = documents.content(source.document_id)
    tables = places_from_json(places)[2]
    inside = (t.text for t in tables if t.start <= source.start < t.end)
    above = text[max(0, source.start - _ABOVE) : source.start] if text else ""
    return Surroundings(next(inside, ""), above, language)
