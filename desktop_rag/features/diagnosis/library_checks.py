"""The checks of the library, and of the server that keeps one. Worker threads; read-only."""

from collections.abc import Iterator, Sequence
from threading import Event

from desktop_rag.core.errors import AppError, NotReadableNowError
from desktop_rag.core.server_state import (
    INDEX_HINTS,
    STATEMENTS_HINT,
    STATEMENTS_TITLE,
    Connections,
    IndexState,
    ServerState,
    VectorIndex,
    replica_in_words,
    size_in_words,
)
from desktop_rag.features.diagnosis.finding import Finding, State, Subject, from_error
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.inspection import Discrepancy, JournalState, NoLibraryError

# --- database server -----------------------------------------------------------------------------

_SLOWEST = 3
_MOST_USED = 0.9
_INCOMPLETE = (IndexState.MISSING, IndexState.STALE)


def check_database(subject: Subject, _: Event) -> Iterator[Finding]:
    """The database server, as on the admin page; nothing for a library in a file."""
    if subject.library is None or subject.library.server is None:
        return
    try:
        state = subject.library.server()
    except AppError as error:
        yield from_error("database", error)
        return
    yield _size(state)
    for index in state.indexes:
        yield _vector_index(index)
    if state.replica:
        replica = State.OK if state.replica.is_used else State.WARNING
        yield Finding("replica", replica, replica_in_words(state.replica))
    yield _connections(state.connections)
    yield from _slow(state)


def _size(state: ServerState) -> Finding:
    parts = (p for p in state.parts if p.table_bytes + p.index_bytes)
    listed = ", ".join(f"{p.name} {size_in_words(p.table_bytes + p.index_bytes)}" for p in parts)
    title = (
        f"PostgreSQL {state.server_version} with pgvector {state.vector_version} keeps the library."
        f" It takes {size_in_words(state.size_bytes)} with its indexes: {listed}."
    )
    return Finding("database", State.OK, title)


def _vector_index(index: VectorIndex) -> Finding:
    title = f"The index of the {index.vectors:,} vectors of {index.model}: {index.state.value}."
    if index.share is not None:
        title += f" {index.share:.0%} of it is built."
    state = State.WARNING if index.state in _INCOMPLETE else State.OK
    return Finding("vector index", state, title, INDEX_HINTS[index.state])


def _connections(used: Connections) -> Finding:
    title = f"{used.all:,} of {used.most:,} connections are in use, {used.own:,} by the library."
    if used.all < _MOST_USED * used.most:
        return Finding("connections", State.OK, title)
    hint = "Raise max_connections on the server, or end programs that keep connections open."
    return Finding("connections", State.WARNING, title, hint)


def _slow(state: ServerState) -> Iterator[Finding]:
    if state.searches:
        listed = ", ".join(
            f"{s.milliseconds:,.0f} ms by {s.kind}" for s in state.searches[:_SLOWEST]
        )
        title = f"The slowest of {state.searched:,} searches in 24 hours: {listed}."
        yield Finding("slow searches", State.OK, title)
    if state.statements is None:
        yield Finding("slow statements", State.NOT_CHECKED, STATEMENTS_TITLE, STATEMENTS_HINT)
    elif state.statements:
        listed = "; ".join(
            f"{s.mean_ms:,.1f} ms, {s.calls:,} times: {s.text}" for s in state.statements[:_SLOWEST]
        )
        title = f"The statements that take longest on average: {listed}."
        yield Finding("slow statements", State.OK, title)


# --- the library ---------------------------------------------------------------------------------

_REPAIR = "desktop-rag doctor --repair"
_NOT_LOOKED_AT = "Not checked, because the library cannot be read."
_MOST_BROKEN = 4


def check_library(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """The store, the index, the chats and the journal; a server keeps its journal itself."""
    if subject.library is None:
        yield _unreadable(subject)
        return
    library = subject.library
    try:
        library.storage.verify(lambda: not cancel.is_set())
    except AppError as error:
        yield Finding("store", State.PROBLEM, error.title, error.hint, is_repairable=True)
        yield Finding("index", State.NOT_CHECKED, _NOT_LOOKED_AT)
        yield Finding("chats", State.NOT_CHECKED, _NOT_LOOKED_AT)
        return
    yield Finding("store", State.OK, "Everything that is stored can be read.")
    found = library.inspection.discrepancies(lambda: not cancel.is_set())
    yield _index(library, [each for each in found if not each.is_precious])
    yield _chats([each for each in found if each.is_precious])
    if library.server is None:
        yield _journal(library)


def _unreadable(subject: Subject) -> Finding:
    error = subject.fault or AppError("The library is not open.")
    match error:
        case NoLibraryError() if error.has_journal:
            hint = (
                "Start the app: it restores chats and folders from the journal beside the library,"
                " then reads your folders again."
            )
            return Finding("store", State.PROBLEM, "The library file is gone.", hint)
        case NoLibraryError() | NotReadableNowError():
            return from_error("store", error, State.NOT_CHECKED)
        case _:
            return Finding("store", State.PROBLEM, error.title, error.hint, is_repairable=True)


def _index(library: Engine, broken: Sequence[Discrepancy]) -> Finding:
    if broken:
        title = f"The index disagrees with itself: {_listed(broken)}."
        hint = f"“{_REPAIR}” mends it and reads the files concerned again. Chats are not affected."
        return Finding("index", State.PROBLEM, title, hint, is_repairable=True)
    title = "Documents, passages, words and vectors agree."
    if waiting := library.inspection.waiting_contents():
        title += f" {waiting:,} passages still get their vectors while the app runs."
    if pictures := library.inspection.waiting_pictures():
        title += f" {pictures:,} pictures and scanned pages are still to be read."
    return Finding("index", State.OK, title)


def _chats(broken: Sequence[Discrepancy]) -> Finding:
    if broken:
        title = f"Chats and folders disagree: {_listed(broken)}."
        hint = f"“{_REPAIR}” restores them from the journal beside the library."
        return Finding("chats", State.PROBLEM, title, hint, is_repairable=True)
    return Finding("chats", State.OK, "Chats, folders and collections are complete.")


def _journal(library: Engine) -> Finding:
    try:
        state = library.inspection.journal()
    except AppError as error:
        return from_error("journal", error)
    if state.written is None:
        if not state.stored:
            return Finding("journal", State.OK, "There is nothing to record in a journal yet.")
        hint = "Start the app: it writes the journal anew from the library."
        return Finding("journal", State.WARNING, "The journal beside the library is gone.", hint)
    if state.written != state.stored:
        return _apart(state)
    if state.unreadable:
        title = f"Lines of the journal that cannot be read: {state.unreadable:,}."
        hint = f"The library holds everything itself. “{_REPAIR}” writes the journal anew."
        return Finding("journal", State.WARNING, title, hint, is_repairable=True)
    title = f"The journal holds all {state.stored:,} changes of chats and folders."
    return Finding("journal", State.OK, title)


def _apart(state: JournalState) -> Finding:
    written = state.written or 0
    if written > state.stored:
        title = f"The library stops at change {state.stored:,}, its journal at {written:,}."
        hint = "Start the app: it restores what the library lost from the journal."
    else:
        title = f"The journal stops at change {written:,}, the library at {state.stored:,}."
        hint = "Start the app: it writes the journal anew from the library."
    return Finding("journal", State.WARNING, title, hint)


def _listed(broken: Sequence[Discrepancy]) -> str:
    shown = "; ".join(str(each) for each in broken[:_MOST_BROKEN])
    more = len(broken) - _MOST_BROKEN
    return f"{shown}; and {more} more" if more > 0 else shown
