"""An assistant's own documents: files, folders and links in a collection of its own.

Worker threads only. The collection is an ordinary one of the library, removed with the assistant.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from desktop_rag.answer.chat import Chat
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.domain import Collection, Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.ingest.library import Library

# Two assistants may have had the same name.
_MOST_TRIES = 100


@dataclass(frozen=True, slots=True)
class OwnDocument:
    """A file, folder or links of an assistant, with the state of the content."""

    source: Source
    counts: DocumentCounts


@dataclass(frozen=True, slots=True)
class WishedDocuments:
    """What the person added in the form, and the ids of the sources they removed."""

    paths: tuple[Path, ...] = ()
    links: tuple[str, ...] = ()
    removed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RemovedDocuments:
    """What is needed to put the documents of a deleted assistant back."""

    collection: Collection
    sources: tuple[Source, ...]


class AssistantDocuments:
    """Keeps the collections of assistants."""

    def __init__(self, library: Library, chat: Chat) -> None:
        self._library = library
        self._assistants = chat.assistants

    def of(self, assistant: Assistant) -> list[OwnDocument]:
        """The assistant's own documents, the oldest first."""
        return [
            OwnDocument(source, self._library.documents.counts(source.source_id))
            for source in self._sources_of(assistant)
        ]

    def with_collection(self, assistant: Assistant, wished: WishedDocuments) -> Assistant:
        """The stored assistant, with a collection of its own if documents are to be added."""
        return self._with_collection(assistant) if wished.paths or wished.links else assistant

    def apply(self, assistant: Assistant, wished: WishedDocuments) -> None:
        """Add and remove documents of an assistant that has a collection for them.

        Raises AppError for what can't be added; what came before it is kept.
        """
        there = self._sources_of(assistant)
        for source_id in wished.removed & {source.source_id for source in there}:
            self._library.sources.remove(source_id)
        known = {source.path for source in self._sources_of(assistant) if source.is_on_disk}
        for path in wished.paths:
            if path not in known:
                self._library.sources.add(path, assistant.own_collection_id)
        if wished.links:
            links = WebLinks(wished.links)
            self._library.sources.add_links(links, assistant.own_collection_id)

    def refresh(self, assistant: Assistant) -> None:
        """Rescan the assistant's own documents, and fetch its pages again."""
        for source in self._sources_of(assistant):
            self._library.sources.rescan(source.source_id)

    def remove(self, assistant: Assistant) -> RemovedDocuments | None:
        """Remove an assistant's own collection from the library, if any; no file is touched."""
        every = self._library.collections.all()
        own = [c for c in every if c.collection_id == assistant.own_collection_id]
        if not own:
            return None
        removed = RemovedDocuments(own[0], tuple(self._sources_of(assistant)))
        self._library.collections.remove(own[0].collection_id)
        return removed

    def put_back(self, assistant: Assistant, removed: RemovedDocuments) -> None:
        """Add the documents of a restored assistant again; they are read anew.

        Raises AppError for what is gone meanwhile, after adding everything else.
        """
        # It may have got another name.
        stored = self._assistants.get(assistant.assistant_id) or assistant
        kept = self._with_collection(self._assistants.change(_without_own(stored)))
        failed: AppError | None = None
        for source in removed.sources:
            try:
                if source.links:
                    self._library.sources.add_links(source.links, kept.own_collection_id)
                elif source.is_on_disk:
                    self._library.sources.add(source.path, kept.own_collection_id, source.rules)
            except AppError as error:
                failed = error
        if failed:
            raise failed

    def _sources_of(self, assistant: Assistant) -> Sequence[Source]:
        own = assistant.own_collection_id
        return [s for s in self._library.sources.all() if own and s.collection_id == own]

    def _with_collection(self, assistant: Assistant) -> Assistant:
        """The assistant with a collection of its own, which its questions search."""
        every = self._library.collections.all()
        if any(c.collection_id == assistant.own_collection_id for c in every):
            return assistant
        collection_id = self._new_collection(assistant.name, [c.name for c in every]).collection_id
        ids = (*_without_own(assistant).collection_ids, collection_id)
        changed = replace(assistant, collection_ids=ids, own_collection_id=collection_id)
        return self._assistants.change(changed)

    def _new_collection(self, name: str, taken: Sequence[str]) -> Collection:
        folded = {each.casefold() for each in taken}
        names = [name, *(f"{name} ({number})" for number in range(2, _MOST_TRIES))]
        free = next((each for each in names if each.casefold() not in folded), name)
        return self._library.collections.add(free)


def _without_own(assistant: Assistant) -> Assistant:
    ids = tuple(i for i in assistant.collection_ids if i != assistant.own_collection_id)
    return replace(assistant, collection_ids=ids, own_collection_id="")
