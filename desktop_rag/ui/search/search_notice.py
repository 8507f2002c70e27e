"""What the search page says in place of results: how to begin, or what to try. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.search_syntax import SEARCH_SYNTAX
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton

# As wide as lines are read well, in pixels and in heights of the text.
_MOST_PX, _MOST_LINES = 520, 34


class SearchNotice(QScrollArea):
    """A title, a hint and the ways out."""

    folder_requested = Signal()
    filters_dropped = Signal()
    question_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("searchNotice")
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._title = PlainLabel(scale="heading", wrap=True)
        self._hint = PlainLabel(tone="muted", wrap=True)
        self._syntax = self._build_syntax()
        self._folder = TextButton(tr("Add a folder"), kind="primary")
        self._drop = TextButton(tr("Search without filters"))
        self._ask = TextButton(tr("Ask it as a question"))
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button, signal in (
            (self._folder, self.folder_requested),
            (self._drop, self.filters_dropped),
            (self._ask, self.question_requested),
        ):
            button.clicked.connect(signal)
            buttons.addWidget(button)
        buttons.addStretch(1)
        content = QWidget()
        content.setProperty("kind", "page")
        content.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        inner = QWidget()
        # Bound in a row: a column would ask for the height at its own width.
        inner.setMaximumWidth(max(_MOST_PX, _MOST_LINES * self.fontMetrics().height()))
        row = QHBoxLayout(content)
        row.setContentsMargins(16, 24, 16, 16)
        row.addWidget(inner, 1)
        row.addStretch(0)
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        for widget in (self._title, self._hint, self._syntax):
            column.addWidget(widget)
        column.addLayout(buttons)
        column.addStretch(1)
        self.setWidget(content)

    @staticmethod
    def _build_syntax() -> QWidget:
        table = QWidget()
        grid = QGridLayout(table)
        grid.setContentsMargins(0, 4, 0, 4)
        grid.setHorizontalSpacing(16)
        for row, example in enumerate(SEARCH_SYNTAX):
            grid.addWidget(PlainLabel(example.written, selectable=True), row, 0)
            meaning = PlainLabel(example.meaning, tone="muted", wrap=True)
            grid.addWidget(meaning, row, 1)
        grid.setColumnStretch(1, 1)
        return table

    def show_no_folder(self) -> None:
        """There is nothing to search yet."""
        self._show(
            tr("Nothing to search yet"),
            tr(
                "Add a folder, and its files can be found here by their words and by what they"
                " mean."
            ),
            offers=(self._folder,),
        )

    def show_start(self, files: int) -> None:
        """Nothing is typed."""
        self._show(
            tr("Search {count_of}", count_of=count_of(files, tr("file"), tr("files")))
            if files
            else tr("Search your files"),
            tr(
                "Results come while you type: passages with your words first, then those that mean"
                " the same. This narrows them down:"
            ),
            has_syntax=True,
        )

    def show_nothing(
        self, *, has_filters: bool, typed: Sequence[str], has_words: bool, is_complete: bool
    ) -> None:
        """No passage was found; `is_complete` is false while files are still being read.

        `typed` are filters among the words, `has_words` is false where there is nothing else.
        """
        tries: list[str] = []
        if typed:
            written = ", ".join(map(one_line, typed))
            tries.append(
                tr("{filters} may leave out what you are looking for.", filters=written)
                if has_words
                else tr("No file passes {filters}.", filters=written)
            )
        elif has_filters:
            tries.append(tr("The filters may leave out what you are looking for."))
        if has_words:
            tries.append(tr("Check the spelling, or try fewer or other words."))
        if not is_complete:
            tries.append(tr("Some files are still being read and can’t be found yet."))
        offers = (self._drop, self._ask) if has_filters or typed else (self._ask,)
        self._show(tr("Nothing found"), " ".join(tries), offers=offers)

    def show_failure(self, title: str, hint: str) -> None:
        """The search was refused, as for a date that is none."""
        self._show(title, hint)

    def _show(
        self,
        title: str,
        hint: str,
        *,
        has_syntax: bool = False,
        offers: tuple[TextButton, ...] = (),
    ) -> None:
        self._title.setText(title)
        self._hint.setText(hint)
        self._syntax.setVisible(has_syntax)
        for button in (self._folder, self._drop, self._ask):
            button.setVisible(button in offers)
