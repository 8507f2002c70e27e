"""SQL that all engines share: text comparison and reading rights. Pure."""

import hashlib
from functools import lru_cache
from typing import Any

from desktop_rag.core.question import Readable


@lru_cache(maxsize=50_000)
def key_of(text: str) -> int:
    """The key of a term, or of another text that is looked up often; SQL: md5_number_lower()."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little")


def folded(text: str) -> str:
    """SQL for a text in lower case and NFC; macOS returns names in another Unicode form."""
    return f"replace(replace(nfc_normalize(lower({text})), 'ß', 'ss'), '\u03c2', '\u03c3')"


def plain_name(path: str) -> str:
    """SQL for the value of `documents.plain_name`, stored because every question scans it."""
    return folded(f"parse_filename({path})")


_MOST_PARTS = 8


def completing(text: str, day: str, condition: str, limit: int) -> tuple[str, dict[str, str]]:
    """SQL for the ids of documents whose name, title, address, folder or day of change hold each
    part of a folded text, and its parameters. `day` is SQL for that day.
    """
    parts = {f"part{n}": part for n, part in enumerate(text.split()[:_MOST_PARTS])}
    folder, title = folded("parse_dirpath(path)"), folded("title")
    held = f"concat_ws(' ', plain_name, {title}, lower(url), {folder}, {day})" if parts else "''"
    holds = "".join(f" AND contains(held, ${name})" for name in parts)
    named = " + ".join(f"contains(plain_name, ${name})::INT" for name in parts)
    by_name = f"NOT starts_with(plain_name, $text), {named} DESC, length(plain_name), path"
    sql = (
        f"SELECT document_id FROM (SELECT *, {held} AS held FROM documents) AS documents"
        f" WHERE parent_id = '' AND state <> 'gone'{condition}{holds}"
        f" ORDER BY {by_name if parts else 'mtime_ns DESC, path'} LIMIT {limit:d}"
    )
    return sql, (parts | {"text": text}) if parts else {}


def readable_documents(readable: Readable | None) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, for readable rows of `documents`, and its parameters."""
    if readable is None:
        return "", {}
    collection = "(SELECT collection_id FROM sources s WHERE s.source_id = documents.source_id)"
    condition, parameters = readable_rows(readable, collection, "document_id")
    return f" AND {condition}", parameters


def readable_rows(
    readable: Readable, collection_id: str, document_id: str
) -> tuple[str, dict[str, Any]]:
    """SQL that holds for what is readable, by SQL for the two ids, and its parameters."""
    sql = (
        f"({collection_id} IN (SELECT unnest($readable_collections::VARCHAR[]))"
        f" OR {document_id} IN (SELECT unnest($readable_documents::VARCHAR[])))"
    )
    values = {
        "readable_collections": list(readable.collection_ids),
        "readable_documents": list(readable.document_ids),
    }
    return sql, values
