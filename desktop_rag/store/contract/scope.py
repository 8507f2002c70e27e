"""Which chunks a search may find: a collection, what the question filters. A pure value."""

from dataclasses import dataclass, field, replace

from desktop_rag.core.query import Filters


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be found. With empty values it is everything that is not gone, nor attached.

    Of files attached to chats only those of the sources `attached` are found, and then nothing
    else; without any, none is.
    `collection_ids`, `document_ids` and `chunk_ids` None is every one, an empty tuple none at all.
    Of each `required` word one of its alternative terms must stand in the chunk, of each `excluded`
    one none may. All of it holds at once.

    How `filters`, and `limits` beside them, are compared with a document: `files` with the name of
    its file, its part and its address, `folders` with the folder it lies in, `collections` with the
    collection's name, each as a piece of it, without regard to case and to the form that Unicode
    gives it (a letter and its mark may be one sign or two; ß is ss, a final sigma any other one);
    `types` with its format or the suffix of its file in small letters; `after` and `before` with
    the time its file was changed, as days where the person is.
    """

    collection_ids: tuple[str, ...] | None = None
    filters: Filters = field(default_factory=Filters)
    limits: Filters = field(default_factory=Filters)
    document_ids: tuple[str, ...] | None = None
    required: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()
    chunk_ids: tuple[int, ...] | None = None
    attached: tuple[str, ...] = ()

    def within(self, collection_ids: tuple[str, ...] | None) -> "Scope":
        """The part of the scope that lies in these collections; None is every one."""
        if collection_ids is None:
            return self
        own = self.collection_ids
        both = collection_ids if own is None else tuple(i for i in own if i in collection_ids)
        return replace(self, collection_ids=both)

    def of_documents(self, document_ids: tuple[str, ...]) -> "Scope | None":
        """The part of the scope in these documents; None without any."""
        return replace(self, document_ids=document_ids) if document_ids else None


EVERYWHERE = Scope()
