"""The results of a search as a list, and the notice that replaces them. Qt thread."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QGridLayout,
    QListView,
    QScrollArea,
    QStyle,
    QStyleOptionViewItem,
    QWidget,
)

from desktop_rag.core.domain import Document
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.search_syntax import SEARCH_SYNTAX
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.passages.passage_painter import FoundPassage, PassagePainter
from desktop_rag.ui.search.found_files import FoundFile, SearchResults, by_id
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import draw_line
from desktop_rag.ui.widgets.item_list import Column, RowsModel
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical

Index = QModelIndex | QPersistentModelIndex
# Shown below a file at first; the others follow on request.
_PASSAGES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class FileRow:
    """The name of a file above its passages."""

    file: FoundFile

    @property
    def passage(self) -> FoundPassage:
        """The passage that opening the row shows."""
        return self.file.passages[0]

    @property
    def words(self) -> str:
        """The row as it is read out."""
        return ", ".join(filter(None, (self.file.name, self.file.folder, self.file.details)))


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage, below its file or by itself."""

    passage: FoundPassage
    is_below_file: bool

    @property
    def words(self) -> str:
        """The row as it is read out."""
        shown = self.passage
        return ": ".join(
            filter(None, (", ".join(filter(None, (shown.heading, shown.file))), shown.piece))
        )


@dataclass(frozen=True, slots=True)
class MoreRow:
    """Represents the passages of a file that are not shown yet."""

    file: FoundFile
    hidden: int

    @property
    def passage(self) -> FoundPassage:
        """The first passage that is not shown."""
        return self.file.passages[-self.hidden]

    @property
    def words(self) -> str:
        """The row as it is shown and read out."""
        return tr(
            "Show {count_of}",
            count_of=count_of(self.hidden, tr("more passage"), tr("more passages")),
        )


Row = FileRow | PassageRow | MoreRow


class ResultModel(RowsModel[Row]):
    """Results as rows: passages, or files with their passages below."""

    def __init__(self, parent: QObject | None = None) -> None:
        column = Column[Row](tr("Results"), _title, spoken=lambda row: row.words)
        super().__init__([column], parent)
        self._results = SearchResults()
        self._is_by_file = True
        self._opened: set[str] = set()

    def show_results(self, results: SearchResults, *, is_by_file: bool) -> None:
        """Replace all rows; files stay expanded while the text is the same."""
        if results.text != self._results.text:
            self._opened.clear()
        self._results, self._is_by_file = results, is_by_file
        self._reset()

    def open_file(self, document_id: str) -> None:
        """Show all passages of this file."""
        self._opened.add(document_id)
        self._reset()

    def row_of(self, index: Index) -> Row | None:
        """The row at an index."""
        return self.row_at(index.row()) if index.isValid() else None

    def rows(self) -> Sequence[Row]:
        """All rows from top to bottom."""
        return self._rows

    def _reset(self) -> None:
        passages = self._results.passages
        by_passage = (PassageRow(found, is_below_file=False) for found in passages)
        self.show(list(self._by_file() if self._is_by_file else by_passage))

    def _by_file(self) -> Iterator[Row]:
        for file in self._results.files:
            yield FileRow(file)
            is_open = file.document.document_id in self._opened
            shown = len(file.passages) if is_open else _PASSAGES_SHOWN
            # A row that says "1 more" would take as much room as the passage.
            shown += len(file.passages) == shown + 1
            for found in file.passages[:shown]:
                yield PassageRow(found, is_below_file=True)
            if (hidden := len(file.passages) - shown) > 0:
                yield MoreRow(file, hidden)


def _title(row: Row) -> str:
    if isinstance(row, FileRow):
        return row.file.name
    return row.words if isinstance(row, MoreRow) else row.passage.heading or row.passage.piece


_PADDING_PX = 8
_INDENT_PX = 26
_ICON_PX = 16
_GAP_PX = 8
# The share of a file's line; the name gets the rest.
_DETAILS_PART = 0.4


