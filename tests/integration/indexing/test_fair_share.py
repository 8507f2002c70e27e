"""W-15: reading files gives way to answers, and gets on when they never end."""

from contextlib import closing
from pathlib import Path

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.library_events import DocumentsChanged
from desktop_rag.core.paths import Home
from desktop_rag.ingest.library import Library
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.pipeline import LibraryStores
from desktop_rag.ingest.read.foundation.format_names import is_worth_reading
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.models.answer_priority import AnswerPriority
from tests.engines import duckdb_in

WAIT_S = 50.0


class CountingPriority(AnswerPriority):
    """Counts how often background work asked whether it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def wait(self, timeout_s: float | None = None) -> None:
        self.asked += 1
        super().wait(timeout_s)


def test_before_each_file_reading_waits_for_the_answer_but_not_for_ever(tmp_path: Path) -> None:
    folder, home, priority = tmp_path / "papers", Home(tmp_path / "home"), CountingPriority()
    folder.mkdir()
    home.create()
    for number in range(3):
        (folder / f"{number}.txt").write_text(f"Lamp {number} stands at the harbour.")
    asked_before: list[int] = []

    def listen(event: DocumentsChanged) -> None:
        if any(document.state is DocumentState.READING for document in event.documents):
            asked_before.append(priority.asked)

    with closing(duckdb_in(home.root)) as engine:
        stores = LibraryStores(
            engine.documents,
            engine.sources,
            engine.storage,
            engine.tags,
            engine.upkeep,
            home.pages,
            home.sent,
        )
        rules = IgnoreRules(is_worth_reading, 1 << 20, home.root)
        with closing(Library(stores, None, priority, ParserProcess, rules=rules)) as library:
            library.changes.hear(DocumentsChanged, listen)
            with priority.answering():
                library.start(watch=False)
                library.sources.add(folder)
                assert library.indexing.wait_until_searchable(WAIT_S)
    assert asked_before[0] == 1
    assert priority.asked == 3
