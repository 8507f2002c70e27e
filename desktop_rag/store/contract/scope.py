"""The chunks that a search may find: collections, filters, required words. A pure value."""

from dataclasses import dataclass, field, replace

from desktop_rag.core.query import Filters
from desktop_rag.core.question import Readable
from desktop_rag.core.question_scope import ScopeItem


@dataclass(frozen=True, slots=True)
class Scope:
    """The limits of a search; all of them apply together.

    With the defaults, everything is found except documents that are gone and files attached to
    chats. With `attached`, only the files of these sources are found. With `about`, only what one
    of these items stands for: a document with its id, or with its path and the documents inside;
    what lies below a folder, compared by code points; the documents of a source or a collection.
    With `but`, nothing of the files with these paths. With `readable`, only what that covers, and
    whatever else is returned depends on nothing else either.
    `collection_ids`, `document_ids` and `chunk_ids`: None means all, an empty tuple none.
    A chunk must contain one of the alternative terms of each `required` word, and none of those of
    an `excluded` word.

    `filters` and `limits` are compared with a document in the same way. `files`, `folders` and
    `collections` match a part of the file's name, part and address, of its folder, and of the
    collection's name; letter case and Unicode normal form are ignored, ß equals ss, and a final
    sigma any other one. `types` match the format, or the suffix of the file in lower case. `after`
    and `before` are days in the local time zone, compared with the file's modification time.
    """

    collection_ids: tuple[str, ...] | None = None
    filters: Filters = field(default_factory=Filters)
    limits: Filters = field(default_factory=Filters)
    document_ids: tuple[str, ...] | None = None
    required: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()
    chunk_ids: tuple[int, ...] | None = None
    attached: tuple[str, ...] = ()
    about: tuple[ScopeItem, ...] = ()
    but: tuple[str, ...] = ()
    readable: Readable | None = None

    def within(self, collection_ids: tuple[str, ...] | None) -> "Scope":
        """The scope limited to these collections; None means all."""
        if collection_ids is None:
            return self
        own = self.collection_ids
        both = collection_ids if own is None else tuple(i for i in own if i in collection_ids)
        return replace(self, collection_ids=both)

    def of_documents(self, document_ids: tuple[str, ...]) -> "Scope | None":
        """The scope limited to these documents; None when there are none."""
        return replace(self, document_ids=document_ids) if document_ids else None


EVERYWHERE = Scope()
