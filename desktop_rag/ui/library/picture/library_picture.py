"""A treemap of the library: tiles as large as their numbers of files. Qt thread.

Folders are divided by type, or types by folder; each tile shows the states of its files.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QBrush,
    QColor,
    QEnterEvent,
    QIcon,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractButton, QWidget

from desktop_rag.core.language.translation import count_of, number_in_words, tr
from desktop_rag.ui.foundation.bridge import ClickWatch
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import value_in_words
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.library.facets.facet_groups import Places
from desktop_rag.ui.library.facets.facet_values import (
    Facet,
    FileFilter,
    KeyCounts,
    StateGroup,
    folder_value,
    is_inside,
)
from desktop_rag.ui.widgets.controls import ElidedButton, plain_tooltip, press_by_enter
from desktop_rag.ui.widgets.flow_row import WrappingRow
from desktop_rag.ui.widgets.form_fields import chips, selected_value
from desktop_rag.ui.widgets.layouts import drop, horizontal, vertical


class Area(NamedTuple):
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float


def squarified(sizes: Sequence[float], room: Area) -> list[Area]:
    """An area for each size, as square as possible; sizes are positive, the largest first. Pure.

    After Bruls, Huizing and van Wijk, "Squarified Treemaps" (2000).
    """
    total = sum(sizes)
    if not total or room.width <= 0 or room.height <= 0:
        return [Area(room.x, room.y, 0, 0) for _ in sizes]
    scale = room.width * room.height / total
    left = [size * scale for size in sizes]
    areas: list[Area] = []
    while left:
        row = _best_row(left, min(room.width, room.height))
        placed, room = _placed(row, room)
        areas += placed
        left = left[len(row) :]
    return areas


def _best_row(sizes: Sequence[float], side: float) -> Sequence[float]:
    """As many of the first sizes as make the squarest row along a side."""
    count = 1
    while count < len(sizes) and _worst(sizes[: count + 1], side) <= _worst(sizes[:count], side):
        count += 1
    return sizes[:count]


def _worst(row: Sequence[float], side: float) -> float:
    """The largest ratio of the sides of an area in the row; 1 is a square."""
    total = sum(row)
    return max(max(side**2 * size / total**2, total**2 / (side**2 * size)) for size in row)


def _placed(row: Sequence[float], room: Area) -> tuple[list[Area], Area]:
    """The areas of a row along the shorter side, and the room that is left."""
    areas: list[Area] = []
    if room.width >= room.height:
        width, y = sum(row) / room.height, room.y
        for size in row:
            areas.append(Area(room.x, y, width, size / width))
            y += size / width
        return areas, Area(room.x + width, room.y, room.width - width, room.height)
    height, x = sum(row) / room.width, room.x
    for size in row:
        areas.append(Area(x, room.y, size / height, height))
        x += size / height
    return areas, Area(room.x, room.y + height, room.width, room.height - height)


_MOST_GROUPS = 12
_MOST_PARTS = 8


class Grouping(StrEnum):
    """What the picture is divided by first."""

    FOLDER = "folder"
    KIND = "kind"


@dataclass(frozen=True, slots=True)
class Part:
    """Some files: their words, their number in each state, and the filter that shows them.

    `name` is the label without that of the group around it.
    """

    label: str
    states: Counter[str]
    chosen: Mapping[Facet, frozenset[str]]
    name: str
    parts: "tuple[Part, ...]" = ()

    @property
    def count(self) -> int:
        """The number of files."""
        return self.states.total()

    @property
    def words(self) -> str:
        """The label with the numbers: `PDF in letters: 12 files, 3 failed`."""
        others = [
            f"{number_in_words(self.states[group.value])} {value_in_words(group)}"
            for group in StateGroup
            if self.states[group.value]
        ]
        files = count_of(self.count, tr("file"), tr("files"))
        return f"{self.label}: {files}, {', '.join(others)}"


@dataclass(slots=True)
class _Pile:
    """Files under one value, sorted by the values of the other facet."""

    states: Counter[str] = field(default_factory=Counter[str])
    inner: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])


def picture_parts(totals: KeyCounts, places: Places, grouping: Grouping) -> tuple[Part, ...]:
    """The groups of files with their parts, the largest first; small ones are merged."""
    has_several = len(places.sources) > 1
    piles: dict[str, _Pile] = {}
    for key, number in totals.items():
        if is_inside(key):
            continue
        folder, kind = folder_value(key[2], "" if has_several else key[3]), key[1]
        outer, inner = (folder, kind) if grouping is Grouping.FOLDER else (kind, folder)
        pile = piles.setdefault(outer, _Pile())
        pile.states[key[0]] += number
        pile.inner.setdefault(inner, Counter())[key[0]] += number
    facets = (Facet.FOLDER, Facet.KIND)
    outer_facet, inner_facet = facets if grouping is Grouping.FOLDER else facets[::-1]
    largest = sorted(piles, key=lambda value: (-piles[value].states.total(), value))
    groups = [
        _group(outer_facet, inner_facet, [value], piles, places) for value in largest[:_MOST_GROUPS]
    ]
    if rest := largest[_MOST_GROUPS:]:
        groups.append(_group(outer_facet, inner_facet, rest, piles, places))
    return tuple(groups)


def _group(
    outer: Facet, inner: Facet, values: Sequence[str], piles: Mapping[str, _Pile], places: Places
) -> Part:
    states: Counter[str] = Counter()
    found: dict[str, Counter[str]] = {}
    for value in values:
        states += piles[value].states
        for key, counts in piles[value].inner.items():
            found.setdefault(key, Counter()).update(counts)
    label = _label(outer, values, places)
    chosen = {outer: frozenset(values)}
    largest = sorted(found, key=lambda key: (-found[key].total(), key))
    cuts = [[key] for key in largest[:_MOST_PARTS]]
    if rest := largest[_MOST_PARTS:]:
        cuts.append(rest)
    parts = tuple(
        Part(
            tr("{label} in {label2}", label=name, label2=label),
            sum((found[key] for key in cut), Counter[str]()),
            {**chosen, inner: frozenset(cut)},
            name,
        )
        for cut in cuts
        for name in (_label(inner, cut, places),)
    )
    return Part(label, states, chosen, label, parts)


def _label(facet: Facet, values: Sequence[str], places: Places) -> str:
    if len(values) == 1:
        return places.label(facet, values[0]).rpartition(" › ")[2]
    if facet is Facet.FOLDER:
        return count_of(len(values), tr("other folder"), tr("other folders"))
    return count_of(len(values), tr("other type"), tr("other types"))


def states_of(parts: Iterable[Part]) -> Counter[str]:
    """The number of files in each state."""
    return sum((part.states for part in parts), Counter[str]())


# Background, colour of the pattern, and pattern; the most common state has none.
_LOOKS: Mapping[StateGroup, tuple[str, str, Qt.BrushStyle]] = {
    StateGroup.SEARCHABLE: ("success_soft", "success", Qt.BrushStyle.NoBrush),
    StateGroup.IN_PROGRESS: ("accent_soft", "accent", Qt.BrushStyle.Dense6Pattern),
    StateGroup.FAILED: ("danger_soft", "danger", Qt.BrushStyle.DiagCrossPattern),
    StateGroup.SKIPPED: ("sunken", "muted", Qt.BrushStyle.BDiagPattern),
    StateGroup.EXCLUDED: ("hover", "muted", Qt.BrushStyle.HorPattern),
    StateGroup.OFFLINE: ("warning_soft", "warning", Qt.BrushStyle.VerPattern),
}
_PADDING_PX = 6
_ROUND_PX = 3
_FOCUS_PX = 2


def paint_state(painter: QPainter, theme: Theme, state: StateGroup, area: QRectF) -> None:
    """Fill an area with the colour and pattern of a state."""
    soft, strong, pattern = _LOOKS[state]
    painter.fillRect(area, theme.colour(soft))
    if pattern is not Qt.BrushStyle.NoBrush:
        painter.fillRect(area, QBrush(theme.colour(strong), pattern))


class PictureTile(QAbstractButton):
    """A button for some files, whose name has the numbers; states differ by colour and pattern."""

    def __init__(self, theme: Theme, part: Part, words: str, parent: QWidget) -> None:
        """`words` is the label on the tile, shorter than its name."""
        super().__init__(parent)
        self._theme = theme
        self._words = words
        self._is_hovered = False
        self.part = part
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.show_part(part)

    def show_part(self, part: Part) -> None:
        """Show other numbers of the same files."""
        self.part = part
        self.setAccessibleName(part.words)
        self.setToolTip(plain_tooltip(part.words))
        self.update()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._is_hovered = True
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._is_hovered = False
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_by_enter(self, event):
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        whole = QRectF(self.rect())
        self._paint_states(painter, whole)
        self._paint_words(painter)
        is_marked = self.hasFocus() or self._is_hovered
        colour = self._theme.colour("accent" if is_marked else "border_strong")
        width_px = _FOCUS_PX if is_marked else 1
        painter.setPen(QPen(colour, width_px))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inset = width_px / 2
        painter.drawRect(whole.adjusted(inset, inset, -inset, -inset))
        painter.end()

    def _paint_states(self, painter: QPainter, whole: QRectF) -> None:
        """Bands from top to bottom, as high as the state's share; none is too thin to be seen."""
        total = max(1, self.part.count)
        states = [state for state in StateGroup if self.part.states[state.value]]
        top = whole.top()
        for position, state in enumerate(states):
            height = max(3.0, whole.height() * self.part.states[state.value] / total)
            if position == len(states) - 1:
                height = max(height, whole.bottom() - top)
            area = QRectF(whole.left(), min(top, whole.bottom() - 3), whole.width(), height)
            paint_state(painter, self._theme, state, area.intersected(whole))
            top += height

    def _paint_words(self, painter: QPainter) -> None:
        metrics = self.fontMetrics()
        room = self.width() - 4 * _PADDING_PX
        line = metrics.height()
        if room < 3 * metrics.averageCharWidth() or self.height() < line + _PADDING_PX:
            return
        lines = [metrics.elidedText(self._words, Qt.TextElideMode.ElideRight, room)]
        if self.height() >= 2 * line + 2 * _PADDING_PX:
            lines.append(
                metrics.elidedText(
                    number_in_words(self.part.count), Qt.TextElideMode.ElideRight, room
                )
            )
        width = max(metrics.horizontalAdvance(text) for text in lines) + 2 * _PADDING_PX
        is_mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        left = self.width() - width - _PADDING_PX if is_mirrored else _PADDING_PX
        box = QRectF(left, _PADDING_PX / 2, width, line * len(lines) + 2)
        # A pattern behind the words would make them hard to read.
        background = QColor(self._theme.colour("surface"))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(background)
        painter.drawRoundedRect(box, _ROUND_PX, _ROUND_PX)
        painter.setPen(self._theme.colour("text"))
        for position, text in enumerate(lines):
            place = box.adjusted(_PADDING_PX, position * line, -_PADDING_PX, 0)
            flags = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading
            painter.drawText(place, flags | Qt.TextFlag.TextSingleLine, text)


