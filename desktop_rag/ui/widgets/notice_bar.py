"""Non-blocking notices over the pages: a title, a hint and at most one action. Qt thread."""

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.foundation.delayed_change import DelayedChange
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import Card, IconButton, IconLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.layouts import horizontal, vertical

_MAX_NOTICES = 3
_WIDTH_PX = 520
OFFER_MS = 12_000
_ICONS = {"danger": "error:danger_soft_text", "": "info:accent_soft_text"}


class NoticeCard(Card):
    """One notice. One that `passes` closes by itself after `OFFER_MS`, unless it is in use.

    `closed` asks to remove it; `gone` follows once it is no longer shown.
    """

    closed = Signal()
    gone = Signal()

    def __init__(
        self,
        theme: Theme,
        notice: Notice,
        *,
        tone: str = "",
        action: str = "",
        passes: bool = False,
    ) -> None:
        super().__init__(kind="notice", tone=tone)
        self.notice = notice
        self._title = PlainLabel(told(notice.title), wrap=True, selectable=True)
        self._title.setObjectName("noticeTitle")
        self._hint = PlainLabel(told(notice.hint), wrap=True, selectable=True)
        self.action_button = TextButton(action, kind="quiet")
        close = IconButton(theme, "close:muted", tr("Dismiss"), then=self.closed)
        words = vertical(self._title, self._hint, spacing=2)
        row = horizontal(on=self, margins=(12, 8, 8, 8), spacing=10)
        align = Qt.AlignmentFlag.AlignTop if notice.hint else Qt.AlignmentFlag.AlignVCenter
        row.addWidget(IconLabel(theme, _ICONS[tone]), 0, align)
        row.addLayout(words, 1)
        row.addWidget(self.action_button, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        # Only once they are in the card: a parentless visible widget is a window.
        self._hint.setVisible(bool(notice.hint))
        self.action_button.setVisible(bool(action))
        self._passing = QTimer(self, interval=OFFER_MS)
        self._passing.timeout.connect(self._on_passed)
        if passes:
            self._passing.start()

    @Slot()
    def _on_passed(self) -> None:
        focused = self.window().focusWidget()
        if not (self.underMouse() or (focused and self.isAncestorOf(focused))):
            self.closed.emit()


class NoticeBar(QWidget):
    """The latest notices, newest on top, without duplicates.

    It lies over the page, so that nothing there moves. `shown` carries each notice except offers,
    and True for an error.
    """

    shown = Signal(object, bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._cards: list[NoticeCard] = []
        self._column = vertical(on=self, margins=(12, 10, 12, 4), spacing=6)
        self.hide()

    def over(self, page: QWidget) -> QGridLayout:
        """A layout with the notices over the top right of a page; raise them once it is placed."""
        cell = QGridLayout()
        corner = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight
        cell.addWidget(self, 0, 0, corner)
        cell.addWidget(page, 0, 0)
        return cell

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH_PX, super().sizeHint().height())

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The notices on show, newest first."""
        return tuple(card.notice for card in self._cards)

    def show_notice(self, notice: Notice) -> None:
        """Show a notice until it is dismissed."""
        self._add(NoticeCard(self._theme, notice))
        self.shown.emit(notice, False)

    def show_done(self, notice: Notice) -> None:
        """Report for a while that a requested action is done."""
        self._add(NoticeCard(self._theme, notice, passes=True))
        self.shown.emit(notice, False)

    def show_error(self, error: AppError) -> None:
        """Show an error with its hint."""
        notice = Notice(error.title, error.hint)
        self._add(NoticeCard(self._theme, notice, tone="danger"))
        self.shown.emit(notice, True)

    def offer(self, notice: Notice, action: str, on_action: Callable[[], None]) -> None:
        """Show a notice with one action, such as Undo, for a while."""
        card = NoticeCard(self._theme, notice, action=action, passes=True)
        card.action_button.clicked.connect(on_action)
        card.action_button.clicked.connect(card.closed)
        self._add(card)

    def offer_undo(self, change: DelayedChange) -> None:
        """Offer to undo a change, which is made when its notice goes."""
        card = NoticeCard(self._theme, change.notice, action=tr("Undo"), passes=True)
        card.action_button.clicked.connect(change.undo)
        card.gone.connect(change.make)
        change.ended.connect(card.closed)
        self._add(card)

    def _add(self, card: NoticeCard) -> None:
        for old in [c for c in self._cards if _says_the_same(c, card)]:
            self._remove(old)
        for old in self._cards[_MAX_NOTICES - 1 :]:
            self._remove(old)
        card.closed.connect(self._on_closed)
        self._cards.insert(0, card)
        self._column.insertWidget(0, card)
        self.show()

    @Slot()
    def _on_closed(self) -> None:
        card = self.sender()
        if isinstance(card, NoticeCard):
            self._remove(card)

    def _remove(self, card: NoticeCard) -> None:
        if card in self._cards:
            self._cards.remove(card)
            card.hide()
            card.gone.emit()
            card.deleteLater()
        self.setVisible(bool(self._cards))


def _says_the_same(old: NoticeCard, new: NoticeCard) -> bool:
    """True for equal notices, and for those of one title that offer nothing: two look like a fault.

    Each Undo is of its own.
    """
    is_told = old.action_button.isHidden() and new.action_button.isHidden()
    return old.notice == new.notice or (is_told and old.notice.title == new.notice.title)
