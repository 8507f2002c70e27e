"""What parsing and cutting make of a file: text with its places, and chunks.

Frozen values. Offsets are indices into a document's extracted text, in code points, end exclusive.
"""

from dataclasses import dataclass
from typing import Literal

from desktop_rag.core.anchors import Anchor


@dataclass(frozen=True, slots=True)
class Mark:
    """From `offset` on, until the next mark, the text stands at `anchor`."""

    offset: int
    anchor: Anchor


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the document's outline; its section runs from `offset` (its own line)."""

    offset: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class TableHeader:
    """The rows in [start, end) stand under this header row, which is embedded with each chunk."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class ParsedPart:
    """Something inside a file that is a document of its own, such as an attachment.

    `name` is the way to it: `report.pdf`, or `forwarded.eml › report.pdf`. Without a `document`,
    `refusal` says why there is none.
    """

    name: str
    document: "ParsedDocument | None" = None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What a parser made of one file.

    Marks, headings and table headers are in rising order of offset. `language` is a two-letter
    code, empty where it can't be told.
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


ChunkMethod = Literal["structure", "tokens", "words"]


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How the documents of a collection are cut.

    `structure` follows headings, paragraphs and sentences; `tokens` counts tokens and looks at
    words only; `words` makes pieces of up to 1,000 characters. `max_tokens` 0 is what the embedder
    takes. `overlap_tokens` of a chunk stand in the next one too.
    """

    method: ChunkMethod = "structure"
    max_tokens: int = 0
    overlap_tokens: int = 16


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document that fits the embedder, with where it stands.

    `text` is exactly document text [start, end); neighbours may overlap. `context` is what stands
    above the passage when it is embedded: title, heading path and the header row of a table.
    `content_hash` is the hash of what is embedded, so equal content needs only one vector. The
    chunks before and after it are those with the `position` before and after.
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
        """What the embedder sees: the context gives a short passage its subject."""
        return embedded_text(self.context, self.text)


def embedded_text(context: str, text: str) -> str:
    """The context above the passage; only embedded, never shown as the passage."""
    return f"{context}\n{text}" if context else text
