"""Library files as earlier versions of the app left them."""

import json
from pathlib import Path

import duckdb

from desktop_rag.store.duckdb.database.migrations import MIGRATIONS


def file_of_version(path: Path, version: int) -> None:
    """A library as the app of that time left it: one source, one document, one chunk."""
    connection = duckdb.connect(str(path))
    connection.execute("CREATE TABLE migrations (version INTEGER, applied_at DOUBLE)")
    for step in range(version):
        MIGRATIONS[step](connection)
        connection.execute("INSERT INTO migrations VALUES (?, 0)", [step + 1])
    connection.execute("INSERT INTO collections VALUES ('c', 'Work', 1)")
    connection.execute("INSERT INTO sources VALUES ('s', 'c', '/docs', 1)")
    connection.execute(
        "INSERT INTO documents VALUES ('d', 's', '/docs/a.txt', 'a', 'text', 3, 4, 5, 'hash',"
        " 'searchable', '', 1, 6)"
    )
    connection.execute("INSERT INTO document_texts VALUES ('d', 'lighthouse')")
    connection.execute(
        "INSERT INTO chunks VALUES (1, 'd', 0, 0, 10, 'lighthouse', 'a', ?,"
        " '00000000-0000-0000-0000-000000000001', 1)",
        [json.dumps({"line": 1})],
    )
    connection.close()
