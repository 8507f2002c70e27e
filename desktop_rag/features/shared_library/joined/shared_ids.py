"""Translates ids and scopes between the shared library and the joined one, and asks the former.

Documents, sources and collections get a prefix to their ids. The numbers of chunks are moved
beyond those of the own library, so that neighbours still differ by one. Pure but for asking.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from desktop_rag.core.domain import Collection, Document, Passage, Source
from desktop_rag.core.question import Readable
from desktop_rag.core.question_scope import ScopeItem, ScopeKind
from desktop_rag.core.shared_library import id_there, is_shared, is_shared_item, shared_id
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope
from desktop_rag.store.contract.vectors import ModelRow

T = TypeVar("T")

# Leaves 2^52 chunks for each library, and JSON can express all of their numbers.
OFFSET = 1 << 52


def shared_collection(collection: Collection) -> Collection:
    """The collection with its id in the joined library."""
    return replace(collection, collection_id=shared_id(collection.collection_id))


def shared_source(source: Source) -> Source:
    """The source with its ids in the joined library."""
    return replace(
        source, source_id=shared_id(source.source_id), collection_id=shared_id(source.collection_id)
    )


def shared_document(document: Document) -> Document:
    """The row with its ids in the joined library."""
    return replace(
        document,
        document_id=shared_id(document.document_id),
        source_id=shared_id(document.source_id),
        parent_id=shared_id(document.parent_id),
    )


def shared_passage(passage: Passage) -> Passage:
    """The passage with its ids in the joined library."""
    return replace(
        passage, chunk_id=passage.chunk_id + OFFSET, document_id=shared_id(passage.document_id)
    )


def shared_chunks(found: Mapping[int, T]) -> dict[int, T]:
    """Values by chunk, with the numbers of the joined library."""
    return {chunk_id + OFFSET: value for chunk_id, value in found.items()}


def own_ids(keys: Iterable[str]) -> list[str]:
    """The ids that belong to the own library."""
    return [key for key in keys if not is_shared(key)]


def ids_there(keys: Iterable[str]) -> list[str]:
    """The ids that belong to the shared library, as it knows them."""
    return [id_there(key) for key in keys if is_shared(key)]


def own_chunks(chunk_ids: Iterable[int]) -> list[int]:
    """The chunks that belong to the own library."""
    return [chunk_id for chunk_id in chunk_ids if chunk_id < OFFSET]


def chunks_there(chunk_ids: Iterable[int]) -> list[int]:
    """The chunks that belong to the shared library, as it knows them."""
    return [chunk_id - OFFSET for chunk_id in chunk_ids if chunk_id >= OFFSET]


def scope_here(scope: Scope) -> Scope | None:
    """The part of a scope that is in the own library; None when it is surely empty."""
    about = tuple(item for item in scope.about if not is_shared_item(item))
    return _part(scope, own_ids, own_chunks, about)


def scope_there(scope: Scope) -> Scope | None:
    """The part of a scope that is in the shared library; None when it is surely empty."""
    about = tuple(
        item if item.kind is ScopeKind.FOLDER else replace(item, key=id_there(item.key))
        for item in scope.about
        if item.kind is ScopeKind.FOLDER or is_shared(item.key)
    )
    return _part(scope, ids_there, chunks_there, about)


def _part(
    scope: Scope,
    ids: Callable[[Iterable[str]], list[str]],
    chunks: Callable[[Iterable[int]], list[int]],
    about: tuple[ScopeItem, ...],
) -> Scope | None:
    """The part of a scope with these of its ids; None when a limit leaves nothing of it."""
    readable = scope.readable and Readable(
        tuple(ids(scope.readable.collection_ids)), tuple(ids(scope.readable.document_ids))
    )
    part = replace(
        scope,
        collection_ids=_each(ids, scope.collection_ids),
        document_ids=_each(ids, scope.document_ids),
        chunk_ids=_each(chunks, scope.chunk_ids),
        attached=tuple(ids(scope.attached)),
        about=about,
        readable=readable,
    )
    is_empty = (
        () in (part.collection_ids, part.document_ids, part.chunk_ids)
        or (scope.about and not part.about)
        or (scope.attached and not part.attached)
        or readable == Readable()
    )
    return None if is_empty else part


def _each(
    chosen: Callable[[Iterable[T]], list[T]], keys: tuple[T, ...] | None
) -> tuple[T, ...] | None:
    return None if keys is None else tuple(chosen(keys))


@dataclass(frozen=True, slots=True)
class SharedFacts:
    """What was last seen of the shared library, with the ids of the joined one.

    `answering` has the model of each collection; `models` are the names and dimensions of all that
    have vectors. `visible` are the collections, by their ids there, that the role may read; None
    for all.
    """

    collections: tuple[Collection, ...] = ()
    sources: tuple[Source, ...] = ()
    answering: Mapping[str, ModelRow] = field(default_factory=dict[str, ModelRow])
    models: frozenset[tuple[str, int]] = frozenset()
    visible: tuple[str, ...] | None = None


NOTHING_SEEN = SharedFacts()


def read_facts(engine: Engine, *, is_limited: bool = False) -> SharedFacts:
    """Read the facts of a library; an `is_limited` role may read a part of it only."""
    collections, answering = engine.sources.collections(), engine.models.answering()
    return SharedFacts(
        tuple(map(shared_collection, collections)),
        tuple(map(shared_source, engine.sources.sources())),
        {
            shared_collection(each).collection_id: row
            for each in collections
            if (row := answering.get(each.collection_id))
        },
        frozenset((row.name, row.dimensions) for row in engine.models.stored()),
        tuple(each.collection_id for each in collections) if is_limited else None,
    )


class SharedSide(Protocol):
    """The shared library, which may be away."""

    @property
    def facts(self) -> SharedFacts:
        """What was last seen of it. Cheap; reads nothing."""
        ...

    def begin(self, read: Callable[[Engine], T], otherwise: T) -> Callable[[], T]:
        """Begin to read in the background; the returned function waits for the result.

        The result is `otherwise` when the library is away or does not answer soon.
        """
        ...


def begin_within(
    shared: SharedSide, scope: Scope, read: Callable[[Engine, Scope], T], otherwise: T
) -> Callable[[], T]:
    """Begin to read the part of a scope that is in the shared library, if there is one."""
    part = scope_there(scope)
    if part is not None and shared.facts.visible is not None:
        limited = part.within(shared.facts.visible)
        part = None if limited.collection_ids == () else limited
    if part is None:
        return lambda: otherwise
    return shared.begin(lambda engine: read(engine, part), otherwise)