_SWATCH = QSize(18, 14)


class _StateButton(ElidedButton):
    # With the swatch.
    _PADDING_PX = 42


class StateLegend(QWidget):
    """A button per state with its colour, pattern and count; `chosen` carries the pressed state."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._buttons: dict[StateGroup, _StateButton] = {}
        row = horizontal(on=self, margins=0, spacing=4)
        for state in StateGroup:
            button = _StateButton(value_in_words(state, begins=True), "action", self)
            button.setIconSize(_SWATCH)
            button.clicked.connect(lambda _=False, state=state: self.chosen.emit(state))
            self._buttons[state] = button
            row.addWidget(button)
        theme.changed.connect(self._paint_swatches)
        self._paint_swatches()
        self.show_counts(Counter())

    def show_counts(self, states: Counter[str]) -> None:
        """Show the states that some file is in, with their numbers."""
        for state, button in self._buttons.items():
            number = states[state.value]
            words = value_in_words(state, begins=True)
            button.set_full_text(f"{words} {number_in_words(number)}")
            files = count_of(number, tr("file"), tr("files"))
            button.setAccessibleName(f"{files}: {words}")
            button.setVisible(number > 0)

    def _paint_swatches(self) -> None:
        for state, button in self._buttons.items():
            ratio = self.devicePixelRatio()
            swatch = QPixmap(_SWATCH * ratio)
            swatch.setDevicePixelRatio(ratio)
            swatch.fill(Qt.GlobalColor.transparent)
            painter = QPainter(swatch)
            area = QRectF(0, 0, _SWATCH.width(), _SWATCH.height())
            paint_state(painter, self._theme, state, area)
            painter.setPen(QPen(self._theme.colour("border_strong")))
            painter.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5))
            painter.end()
            button.setIcon(QIcon(swatch))


_GROUPINGS = {Grouping.FOLDER: tr("By folder"), Grouping.KIND: tr("By type")}
_REFRESH_MS = 500
_GAP_PX = 3


class PictureCanvas(QWidget):
    """Lays out the tiles. `chosen` carries the pressed Part."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._parts: tuple[Part, ...] = ()
        self._titles: list[ElidedButton] = []
        self._tiles: list[list[PictureTile]] = []
        self.setAccessibleName(tr("Overview of the library"))

    def show_parts(self, parts: tuple[Part, ...]) -> None:
        """Show these parts; tiles of the same files are kept."""
        if _labels(parts) != _labels(self._parts):
            self._rebuild(parts)
        self._parts = parts
        for title, tiles, group in zip(self._titles, self._tiles, parts, strict=True):
            title.set_full_text(f"{group.label} · {number_in_words(group.count)}")
            title.setAccessibleName(group.words)
            for tile, part in zip(tiles, group.parts, strict=True):
                tile.show_part(part)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _rebuild(self, parts: tuple[Part, ...]) -> None:
        drop((*self._titles, *(tile for tiles in self._tiles for tile in tiles)))
        self._titles, self._tiles = [], []
        for place, group in enumerate(parts):
            title = ElidedButton(group.label, "action", self)
            title.setProperty("part", "title")
            title.clicked.connect(lambda _=False, place=place: self.chosen.emit(self._parts[place]))
            tiles = [PictureTile(self._theme, part, part.name, self) for part in group.parts]
            for tile in tiles:
                tile.clicked.connect(lambda _=False, tile=tile: self.chosen.emit(tile.part))
            self._titles.append(title)
            self._tiles.append(tiles)
            for widget in (title, *tiles):
                widget.show()

    def _arrange(self) -> None:
        room = Area(0, 0, self.width(), self.height())
        title_px = self.fontMetrics().height() + 8
        areas = squarified([part.count for part in self._parts], room)
        for group, area, title, tiles in zip(
            self._parts, areas, self._titles, self._tiles, strict=True
        ):
            inner = _inset(area)
            _place(title, Area(inner.x, inner.y, inner.width, min(title_px, inner.height)))
            left = max(0.0, inner.height - title_px)
            below = Area(inner.x, inner.y + title_px, inner.width, left)
            places = squarified([part.count for part in group.parts], below)
            for tile, its_area in zip(tiles, places, strict=True):
                _place(tile, its_area)


