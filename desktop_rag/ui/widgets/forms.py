"""Rows with buttons, dialogs with a form, and questions that come before something. Qt thread."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from PySide6.QtCore import QDir, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QMessageBox, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.wording import failure_in_words
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton, plain_question
from desktop_rag.ui.widgets.layouts import Gap, Stretch, clear, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ContentScroll

# A button of a row: its text, its accessible name, and what it does.
RowAction = tuple[str, str, Callable[[], object]]


class RowList(QWidget):
    """Rows one below the other, or words where there are none."""

    def __init__(self, spacing_px: int = 12) -> None:
        super().__init__()
        self._column = vertical(on=self, margins=0, spacing=spacing_px)

    def show_rows(self, rows: Iterable[QWidget], none: str = "") -> None:
        """Show these in place of those before; `none` says that there are none."""
        clear(self._column)
        for row in rows:
            self._column.addWidget(row)
        if none and not self._column.count():
            self._column.addWidget(PlainLabel(none, tone="muted", wrap=True))


def row_of(name: str, actions: Iterable[RowAction], below: Iterable[QWidget]) -> QWidget:
    """A name with buttons beside it, and what is about it below."""
    row = QWidget()
    line = horizontal((ElidedLabel(name), 1), *map(_button, actions), spacing=10)
    vertical(line, *below, on=row, margins=0, spacing=2)
    return row


def _button(action: RowAction) -> TextButton:
    text, told, do = action
    button = TextButton(text, kind="quiet")
    button.setAccessibleName(told)
    button.clicked.connect(do)
    return button


class FormDialog(QDialog):
    """A form that scrolls, why it was refused, and the buttons; `submitted` carries its value."""

    submitted = Signal(object)

    def __init__(
        self, title: str, inside: QWidget, width_px: int, parent: QWidget, *, send: str = ""
    ) -> None:
        """`send` is on the button, instead of Save. Others add to the `column`."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.setMinimumWidth(width_px)
        self._error = PlainLabel(tone="danger", wrap=True)
        self._error.hide()
        self._send = TextButton(send or tr("Save"), kind="primary", then=self._on_send_clicked)
        self._send.setDefault(True)
        self._leave = TextButton(tr("Cancel"), then=self.reject)
        self._scroll = ContentScroll(inside)
        self.buttons = horizontal(Stretch(), self._leave, self._send)
        self.column = vertical(
            (self._scroll, 1),
            self._error,
            Gap(6),
            self.buttons,
            on=self,
            margins=(20, 18, 20, 16),
            spacing=8,
        )

    def value(self) -> object:
        """What the form says now."""
        raise NotImplementedError

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._scroll.make_room()

    def show_error(self, error: AppError) -> None:
        """Say why it was refused; the form stays."""
        self._error.say(failure_in_words(error))
        self._send.setEnabled(True)

    @Slot()
    def _on_send_clicked(self) -> None:
        self._send.setEnabled(False)
        self.submitted.emit(self.value())


# Where the last file was chosen. The working folder, Qt's usual place, says nothing to people.
_left_at = QUrl.fromLocalFile(QDir.homePath())


def _file_dialog(
    parent: QWidget,
    title: str,
    name: str,
    start: str = "",
    mode: QFileDialog.FileMode = QFileDialog.FileMode.AnyFile,
) -> QFileDialog:
    """A dialog in the folder `start`, else where the last one ended."""

    def leave() -> None:
        global _left_at  # noqa: PLW0603  one for all dialogs, as for a person
        _left_at = dialog.directoryUrl()

    dialog = QFileDialog(parent, title, start, fileMode=mode)
    if not start:
        dialog.setDirectoryUrl(_left_at)
    dialog.setObjectName(name)
    dialog.accepted.connect(leave)
    return dialog


def choose_file(
    parent: QWidget,
    title: str,
    take: Callable[[str], object],
    *,
    name: str = "",
    start: str = "",
    filters: Sequence[str] = (),
) -> None:
    """Let the person choose a file that exists; `take` gets its path. `name` is for tests."""
    dialog = _file_dialog(parent, title, name, start, QFileDialog.FileMode.ExistingFile)
    if filters:
        dialog.setNameFilters(filters)
    dialog.fileSelected.connect(take)
    open_once(dialog)


def choose_files(
    parent: QWidget, title: str, take: Callable[[list[str]], object], *, name: str = ""
) -> None:
    """Let the person choose files that exist; `take` gets their paths."""
    dialog = _file_dialog(parent, title, name, "", QFileDialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(take)
    open_once(dialog)


def choose_folder(
    parent: QWidget, title: str, take: Callable[[str], object], *, name: str = "", start: str = ""
) -> None:
    """Let the person choose a folder, as `choose_file`."""
    dialog = _file_dialog(parent, title, name, start, QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.fileSelected.connect(take)
    open_once(dialog)


def save_as(
    parent: QWidget,
    title: str,
    proposed: str,
    kinds: Mapping[str, str],
    take: Callable[[str], object],
    *,
    name: str = "",
) -> None:
    """Let the person choose a file to write; `take` gets its path.

    `kinds` are the filters with the ending that each adds to a name without one; the first is the
    usual one.
    """
    dialog = _file_dialog(parent, title, name)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters(list(kinds))
    dialog.setDefaultSuffix(next(iter(kinds.values())))
    dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(kinds[chosen]))
    dialog.selectFile(proposed)
    dialog.fileSelected.connect(take)
    open_once(dialog)


def open_once(dialog: QDialog) -> None:
    """Open a dialog that is deleted once it is closed."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def ask_first(parent: QWidget, title: str, text: str, verb: str, do: Callable[[], object]) -> None:
    """Ask before something that can't be undone, and do it if that is wanted."""
    box = plain_question(parent, title, text)
    button = box.addButton(verb, QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    button.clicked.connect(do)
    box.open()
