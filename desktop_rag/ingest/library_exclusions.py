"""Single files that the person excluded: never read until they are included again.

Any worker thread. The rule is stored with the source, so it holds for scans of any later day.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.domain import EXCLUDED, Document, DocumentState, Source
from desktop_rag.core.errors import AppError
from desktop_rag.ingest.pipeline import Pipeline
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.sources import SourceStore

# More are better left out by a pattern: all of them are held against each file of a scan.
_MOST_FILES = 5_000


class LibraryExclusions:
    """Excludes single files, and includes them again: `library.exclusions`."""

    def __init__(
        self,
        sources: SourceStore,
        documents: DocumentStore,
        pipeline: Pipeline,
        *,
        changed: Callable[[Sequence[Document]], None],
        rules_changed: Callable[[], None],
    ) -> None:
        self._sources = sources
        self._documents = documents
        self._pipeline = pipeline
        self._changed = changed
        self._rules_changed = rules_changed
        self._lock = threading.Lock()

    def exclude(self, document_ids: Sequence[str]) -> list[Document]:
        """Drop the text of these files and never read them again; returns their rows.

        A document inside a file stands for the file; web pages are not files.

        Raises:
            AppError: when a source would get too many such rules.
        """
        return self._set_excluded(document_ids, is_excluded=True)

    def include(self, document_ids: Sequence[str]) -> list[Document]:
        """Read these files again; returns their rows."""
        return self._set_excluded(document_ids, is_excluded=False)

    def _set_excluded(self, document_ids: Sequence[str], *, is_excluded: bool) -> list[Document]:
        with self._lock:
            files = [d for d in self._files(document_ids) if d.is_excluded is not is_excluded]
            sources = [
                (source, [d for d in files if d.source_id == source.source_id])
                for source in self._sources.sources()
                if source.is_on_disk
            ]
            changed = [(source, its) for source, its in sources if its]
            stored = [
                row
                for source, its in changed
                for row in self._apply(source, its, is_excluded=is_excluded)
            ]
        if changed:
            self._rules_changed()
        return stored

    def _files(self, document_ids: Sequence[str]) -> list[Document]:
        rows = self._documents.get(document_ids)
        ids = dict.fromkeys(d.parent_id or d.document_id for d in rows)
        return [d for d in self._documents.get(list(ids)) if not d.url]

    def _apply(
        self, source: Source, files: Sequence[Document], *, is_excluded: bool
    ) -> list[Document]:
        names = {_name_in(source, file.path) for file in files}
        before = set(source.rules.excluded_files)
        after = before | names if is_excluded else before - names
        if len(after) > _MOST_FILES:
            raise AppError(
                "Too many single files are excluded.",
                f"Exclude more than {_MOST_FILES:,} by a pattern: see the options of the folder.",
            )
        rules = replace(source.rules, excluded_files=tuple(sorted(after)))
        self._sources.set_rules(source.source_id, rules)
        ids = [file.document_id for file in files]
        inside = [part for i in ids for part in self._documents.parts(i)] if is_excluded else []
        indexer = self._pipeline.indexer
        indexer.withdraw(ids)
        change = _excluded if is_excluded else _waiting
        stored = self._documents.apply_changes(source.source_id, [], dict.fromkeys(ids, change), [])
        gone = [replace(part, state=DocumentState.GONE, gone_at=0.0) for part in inside]
        self._changed([*gone, *stored])
        if not is_excluded:
            indexer.submit(d.document_id for d in stored if d.state is DocumentState.WAITING)
        # A scan under way may still follow the former rule; this one comes after it.
        places = frozenset(file.path for file in files)
        self._pipeline.scans.request(replace(source, rules=rules), places)
        return stored


def _name_in(source: Source, path: Path) -> str:
    return path.relative_to(source.path).as_posix()


def _excluded(document: Document) -> Document:
    return replace(
        document, state=DocumentState.SKIPPED, reason=EXCLUDED, content_hash="", chunk_count=0,
        gone_at=0.0,
    )  # fmt: skip


def _waiting(document: Document) -> Document:
    return replace(document, state=DocumentState.WAITING, reason="", gone_at=0.0)
