"""The sources that come from files attached to a chat. Worker threads.

What is attached on purpose is read whole where there is room for it, in its order, so that "what
does it say" has an answer; of what is longer, the passages that fit the question best.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from desktop_rag.answer.prompting.prompt import ANSWER_SHARE
from desktop_rag.answer.sources.passages import CountTokens, choose_sources, numbered, place_of
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.core.anchors import Anchor
from desktop_rag.core.attachment import Attachment
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.domain import Document, Passage
from desktop_rag.core.parsed import Chunk
from desktop_rag.core.settings import RetrievalSettings
from desktop_rag.store.contract.documents import DocumentStore

# Of the room for a prompt, what whole texts may take: the question, what was said before and the
# best of the library want some too.
_WHOLE_SHARE = 0.7
# Of the same room, what the best passages of longer ones may take.
_BEST_SHARE = 0.5
# A whole text goes in pieces of about a page, so that what is cited is found in no time.
_PIECE_TOKENS = 600
# What stands around each piece in the prompt.
_FRAME_TOKENS = 60
# More characters than this many to a token are counted in no text.
_MOST_TOKEN_CHARS = 12
_DEPTH = 3


class AttachedSources:
    """Chooses them, in the order of the files and of their text."""

    def __init__(self, finder: SourceFinder, documents: DocumentStore) -> None:
        self._finder = finder
        self._documents = documents

    def for_prompt(
        self,
        attachments: Sequence[Attachment],
        asked: str,
        settings: RetrievalSettings,
        context_tokens: int,
        count_tokens: CountTokens,
    ) -> tuple[SourceRef, ...]:
        """Their whole text where a model that reads so much has room for it, else the best of it.
        Tokens of the prompt are counted by `count_tokens`.

        Of each file that holds nothing like the question, its beginning: it was attached to be
        looked into.
        """
        if not attachments:
            return ()
        room = int(context_tokens * (1 - ANSWER_SHARE))
        documents = self._documents_of(attachments)
        if whole := self._whole(documents, int(room * _WHOLE_SHARE), count_tokens):
            return whole
        found = self.about(attachments, asked, settings)
        homes = {passage.document_id for passage in found}
        firsts = [p for d in documents if d.document_id not in homes for p in self._beginning(d)]
        most_tokens = min(settings.source_tokens, int(room * _BEST_SHARE))
        return self._in_order([*found, *firsts], documents, settings.passages, most_tokens)

    def relevant(
        self, attachments: Sequence[Attachment], asked: str, settings: RetrievalSettings
    ) -> tuple[tuple[SourceRef, ...], tuple[SourceRef, ...]]:
        """The passages that are about the question, and those that only come nearest to it.

        Where nothing comes near, that is how the files begin.
        """
        if not attachments:
            return (), ()
        documents = self._documents_of(attachments)
        found = self.about(attachments, asked, settings)
        is_relevant = self._finder.is_any_relevant(found)
        found = found or [first for document in documents for first in self._beginning(document)]
        chosen = self._in_order(found, documents, settings.passages, settings.source_tokens)
        return (chosen, ()) if is_relevant else ((), chosen)

    def about(
        self, attachments: Sequence[Attachment], asked: str, settings: RetrievalSettings
    ) -> list[Passage]:
        """The passages that fit the question best, best first."""
        ids = tuple(a.attachment_id for a in attachments if a.has_text)
        limit = _DEPTH * settings.passages
        return self._finder.best_attached(ids, asked, settings, limit=limit) if ids else []

    def _documents_of(self, attachments: Sequence[Attachment]) -> list[Document]:
        """Each with what is inside it."""
        return [
            document
            for attachment in attachments
            if attachment.has_text
            for document in self._documents.documents(attachment.attachment_id)
            if document.chunk_count
        ]

    def _whole(
        self, documents: Sequence[Document], most_tokens: int, count_tokens: CountTokens
    ) -> tuple[SourceRef, ...]:
        """All they say, in pieces; nothing where it takes more than so many tokens."""
        pieces: list[Passage] = []
        for document in documents:
            text, places = self._documents.content(document.document_id)
            if not text or len(text) > most_tokens * _MOST_TOKEN_CHARS:
                return ()
            chunks = self._documents.chunks(document.document_id)
            for start, end in self._spans(chunks, len(text)):
                pieces.append(_passage(document, text[start:end], places, start))
        counts = count_tokens([piece.text for piece in pieces])
        is_fitting = sum(counts) + _FRAME_TOKENS * len(counts) <= most_tokens
        return numbered(pieces) if is_fitting else ()

    def _spans(self, chunks: Sequence[Chunk], length: int) -> Iterator[tuple[int, int]]:
        """The text [0, length) in pieces that begin where a chunk does."""
        start = tokens = 0
        counts = self._finder.count_tokens([chunk.text for chunk in chunks])
        for chunk, count in zip(chunks, counts, strict=True):
            if tokens and tokens + count > _PIECE_TOKENS:
                yield start, chunk.start
                start, tokens = chunk.start, 0
            tokens += count
        yield start, length

    def _beginning(self, document: Document) -> list[Passage]:
        text, places = self._documents.content(document.document_id)
        first = self._documents.chunks(document.document_id)[:1]
        return [_passage(document, (text or "")[c.start : c.end], places, c.start) for c in first]

    def _in_order(
        self, found: Sequence[Passage], documents: Sequence[Document], most: int, most_tokens: int
    ) -> tuple[SourceRef, ...]:
        chosen = choose_sources(
            found, self._documents.content, self._finder.count_tokens,
            most=most, most_tokens=most_tokens,
        )  # fmt: skip
        order = {document.document_id: place for place, document in enumerate(documents)}
        chosen = sorted(chosen, key=lambda s: (order.get(s.document_id, len(order)), s.start))
        return tuple(replace(source, n=n) for n, source in enumerate(chosen, start=1))


def _passage(document: Document, text: str, places: str, start: int) -> Passage:
    """A piece of the text as if it had been found."""
    end = start + len(text)
    return Passage(
        chunk_id=0,
        document_id=document.document_id,
        path=str(document.path),
        title=document.title or document.name,
        text=text,
        anchor=place_of(places, start, end) or Anchor(),
        start=start,
        end=end,
        score=0.0,
        part=document.part,
    )
