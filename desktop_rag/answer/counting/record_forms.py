"""Records: the entries of documents that a question counts or lists. Frozen values, pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from desktop_rag.core.domain import Document
from desktop_rag.core.parsed import Heading, TableHeader


class Kind(StrEnum):
    """The form in which documents hold records, the outer forms first.

    Answers call them by their names in resources/questions/answer_texts.toml.
    """

    FILE = "file"
    SECTION = "section"
    PART = "part"
    ENTRY = "entry"
    TERM = "term"
    TITLED = "titled"
    DATED = "dated"
    ROW = "row"
    TASK = "task"
    ITEM = "item"
    NUMBERED = "numbered"


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document with its text and structure.

    `front` holds the entries of the front matter, which is no part of the text.
    """

    document: Document
    text: str
    places: str = ""
    headings: tuple[Heading, ...] = ()
    tables: tuple[TableHeader, ...] = ()
    front: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def name(self) -> str:
        """The title, or the file name."""
        return self.document.title or self.document.path.stem


@dataclass(frozen=True, slots=True)
class Record:
    """One entry: the text [start, end) of a document.

    `fields` are its named values by the name in lower case, `path` the titles of the headings above
    it, the nearest last.
    """

    source: ReadDocument
    start: int
    end: int
    title: str
    fields: Mapping[str, str]
    path: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text of the record."""
        return self.source.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Structure:
    """Records of one form. `labels` are words of the form itself, such as the name of a column."""

    kind: Kind
    records: tuple[Record, ...]
    labels: tuple[str, ...] = ()
