"""Attachments as chips in the composer, and as lines above a sent question. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from desktop_rag.core.conversation import Attachment, AttachmentKind
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.composer.attached_files import AttachedFile
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import failure_in_words, hint_of, one_line, title_of
from desktop_rag.ui.widgets.controls import (
    Card,
    ElidedButton,
    ElidedLabel,
    IconButton,
    IconLabel,
    PlainLabel,
    set_tip,
)
from desktop_rag.ui.widgets.layouts import Stretch, clear, drop, horizontal, vertical

_MAX_COLUMNS = 2
_TWO_COLUMNS_MIN_PX = 440
_ICON_PX = 16


class AttachmentChip(Card):
    """One attached file: name, state and a button to remove it."""

    remove_requested = Signal(int)

    def __init__(self, theme: Theme, file: AttachedFile, parent: QWidget) -> None:
        super().__init__(parent, kind="chip", tone="danger" if file.error else "")
        name = one_line(file.name)
        icon = "error:danger" if file.error else f"{_icon(is_image=file.is_image)}:muted"
        title = ElidedLabel(name, mode=Qt.TextElideMode.ElideMiddle)
        state_text = _state_text(file)
        tone = "danger" if file.error else "muted"
        state = ElidedLabel(state_text, tone=tone, scale="small")
        state.setObjectName("attachmentState")
        set_tip(state, state_text)
        close = IconButton(theme, "close:muted", tr("Remove {name}", name=name))
        close.clicked.connect(lambda: self.remove_requested.emit(file.key))
        horizontal(
            IconLabel(theme, icon, self, size_px=_ICON_PX),
            (title, 3),
            (state, 9 if file.error else 2),
            close,
            on=self,
            margins=(8, 2, 2, 2),
            spacing=6,
        )
        self.setAccessibleName(
            tr("Attached: {name}, {state_text}", name=name, state_text=state_text)
        )


class AttachmentStrip(QWidget):
    """The chips of a conversation, above the reason if they can't be sent."""

    remove_requested = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._chips: list[AttachmentChip] = []
        self._wide: list[bool] = []
        self._placed_columns = _MAX_COLUMNS
        self._grid = QGridLayout()
        self._grid.setSpacing(6)
        self._note = PlainLabel(tone="danger", scale="small", wrap=True)
        self._note.setObjectName("attachmentNote")
        vertical(self._grid, self._note, on=self, margins=(0, 2, 4, 4), spacing=6)
        self._note.hide()
        self.hide()

    def show_files(self, files: Sequence[AttachedFile]) -> None:
        """Show these files, failed ones last."""
        drop(self._chips, of=self._grid)
        # A failed file or a single one takes a whole row.
        ordered = sorted(files, key=lambda file: file.error is not None)
        self._wide = [file.error is not None or len(ordered) == 1 for file in ordered]
        self._chips = [AttachmentChip(self._theme, file, self) for file in ordered]
        for widget in self._chips:
            widget.remove_requested.connect(self.remove_requested)
        self._place()
        self.setVisible(bool(files))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._columns != self._placed_columns:
            self._place()

    @property
    def _columns(self) -> int:
        return 1 if self.width() < _TWO_COLUMNS_MIN_PX else 2

    def _place(self) -> None:
        self._placed_columns = columns = self._columns
        place = 0
        for widget, is_wide in zip(self._chips, self._wide, strict=True):
            width = columns if is_wide else 1
            place += -place % width
            self._grid.addWidget(widget, *divmod(place, columns), 1, width)
            place += width
            widget.show()
        for number in range(_MAX_COLUMNS):
            self._grid.setColumnStretch(number, int(number < columns))

    def show_refusal(self, error: AppError | None) -> None:
        """Show why the attachments can't be sent; None if they can."""
        self._note.say(failure_in_words(error) if error else "")


class SentAttachments(QWidget):
    """The attachments of a sent question; `opened` carries the pressed one."""

    opened = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: tuple[Attachment, ...] = ()
        self._column = vertical(on=self, margins=0, spacing=0)
        self.hide()

    def show_attachments(self, attachments: tuple[Attachment, ...]) -> None:
        """Show these, one per line."""
        if attachments == self._shown:
            return
        self._shown = attachments
        clear(self._column)
        for attachment in attachments:
            self._column.addWidget(self._line(attachment))
        self.setVisible(bool(attachments))

    def _line(self, attachment: Attachment) -> QWidget:
        line = QWidget(self)
        words = one_line(f"{attachment.name} · {attachment.extent()}")
        # A file's name may be long: it must not widen the window.
        button = ElidedButton(words, "quiet", line)
        button.setProperty("part", "attachment")
        # Attachments of an imported chat have only a name.
        button.setEnabled(attachment.has_text or attachment.kind is AttachmentKind.IMAGE)
        button.clicked.connect(lambda: self.opened.emit(attachment))
        row = horizontal(Stretch(), on=line, margins=0, spacing=0)
        icon = _icon(is_image=attachment.kind is AttachmentKind.IMAGE)
        row.addWidget(IconLabel(self._theme, f"{icon}:muted", line, size_px=_ICON_PX))
        row.addWidget(button)
        return line


def _state_text(file: AttachedFile) -> str:
    if file.error:
        title = title_of(file.error)
        stop = "" if title.endswith((".", "!", "?")) else "."
        return one_line(f"{title}{stop} {hint_of(file.error)}")
    return file.attachment.extent() if file.attachment else tr("Reading…")


def _icon(*, is_image: bool) -> str:
    return "image" if is_image else "file-text"
