"""What fetching a source finds: its report, its counts, and the rows of its documents.

Reports are read on any thread, the rest runs on the thread that fetches.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from desktop_rag.core.crawling import MOST_REFUSALS, CrawlRefusal, CrawlReport, CrawlState
from desktop_rag.core.domain import Document, DocumentState, FileStat, Source
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.ingest.sources.source_kinds import SourceKit
from desktop_rag.store.contract.database import Connection, Database, fetched


class FetchReports:
    """The stored reports on fetching each source."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> dict[str, CrawlReport]:
        """What came of the last fetching of each source, by its id."""
        rows = fetched(self._database, "SELECT source_id, made_of FROM crawl_reports")
        return {source_id: _report_from(made_of) for source_id, made_of in rows}

    def put(self, source_id: str, report: CrawlReport) -> None:
        """Store what came of fetching a source in place of the last time."""

        def work(con: Connection) -> None:
            con.execute("DELETE FROM crawl_reports WHERE source_id = ?", [source_id])
            con.execute(
                "INSERT INTO crawl_reports VALUES (?, ?)", [source_id, json.dumps(asdict(report))]
            )

        self._database.write_uncached(work)

    def purge(self) -> None:
        """Remove the reports of sources that no longer exist."""
        self._database.write_uncached(
            lambda con: con.execute(
                "DELETE FROM crawl_reports WHERE source_id NOT IN (SELECT source_id FROM sources)"
            )
        )


def _report_from(made_of: str) -> CrawlReport:
    fields = json.loads(made_of)
    refused = tuple(CrawlRefusal(**each) for each in fields.pop("refused"))
    return CrawlReport(CrawlState(fields.pop("state")), **fields, refused=refused)


class FetchLog:
    """The report of a fetch under way, which any thread may read. Written by one thread."""

    def __init__(self, began_at: float) -> None:
        self.report = CrawlReport(began_at=began_at)
        self._refused: dict[str, CrawlRefusal] = {}

    def change(self, **fields: object) -> None:
        """Replace these fields of the report."""
        self.report = replace(self.report, **cast("Any", fields))

    def refuse(self, place: str, reason: str) -> None:
        """Note an address or a path that was not read."""
        if place not in self._refused:
            if len(self._refused) < MOST_REFUSALS:
                self._refused[place] = CrawlRefusal(place, reason)
            refused = tuple(self._refused.values())
            self.change(refused_count=self.report.refused_count + 1, refused=refused)


@dataclass
class Findings:
    """The result of a round. `missed`: why known documents could not be fetched again."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    gone: int = 0
    unchanged: int = 0
    missed: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def summary(self) -> ChangeSummary:
        """The counts."""
        return ChangeSummary(self.added, self.changed, self.moved, self.gone, self.unchanged)


def stat_of(path: Path) -> FileStat | None:
    """Size, time and inode of a kept copy; None when it is missing."""
    try:
        found = path.stat()
    except OSError:
        return None
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ino)


NO_FILE = FileStat(0, 0, 0)


class FetchedRows:
    """Changes the rows of one source, and has the indexer read what waits."""

    def __init__(self, source: Source, kit: SourceKit) -> None:
        self._source = source
        self._kit = kit

    def apply(
        self,
        added: Sequence[Document] = (),
        changed: Mapping[str, Callable[[Document], Document]] | None = None,
    ) -> None:
        """Store new and changed rows in one transaction, and tell of them."""
        kit = self._kit
        stored = kit.documents.apply_changes(self._source.source_id, added, changed or {}, [])
        waiting = [d.document_id for d in stored if d.state is DocumentState.WAITING]
        kit.indexer.withdraw(d.document_id for d in stored if d.document_id not in waiting)
        kit.indexer.submit(waiting)
        if stored:
            kit.callbacks.documents_changed(stored)

    def remove(self, rows: Sequence[Document]) -> None:
        """Remove documents, but not their copies, and tell of them."""
        ids = [row.document_id for row in rows]
        self._kit.documents.apply_changes(self._source.source_id, [], {}, ids)
        self._kit.indexer.withdraw(ids)
        self._kit.callbacks.documents_changed(
            [replace(row, state=DocumentState.GONE) for row in rows]
        )


def refused_row(row: Document, state: DocumentState, reason: str) -> Document:
    """The row without text that states why it can't be had."""
    return replace(row, stat=NO_FILE, state=state, reason=reason, content_hash="", chunk_count=0)
