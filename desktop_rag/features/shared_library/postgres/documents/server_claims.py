"""Claims on documents by locked rows, so that several indexers share a queue. Any thread.

A transaction on a connection of its own locks a row for each claimed document until it is stored.
The server ends it when the process dies.
"""

import threading
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from desktop_rag.core.errors import AppError
from desktop_rag.features.shared_library.postgres.database.server_connection import Own
from desktop_rag.features.shared_library.postgres.database.server_database import (
    ServerDatabase,
    mapping_server_errors,
)
from desktop_rag.store.contract.documents import DocumentClaims


@dataclass(slots=True)
class _Held:
    """Documents that were claimed together, and the connection that locks their rows."""

    document_ids: set[str]
    claimed: list[str]
    connection: Own
    closing: ExitStack


class ServerClaims(DocumentClaims):
    """The claims of this process."""

    def __init__(self, database: ServerDatabase) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._held: list[_Held] = []

    def take(self, document_ids: Sequence[str]) -> list[str]:
        with self._lock:
            granted = {i for held in self._held for i in held.document_ids}
            rest = sorted(set(document_ids) - granted)
            if rest:
                granted |= self._claim(rest)
        return [document_id for document_id in document_ids if document_id in granted]

    def _claim(self, document_ids: list[str]) -> set[str]:
        with ExitStack() as stack, mapping_server_errors():
            connection = stack.enter_context(self._database.outside_transactions())
            # Committed at once, since others that insert the same row wait for it.
            connection.execute(
                "INSERT INTO document_claims SELECT * FROM unnest(%s::text[])"
                " ON CONFLICT DO NOTHING",
                [document_ids],
            )
            connection.execute("BEGIN")
            connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            rows = connection.execute(
                "SELECT document_id FROM document_claims WHERE document_id = ANY (%s::text[])"
                " FOR UPDATE SKIP LOCKED",
                [document_ids],
            ).fetchall()
            claimed = [row[0] for row in rows]
            if claimed:
                self._held.append(_Held(set(claimed), claimed, connection, stack.pop_all()))
            return set(claimed)

    def release(self, document_ids: Iterable[str]) -> None:
        given_back = set(document_ids)
        with self._lock:
            for held in self._held:
                held.document_ids -= given_back
            ended = [held for held in self._held if not held.document_ids]
            self._held = [held for held in self._held if held.document_ids]
        for held in ended:
            _end(held)


def _end(held: _Held) -> None:
    # If the server is away its locks are gone too; rows that are left lock nothing.
    with suppress(AppError), mapping_server_errors():
        try:
            held.connection.execute(
                "DELETE FROM document_claims WHERE document_id = ANY (%s::text[])", [held.claimed]
            )
            held.connection.execute("COMMIT")
        finally:
            held.closing.close()
