"""A preview of a folder: its files, the time to index them, and the excluded ones. Qt thread."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, number_in_words, told, tr
from desktop_rag.core.library_events import FolderPreview, LeftOut
from desktop_rag.ui.foundation.error_words import hint_of, title_of
from desktop_rag.ui.foundation.wording import one_line, size_in_words, time_in_words
from desktop_rag.ui.widgets.controls import Card, PlainLabel

_MAX_FORMATS = 6


class PreviewPanel(Card):
    """Shows a FolderPreview, or that files are still being counted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._headline = PlainLabel(scale="heading", wrap=True)
        self._details = PlainLabel(tone="muted", wrap=True)
        self._left_out = PlainLabel(tr("Excluded"), scale="small")
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
        self._scroll.setAccessibleName(tr("Excluded files"))
        self._scroll.setObjectName("leftOut")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(8)
        column.addWidget(self._headline)
        column.addWidget(self._details)
        column.addWidget(self._left_out)
        column.addWidget(self._scroll, 1)

    def show_counting(self) -> None:
        """Show that the files are being counted."""
        self._show_summary(tr("Counting files…"), "")

    def show_error(self, error: AppError) -> None:
        """Show why the folder can't be read."""
        self._show_summary(title_of(error), hint_of(error))

    def show_preview(self, preview: FolderPreview) -> None:
        """Show the files to index and the excluded ones."""
        files = count_of(preview.files, tr("file"), tr("files"))
        if not preview.files:
            self._show_summary(
                tr("Nothing to index"),
                tr("With these rules, no file in this folder would be searchable."),
            )
        else:
            self._show_summary(
                tr(
                    "{files} to index, {size_in_words}",
                    files=files,
                    size_in_words=size_in_words(preview.size_bytes),
                ),
                tr(
                    "{formats_in_words}. Searchable by words almost immediately, by meaning"
                    " after about {time_in_words}.",
                    formats_in_words=_formats_in_words(preview.by_format),
                    time_in_words=time_in_words(preview.seconds),
                ),
            )
        for left_out in preview.left_out:
            self._list.addWidget(_left_out_label(left_out))
        self._list.addStretch(1)
        self._left_out.setVisible(bool(preview.left_out))

    def _show_summary(self, headline: str, details: str) -> None:
        self._headline.setText(headline)
        self._details.setText(details)
        self._left_out.hide()
        while item := self._list.takeAt(0):
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()


def _formats_in_words(by_format: dict[str, int]) -> str:
    ordered = sorted(by_format.items(), key=lambda entry: -entry[1])
    shown = [f"{number_in_words(count)} {name}" for name, count in ordered[:_MAX_FORMATS]]
    others = sum(count for _, count in ordered[_MAX_FORMATS:])
    return ", ".join(
        [*shown, count_of(others, tr("other file"), tr("other files"))] if others else shown
    )


def _left_out_label(left_out: LeftOut) -> PlainLabel:
    examples = "\n".join(f"    {one_line(path)}" for path in left_out.examples)
    text = f"{number_in_words(left_out.files)} × {one_line(told(left_out.reason))}"
    return PlainLabel(f"{text}\n{examples}" if examples else text, scale="small", wrap=True)
