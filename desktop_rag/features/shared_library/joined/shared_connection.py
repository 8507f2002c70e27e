"""The connection to the shared library, which may be away. Any thread may ask.

A background thread connects, reconnects after a pause, and looks for new collections; no question
waits for it. Each read has a thread and a time limit, after which the library counts as offline.

In the joined library, its documents, sources and collections have a prefix to their ids. The
numbers of its chunks are moved beyond the own ones, so that neighbours still differ by one.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar, cast

from desktop_rag.core.changes import Changes
from desktop_rag.core.domain import Collection, Document, Passage, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import read_object, write_object
from desktop_rag.core.language.translation import tr
from desktop_rag.core.question import Readable
from desktop_rag.core.question_scope import ScopeItem, ScopeKind
from desktop_rag.core.settings import Settings
from desktop_rag.core.shared_library import (
    SharedLibraryChanged,
    SharedLibraryStatus,
    SharedState,
    id_there,
    is_shared,
    is_shared_item,
    shared_id,
)
from desktop_rag.core.store_settings import SharedLibrarySettings
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope
from desktop_rag.store.contract.vectors import ModelRow
from desktop_rag.store.opening import LibraryBeside

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


log = logging.getLogger(__name__)

# A person waits for the answer.
_LIMIT_S = 3.0
_PAUSE_S = 10.0
_LOOK_S = 60.0
_LOOK_LIMIT_S = 20.0


@dataclass(frozen=True, slots=True, eq=False)
class OpenedShared:
    """A connected shared library, of which an `is_limited` role may read a part only.

    `break_off` makes all reads fail at once and closes it.
    """

    library: Engine
    is_limited: bool
    break_off: Callable[[], None]


class SharedLibrary(LibraryBeside):
    """The shared library of the settings, whether it can be reached or not."""

    def __init__(
        self,
        connect: Callable[[SharedLibrarySettings], OpenedShared],
        memory: Path,
        changes: Changes | None = None,
        *,
        limit_s: float = _LIMIT_S,
        pause_s: float = _PAUSE_S,
    ) -> None:
        """Connects nothing before `apply`. `connect` raises AppError on failure.

        The file `memory` keeps the names of the collections, for a start without the library.
        Each change of the state is published to `changes` as a SharedLibraryChanged.
        """
        self._connect = connect
        self._memory = memory
        self._limit_s = limit_s
        self._pause_s = pause_s
        self._changed = threading.Condition()
        self._wanted = SharedLibrarySettings()
        self._opened: OpenedShared | None = None
        self._facts = NOTHING_SEEN
        self._status = SharedLibraryStatus()
        self._is_closed = False
        self._is_hurried = False
        self._thread: threading.Thread | None = None
        self.changes = changes or Changes()

    @property
    def facts(self) -> SharedFacts:
        """What was last seen of the library, also while it is away."""
        return self._facts

    def models(self) -> dict[str, ModelRow | None]:
        facts = self._facts
        ids = (each.collection_id for each in facts.collections)
        return {collection_id: facts.answering.get(collection_id) for collection_id in ids}

    @property
    def status(self) -> SharedLibraryStatus:
        return self._status

    def begin(self, read: Callable[[Engine], T], otherwise: T) -> Callable[[], T]:
        """Begin to read in the background; the returned function waits for the result."""
        opened = self._opened
        if opened is None:
            return lambda: otherwise
        result: Future[T] = Future()

        def work() -> None:
            try:
                result.set_result(read(opened.library))
            except BaseException as error:
                result.set_exception(error)

        deadline = time.monotonic() + self._limit_s
        # A read of a server that is silent must not hold up the end of the app.
        threading.Thread(target=work, name="shared-library-read", daemon=True).start()

        def wait() -> T:
            try:
                return result.result(max(0.0, deadline - time.monotonic()))
            except AppError as error:
                self._lose(opened, error)
            except TimeoutError:
                silent = AppError(
                    "The server of the shared library did not answer in time.",
                    f"It was given {self._limit_s:g} seconds. It is tried again.",
                )
                self._lose(opened, silent)
            return otherwise

        return wait

    def missed(self, scope: Scope) -> tuple[str, ...]:
        status = self._status
        if not status.is_away or scope_there(scope) is None:
            return ()
        if status.state is SharedState.CONNECTING:
            return (tr("The shared library is not connected yet, so it was not searched."),)
        return (tr("The shared library is offline, so it was not searched."),)

    def wait_until_known(self, timeout_s: float) -> None:
        with self._changed:
            self._changed.wait_for(
                lambda: self._status.state is not SharedState.CONNECTING or self._is_closed,
                timeout_s,
            )

    def apply(self, settings: Settings) -> None:
        """Connect to the library of these settings, or to none. Returns at once."""
        shared = settings.shared_library
        with self._changed:
            if shared == self._wanted and not self._status.is_away:
                return
            is_another = shared != self._wanted
            self._wanted = shared
            self._is_hurried = True
            if is_another:
                self._facts = known = self._remembered(shared) if shared.is_set else NOTHING_SEEN
                state = SharedState.CONNECTING if shared.is_set else SharedState.NOT_SET
                since = time.time()
                self._status = SharedLibraryStatus(state, since, collections=known.collections)
                # The thread closes what was opened.
                self._opened = None
            if self._thread is None and shared.is_set:
                self._thread = threading.Thread(
                    target=self._run, name="shared-library", daemon=True
                )
                self._thread.start()
            self._changed.notify_all()
        if is_another and not shared.is_set:
            self._memory.unlink(missing_ok=True)
        if is_another:
            self._tell()

    def try_now(self) -> None:
        """Try to connect without waiting for the end of the pause."""
        with self._changed:
            self._is_hurried = True
            self._changed.notify_all()

    def release(self) -> None:
        """Free what is kept in memory of it."""
        if opened := self._opened:
            opened.library.storage.release()

    def close(self) -> None:
        """Close the connection; nothing is asked any more. Idempotent."""
        with self._changed:
            self._is_closed = True
            opened, self._opened = self._opened, None
            self._changed.notify_all()
        if opened:
            opened.break_off()
        if self._thread:
            # A connection that is being made has a limit of its own, and is given up.
            self._thread.join(self._limit_s)

    def _run(self) -> None:
        while not self._is_closed:
            shared = self._wanted
            if shared.is_set:
                self._be_connected(shared)
            with self._changed:
                self._changed.wait_for(
                    lambda: self._is_closed or self._is_hurried,
                    self._pause_s if self._wanted.is_set else None,
                )
                self._is_hurried = False

    def _be_connected(self, shared: SharedLibrarySettings) -> None:
        """Connect, and watch the connection until it is lost or no longer wanted."""
        try:
            opened = self._connect(shared)
        except AppError as error:
            self._be_away(shared, error)
            return
        try:
            if not self._look(shared, opened, is_first=True):
                return
            while self._stays(opened):
                self._look(shared, opened)
        except AppError as error:
            self._lose(opened, error)
            self._be_away(shared, error)
        finally:
            opened.break_off()

    def _stays(self, opened: OpenedShared) -> bool:
        """Wait a while; False when the connection was lost or is no longer wanted."""
        with self._changed:
            return not self._changed.wait_for(
                lambda: self._is_closed or self._opened is not opened, _LOOK_S
            )

    def _look(
        self, shared: SharedLibrarySettings, opened: OpenedShared, *, is_first: bool = False
    ) -> bool:
        """Read the facts; False when this connection is no longer wanted."""
        # A silent server would block this thread, and with it reconnecting.
        guard = threading.Timer(_LOOK_LIMIT_S, opened.break_off)
        guard.daemon = True
        guard.start()
        try:
            facts = read_facts(opened.library, is_limited=opened.is_limited)
            if is_first:
                # Warms the server's cache for what every question needs.
                opened.library.lexical.languages()
        finally:
            guard.cancel()
        with self._changed:
            if self._is_closed or self._wanted != shared:
                return False
            if not is_first and self._opened is not opened:
                return False
            seen = self._status
            self._opened, self._facts = opened, facts
            since = seen.since if seen.state is SharedState.ONLINE else time.time()
            self._status = SharedLibraryStatus(
                SharedState.ONLINE, since, collections=facts.collections, sources=facts.sources
            )
            self._changed.notify_all()
        if self._status != seen:
            self._remember(shared, facts)
            self._tell()
        return True

    def _remember(self, shared: SharedLibrarySettings, facts: SharedFacts) -> None:
        names = {c.collection_id: c.name for c in facts.collections}
        write_object(self._memory, {"library": _name_of(shared), "collections": names})

    def _remembered(self, shared: SharedLibrarySettings) -> SharedFacts:
        """The collections at the last connection with the same library."""
        kept = read_object(self._memory)
        names = kept.get("collections")
        if kept.get("library") != _name_of(shared) or not isinstance(names, dict):
            return NOTHING_SEEN
        pairs = cast("dict[str, object]", names).items()
        return SharedFacts(tuple(Collection(key, str(n)) for key, n in pairs if is_shared(key)))

    def _lose(self, opened: OpenedShared, error: AppError) -> None:
        with self._changed:
            if self._opened is not opened:
                return
            self._opened = None
            wanted = self._wanted
        log.info("the shared library was lost: %s", error)
        self._be_away(wanted, error)

    def _be_away(self, shared: SharedLibrarySettings, error: AppError) -> None:
        with self._changed:
            if self._wanted != shared or self._is_closed:
                return
            known = self._status
            since = known.since if known.state is SharedState.OFFLINE else time.time()
            self._status = replace(
                known, state=SharedState.OFFLINE, since=since, title=error.title, hint=error.hint
            )
            self._changed.notify_all()
        if self._status != known:
            self._tell()

    def _tell(self) -> None:
        self.changes.publish(SharedLibraryChanged(self._status))


def _name_of(shared: SharedLibrarySettings) -> str:
    return f"{shared.address}/{shared.library}"
