"""Notices over the status line: a title, a hint and at most one action. Qt thread."""

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.foundation.delayed_change import DelayedChange
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import Card, IconButton, IconLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.layouts import horizontal

_MAX_NOTICES = 3
# Of the window's width: the line of the status stays readable beside the notices.
_SHARE = 0.64
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
        said = " ".join(filter(None, (told(notice.title), told(notice.hint))))
        self.action_button = TextButton(action, kind="quiet")
        horizontal(
            IconLabel(theme, _ICONS[tone]),
            (PlainLabel(said, wrap=True, selectable=True), 1),
            self.action_button,
            IconButton(theme, "close:muted", tr("Dismiss"), then=self.closed),
            on=self,
            margins=(10, 0, 2, 0),
            spacing=8,
        )
        # Only once it is in the card: a parentless visible widget is a window.
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
    """The latest notices side by side, newest first, without duplicates.

    They lie over the status line, so that nothing moves and nothing of a page is covered. `shown`
    carries each notice except offers, and True for an error.
    """

    shown = Signal(object, bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._cards: list[NoticeCard] = []
        self._row = horizontal(on=self, margins=(0, 0, 2, 0), spacing=6)
        self.hide()

    def over(self, frame: QWidget) -> QWidget:
        """A widget with the frame, and the notices over its bottom right."""
        both = QWidget()
        cell = QGridLayout(both)
        cell.setContentsMargins(0, 0, 0, 0)
        cell.addWidget(frame, 0, 0)
        cell.addWidget(self, 0, 0, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignRight)
        return both

    def sizeHint(self) -> QSize:
        return QSize(round(_SHARE * self.window().width()), super().sizeHint().height())

    def dismiss(self) -> None:
        """Dismiss the newest notice, if there is one."""
        if self._cards:
            self._remove(self._cards[0])

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

    def offer(self, notice: Notice, action: str, on_action: Callable[[], object]) -> None:
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
        self._row.insertWidget(0, card, 1)
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
