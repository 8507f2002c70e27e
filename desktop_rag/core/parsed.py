"""Parsed documents and chunks: text with its locations.

Frozen values. Offsets are indices into a document's extracted text, in code points, end exclusive.
"""

from dataclasses import dataclass
from typing import Literal

from desktop_rag.core.anchors import Anchor


@dataclass(frozen=True, slots=True)
class Mark:
    """The text from `offset` up to the next mark is at `anchor`."""

    offset: int
    anchor: Anchor


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the document's outline; its section starts at `offset`, its own line."""

    offset: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class TableHeader:
    """A header row for the rows in [start, end); it is embedded with each of their chunks."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class ParsedPart:
    """A document inside a file, such as an attachment.

    `name` is the path to it: `report.pdf`, or `forwarded.eml › report.pdf`. Without a `document`,
    `refusal` gives the reason.
    """

    name: str
    document: "ParsedDocument | None" = None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The result of parsing one file.

    Marks, headings and table headers are sorted by offset. `language` is a two-letter code, empty
    when it could not be detected. `dated` (ISO, empty where there is none) and `tags` are those
    the file states about itself. `pictures_left` pictures in it and its parts are to be read later.
    """

    format: str
    title: str
    text: str
    marks: tuple[Mark, ...] = ()
    headings: tuple[Heading, ...] = ()
    table_headers: tuple[TableHeader, ...] = ()
    warnings: tuple[str, ...] = ()
    language: str = ""
    parts: tuple[ParsedPart, ...] = ()
    dated: str = ""
    tags: tuple[str, ...] = ()
    pictures_left: int = 0


CodeColour = Literal["comment", "keyword", "string", "number", "name", "builtin"]
"""The kinds of words of source code that have a colour."""
ColourSpan = tuple[int, int, CodeColour]
"""Start, end and colour of some source code."""

ChunkMethod = Literal["structure", "tokens", "words"]


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """The chunk settings of a collection.

    `structure` follows headings, paragraphs and sentences; `tokens` counts tokens and respects only
    word boundaries; `words` makes chunks of up to 1,000 characters. `max_tokens` 0 means the
    embedder's limit. `overlap_tokens` of a chunk are repeated in the next.
    """

    method: ChunkMethod = "structure"
    max_tokens: int = 0
    overlap_tokens: int = 16


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document that fits the embedder, with its location.

    `text` is exactly document text [start, end); neighbours may overlap. `context` is prepended for
    embedding: title, heading path and the header row of a table. `content_hash` covers the embedded
    text, so equal content needs only one vector. Chunks are numbered by `position` in reading
    order.
    """

    position: int
    start: int
    end: int
    text: str
    anchor: Anchor
    context: str
    content_hash: str

    @property
    def embedded_text(self) -> str:
        """The embedder's input: the context gives a short passage its subject."""
        return embedded_text(self.context, self.text)


def embedded_text(context: str, text: str) -> str:
    """The context followed by the passage; used for embedding only, never shown."""
    return f"{context}\n{text}" if context else text
