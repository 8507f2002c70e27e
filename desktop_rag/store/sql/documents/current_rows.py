"""Outcomes of reading beside the rows as they are now, and parts beside their parents. Pure."""

from collections.abc import Mapping
from dataclasses import replace

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.store.contract.documents import IndexingOutcome


def is_current(now: Document | None, outcome: IndexingOutcome) -> bool:
    """True when the document still waits, with the file that was read."""
    if now is None or now.state is not DocumentState.WAITING:
        return False
    return outcome.taken_stat in (None, now.stat)


def merged(now: Document, outcome: IndexingOutcome) -> IndexingOutcome:
    """The outcome with the current source and path of its document."""
    count = now.chunk_count if outcome.keeps_content else outcome.document.chunk_count
    row = replace(outcome.document, source_id=now.source_id, path=now.path, chunk_count=count)
    return replace(outcome, document=row)


def parts_of(
    outcome: IndexingOutcome, before: Mapping[tuple[str, str], str]
) -> list[IndexingOutcome]:
    """The outcomes inside one, placed with their parent; a part with a known name keeps its id."""
    parent = outcome.document
    placed: list[IndexingOutcome] = []
    for part in outcome.parts:
        known = before.get((parent.document_id, part.document.part))
        row = replace(
            part.document, source_id=parent.source_id, path=parent.path,
            parent_id=parent.document_id, document_id=known or part.document.document_id,
        )  # fmt: skip
        placed.append(replace(part, document=row))
    return placed


def following(part: Document, parent: Document) -> Document:
    """The row of a part once its parent has moved, is gone or came back."""
    state = part.state
    if parent.state is DocumentState.GONE:
        state = DocumentState.GONE
    elif state is DocumentState.GONE:
        has_content = part.chunk_count > 0
        state = DocumentState.SEARCHABLE_BY_WORDS if has_content else DocumentState.SKIPPED
    return replace(
        part, path=parent.path, source_id=parent.source_id, state=state, gone_at=parent.gone_at
    )
