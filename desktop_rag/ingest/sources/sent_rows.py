"""The rows of documents that programs sent, made from what was said of them. Any thread."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.files.file_state import stat_of
from desktop_rag.core.sent.sent_document import SentDocument


def new_row(source_id: str, path: Path, sent: SentDocument) -> Document:
    """The row of a document that is to be read."""
    return Document(
        sent.document_id, source_id, path, sent.title or sent.name, "", stat_of(path), "",
        DocumentState.WAITING, url=sent.url, language=sent.language,
    )  # fmt: skip


def to_be_read(path: Path, sent: SentDocument) -> Callable[[Document], Document]:
    """The change of a row whose content is new, or which is to be read with another title."""
    stat = stat_of(path)
    return lambda row: replace(
        row, path=path, stat=stat, state=DocumentState.WAITING, reason="", url=sent.url,
        title=sent.title or row.title, language=sent.language or row.language, readers=0,
    )  # fmt: skip


def with_address(sent: SentDocument) -> Callable[[Document], Document]:
    """The change of a row of which only the address is new."""
    return lambda row: replace(row, url=sent.url)
