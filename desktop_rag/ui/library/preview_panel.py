"""What adding a folder would mean: how much, how long, and what is left out and why. Qt thread."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import FolderPreview, LeftOut
from desktop_rag.ui.foundation.wording import count_of, one_line, size_in_words, time_in_words
from desktop_rag.ui.widgets.controls import Card, PlainLabel

_MOST_FORMATS = 6


class PreviewPanel(Card):
    """Shows a FolderPreview, or that it is still being made."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._headline = PlainLabel(scale="heading", wrap=True)
        self._details = PlainLabel(tone="muted", wrap=True)
        self._left_out = PlainLabel("Left out", scale="small")
        self._list = QVBoxLayout()
        self._list.setSpacing(8)
        body = QWidget()
        body.setLayout(self._list)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(body)
        self._scroll.setAccessibleName("What is left out")
        self._scroll.setObjectName("leftOut")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(8)
        column.addWidget(self._headline)
        column.addWidget(self._details)
        column.addWidget(self._left_out)
        column.addWidget(self._scroll, 1)

    def show_counting(self) -> None:
        """The folder is being looked through."""
        self._say("Counting files…", "")

    def show_error(self, error: AppError) -> None:
        """It cannot be looked through."""
        self._say(error.title, error.hint)

    def show_preview(self, preview: FolderPreview) -> None:
        """How much there is to read, and what is left out."""
        files = count_of(preview.files, "file")
        if not preview.files:
            self._say("Nothing to read here", "No file of this folder would be searchable.")
        else:
            self._say(
                f"{files} to read, {size_in_words(preview.size_bytes)}",
                f"{_formats_in_words(preview.by_format)}. Searchable by words within moments, by "
                f"meaning after {time_in_words(preview.seconds)} or so.",
            )
        for left_out in preview.left_out:
            self._list.addWidget(_left_out_label(left_out))
        self._list.addStretch(1)
        self._left_out.setVisible(bool(preview.left_out))

    def _say(self, headline: str, details: str) -> None:
        self._headline.setText(headline)
        self._details.setText(details)
        self._left_out.hide()
        while item := self._list.takeAt(0):
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()


def _formats_in_words(by_format: dict[str, int]) -> str:
    ordered = sorted(by_format.items(), key=lambda entry: -entry[1])
    shown = [f"{count:,} {name}" for name, count in ordered[:_MOST_FORMATS]]
    others = sum(count for _, count in ordered[_MOST_FORMATS:])
    return ", ".join([*shown, f"{others:,} of other kinds"] if others else shown)


def _left_out_label(left_out: LeftOut) -> PlainLabel:
    examples = "\n".join(f"    {one_line(path)}" for path in left_out.examples)
    text = f"{left_out.files:,} × {one_line(left_out.reason)}"
    return PlainLabel(f"{text}\n{examples}" if examples else text, scale="small", wrap=True)
