"""Column widths of tables that keep words whole where there is little room. Qt thread."""

from dataclasses import dataclass

from PySide6.QtGui import (
    QFontMetricsF,
    QTextDocument,
    QTextFrame,
    QTextLayout,
    QTextLength,
    QTextOption,
    QTextTable,
    QTextTableCell,
)

# A column is at least as wide as its longest word, up to this many characters.
_WHOLE_CHARS = 20
_ROUNDING_PX = 1.0


@dataclass(frozen=True, slots=True)
class _Measured:
    """A table with the widths that each column needs for its words and its longest line."""

    table: QTextTable
    least: tuple[float, ...]
    most: tuple[float, ...]


class TableWidths:
    """The bordered tables of one document; those without borders hold code and quotes."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self._measured: list[_Measured] = []

    def measure(self) -> None:
        """Measure the tables after the text or its font has changed."""
        found = tables_in(self._document.rootFrame())
        self._measured = [_measured(table) for table in found if table.format().border() > 0]

    def forget(self) -> None:
        """Forget the tables; called before the text is replaced."""
        self._measured.clear()

    def fit(self, room_px: float) -> None:
        """Set the column widths; a table whose words need more room exceeds it."""
        for each in self._measured:
            widths = _widths(each, room_px)
            form = each.table.format()
            if form.columnWidthConstraints() != widths:
                form.setColumnWidthConstraints(widths)
                each.table.setFormat(form)


def tables_in(frame: QTextFrame) -> list[QTextTable]:
    """All tables below a frame, in the order in which they begin."""
    found: list[QTextTable] = []
    for child in frame.childFrames():
        found += [child] if isinstance(child, QTextTable) else []
        found += tables_in(child)
    return sorted(found, key=lambda table: table.firstPosition())


def _widths(measured: _Measured, room_px: float) -> list[QTextLength]:
    """The column widths; unconstrained if every line fits."""
    # The edges of the columns, and the frame around them all.
    edges = len(measured.most) + 3
    room_px -= edges * measured.table.format().border() + _ROUNDING_PX
    least, most = sum(measured.least), sum(measured.most)
    if most <= room_px:
        return [QTextLength()] * len(measured.most)
    share = max(0.0, room_px - least) / max(most - least, 1.0)
    return [
        QTextLength(QTextLength.Type.FixedLength, small + share * (large - small))
        for small, large in zip(measured.least, measured.most, strict=True)
    ]


def _measured(table: QTextTable) -> _Measured:
    form = table.format()
    edges = 2 * (form.cellPadding() + form.border()) + _ROUNDING_PX
    columns = [
        [_room_of(table.cellAt(row, column)) for row in range(table.rows())]
        for column in range(table.columns())
    ]
    least = tuple(max(word for word, _ in cells) + edges for cells in columns)
    return _Measured(
        table, least, tuple(max(line for _, line in cells) + edges for cells in columns)
    )


def _room_of(cell: QTextTableCell) -> tuple[float, float]:
    """The widths of the longest word and the longest line of a cell."""
    words, lines = 0.0, 0.0
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WordWrap)
    block, last = cell.firstCursorPosition().block(), cell.lastCursorPosition().block()
    while block.isValid():
        layout = QTextLayout(block)
        layout.setTextOption(option)
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(1)
            words = max(words, line.naturalTextWidth())
        layout.endLayout()
        lines = max(lines, layout.maximumWidth())
        if block == last:
            break
        block = block.next()
    metrics = QFontMetricsF(cell.firstCursorPosition().charFormat().font())
    return min(words, _WHOLE_CHARS * metrics.averageCharWidth()), lines
