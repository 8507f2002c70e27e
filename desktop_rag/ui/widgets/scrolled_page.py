"""Scrolling pages of cards, scrolling dialog content, and pages of stacks. Qt thread."""

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedWidget, QWidget

from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical

_WIDTH_PX = 780
_SIDE_PX = 18
# What stays visible above a part that is scrolled to.
_ABOVE_PX = 8


class ScrolledPage(QWidget):
    """Subclasses add their cards to `column` and actions on the whole page to `header`.

    With `fills_height` the column is as high as the page, for a list that takes the remaining
    height.
    """

    def __init__(self, title: str, *, fills_height: bool = False) -> None:
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("kind", "page")
        self.column = vertical(spacing=14)
        self._beside_title = QWidget()
        self.header = horizontal(on=self._beside_title, margins=0)
        self._top = QWidget()
        horizontal(
            PlainLabel(title, scale="title"),
            Stretch(),
            self._beside_title,
            on=self._top,
            margins=(_SIDE_PX, 0, _SIDE_PX, 0),
        )
        self._outer = vertical(self._top, on=self, margins=(0, 18, 0, 0), spacing=12)
        self._scroll = self._build_scroll(fills_height=fills_height)
        self._outer.addWidget(self._scroll, 1)

    def hand_over_header(self) -> QWidget:
        """Leave the title to the page around this one; returns the actions, to stand there."""
        self._top.hide()
        self._outer.setContentsMargins(0, 0, 0, 0)
        return self._beside_title

    def reveal(self, part: QWidget) -> None:
        """Scroll to a widget on this page."""
        # Places of widgets are known only after the layout of a page that was just shown.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        if self._body.isAncestorOf(part):
            top = part.mapTo(self._body, QPoint(0, 0)).y()
            self._scroll.verticalScrollBar().setValue(top - _ABOVE_PX)

    def _build_scroll(self, *, fills_height: bool) -> QScrollArea:
        self._body = body = QWidget()
        body.setProperty("kind", "page")
        centre = QWidget(body, maximumWidth=_WIDTH_PX)
        cards = vertical(self.column, on=centre, margins=0)
        if not fills_height:
            cards.addStretch(1)
        horizontal((centre, 1), Stretch(0), on=body, margins=(_SIDE_PX, 0, _SIDE_PX, 18))
        return scrolling(body)


def scrolling(content: QWidget, name: str = "") -> QScrollArea:
    """Content that scrolls, without a frame. With a name it is read by keys, as a text."""
    scroll = QScrollArea(widgetResizable=True)
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setWidget(content)
    if name:
        scroll.setAccessibleName(name)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    else:
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return scroll


_LEAST_LINES = 4
_SHARE_OF_SCREEN = 0.9


class ContentScroll(QScrollArea):
    """The content of a dialog; it scrolls only where the screen has no room for it."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self._content = content
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(content)

    def sizeHint(self) -> QSize:
        wanted, layout = self._content.sizeHint(), self._content.layout()
        width = max(wanted.width(), self.viewport().width())
        height = layout.totalHeightForWidth(width) if layout else -1
        return QSize(wanted.width(), max(height, wanted.height()))

    def minimumSizeHint(self) -> QSize:
        bar = self.verticalScrollBar().sizeHint().width()
        width = self._content.minimumSizeHint().width() + bar
        return QSize(width, _LEAST_LINES * self.fontMetrics().lineSpacing())

    def make_room(self) -> None:
        """Grow the window with the content, as far as the screen allows."""
        # Sizes are known only after the layout of what was just shown.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        window = self.window()
        width = window.width() - self.width() + self.minimumSizeHint().width()
        window.resize(max(window.width(), width), window.height())
        missing = self.sizeHint().height() - self.viewport().height()
        most = int(QGuiApplication.primaryScreen().availableSize().height() * _SHARE_OF_SCREEN)
        height = max(window.height(), min(window.height() + missing, most))
        window.resize(window.width(), height)


def put_in_place(stack: QStackedWidget, position: int, page: QWidget) -> None:
    """Replace a placeholder in a stack by its page; the current position stays."""
    current, empty = stack.currentIndex(), stack.widget(position)
    stack.insertWidget(position, page)
    if empty:
        stack.removeWidget(empty)
        empty.deleteLater()
    stack.setCurrentIndex(current)
