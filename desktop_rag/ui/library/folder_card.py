"""A card for one source: its path, state and file counts. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.domain import DocumentState, Source, SourceState
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import ChangeSummary, DocumentCounts
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import (
    changes_in_words,
    counts_in_words,
    one_line,
    source_state_in_words,
)
from desktop_rag.ui.widgets.controls import Card, ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.wrapping_row import WrappingRow

_ICON_PX = 22
_TONES = {SourceState.WATCHED: "success", SourceState.POLLED: "accent"}


class FolderCard(Card):
    """Shows one source. Removing it asks for confirmation, because indexing it again takes time.

    All signals carry the source's id; `files_requested` also True if only failed files are wanted.
    """

    open_requested = Signal(str)
    rescan_requested = Signal(str)
    remove_confirmed = Signal(str)
    files_requested = Signal(str, bool)
    options_requested = Signal(str)
    summary_requested = Signal(str)
    ask_requested = Signal(str)
    locate_requested = Signal(str)

    def __init__(self, theme: Theme, source: Source, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._source = source
        self._build()
        self._connect()
        self.show_source(source, "", DocumentCounts())

    @property
    def source(self) -> Source:
        """The source as last shown."""
        return self._source

    @property
    def stops(self) -> Sequence[QWidget]:
        """The widgets of the card in Tab order."""
        return (self._failed, *self._actions, self._keep, self._confirm)

    def show_changes(self, summary: ChangeSummary) -> None:
        """Show the result of the last scan."""
        self._changes.setText(changes_in_words(summary))

    def show_source(self, source: Source, collection: str, counts: DocumentCounts) -> None:
        """Show the source's state, the name of its collection and its file counts."""
        self._source = source
        self._confirm.setEnabled(True)
        self._path.set_full_text(_shown_name(source))
        is_offline = source.state is SourceState.OFFLINE
        self._state.setText(f"● {source_state_in_words(source.state)}")
        self._state.set_tone(_TONES.get(source.state, "warning"))
        # Nothing is watched for what comes by itself.
        self._state.setVisible(not source.program)
        words = counts_in_words(counts)
        self._counts.set_full_text(f"{one_line(collection)} · {words}" if collection else words)
        failed = counts.of(DocumentState.FAILED)
        self._failed.setText(tr("Show {failed:,} failed", failed=failed))
        self._failed.setVisible(failed > 0)
        # What can't be opened can be looked for.
        self._open.setVisible(not source.program and (not is_offline or source.links is not None))
        self._open.setEnabled(not is_offline)
        self._locate.setVisible(is_offline and source.is_on_disk)
        self._rescan.setEnabled(not is_offline)
        # What a program sends has no rules.
        self._options.setVisible(source.is_on_disk or source.links is not None)
        self._summary.setVisible(source.is_on_disk)
        self._summary.setEnabled(counts.searchable > 0)
        self._ask.setEnabled(counts.searchable > 0)
        self._paint_icon()

    def event(self, event: QEvent) -> bool:
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and self._question.isVisible():
            # Accepted here before the window's shortcut for this key.
            event.accept()
            if event.type() == QEvent.Type.KeyPress:
                self._show_question(False)
            return True
        return super().event(event)

    def _build(self) -> None:
        name = one_line(self._source.name)
        self.setAccessibleName(tr("Source {name}", name=name))
        self._icon = PlainLabel()
        self._icon.setFixedSize(QSize(_ICON_PX, _ICON_PX))
        self._path = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self._path.setObjectName("folderPath")
        self._state = PlainLabel(scale="small")
        self._counts = ElidedLabel(tone="muted", scale="small")
        self._changes = PlainLabel(tone="muted", scale="small")
        self._failed = TextButton("", kind="link")
        self._files = _action(tr("Show files"), tr("Show files in {name}", name=name))
        self._ask = _action(tr("Ask about this"), tr("Ask about {name}", name=name))
        self._summary = _action(tr("Summarise"), tr("Summarise {name}", name=name))
        self._open = _action(tr("Open folder"), tr("Open {name}", name=name))
        self._locate = _action(tr("Locate…"), tr("Say where {name} is now", name=name))
        self._rescan = _action(tr("Check now"), tr("Check {name} for changes", name=name))
        self._options = _action(tr("Options…"), tr("Options for {name}", name=name))
        self._remove = _action(tr("Remove…"), tr("Remove {name} from the library", name=name))
        details = QHBoxLayout()
        details.setSpacing(10)
        details.addWidget(self._state)
        details.addWidget(self._counts, 1)
        details.addWidget(self._changes)
        details.addWidget(self._failed)
        words = QVBoxLayout()
        words.setSpacing(3)
        words.addWidget(self._path)
        words.addLayout(details)
        self._actions = (
            self._files, self._ask, self._summary, self._open, self._locate, self._rescan,
            self._options, self._remove,
        )  # fmt: skip
        words.addWidget(self._build_actions())
        self._shown = QWidget()
        row = QHBoxLayout(self._shown)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(14, 9, 10, 9)
        outer.addWidget(self._shown)
        # In place of the row, where the person looks, and not below it.
        outer.addWidget(self._build_question(name))

    def _build_actions(self) -> QWidget:
        gap = QWidget()
        return WrappingRow(
            [self._files, self._ask, self._summary, gap],
            [self._open, self._locate, self._rescan, self._options, self._remove],
            at=3, stretched=3, min_px=0,
        )  # fmt: skip

    def _build_question(self, name: str) -> QWidget:
        self._question = Card(self, kind="notice", tone="warning")
        text = PlainLabel(_question(self._source, name), wrap=True)
        self._confirm = TextButton(tr("Remove"), kind="danger")
        self._keep = TextButton(tr("Keep"))
        row = QHBoxLayout(self._question)
        row.setContentsMargins(12, 8, 12, 8)
        row.addWidget(text, 1)
        row.addWidget(self._keep)
        row.addWidget(self._confirm)
        self._question.hide()
        return self._question

    def _connect(self) -> None:
        self._theme.changed.connect(self._paint_icon)
        self._open.clicked.connect(self._on_open_clicked)
        self._rescan.clicked.connect(self._on_rescan_clicked)
        self._options.clicked.connect(self._on_options_clicked)
        self._files.clicked.connect(self._on_files_clicked)
        self._ask.clicked.connect(lambda: self.ask_requested.emit(self._source.source_id))
        self._locate.clicked.connect(self._on_locate_clicked)
        self._summary.clicked.connect(self._on_summary_clicked)
        self._failed.clicked.connect(self._on_failed_clicked)
        self._remove.clicked.connect(self._on_remove_clicked)
        self._keep.clicked.connect(self._on_keep_clicked)
        self._confirm.clicked.connect(self._on_confirm_clicked)

    @Slot()
    def _paint_icon(self) -> None:
        is_offline = self._source.state is SourceState.OFFLINE
        kind = "server" if self._source.program else "link" if self._source.links else "folder"
        icon = self._theme.icon("offline:warning" if is_offline else f"{kind}:accent")
        self._icon.setPixmap(icon.pixmap(QSize(_ICON_PX, _ICON_PX), self.devicePixelRatio()))

    @Slot()
    def _on_open_clicked(self) -> None:
        self.open_requested.emit(self._source.source_id)

    @Slot()
    def _on_rescan_clicked(self) -> None:
        self.rescan_requested.emit(self._source.source_id)

    @Slot()
    def _on_options_clicked(self) -> None:
        self.options_requested.emit(self._source.source_id)

    @Slot()
    def _on_files_clicked(self) -> None:
        self.files_requested.emit(self._source.source_id, False)

    @Slot()
    def _on_locate_clicked(self) -> None:
        self.locate_requested.emit(self._source.source_id)

    @Slot()
    def _on_summary_clicked(self) -> None:
        self.summary_requested.emit(self._source.source_id)

    @Slot()
    def _on_failed_clicked(self) -> None:
        self.files_requested.emit(self._source.source_id, True)

    @Slot()
    def _on_remove_clicked(self) -> None:
        self._show_question(self._question.isHidden())

    @Slot()
    def _on_keep_clicked(self) -> None:
        self._show_question(False)

    @Slot()
    def _on_confirm_clicked(self) -> None:
        self._confirm.setEnabled(False)
        self.remove_confirmed.emit(self._source.source_id)

    def _show_question(self, is_visible: bool) -> None:
        shown, hidden = self._question, self._shown
        if not is_visible:
            shown, hidden = hidden, shown
        shown.show()
        # Before the rest is hidden: Qt would give the focus to any other card, and scroll to it.
        (self._keep if is_visible else self._remove).setFocus()
        hidden.hide()


def _shown_name(source: Source) -> str:
    if source.program:
        return tr("{name} (documents that this program sends)", name=one_line(source.name))
    return one_line(str(source.path) if source.is_on_disk else source.name)


def _question(source: Source, name: str) -> str:
    if source.program:
        return tr(
            "Delete all documents that “{name}” sent? They are kept here only, and come back when"
            " the program sends them again.",
            name=name,
        )
    return tr(
        "Remove “{name}” from the library? Its files stay where they are, but adding"
        " it again means indexing it again.",
        name=name,
    )


def _action(words: str, name: str) -> TextButton:
    button = TextButton(words, kind="action")
    button.setAccessibleName(name)
    return button
