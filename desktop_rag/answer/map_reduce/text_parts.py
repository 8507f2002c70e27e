"""The whole text of documents in parts, each asked by a request of its own. Worker threads."""

from collections.abc import Sequence
from functools import partial

from desktop_rag.answer.map_reduce.map_reduce import MapPart
from desktop_rag.answer.sources.source_merging import CountTokens, numbered
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.domain import Passage
from desktop_rag.core.parsed import Chunk
from desktop_rag.models.ports import ChatModel
from desktop_rag.store.contract.documents import DocumentStore

# At most half of the context, and no more than this: models overlook the middle of long texts.
_MOST_TOKENS = 3_000
_ROOM_SHARE = 0.5


def part_tokens(model: ChatModel | None) -> int:
    """The tokens of a part for this model."""
    room = int(model.context_tokens * _ROOM_SHARE) if model else _MOST_TOKENS
    return min(room, _MOST_TOKENS)


class TextParts:
    """Divides documents into parts, in reading order."""

    def __init__(self, documents: DocumentStore, count_tokens: CountTokens) -> None:
        self._documents = documents
        self._count_tokens = count_tokens

    def parts_of(self, document: Passage, room: int) -> list[MapPart]:
        """The whole document, given by its first passage, in parts of up to `room` tokens."""
        parts: list[list[Chunk]] = [[]]
        left = room
        for chunk, tokens in self.measured(document):
            if tokens > left and parts[-1]:
                parts.append([])
                left = room
            parts[-1].append(chunk)
            left -= tokens
        return [
            MapPart(
                document.document_id, _title(document, part), partial(part_sources, document, part)
            )
            for part in parts
            if part
        ]

    def measured(self, document: Passage) -> list[tuple[Chunk, int]]:
        """The chunks of a document with their numbers of tokens."""
        chunks = self._documents.chunks(document.document_id)
        tokens = self._count_tokens([chunk.text for chunk in chunks])
        return list(zip(chunks, tokens, strict=True))


def part_sources(document: Passage, chunks: Sequence[Chunk]) -> tuple[SourceRef, ...]:
    """The chunks of a document as numbered sources."""
    return numbered(
        [
            Passage(
                chunk.position, document.document_id, document.path, document.title, chunk.text,
                chunk.anchor, chunk.start, chunk.end, 1.0, document.part, document.url,
            )
            for chunk in chunks
        ]
    )  # fmt: skip


def _title(document: Passage, part: Sequence[Chunk]) -> str:
    """The place where the part begins, or the title of the document when there is none."""
    return part[0].anchor.label() or document.title
