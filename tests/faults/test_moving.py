"""Series W through the real library: files moved, removed or replaced while it watches."""

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.app import Services
from desktop_rag.core.domain import Document, DocumentState, SourceRules, SourceState
from desktop_rag.core.library_events import ChangeSummary, DocumentsChanged
from desktop_rag.core.parsed import EncodingHints, ParsedDocument
from desktop_rag.ingest.library import Library
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.parsing.protocol import PictureWish
from desktop_rag.ingest.pipeline import LibraryStores
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.models.answer_priority import AnswerPriority
from tests.conftest import FAST_TIMES

QUIET_S = 30.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    return made


def write(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(f"# {name}\n\nThe keeper of the lamp reads {name} at noon.")


def quiet(services: Services) -> None:
    assert services.library.indexing.wait_until_idle(QUIET_S)


def look(services: Services) -> ChangeSummary:
    """Compare everything with the disk; the scan result of the first source."""
    services.library.sources.rescan()
    quiet(services)
    return services.library.sources.last_scans[services.library.sources.all()[0].source_id]


def start(services: Services, *folders: Path) -> None:
    for folder in folders:
        services.library.sources.add(folder)
    services.library.start(watch=False)
    quiet(services)


def ids(services: Services) -> dict[str, str]:
    return {d.document_id: str(d.path) for d in services.library.documents.all()}


def test_w05_a_renamed_folder_is_not_embedded_again(services: Services, folder: Path) -> None:
    write(folder / "before", *(f"{n}.md" for n in range(30)))
    start(services, folder)
    known, embedded = set(ids(services)), services.library.indexing.embedded_chunks
    (folder / "before").rename(folder / "after")
    assert look(services).moved == 30
    assert set(ids(services)) == known
    assert services.library.indexing.embedded_chunks == embedded
    [passage] = services.chat.search("lamp 7.md", mode="lexical", limit=1)
    assert Path(passage.path) == folder / "after" / "7.md"


def test_w05_a_file_moved_out_of_a_folder_that_is_removed_meanwhile_is_kept(
    services: Services, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "other", "a.md", "b.md")
    write(folder, "c.md")
    start(services, folder, tmp_path / "other")
    [removed] = [s for s in services.library.sources.all() if s.path.name == "other"]
    store = services.engine.documents
    really_apply = store.apply_changes

    def apply(source_id: str, *changes: Any) -> list[Document]:
        monkeypatch.undo()
        services.library.sources.remove(removed.source_id)
        return really_apply(source_id, *changes)

    monkeypatch.setattr(store, "apply_changes", apply)
    (tmp_path / "other" / "a.md").rename(folder / "a.md")
    look(services)
    assert sorted(ids(services).values()) == [str(folder / "a.md"), str(folder / "c.md")]
    assert services.library.documents.counts().searchable == 2


def test_w05_a_file_moved_to_another_source_stays_the_document(
    services: Services, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    write(folder, "a.md", "b.md")
    write(other, "c.md")
    start(services, folder, other)
    known = ids(services)
    (folder / "a.md").rename(other / "moved.md")
    services.library.sources.rescan(services.library.sources.all()[1].source_id)
    quiet(services)
    look(services)
    moved = {i: path.replace("papers/a.md", "other/moved.md") for i, path in known.items()}
    assert ids(services) == moved
    [document] = services.library.documents.all(
        source_id=services.library.sources.all()[0].source_id
    )
    assert document.path == folder / "b.md"


def test_w05_a_file_moved_across_file_systems_stays_the_document(
    services: Services, folder: Path, tmp_path: Path
) -> None:
    write(folder, "a.md", "b.md")
    start(services, folder)
    known, embedded = set(ids(services)), services.library.indexing.embedded_chunks
    shutil.copyfile(folder / "a.md", folder / "copied.md")
    (folder / "a.md").unlink()
    assert look(services) == ChangeSummary(moved=1, unchanged=1)
    assert set(ids(services)) == known
    assert services.library.indexing.embedded_chunks == embedded


def test_w05_another_file_of_the_same_size_is_no_move(services: Services, folder: Path) -> None:
    write(folder, "a.md", "b.md")
    start(services, folder)
    known = set(ids(services))
    (folder / "a.md").unlink()
    write(folder, "c.md")
    look(services)
    assert len(set(ids(services)) & known) == 1


def test_a_look_at_one_file_counts_the_others_as_unchanged(
    services: Services, folder: Path
) -> None:
    write(folder, "a.md", "b.md", "c.md")
    services.library.sources.add(folder)
    services.library.start()
    quiet(services)
    is_read = heard(services.library, "d.md", DocumentState.SEARCHABLE)
    write(folder, "d.md")
    assert is_read()
    [summary] = services.library.sources.last_scans.values()
    assert summary.label() == "+1, ~0, −0, 3 unchanged"


def gone(services: Services) -> list[Document]:
    return services.library.documents.all(state=DocumentState.GONE)


def test_w06_files_gone_in_great_number_are_hidden_and_come_back(
    services: Services, folder: Path
) -> None:
    write(folder, "kept.md")
    write(folder / "many", *(f"{n}.md" for n in range(20)))
    start(services, folder)
    embedded = services.library.indexing.embedded_chunks
    (folder / "many").rename(folder.parent / "many")
    assert look(services).gone == 20
    assert len(gone(services)) == 20
    assert gone(services)[0].reason.startswith("gone since 20")
    found = services.chat.search("keeper of the lamp", limit=50)
    assert {Path(passage.path).name for passage in found} == {"kept.md"}
    (folder.parent / "many").rename(folder / "many")
    assert look(services).added == 20
    states = {d.state for d in services.library.documents.all()}
    assert states == {DocumentState.SEARCHABLE}
    assert services.library.indexing.embedded_chunks == embedded
    assert {d.reason for d in services.library.documents.all()} == {""}


def test_w06_a_few_deleted_files_are_removed(services: Services, folder: Path) -> None:
    write(folder, *(f"{n}.md" for n in range(8)))
    start(services, folder)
    for number in range(7):
        (folder / f"{number}.md").unlink()
    look(services)
    assert [d.path.name for d in services.library.documents.all()] == ["7.md"]


def test_w07_a_copy_of_a_drive_that_was_pulled_moves_nothing(
    services: Services, folder: Path, tmp_path: Path
) -> None:
    drive = tmp_path / "drive"
    write(drive, "a.md")
    write(folder, "b.md")
    start(services, folder, drive)
    known = ids(services)
    shutil.copyfile(drive / "a.md", folder / "a.md")
    drive.rename(tmp_path / "pulled")
    look(services)
    assert {i: path for i, path in ids(services).items() if i in known} == known
    assert len(ids(services)) == 3
    states = {source.path.name: source.state for source in services.library.sources.all()}
    assert states["drive"] is SourceState.OFFLINE
    (tmp_path / "pulled").rename(drive)
    assert services.library.indexing.embedded_chunks == 2
    look(services)
    assert {d.state for d in services.library.documents.all()} == {DocumentState.SEARCHABLE}


def test_rules_that_leave_out_most_files_remove_them_at_once(
    services: Services, folder: Path
) -> None:
    write(folder, "kept.md")
    write(folder / "drafts", *(f"{n}.md" for n in range(20)))
    start(services, folder)
    [source] = services.library.sources.all()
    services.library.sources.set_rules(source.source_id, SourceRules(excluded=("drafts/",)))
    quiet(services)
    assert [d.path.name for d in services.library.documents.all()] == ["kept.md"]
    services.library.sources.set_rules(source.source_id, SourceRules())
    quiet(services)
    assert len(services.library.documents.all()) == 21


@pytest.mark.parametrize("name", ["ü" * 120 + ".md", "a\nb.md", "\u202ecod.md", "CON.md", "a .md"])
def test_w10_an_odd_name_goes_through_the_store_and_back(
    services: Services, folder: Path, name: str
) -> None:
    write(folder, name)
    start(services, folder)
    [passage] = services.chat.search("keeper of the lamp")
    assert Path(passage.path).read_text().startswith("# ")
    assert Path(passage.path).name == name


def heard(library: Library, name: str, state: DocumentState) -> Callable[[], bool]:
    """Start listening; the returned function waits until the document had that state."""
    is_so = threading.Event()

    def listen(event: DocumentsChanged) -> None:
        if any((d.path.name, d.state) == (name, state) for d in event.documents):
            is_so.set()

    library.changes.hear(DocumentsChanged, listen)
    return partial(is_so.wait, QUIET_S)


def test_a_gitignore_file_that_changes_is_heeded(services: Services, folder: Path) -> None:
    write(folder, "a.md", "b.md")
    services.library.sources.add(folder, rules=SourceRules(uses_gitignore=True))
    services.library.start()
    quiet(services)
    is_gone = heard(services.library, "a.md", DocumentState.GONE)
    (folder / ".gitignore").write_text("a.md\n")
    assert is_gone()
    is_back = heard(services.library, "a.md", DocumentState.SEARCHABLE)
    (folder / ".gitignore").write_text("")
    assert is_back()


class Meddler(ParserProcess):
    """A parser whose first file is modified while it is read, or just before if `is_before`."""

    def __init__(self, meddle: Callable[[Path], object], *, is_before: bool = False) -> None:
        super().__init__()
        self._meddle: Callable[[Path], object] | None = meddle
        self._is_before = is_before

    def parse(
        self,
        path: Path,
        *,
        is_web_page: bool = False,
        pictures: PictureWish | None = None,
        hints: EncodingHints | None = None,
        cancel: threading.Event | None = None,
    ) -> ParsedDocument:
        if self._is_before:
            self._meddle_with(path)
        parsed = super().parse(
            path, is_web_page=is_web_page, pictures=pictures, hints=hints, cancel=cancel
        )
        self._meddle_with(path)
        return parsed

    def _meddle_with(self, path: Path) -> None:
        meddle, self._meddle = self._meddle, None
        if meddle:
            meddle(path)


def replaced(path: Path) -> None:
    path.with_name("new").write_text("# New\n\nThe whole of the new text.")
    path.with_name("new").replace(path)


@pytest.mark.parametrize("meddle", [replaced, lambda path: path.write_text("Written anew.")])
def test_w09_a_file_replaced_while_it_is_read_is_read_again(
    services: Services, folder: Path, meddle: Callable[[Path], object]
) -> None:
    write(folder, "a.md")
    with meddled_library(services, folder, lambda: Meddler(meddle)) as library:
        is_read = heard(library, "a.md", DocumentState.SEARCHABLE_BY_WORDS)
        library.start()
        assert is_read()
        [document] = library.documents.all()
        assert library.documents.text(document.document_id).strip() == (folder / "a.md").read_text()


def test_w09_a_folder_renamed_just_before_a_file_is_read_fails_nothing(
    services: Services, folder: Path
) -> None:
    write(folder / "old", "a.md", "b.md")
    states: list[DocumentState] = []

    def rename(_path: Path) -> None:
        (folder / "old").rename(folder / "new")

    with meddled_library(services, folder, lambda: Meddler(rename, is_before=True)) as library:
        library.changes.hear(
            DocumentsChanged, lambda event: states.extend(d.state for d in event.documents)
        )
        are_read = [
            heard(library, name, DocumentState.SEARCHABLE_BY_WORDS) for name in ("a.md", "b.md")
        ]
        library.start()
        assert all(is_read() for is_read in are_read)
        assert DocumentState.FAILED not in states
        assert {d.path.parent.name for d in library.documents.all()} == {"new"}


@contextmanager
def meddled_library(
    services: Services, folder: Path, make_parser: Callable[[], ParserProcess]
) -> Iterator[Library]:
    """A library over the folder that reads with this parser."""
    engine = services.engine
    stores = LibraryStores(
        engine.documents,
        engine.sources,
        engine.storage,
        engine.tags,
        engine.upkeep,
        folder / "pages",
        folder / "sent",
    )
    rules = IgnoreRules(lambda name: name.endswith(".md"), 1 << 20)
    library = Library(stores, None, AnswerPriority(), make_parser, rules=rules, times=FAST_TIMES)
    library.sources.add(folder)
    try:
        yield library
    finally:
        library.close()
