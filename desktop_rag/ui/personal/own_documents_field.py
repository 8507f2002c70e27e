"""The part of an assistant's form for documents of its own. Qt thread.

What is added and removed here applies once the form is saved.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.domain import Source
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.wording import counts_in_words, one_line
from desktop_rag.ui.personal.assistant_documents import OwnDocument, WishedDocuments
from desktop_rag.ui.widgets.controls import TextButton, plain_tooltip

_ROWS = 4
_ROW_PX = 26
_STATES_MS = 1_000


@dataclass
class _Row:
    """A line of the list: documents that are there, or a path or link that will be added."""

    name: str
    tip: str
    state: str = ""
    source: Source | None = None
    path: Path | None = None
    link: str = ""
    is_removed: bool = False

    def in_words(self) -> str:
        if self.is_removed:
            return tr("{name} · removed when saved", name=self.name)
        if self.source is None:
            return tr("{name} · added when saved", name=self.name)
        return f"{self.name} · {self.state}"


class OwnDocumentsField(QWidget):
    """Lists an assistant's documents with their state.

    `refresh_requested` asks to look at all of them again, `states_requested` for their present
    states, which `show_documents` takes.
    """

    refresh_requested = Signal()
    states_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[_Row] = []
        self._list = QListWidget()
        self._list.setObjectName("ownDocuments")
        self._list.setAccessibleName(tr("Documents of its own"))
        self._list.setFixedHeight(_ROWS * _ROW_PX + 8)
        self._files = TextButton(tr("Add files…"))
        self._folder = TextButton(tr("Add folder…"))
        self._remove = TextButton(tr("Remove"))
        self._refresh = TextButton(tr("Refresh"))
        self._link = QLineEdit()
        self._link.setAccessibleName(tr("Links"))
        self._link.setPlaceholderText("https://example.org/guide")
        self._add_links = TextButton(tr("Add links"))
        self._timer = QTimer(self)
        self._timer.setInterval(_STATES_MS)
        self._build()
        self._connect()
        self._show_rows()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._list)
        buttons, links = QHBoxLayout(), QHBoxLayout()
        for button in (self._files, self._folder, self._remove, self._refresh):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch(1)
        self._add_links.setAutoDefault(False)
        links.addWidget(self._link, 1)
        links.addWidget(self._add_links)
        column.addLayout(buttons)
        column.addLayout(links)

    def _connect(self) -> None:
        self._files.clicked.connect(self._on_files_clicked)
        self._folder.clicked.connect(self._on_folder_clicked)
        self._remove.clicked.connect(self._on_remove_clicked)
        self._refresh.clicked.connect(self.refresh_requested)
        self._add_links.clicked.connect(self._on_links_added)
        self._link.textChanged.connect(self._show_buttons)
        self._list.currentRowChanged.connect(self._show_buttons)
        self._timer.timeout.connect(self.states_requested)

    @property
    def wished(self) -> WishedDocuments:
        """What is to be added and removed."""
        added = [row for row in self._rows if row.source is None]
        removed = [row.source.source_id for row in self._rows if row.source and row.is_removed]
        return WishedDocuments(
            tuple(row.path for row in added if row.path),
            tuple(row.link for row in added if row.link),
            frozenset(removed),
        )

    def show_documents(self, documents: Sequence[OwnDocument]) -> None:
        """Show the documents that are there now; what was added or removed here is kept."""
        removed = self.wished.removed
        there = [
            _Row(
                one_line(document.source.name),
                str(document.source.path) if document.source.is_on_disk else document.source.name,
                counts_in_words(document.counts),
                document.source,
                is_removed=document.source.source_id in removed,
            )
            for document in documents
        ]
        self._rows = [*there, *(row for row in self._rows if row.source is None)]
        if there:
            self._timer.start()
        else:
            self._timer.stop()
        self._show_rows()

    def _show_rows(self) -> None:
        current = self._list.currentRow()
        while self._list.count() > len(self._rows):
            self._list.takeItem(self._list.count() - 1)
        for place, row in enumerate(self._rows):
            item = self._list.item(place) or QListWidgetItem(self._list)
            item.setText(row.in_words())
            item.setToolTip(plain_tooltip(row.tip))
        self._list.setCurrentRow(min(current, len(self._rows) - 1))
        self._list.setVisible(bool(self._rows))
        self._show_buttons()

    @Slot()
    def _show_buttons(self) -> None:
        row = self._current
        self._remove.setEnabled(row is not None)
        self._remove.setText(tr("Keep") if row and row.is_removed else tr("Remove"))
        self._refresh.setEnabled(any(row.source for row in self._rows))
        self._add_links.setEnabled(bool(self._link.text().strip()))

    @property
    def _current(self) -> _Row | None:
        place = self._list.currentRow()
        return self._rows[place] if 0 <= place < len(self._rows) else None

    @Slot()
    def _on_files_clicked(self) -> None:
        dialog = QFileDialog(self, tr("Add files to the assistant"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        self._open(dialog)

    @Slot()
    def _on_folder_clicked(self) -> None:
        dialog = QFileDialog(self, tr("Add a folder to the assistant"), str(Path.home()))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        self._open(dialog)

    def _open(self, dialog: QFileDialog) -> None:
        dialog.filesSelected.connect(self.add_paths)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot(list)
    def add_paths(self, paths: Sequence[str]) -> None:
        """Add files or folders when the form is saved; one that is there already is left out."""
        known = {row.path or (row.source.path if row.source else None) for row in self._rows}
        new = [path for path in dict.fromkeys(map(Path, paths)) if path not in known]
        self._rows += [_Row(one_line(path.name or str(path)), str(path), path=path) for path in new]
        self._show_rows()

    @Slot()
    def _on_links_added(self) -> None:
        known = {row.link for row in self._rows}
        new = [link for link in dict.fromkeys(self._link.text().split()) if link not in known]
        self._rows += [_Row(one_line(link), link, link=link) for link in new]
        self._link.clear()
        self._show_rows()

    @Slot()
    def _on_remove_clicked(self) -> None:
        row = self._current
        if row and row.source:
            row.is_removed = not row.is_removed
        elif row:
            self._rows.remove(row)
        self._show_rows()
