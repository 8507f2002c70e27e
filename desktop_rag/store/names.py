"""Finds documents by what their files are called. Any thread; own cursors."""

from collections.abc import Sequence

from desktop_rag.store.conditions import condition_of
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.database import Database


class NameStore:
    """The names of the documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def holding(self, parts: Sequence[str], scope: Scope) -> tuple[dict[str, set[str]], int]:
        """Document id → those of `parts` that its file's name holds; and how many there are in all.

        A part of digits must be a whole number of the name. Parts are in small letters.
        """
        numbers = [part for part in parts if part.isdecimal()]
        with self._database.read() as con:
            only, parameters = condition_of(scope, con, "document_id")
            rows = con.execute(
                "WITH names AS (SELECT document_id, lower(parse_filename(path)) AS name"
                f" FROM documents WHERE chunk_count > 0{only})"
                " SELECT document_id, part FROM names JOIN (SELECT unnest($words) AS part)"
                " ON contains(name, part) UNION ALL"
                " SELECT document_id, part FROM names JOIN (SELECT unnest($numbers) AS part)"
                " ON list_contains(regexp_extract_all(name, '[0-9]+'), part)",
                {
                    "words": [part for part in parts if part not in numbers],
                    "numbers": numbers,
                    **parameters,
                },
            ).fetchall()
            [(total,)] = con.execute(
                "SELECT count(*) FROM documents WHERE chunk_count > 0"
            ).fetchall()
        found: dict[str, set[str]] = {}
        for document_id, part in rows:
            found.setdefault(document_id, set()).add(part)
        return found, int(total)
