"""Checks the database server of a library: size, indexes, replica, connections, slow queries."""

from collections.abc import Iterator
from threading import Event

from desktop_rag.core.database.server_state import (
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
from desktop_rag.core.errors import AppError
from desktop_rag.diagnosis.finding import Finding, State, from_error
from desktop_rag.diagnosis.subject import Subject

_SHOWN = 3
_MOST_USED = 0.9
_INCOMPLETE = (IndexState.MISSING, IndexState.STALE)


def check_database(subject: Subject, _: Event) -> Iterator[Finding]:
    """What the admin page shows of the server; nothing for a library in a file."""
    if subject.library is None or subject.library.server is None:
        return
    try:
        state = subject.library.server.state()
    except AppError as error:
        yield from_error("database", error)
        return
    yield _size(state)
    for index in state.indexes:
        yield _index(index)
    if state.replica:
        is_used = state.replica.is_used
        title = replica_in_words(state.replica)
        yield Finding("replica", State.OK if is_used else State.WARNING, title)
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


def _index(index: VectorIndex) -> Finding:
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
        listed = ", ".join(f"{s.milliseconds:,.0f} ms by {s.kind}" for s in state.searches[:_SHOWN])
        title = f"The slowest of {state.searched:,} searches in 24 hours: {listed}."
        yield Finding("slow searches", State.OK, title)
    if state.statements is None:
        yield Finding("slow statements", State.NOT_CHECKED, STATEMENTS_TITLE, STATEMENTS_HINT)
    elif state.statements:
        listed = "; ".join(
            f"{s.mean_ms:,.1f} ms, {s.calls:,} times: {s.text}" for s in state.statements[:_SHOWN]
        )
        title = f"The statements that take longest on average: {listed}."
        yield Finding("slow statements", State.OK, title)
