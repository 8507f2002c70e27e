"""The row that chooses a folder of rails, makes one, and says where it is. Qt thread."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QInputDialog,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import IconButton, PlainLabel, TextButton


class RailsChooser(QWidget):
    """`chosen` carries the Path of a folder, `named` the name for a new one.

    `reload_requested` reads the chosen folder again.
    """

    chosen = Signal(object)
    named = Signal(str)
    reload_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folder: Path | None = None
        self._choice = QComboBox()
        self._choice.setAccessibleName(tr("Your rails"))
        self._choice.setMinimumContentsLength(16)
        self._new = TextButton(tr("New rails…"), icon="plus:text", theme=theme)
        self._open = TextButton(tr("Open a folder…"))
        self._reload = IconButton(theme, "refresh:muted", tr("Read the folder again"))
        self._where = PlainLabel(tone="muted", scale="small", wrap=True, selectable=True)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._choice, 1)
        row.addWidget(self._reload)
        row.addWidget(self._new)
        row.addWidget(self._open)
        row.addStretch(0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self._where)
        self._choice.activated.connect(self._on_activated)
        self._new.clicked.connect(self.ask_for_name)
        self._open.clicked.connect(self._on_open)
        self._reload.clicked.connect(self.reload_requested)
        self.show_folders((), None, "")

    def show_folders(self, folders: Sequence[Path], chosen: Path | None, used: str) -> None:
        """Show folders by their names, and who uses the chosen one."""
        self._folder = chosen
        every = [*folders, *([chosen] if chosen and chosen not in folders else [])]
        self._choice.clear()
        for folder in every:
            self._choice.addItem(one_line(folder.name or str(folder)), folder)
        self._choice.setCurrentIndex(every.index(chosen) if chosen else -1)
        self._where.setText(f"{chosen}\n{used}" if chosen else "")
        for widget in (self._choice, self._reload, self._where):
            widget.setVisible(chosen is not None)

    @Slot()
    def ask_for_name(self) -> None:
        """Ask for the name of new rails."""
        dialog = QInputDialog(self)
        dialog.setWindowTitle(tr("New rails"))
        dialog.setLabelText(tr("A name for them, such as Museum"))
        dialog.textValueSelected.connect(self.named)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot(int)
    def _on_activated(self, place: int) -> None:
        folder = self._choice.itemData(place)
        # Shown once it is open: what is unsaved may keep the one before.
        self._choice.setCurrentIndex(self._choice.findData(self._folder))
        if folder != self._folder:
            self.chosen.emit(folder)

    @Slot()
    def _on_open(self) -> None:
        dialog = QFileDialog(self, tr("Choose a folder of rails"), str(Path.home()))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self._on_folder)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot(str)
    def _on_folder(self, path: str) -> None:
        self.chosen.emit(Path(path))