class ResultPainter(PassagePainter):
    """Paints names in bold with their folder; passages of a file are indented."""

    def found_at(self, index: Index) -> FoundPassage | None:
        row = index.data(RowsModel.RowRole)
        return row.passage if isinstance(row, PassageRow) else None

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        if self.found_at(index):
            return super().sizeHint(option, index)
        height = QFontMetrics(option.font).lineSpacing() + 2 * _PADDING_PX
        return QSize(0, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(RowsModel.RowRole)
        painter.save()
        match row:
            case FileRow():
                self._paint_background(painter, option)
                self._paint_file(painter, row, option, index)
            case MoreRow():
                self._paint_background(painter, option)
                area = _indented(option.rect, option).adjusted(_PADDING_PX, 0, -_PADDING_PX, 0)
                painter.setLayoutDirection(option.direction)
                painter.setFont(option.font)
                painter.setPen(self._theme.colour("link"))
                draw_line(painter, area, row.words)
            case PassageRow(is_below_file=True):
                below = QStyleOptionViewItem(option)
                below.rect = _indented(option.rect, option)
                super().paint(painter, below, index)
            case _:
                super().paint(painter, option, index)
        painter.restore()

    def _paint_file(
        self, painter: QPainter, row: FileRow, option: QStyleOptionViewItem, index: Index
    ) -> None:
        if index.row():
            painter.setPen(self._theme.colour("border"))
            painter.drawLine(option.rect.topLeft(), option.rect.topRight())
        area = option.rect.adjusted(_PADDING_PX, 0, -_PADDING_PX, 0)
        direction = option.direction
        painter.setLayoutDirection(direction)
        top = area.y() + (area.height() - _ICON_PX) // 2
        icon = QRect(area.x(), top, _ICON_PX, _ICON_PX)
        name = "link" if row.file.document.url else "file-text"
        shown = QStyle.visualRect(direction, area, icon)
        self._theme.icon(f"{name}:muted").paint(painter, shown)
        line = area.adjusted(_ICON_PX + _GAP_PX, 0, 0, 0)
        line = QStyle.visualRect(direction, area, line)
        painter.setFont(option.font)
        painter.setPen(self._theme.colour("muted"))
        middle = Qt.TextElideMode.ElideMiddle
        details = painter.fontMetrics().elidedText(
            row.file.details, Qt.TextElideMode.ElideRight, int(line.width() * _DETAILS_PART)
        )
        draw_line(painter, line, details, at_end=True)
        room = line.width() - painter.fontMetrics().horizontalAdvance(details) - _GAP_PX
        bold = QFont(option.font)
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(self._theme.colour("text"))
        name = painter.fontMetrics().elidedText(row.file.name, middle, room)
        width = painter.fontMetrics().horizontalAdvance(name)
        place = QRect(line.x(), line.y(), room, line.height())
        draw_line(painter, QStyle.visualRect(direction, line, place), name)
        rest = QRect(line.x() + width + _GAP_PX, line.y(), room - width - _GAP_PX, line.height())
        if rest.width() > 3 * _GAP_PX:
            painter.setFont(option.font)
            painter.setPen(self._theme.colour("faint"))
            folder = painter.fontMetrics().elidedText(
                row.file.folder, Qt.TextElideMode.ElideLeft, rest.width()
            )
            draw_line(painter, QStyle.visualRect(direction, line, rest), folder)


def _indented(area: QRect, option: QStyleOptionViewItem) -> QRect:
    """The area without an indent on the side where reading begins."""
    return QStyle.visualRect(option.direction, area, area.adjusted(_INDENT_PX, 0, 0, 0))


_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class ResultList(QListView):
    """The results; rows can be selected together, as files in a file manager.

    `chosen` carries the FoundPassage of the current row, or None; `read_requested` asks to read it,
    `ask_requested` to ask about the selected files. `left` follows when the person moves up from
    the first row. `menu_requested` carries a point on the screen.
    """

    chosen = Signal(object)
    selection_changed = Signal()
    read_requested = Signal()
    ask_requested = Signal()
    left = Signal()
    menu_requested = Signal(QPoint)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.results = SearchResults()
        self._rows = ResultModel(self)
        self.setModel(self._rows)
        self.setItemDelegate(ResultPainter(theme, self))
        self.setObjectName("searchResults")
        self.setAccessibleName(tr("Results"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMouseTracking(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(
            lambda place: self.menu_requested.emit(self.viewport().mapToGlobal(place))
        )
        self.clicked.connect(self._on_clicked)
        self.doubleClicked.connect(lambda _index: self.read_requested.emit())
        self.selectionModel().selectionChanged.connect(lambda *_: self.selection_changed.emit())
        theme.changed.connect(self.viewport().update)

    # --- what is shown and chosen ----------------------------------------------------------------

    @property
    def current(self) -> FoundPassage | None:
        """The passage of the current row."""
        row = self._rows.row_of(self.currentIndex())
        return row.passage if row else None

    @property
    def selected(self) -> list[Document]:
        """The documents of the selected rows, each once, in the order of the list."""
        rows = sorted(index.row() for index in self.selectionModel().selectedIndexes())
        ids = dict.fromkeys(_document_of(self._rows.rows()[row]) for row in rows)
        known = by_id(self.results)
        return [known[document_id] for document_id in ids]

    def show_results(self, results: SearchResults, *, is_by_file: bool) -> None:
        """Replace the rows; the current one stays current if it is still there."""
        before, place = self._rows.row_of(self.currentIndex()), self.verticalScrollBar().value()
        is_same = results.text == self.results.text
        self.results = results
        self._rows.show_results(results, is_by_file=is_by_file)
        self._choose_again(before)
        if is_same:
            self.verticalScrollBar().setValue(place)

    def _choose_again(self, before: Row | None) -> None:
        rows = self._rows.rows()
        same = (n for n, row in enumerate(rows) if before and _is_same(row, before))
        if (at := next(same, None)) is not None:
            self._choose(at)
        else:
            self.chosen.emit(None)
        self.selection_changed.emit()

    def choose_first(self) -> None:
        """Focus the list, at the first row unless another one is current."""
        if not self.currentIndex().isValid() and self._rows.rowCount():
            self._choose(0)
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _choose(self, row: int) -> None:
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
        self.selectionModel().setCurrentIndex(self._rows.index(row, 0), flags)

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        row = self._rows.row_of(current)
        self.chosen.emit(row.passage if row else None)

    # --- keys and clicks -------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self._rows.row_of(self.currentIndex())
        if event.key() == Qt.Key.Key_Up and self.currentIndex().row() <= 0:
            self.left.emit()
        elif isinstance(row, MoreRow) and event.key() in {*_ENTER, Qt.Key.Key_Space}:
            self._open(row)
        elif event.key() in _ENTER:
            self.ask_requested.emit()
        elif event.key() == Qt.Key.Key_Space:
            self.read_requested.emit()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # A right click on the selection keeps it, for the menu.
        is_right = event.button() == Qt.MouseButton.RightButton
        if not (
            is_right and self.selectionModel().isSelected(self.indexAt(event.position().toPoint()))
        ):
            super().mousePressEvent(event)

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        row = self._rows.row_of(index)
        if isinstance(row, MoreRow):
            self._open(row)

    def _open(self, row: MoreRow) -> None:
        at, place = self.currentIndex().row(), self.verticalScrollBar().value()
        self._rows.open_file(_document_of(row))
        self._choose(max(0, at))
        self.verticalScrollBar().setValue(place)


def _document_of(row: Row) -> str:
    return row.passage.passage.document_id


def _is_same(row: Row, other: Row) -> bool:
    if isinstance(row, PassageRow) and isinstance(other, PassageRow):
        return row.passage.passage.chunk_id == other.passage.passage.chunk_id
    return type(row) is type(other) and _document_of(row) == _document_of(other)


# The widest readable lines, in pixels and in text heights.
_MOST_PX, _MOST_LINES = 520, 34


class SearchNotice(QScrollArea):
    """Replaces the results: a title, a hint how to begin or what to try, and remedies."""

    folder_requested = Signal()
    filters_dropped = Signal()
    question_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("searchNotice")
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._title = PlainLabel(scale="heading", wrap=True)
        self._hint = PlainLabel(tone="muted", wrap=True)
        self._syntax = self._build_syntax()
        self._folder = TextButton(tr("Add a folder"), kind="primary", then=self.folder_requested)
        self._drop = TextButton(tr("Search without filters"), then=self.filters_dropped)
        self._ask = TextButton(tr("Ask it as a question"), then=self.question_requested)
        content = QWidget()
        content.setProperty("kind", "page")
        content.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        inner = QWidget()
        # Limited in a row: a column would ask for the height at its own width.
        inner.setMaximumWidth(max(_MOST_PX, _MOST_LINES * self.fontMetrics().height()))
        horizontal((inner, 1), Stretch(0), on=content, margins=(16, 24, 16, 16))
        vertical(
            self._title,
            self._hint,
            self._syntax,
            horizontal(self._folder, self._drop, self._ask, Stretch(), spacing=8),
            Stretch(),
            on=inner,
            margins=0,
            spacing=10,
        )
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
        """Say that there is nothing to search yet."""
        self._show(
            tr("Nothing to search yet"),
            tr(
                "Add a folder, and its files can be found here by their words and by what they"
                " mean."
            ),
            offers=(self._folder,),
        )

    def show_start(self, files: int) -> None:
        """Say how to search, while nothing is typed."""
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
        """Say that nothing was found; files are still being read if not `is_complete`.

        `typed` are the filters among the words; `has_words` is False if there is nothing else.
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
