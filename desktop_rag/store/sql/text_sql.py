"""SQL for comparing texts, and for what somebody may read. Pure; for every engine."""

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
