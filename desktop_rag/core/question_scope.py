"""The documents that a question is about, as the person chose them. Frozen values, pure."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar

from desktop_rag.core.domain import Collection, Document, Source, shown_name
from desktop_rag.core.language.translation import tr
from desktop_rag.core.records import LONGEST_PATH, Record, Within

_SHOWN = 2
_LONGEST_SHOWN = 48
_Path = Annotated[str, Within(0, LONGEST_PATH)]


class ScopeKind(StrEnum):
    """The kind of a part of the library."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    COLLECTION = "collection"

    @property
    def word(self) -> str:
        """The kind for people: `Folder`."""
        words = {
            ScopeKind.FILE: tr("File"), ScopeKind.FOLDER: tr("Folder"),
            ScopeKind.LINK: tr("Link"), ScopeKind.COLLECTION: tr("Collection"),
        }  # fmt: skip
        return words[self]


@dataclass(frozen=True, slots=True)
class ScopeItem:
    """A part of the library: a document, everything below a folder, a link's pages, a collection.

    `key` is the id of the document, source or collection, or the path of a folder. `path` is that
    of a document that is a file of its own, to find it once it is read anew.
    """

    kind: ScopeKind
    key: _Path
    name: _Path
    path: _Path = ""

    @classmethod
    def of_document(cls, document: Document) -> "ScopeItem":
        """One document, with the documents inside it."""
        of_place = cls.of_place(
            document.document_id, str(document.path), document.part, document.url
        )
        return replace(of_place, name=document.name)

    @classmethod
    def of_place(cls, document_id: str, path: str, part: str = "", url: str = "") -> "ScopeItem":
        """The document of a source or a passage."""
        is_file = not (part or url)
        name = url or part or shown_name(path)
        return cls(ScopeKind.FILE, document_id, name, path if is_file else "")

    @classmethod
    def of_folder(cls, path: Path) -> "ScopeItem":
        """Everything below a folder."""
        return cls(ScopeKind.FOLDER, str(path), path.name or str(path))

    @classmethod
    def of_source(cls, source: Source) -> "ScopeItem":
        """All documents of a folder, of web links or of a program that sends them."""
        if source.is_on_disk:
            return cls.of_folder(source.path)
        return cls(ScopeKind.LINK, source.source_id, source.name)

    @classmethod
    def of_collection(cls, collection: Collection) -> "ScopeItem":
        """All documents of a collection."""
        return cls(ScopeKind.COLLECTION, collection.collection_id, collection.name)


@dataclass(frozen=True, slots=True)
class QuestionScope(Record):
    """What a question is about: only these parts of the library, or no document at all.

    Without items it covers all documents, or those of the chosen collection. With
    `is_without_documents` the model answers from its own knowledge, and nothing is searched. With
    `is_without_model` the chat has excerpts only.
    """

    is_brief: ClassVar = True
    items: tuple[ScopeItem, ...] = ()
    is_without_documents: bool = False
    # What the question is about is the same either way.
    is_without_model: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, *items: ScopeItem) -> "QuestionScope":
        """These items, each once."""
        return cls(tuple(dict.fromkeys(items)))

    @property
    def is_limited(self) -> bool:
        """True when the question is about a part of the library only."""
        return bool(self.items)

    def with_item(self, item: ScopeItem) -> "QuestionScope":
        """The scope with one more item; a chat without documents has documents again."""
        return QuestionScope.of(*self.items, item)

    def in_words(self) -> str:
        """One line for people: `About: lease.pdf, letters and 3 more`; "" for all documents."""
        if self.is_without_documents:
            return tr("Without documents")
        return tr("About: {names}", names=names_of(self.items)) if self.items else ""


def names_of(items: tuple[ScopeItem, ...]) -> str:
    """The names on one line, long ones cut: `lease.pdf, letters and 3 more`."""
    names = [" ".join(item.name.split()) for item in items]
    names = [n if len(n) <= _LONGEST_SHOWN else f"{n[:_LONGEST_SHOWN]}…" for n in names]
    more = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN])
    return tr("{names} and {more:,} more", names=shown, more=more) if more > 0 else shown


ALL_DOCUMENTS = QuestionScope()
WITHOUT_DOCUMENTS = QuestionScope(is_without_documents=True)
