"""One picture of the library: tiles as large as their numbers of files. Qt thread.

Folders are divided by type, or types by folder; each tile shows the states of its files.
"""

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import number_in_words, tr
from desktop_rag.ui.foundation.presses import ClickWatch
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.library.facets.facet_groups import Places
from desktop_rag.ui.library.facets.facet_values import Facet, FileFilter
from desktop_rag.ui.library.picture.picture_parts import Grouping, Part, picture_parts, states_of
from desktop_rag.ui.library.picture.picture_tile import PictureTile
from desktop_rag.ui.library.picture.state_legend import StateLegend
from desktop_rag.ui.library.picture.treemap import Area, squarified
from desktop_rag.ui.widgets.controls import TextButton
from desktop_rag.ui.widgets.elided_button import ElidedButton
from desktop_rag.ui.widgets.wrapping_row import WrappingRow

_GROUPINGS = {Grouping.FOLDER: tr("By folder"), Grouping.KIND: tr("By type")}
_REFRESH_MS = 500
_GAP_PX = 3


class PictureCanvas(QWidget):
    """The tiles in their places. `chosen` carries the Part that was pressed."""

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
        for widget in (*self._titles, *(tile for tiles in self._tiles for tile in tiles)):
            widget.hide()
            widget.deleteLater()
        self._titles, self._tiles = [], []
        for place, group in enumerate(parts):
            title = ElidedButton(group.label, "action", self)
            title.setProperty("part", "title")
            title.clicked.connect(lambda _=False, place=place: self._on_group(place))
            tiles = [PictureTile(self._theme, part, part.name, self) for part in group.parts]
            for tile in tiles:
                tile.clicked.connect(lambda _=False, tile=tile: self.chosen.emit(tile.part))
            self._titles.append(title)
            self._tiles.append(tiles)
            for widget in (title, *tiles):
                widget.show()

    def _on_group(self, place: int) -> None:
        self.chosen.emit(self._parts[place])

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
        self._grouping = Grouping.FOLDER
        self._choices: dict[Grouping, TextButton] = {}
        self._refresh = QTimer(self)
        self._refresh.setSingleShot(True)
        self._refresh.setInterval(_REFRESH_MS)
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
        group = QButtonGroup(self)
        for grouping in Grouping:
            button = TextButton(_GROUPINGS[grouping], self, kind="chip")
            button.setCheckable(True)
            group.addButton(button)
            self._choices[grouping] = button
        self._choices[self._grouping].setChecked(True)
        group.buttonClicked.connect(self._on_grouping_chosen)
        self._legend = StateLegend(self._theme, self)
        self._legend.chosen.connect(self._on_state_chosen)
        gap = QWidget(self)
        self._canvas = PictureCanvas(self._theme, self)
        self._canvas.chosen.connect(self._on_part_chosen)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(
            WrappingRow(
                [*self._choices.values(), gap],
                [self._legend],
                at=3,
                stretched=2,
                min_px=0,
                spacing=6,
            )
        )
        column.addWidget(self._canvas, 1)

    @Slot()
    def _on_counts_changed(self) -> None:
        if self.isVisible() and not self._refresh.isActive():
            self._refresh.start()

    @Slot()
    def _show(self) -> None:
        if self._clicks.is_clicking():
            self._refresh.start()
            return
        parts = picture_parts(self._model.totals(), self._places, self._grouping)
        self._legend.show_counts(states_of(parts))
        self._canvas.show_parts(parts)

    @Slot(QAbstractButton)
    def _on_grouping_chosen(self, chosen: QAbstractButton) -> None:
        self._grouping = next(g for g, button in self._choices.items() if button is chosen)
        self._show()

    @Slot(object)
    def _on_part_chosen(self, part: Part) -> None:
        self.filter_chosen.emit(self._filter(dict(part.chosen)))

    @Slot(object)
    def _on_state_chosen(self, state: str) -> None:
        self.filter_chosen.emit(self._filter({Facet.STATE: frozenset([str(state)])}))

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
