"""Parsed documents and chunks: text with its locations. Frozen values, pure.

Offsets are indices into a document's extracted text, in code points, end exclusive.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from desktop_rag.core.records import Count, Record, Within

HEADING_SEPARATOR = " › "


@dataclass(frozen=True, slots=True)
class Anchor(Record):
    """A location inside a file. Pages, slides and lines count from 1, seconds from 0.

    `page_label` is the printed page number where it differs from the page's position (`iv`, `A-3`).
    `heading` is the heading path joined by HEADING_SEPARATOR; `cells` is a range such as `A5:D9` on
    `sheet` (a CSV file has cells but no sheet). `by_app` is True where the app itself wrote the
    text, which is no evidence.
    """

    is_brief: ClassVar = True
    page: Count | None = None
    page_label: str | None = None
    slide: Count | None = None
    sheet: str | None = None
    cells: str | None = None
    heading: str | None = None
    line: Count | None = None
    second: Count | None = None
    by_app: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """Only the fields that are set. By hand, as there may be one for each row of a sheet."""
        return {
            name: value for name in self.__slots__ if (value := getattr(self, name)) is not None
        }

    @classmethod
    def from_json(cls, value: Any) -> "Anchor":  # noqa: ANN401  a value of JSON
        """The inverse of `to_json`. Unknown fields are a bug and raise TypeError."""
        return cls(**value)

    def label(self) -> str:
        """A readable location: `page 4`, `Budget!A5:D9`, `Fees › Members`, `line 12`, `12:34`."""
        return ", ".join(filter(None, (self._place(), "written by the app" if self.by_app else "")))

    def _place(self) -> str:
        if self.second is not None:
            return clock_time(self.second)
        if self.page is not None:
            return (
                f"page {self.page_label} ({self.page})" if self.page_label else f"page {self.page}"
            )
        if self.slide is not None:
            return f"slide {self.slide}"
        if self.sheet:
            return f"{self.sheet}!{self.cells}" if self.cells else self.sheet
        if self.cells is not None:
            return f"cells {self.cells}"
        if self.heading:
            return self.heading
        return f"line {self.line}" if self.line is not None else ""


def clock_time(second: int) -> str:
    """A moment of a recording as a player shows it: `0:07`, `12:34`, `1:02:03`."""
    minutes, seconds = divmod(second, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in fractions (0..1) of its width and height from the top left."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class PageWord:
    """A word as it is printed on a page; with `ends_line` the next one stands on another line."""

    text: str
    box: Box
    ends_line: bool = False


@dataclass(frozen=True, slots=True)
class PageWish:
    """A request for a page (from 1): an image, and the places of words on it.

    `quote` is marked once, `find` everywhere on the page; either may be empty. Each line of `find`
    is found as a whole. `with_sizes` asks for the sizes of all pages too, `with_words` for every
    word of the page with its place.
    """

    page: int
    width_px: int
    quote: str = ""
    find: str = ""
    with_sizes: bool = False
    with_words: bool = False


@dataclass(frozen=True, slots=True)
class PageView:
    """An image of one page with the rectangles of a quote. `png` is `width_px` wide.

    `found` has the rectangles of each hit in reading order. `sizes` holds the width and height of
    the pages in points, though not of all in a very long file; `words` are in the order of the
    page's text. Both are empty unless requested.
    """

    page: int
    page_count: int
    png: bytes
    width_px: int
    height_px: int
    boxes: tuple[Box, ...] = ()
    found: tuple[tuple[Box, ...], ...] = ()
    sizes: tuple[tuple[float, float], ...] = ()
    words: tuple[PageWord, ...] = ()


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


ENCODING_GUESSED = "It does not name its encoding, and was read as"
"""How the warning begins of a text whose encoding is uncertain."""


@dataclass(frozen=True, slots=True)
class EncodingHints:
    """What is known of a text's encoding besides its bytes: the one that the person has `chosen`,
    those of its neighbours, and the language of this computer, which settles nothing for certain.
    """

    chosen: str = ""
    neighbours: tuple[str, ...] = ()
    language: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The result of parsing one file.

    Marks, headings and table headers are sorted by offset. `language` is a two-letter code or
    empty. `dated` (ISO or empty) and `tags` are those the file states. `pictures_left` pictures in
    it and its parts are to be read later.
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

    @property
    def has_guessed_encoding(self) -> bool:
        """True when its encoding is uncertain."""
        return any(warning.startswith(ENCODING_GUESSED) for warning in self.warnings)


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
    max_tokens: Annotated[int, Within(0, 1_000_000)] = 0
    overlap_tokens: Annotated[int, Within(0, 1_000_000)] = 16


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document that fits the embedder, with its location.

    `text` is exactly document text [start, end); neighbours may overlap. `context` (title, heading
    path and table header) is prepended for embedding. `content_hash` covers the embedded text, so
    equal content needs only one vector. `position` numbers chunks in reading order.
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
