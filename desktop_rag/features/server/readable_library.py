"""The library as a caller may see it: what they may not read does not exist. Worker threads."""

from collections.abc import Callable, Iterator, Sequence

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import Collection, Document, Source
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.ingest.library import Library


class ReadableLibrary:
    """Finds collections, sources and documents for a caller. Refuses with 404 what is not there."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def collections(self, caller: Caller) -> list[Collection]:
        """The caller's collections, oldest first; a shared one if it has a readable document."""
        every = self._library.collections.all()
        own = [c for c in every if caller.may_read_collection(c.collection_id)]
        whole = {c.collection_id for c in own if sees_all_of(caller, c.collection_id)}
        if len(whole) == len(own):
            return own
        sources = [s for s in self.sources(caller) if s.collection_id not in whole]
        seen = {s.collection_id for s, documents in self.by_source(caller, sources) if documents}
        return [c for c in own if c.collection_id in whole | seen]

    def collection(self, caller: Caller, collection_id: str) -> Collection:
        """A collection by its id."""
        for collection in self.collections(caller):
            if collection.collection_id == collection_id:
                return collection
        raise Refusal(404, "There is no such collection.", code="no_such_collection")

    def writable(self, caller: Caller, collection_id: str) -> Collection:
        """A collection that the caller may send documents to: no user of an application may."""
        need_whole_rights(caller)
        return self.collection(caller, collection_id)

    def sources(self, caller: Caller, collection_id: str = "") -> list[Source]:
        """The sources in a collection, or in all that the caller may read."""
        return [
            source
            for source in self._library.sources.all()
            if collection_id in ("", source.collection_id)
            and caller.may_read_collection(source.collection_id)
        ]

    def documents(self, caller: Caller, collection_id: str = "") -> Iterator[Document]:
        """The documents in a collection, or in all that the caller may read, in any state."""
        for _, documents in self.by_source(caller, self.sources(caller, collection_id)):
            yield from documents

    def by_source(
        self, caller: Caller, sources: Sequence[Source]
    ) -> list[tuple[Source, list[Document]]]:
        """Sources of the caller, each with the documents that it may read.

        A constant number of reads: some applications have a collection for each customer.
        """
        found = self._library.documents.by_source([source.source_id for source in sources])
        return [(s, self._readable(caller, s, found[s.source_id])) for s in sources]

    def of_source(self, caller: Caller, source: Source) -> list[Document]:
        """The documents of a source that the caller may read."""
        [(_, documents)] = self.by_source(caller, [source])
        return documents

    def _readable(self, caller: Caller, source: Source, found: list[Document]) -> list[Document]:
        if sees_all_of(caller, source.collection_id):
            return found
        return [d for d in found if caller.may_read(d.document_id, source.collection_id)]

    def document(self, caller: Caller, document_id: str) -> tuple[Document, Source]:
        """A document by its id, with its source."""
        document = self._library.documents.get(document_id)
        for source in self.sources(caller) if document else ():
            if document and source.source_id == document.source_id:
                if caller.may_read(document_id, source.collection_id):
                    return document, source
                break
        raise Refusal(404, "There is no such document.", code="no_such_document")


def sees_all_of(caller: Caller, collection_id: str) -> bool:
    """True when the caller may read every document of a collection of theirs."""
    return collection_id not in caller.shared_ids


def need_whole_rights(caller: Caller) -> None:
    """Refuses a caller that stands for a user of another application: it may only read."""
    if caller.user or caller.shared_ids:
        said = "This is not for the users of another application."
        raise Refusal(403, said, code="not_for_users")


# The address that shows [start, end) of a document to a caller.
LinkTo = Callable[[Caller, str, int, int], str]


class Calls:
    """What programs may call; of the library they see what they may read."""

    def __init__(self, chat: Chat, library: Library, link: LinkTo) -> None:
        self._chat, self._library, self._link = chat, library, link
        self._readable = ReadableLibrary(library)


def need_every_collection(caller: Caller) -> None:
    """Refuses a token limited to some collections."""
    need_whole_rights(caller)
    if caller.is_limited:
        raise _for_some_only()


def need_prompts(caller: Caller) -> None:
    """Refuses a caller that sees no prompts."""
    need_whole_rights(caller)
    if not caller.sees_prompts:
        raise _for_some_only()


def _for_some_only() -> Refusal:
    return Refusal(403, "This token is for some collections only.", code="not_allowed")