class LibraryPicture(QWidget):
    """The picture with its legend. `filter_chosen` carries a FileFilter for the table."""

    filter_chosen = Signal(object)

    def __init__(self, theme: Theme, model: DocumentModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model
        self._places = Places()
        self._clicks = ClickWatch()
        self._refresh = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._refresh.timeout.connect(self._show)
        self._build()
        model.counts_changed.connect(self._on_counts_changed)

    def set_places(self, places: Places) -> None:
        """Name folders by these sources."""
        self._places = places
        self._on_counts_changed()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show()

    def _build(self) -> None:
        self._choices = chips(self, _GROUPINGS)
        for chip in self._choices.values():
            chip.clicked.connect(self._show)
        self._legend = StateLegend(self._theme, self)
        self._legend.chosen.connect(
            lambda state: self.filter_chosen.emit(
                self._filter({Facet.STATE: frozenset([str(state)])})
            )
        )
        gap = QWidget(self)
        self._canvas = PictureCanvas(self._theme, self)
        self._canvas.chosen.connect(
            lambda part: self.filter_chosen.emit(self._filter(dict(part.chosen)))
        )
        vertical(
            WrappingRow(
                [*self._choices.values(), gap],
                [self._legend],
                at=3,
                stretched=2,
                min_px=0,
                spacing=6,
            ),
            (self._canvas, 1),
            on=self,
            margins=0,
            spacing=8,
        )

    @Slot()
    def _on_counts_changed(self) -> None:
        if self.isVisible() and not self._refresh.isActive():
            self._refresh.start()

    @Slot()
    def _show(self) -> None:
        if self._clicks.is_clicking():
            self._refresh.start()
            return
        grouping = selected_value(self._choices)
        parts = picture_parts(self._model.totals(), self._places, grouping)
        self._legend.show_counts(states_of(parts))
        self._canvas.show_parts(parts)

    def _filter(self, chosen: dict[Facet, frozenset[str]]) -> FileFilter:
        return FileFilter(chosen=chosen, collections=self._places.collection_of_source)


def _labels(parts: tuple[Part, ...]) -> list[tuple[str, ...]]:
    return [(group.label, *(part.label for part in group.parts)) for group in parts]


def _inset(area: Area) -> Area:
    width, height = max(0.0, area.width - _GAP_PX), max(0.0, area.height - _GAP_PX)
    return Area(area.x, area.y, width, height)


def _place(widget: QWidget, area: Area) -> None:
    left, top = round(area.x), round(area.y)
    right, bottom = round(area.x + area.width), round(area.y + area.height)
    widget.setGeometry(left, top, max(0, right - left), max(0, bottom - top))
