"""Small widgets shared by all pages: plain-text labels, buttons, cards, questions. Qt thread.

No other module creates a QLabel or sets a raw tooltip: Qt guesses whether text is HTML, and HTML
can load local files.
"""

import html
from collections.abc import Callable

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QTimer, SignalInstance, Slot
from PySide6.QtGui import (
    QHideEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionToolButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.layouts import Stretch, horizontal

ICON_PX = 18
# What a button does: a function, or a signal that follows.
Pressed = Callable[..., object] | SignalInstance
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def plain_tooltip(text: str) -> str:
    """Text escaped so that a tooltip shows it literally."""
    return f"<qt>{html.escape(text).replace(chr(10), '<br>')}</qt>" if text else ""


def set_tip(widget: QWidget, text: str) -> None:
    """Show the text literally as a tooltip; "" for none.

    It also becomes the accessible description, since screen readers would otherwise read the
    tooltip's markup. A description that says something else stays.
    """
    told = widget.property("told_tip") or ""
    if widget.accessibleDescription() == told:
        widget.setAccessibleDescription(text)
        widget.setProperty("told_tip", text)
    widget.setToolTip(plain_tooltip(text))


def add_clear_button(field: QLineEdit) -> None:
    """Add a button that empties the field; Qt gives it no name."""
    field.setClearButtonEnabled(True)
    for button in field.findChildren(QToolButton):
        button.setAccessibleName(tr("Clear"))


def set_property(widget: QWidget, name: str, value: object) -> None:
    """Set a dynamic property that the style sheet selects on, and restyle the widget."""
    if widget.property(name) == value:
        return
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def press_by_enter(button: QAbstractButton, event: QKeyEvent) -> bool:
    """Press a focused button for Enter or Return; False if the key is left to Qt.

    Outside dialogs Qt presses buttons only with Space. In dialogs Enter presses the default button.
    """
    if event.key() not in _ENTER or isinstance(button.window(), QDialog):
        return False
    if not event.isAutoRepeat():
        button.click()
    return True


def plain_question(parent: QWidget, title: str, text: str) -> QMessageBox:
    """A box with this text, shown literally, that is deleted once it is closed."""
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle(title)
    box.setText(text)
    return box


def centred(widget: QWidget, max_px: int) -> QHBoxLayout:
    """A row that centres the widget and lets it grow to `max_px`."""
    widget.setMaximumWidth(max_px)
    return horizontal(Stretch(), (widget, 1000), Stretch(), margins=0)


class PlainLabel(QLabel):
    """A label that shows its text literally.

    `tone` is `muted`, `danger`, `warning`, `success` or `accent`; `scale` is `small`, `heading` or
    `title`; both may be empty. A wrapped label can shrink to its longest word. Tab stops at
    selectable text unless it is empty.
    """

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        *,
        tone: str = "",
        scale: str = "",
        wrap: bool = False,
        selectable: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        self.setProperty("tone", tone)
        self.setProperty("scale", scale)
        self._is_selectable = selectable
        if selectable:
            self.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse
                | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(text)
        if self._is_selectable:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if text else Qt.FocusPolicy.NoFocus)

    def set_tone(self, tone: str) -> None:
        """Change the tone, which sets the text colour."""
        set_property(self, "tone", tone)

    def say(self, text: str, tone: str | None = None) -> None:
        """Show a text, in the tone as it is if None is given; without a text hide the label."""
        if tone is not None:
            self.set_tone(tone)
        self.setText(text)
        self.setVisible(bool(text))


class ElidedLabel(PlainLabel):
    """A one-line label, elided to fit; its tooltip shows the full text, or `tip` if given."""

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        *,
        tone: str = "",
        scale: str = "",
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        tip: str = "",
    ) -> None:
        super().__init__("", parent, tone=tone, scale=scale)
        self._mode = mode
        self._tip = tip
        self.full_text = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.set_full_text(text)

    def set_full_text(self, text: str) -> None:
        """Set the text; line breaks become spaces."""
        self.full_text = " ".join(text.split())
        self.setAccessibleName(self.full_text)
        self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._elide()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self.full_text, self._mode, max(0, self.width()))
        if shown != self.text():
            self.setText(shown)
        whole = self.full_text if shown != self.full_text else ""
        set_tip(self, self._tip or whole)


def begin_with_window(label: QLabel) -> None:
    """Align a label with the window's start side, whatever the script of its text."""
    side = Qt.AlignmentFlag.AlignRight if label.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
    label.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter)


