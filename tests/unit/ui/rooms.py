"""Shared parts of the page tests: the real library and chat on a temporary store."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from keyring.backend import KeyringBackend
from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QTextCursor, QTextFormat
from PySide6.QtWidgets import QAbstractButton, QApplication, QPlainTextEdit, QTextEdit, QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.answer.checking.disputes import ClaimChecks, Insistence
from desktop_rag.answer.conversations.assistants import Assistants
from desktop_rag.answer.conversations.personal import Memory, Personal, PromptLibrary, Rewrites
from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.answer.search.candidates import FilenameMatcher
from desktop_rag.answer.search.fusion import FusionModel
from desktop_rag.answer.search.retriever import Retriever
from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.settings import Settings
from desktop_rag.ingest.library import Library
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.pipeline import LibraryStores
from desktop_rag.ingest.read.foundation.format_names import is_worth_reading
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.system_keyring import KeyStore
from desktop_rag.store.contract.documents import TagStore
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.duckdb_engine import engine_over, library_file
from desktop_rag.store.duckdb.search.postings import PostingsMerge
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.viewers.code_viewer import CodeEditor
from desktop_rag.ui.viewers.page_viewer import PageBrowser
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel
from tests.conftest import FAST_TIMES

MEGABYTE = 1 << 20
Field = TypeVar("Field", bound=QWidget)


class Desktop(QObject):
    """Records the URLs that would be opened by the desktop."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.urls: list[str] = []

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.opened.append(url.toLocalFile())
        self.urls.append(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))


@contextmanager
def listening_desktop() -> Iterator[Desktop]:
    """Replaces the desktop's programs through Qt's URL handler hook."""
    desktop = Desktop()
    # The stub declares bytes, but only a str works.
    QDesktopServices.setUrlHandler("file", desktop, "take")  # pyright: ignore[reportArgumentType]
    yield desktop
    QDesktopServices.unsetUrlHandler("file")


@contextmanager
def opened_store(root: Path) -> Iterator[Database]:
    """A real store in a folder of its own."""
    home = Home(root)
    home.create()
    database = Database(library_file(home), memory_mb=256, backups=home.backups)
    try:
        yield database
    finally:
        database.close()


def make_library(database: Database, root: Path) -> Library:
    """A real library without an embedder; nothing runs before its `start`."""
    rules = IgnoreRules(is_worth_reading, 200 * MEGABYTE, root)
    engine = engine_over(database)
    stores = LibraryStores(
        engine.documents,
        engine.sources,
        database,
        TagStore(database),
        PostingsMerge(database),
        root / "pages",
        root / "sent",
    )
    return Library(stores, None, AnswerPriority(), ParserProcess, rules=rules, times=FAST_TIMES)


def make_chat(database: Database, keyring: KeyringBackend | None) -> Chat:
    """A real chat; without a keyring, keys are kept for the session only."""

    def find_backend() -> KeyringBackend:
        if keyring is None:
            raise RuntimeError("no keyring here")
        return keyring

    fusion = FusionModel.load(resources_dir() / "retrieval" / "fusion.toml")
    engine, home = engine_over(database), database.path.parent
    names = FilenameMatcher(engine.names)
    retriever = Retriever(engine.lexical, list, AnswerPriority(), names, fusion)
    return Chat(
        engine,
        retriever=retriever,
        embedder=None,
        models=ChatModels(KeyStore(find_backend), Settings()),
        personal=Personal(
            Rewrites(home / "rewrites", lambda _: None),
            Memory(engine.interactions, None),
            PromptLibrary(home / "prompts", resources_dir() / "prompts"),
        ),
        assistants=Assistants(engine.assistants, engine.sources.collections),
        checks=ClaimChecks(ClaimChecker().check, Insistence().dispute_of),
    )


def make_document(
    name: str,
    state: DocumentState = DocumentState.SEARCHABLE,
    *,
    source_id: str = "papers",
    reason: str = "",
    size_bytes: int = 10,
    chunk_count: int = 1,
) -> Document:
    """A document of the source at `/docs/<source_id>`; its id is its path."""
    path = Path("/docs") / source_id / name
    return Document(
        document_id=str(path),
        source_id=source_id,
        path=path,
        title="",
        format="markdown",
        stat=FileStat(size_bytes, 0, 0),
        content_hash="",
        state=state,
        reason=reason,
        chunk_count=chunk_count,
    )


def deliver(bridge: Bridge, *events: object) -> None:
    """Have the widgets hear these events now."""
    heard: list[object] = []
    stop_hearing = bridge.hear(object, heard.append)
    for event in events:
        bridge.post(event)
    while not all(event in heard for event in events):
        QApplication.processEvents()
    stop_hearing()


def in_state(document: Document, state: DocumentState, reason: str = "") -> Document:
    """The same document in another state."""
    return replace(document, state=state, reason=reason)


def button(root: QWidget, name: str) -> QAbstractButton:
    """The only button in `root` with this text or accessible name."""
    called = [
        b for b in root.findChildren(QAbstractButton) if name in (b.text(), b.accessibleName())
    ]
    assert len(called) == 1, [(b.text(), b.accessibleName()) for b in called]
    return called[0]


def field(root: QWidget, kind: type[Field], name: str) -> Field:
    """The only field of this class with this accessible name."""
    called = [widget for widget in root.findChildren(kind) if widget.accessibleName() == name]
    assert len(called) == 1, called
    return called[0]


def texts(root: QWidget) -> list[str]:
    """The texts of the labels visible with `root`."""
    return [
        label.full_text if isinstance(label, ElidedLabel) else label.text()
        for label in root.findChildren(PlainLabel)
        if label.isVisibleTo(root) and label.text()
    ]


def marked_in(shown: QTextEdit) -> str:
    """What of a text has a background."""
    found = ""
    for place in range(len(shown.toPlainText())):
        cursor = shown.textCursor()
        cursor.setPosition(place)
        cursor.setPosition(place + 1, QTextCursor.MoveMode.KeepAnchor)
        if cursor.charFormat().hasProperty(QTextFormat.Property.BackgroundBrush.value):
            found += cursor.selectedText()
    return found.replace("\u2029", "\n")


def marked_on(page: QTextEdit | QPlainTextEdit) -> list[str]:
    """The marked words of a text as they are shown."""
    return [mark.cursor.selectedText() for mark in page.extraSelections()]


def marked_words(root: QWidget) -> list[str]:
    """The words marked in the document that `root` shows."""
    pages = [page for kind in (PageBrowser, CodeEditor) for page in root.findChildren(kind)]
    return [words for page in pages if page.isVisible() for words in marked_on(page)]
