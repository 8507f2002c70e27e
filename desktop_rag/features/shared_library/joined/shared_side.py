"""How the joined stores ask the shared library, which may be away. Protocols and values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from desktop_rag.core.domain import Collection, Source
from desktop_rag.features.shared_library.joined.shared_ids import (
    scope_there,
    shared_collection,
    shared_source,
)
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.vectors import ModelRow

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SharedFacts:
    """What was last seen of the shared library, with the ids of the joined one.

    `answering` has the model of each collection; `models` are the names and dimensions of all that
    have vectors there. `visible` are the ids there of the collections that the role may read, None
    when it may read all.
    """

    collections: tuple[Collection, ...] = ()
    sources: tuple[Source, ...] = ()
    answering: Mapping[str, ModelRow] = field(default_factory=dict[str, ModelRow])
    models: frozenset[tuple[str, int]] = frozenset()
    visible: tuple[str, ...] | None = None


NOTHING_SEEN = SharedFacts()


def read_facts(engine: Engine, *, is_limited: bool = False) -> SharedFacts:
    """Look at a shared library; `is_limited` when its role may read a part of it only."""
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
    """The shared library, wherever it is."""

    @property
    def facts(self) -> SharedFacts:
        """What was last seen of it. Cheap; it reads nothing."""
        ...

    def begin(self, read: Callable[[Engine], T], otherwise: T) -> Callable[[], T]:
        """Begin to read, aside; what is returned waits for the result.

        That is `otherwise` when the library can't be asked, or does not answer soon.
        """
        ...


class AtHand:
    """A shared library that is always there: another engine of this process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def facts(self) -> SharedFacts:
        """What is in it now."""
        return read_facts(self._engine)

    def begin(self, read: Callable[[Engine], T], otherwise: T) -> Callable[[], T]:
        """The result, read at once."""
        result = read(self._engine)
        return lambda: result


def begin_within(
    shared: SharedSide,
    scope: Scope,
    read: Callable[[Engine, Scope], T],
    otherwise: T,
) -> Callable[[], T]:
    """Begin to read the part of a scope that is in the shared library; not if there is none."""
    part = scope_there(scope)
    if part is not None and shared.facts.visible is not None:
        limited = part.within(shared.facts.visible)
        part = None if limited.collection_ids == () else limited
    if part is None:
        return lambda: otherwise
    return shared.begin(lambda engine: read(engine, part), otherwise)