class ToolButton(QToolButton):
    """A tool button that Enter presses as Space does."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_by_enter(self, event):
            super().keyPressEvent(event)


class IconButton(ToolButton):
    """A button with only an icon; `name` is its accessible name and tooltip.

    `then` is called when it is pressed.
    """

    def __init__(self, theme: Theme, icon: str, name: str, *, then: Pressed | None = None) -> None:
        super().__init__()
        if then:
            self.clicked.connect(then)
        self.setAutoRaise(True)
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._theme = theme
        self.show_as(icon, name)

    def show_as(self, icon: str, name: str) -> None:
        """Change the icon and the name together."""
        self._theme.set_icon(self, icon)
        self.setAccessibleName(name)
        set_tip(self, name)


class IconLabel(QWidget):
    """A static icon that follows the theme, skipped by screen readers: words say the same."""

    def __init__(
        self, theme: Theme, icon: str, parent: QWidget | None = None, *, size_px: int = ICON_PX
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon = icon
        self._size = QSize(size_px, size_px)
        self.setFixedSize(self._size)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._theme.icon(self._icon).paint(painter, self.rect())
        painter.end()


class TextButton(QPushButton):
    """A button with text. `kind` is `primary`, `quiet`, `danger`, or empty for the default.

    `then` is called when it is pressed.
    """

    def __init__(
        self,
        text: str,
        parent: QWidget | None = None,
        *,
        kind: str = "",
        icon: str = "",
        theme: Theme | None = None,
        then: Pressed | None = None,
    ) -> None:
        super().__init__(text, parent)
        if then:
            self.clicked.connect(then)
        self.setProperty("kind", kind)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        if theme and icon:
            theme.set_icon(self, icon)
            self.setIconSize(QSize(ICON_PX - 2, ICON_PX - 2))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_by_enter(self, event):
            super().keyPressEvent(event)


class Card(QFrame):
    """A framed surface. `kind` is `card`, or `notice` with a `tone` like that of labels."""

    def __init__(
        self, parent: QWidget | None = None, *, kind: str = "card", tone: str = ""
    ) -> None:
        super().__init__(parent)
        self.setProperty("kind", kind)
        self.setProperty("tone", tone)


class ElidedButton(TextButton):
    """Shows its text on one line, elided to fit; the tooltip shows the full text."""

    _PADDING_PX = 32

    def __init__(self, text: str, kind: str, parent: QWidget | None = None) -> None:
        """`kind` is one from the style sheet, such as `quiet`."""
        super().__init__("", parent, kind=kind)
        self.full_text = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.set_full_text(text)

    def set_full_text(self, text: str) -> None:
        """Set the text; line breaks become spaces."""
        self.full_text = " ".join(text.split())
        self.setAccessibleName(self.full_text)
        self.updateGeometry()
        self._elide()

    def sizeHint(self) -> QSize:
        # One extra pixel, because the advance is rounded.
        width = self.fontMetrics().horizontalAdvance(self.full_text) + 1 + self._PADDING_PX
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._elide()

    def _elide(self) -> None:
        shown = self._fitted(max(0, self.width() - self._PADDING_PX))
        # A single & would mark a shortcut key.
        self.setText(shown.replace("&", "&&"))
        set_tip(self, self.full_text if " ".join(shown.split()) != self.full_text else "")

    def _fitted(self, room_px: int) -> str:
        """What of the text has room; subclasses may use two lines."""
        return self.fontMetrics().elidedText(self.full_text, Qt.TextElideMode.ElideRight, room_px)


# The arrow of a menu button and the padding around it.
_ARROW_PX = 40
_MIN_PX = 72


class MenuButton(ToolButton):
    """A menu button that elides its text, so that a long name never widens the window."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        theme.set_icon(self, "chevron-down:muted")
        self.choices = QMenu(self)
        self.setMenu(self.choices)

    def minimumSizeHint(self) -> QSize:
        usual = super().minimumSizeHint()
        return QSize(min(usual.width(), _MIN_PX), usual.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        # Puts the arrow after the text. The button itself keeps its side, at which its menu opens.
        is_mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        sides = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
        option.direction = sides[not is_mirrored]
        if self.width() < self.sizeHint().width():
            room = max(0, self.width() - _ARROW_PX)
            right = Qt.TextElideMode.ElideRight
            option.text = self.fontMetrics().elidedText(self.text(), right, room)
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)


_SIZE_PX = 14
_STEP_MS = 90
_STEP_DEGREES = 30
_ARC_DEGREES = 270
_TURN_DEGREES = 360


class Spinner(QWidget):
    """A small turning arc; it stands still where the desktop asks for less motion."""

    def __init__(self, theme: Theme, name: str) -> None:
        """`name` says what is going on."""
        super().__init__()
        self._theme = theme
        self._angle = 0
        self.setFixedSize(_SIZE_PX, _SIZE_PX)
        self.setAccessibleName(name)
        self._timer = QTimer(self, interval=_STEP_MS)
        self._timer.timeout.connect(self._on_step)
        theme.changed.connect(self.update)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        duration = QStyle.StyleHint.SH_Widget_Animation_Duration
        if self.style().styleHint(duration, None, self) > 0:
            self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(self._theme.colour("accent"), 2)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        # Qt counts sixteenths of a degree, against the clock.
        painter.drawArc(
            QRectF(self.rect()).adjusted(2, 2, -2, -2), -16 * self._angle, 16 * _ARC_DEGREES
        )

    @Slot()
    def _on_step(self) -> None:
        self._angle = (self._angle + _STEP_DEGREES) % _TURN_DEGREES
        self.update()
