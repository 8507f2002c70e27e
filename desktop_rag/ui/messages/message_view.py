"""The scrolling list of a conversation's messages, newest at the bottom. Qt thread.

Rows are built from the newest upwards in small batches, so that opening a long conversation never
blocks the window; an answer being written is rendered at most every 80 ms.
"""

import time
from collections.abc import Callable
from datetime import date

from PySide6.QtCore import QMetaObject, QObject, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QScrollArea, QWidget
from shiboken6 import isValid

from desktop_rag.core.conversation import Message, Role
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.days import day_in_words, day_of
from desktop_rag.ui.foundation.shortcuts import INSIDE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.markdown.formula_drawing import FormulaDrawer
from desktop_rag.ui.messages.answer_item import AnswerItem
from desktop_rag.ui.messages.message_model import MessageActions, MessageModel, Turn
from desktop_rag.ui.messages.question_item import QuestionItem
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, centred, plain_tooltip
from desktop_rag.ui.widgets.layouts import Stretch, vertical

# Messages take their new heights a few events after a change of width.
_HELD_MS = 250
# New rows take their heights one after the other.
_GROWTH_MS = 1_000
_NEAR_PX = 4


class ScrollPlace(QObject):
    """Keeps the place in view while messages change their heights.

    That is the newest text while the person is at the end, otherwise what they look at: when rows
    are added above, when text is wrapped again, and while the messages around a target are laid
    out. `moved` follows every movement of the scroll bar, `scrolled` the person's.
    """

    moved = Signal()
    scrolled = Signal()

    def __init__(self, area: QScrollArea, is_whole: Callable[[], bool]) -> None:
        """`is_whole` returns True if the end of the area is the end of the conversation."""
        super().__init__(area)
        self._area = area
        self._bar = area.verticalScrollBar()
        self._is_whole = is_whole
        self.is_at_end = True
        self._is_own = False
        self._distance_from_end: int | None = None
        self._growth = QTimer(self, singleShot=True, interval=_GROWTH_MS)
        # While the width changes: a message, and the share of its height that stays in view.
        self._held: tuple[QWidget, float] | None = None
        self._sought: Callable[[], int | None] | None = None
        self._timer = QTimer(self, singleShot=True, interval=_HELD_MS)
        self._timer.timeout.connect(self._stop_holding)
        self._bar.rangeChanged.connect(self._on_range_changed)
        self._bar.valueChanged.connect(self._on_value_changed)
        self._bar.actionTriggered.connect(self.release)

    def follow_end(self) -> None:
        """Scroll to the end, and stay there."""
        self._stop_holding()
        self.is_at_end = True
        self._move(self._bar.maximum())

    def seek(self, place: Callable[[], int | None]) -> None:
        """Scroll to a height within the content, which is asked for until it has settled."""
        self._distance_from_end, self._held = None, None
        self.is_at_end, self._sought = False, place
        self.seek_again()

    def show_widget(self, widget: QWidget) -> None:
        """Scroll to the top of a widget that is still being laid out."""
        self.seek(lambda: self._top_of(widget) if isValid(widget) else None)

    def seek_again(self) -> None:
        """Continue seeking, after something was added."""
        if self._sought is None:
            return
        if (height := self._sought()) is not None:
            self._move(height - self._third())
        self._timer.start()

    def hold(self, items: Callable[[], list[QWidget]]) -> None:
        """Keep the item across the upper third in view while the width changes."""
        if self._held is None:
            self._held = self._item_in_view(items())
        self._timer.start()

    def keep_distance_from_end(self) -> None:
        """Keep the view while rows are added above, wherever the person scrolls."""
        self._distance_from_end = self._bar.maximum() - self._bar.value()
        self._growth.start()

    def shorten(self, height_px: int) -> None:
        """Account for this height being removed at the end."""
        if self._distance_from_end is not None:
            self._distance_from_end -= height_px

    @Slot()
    def release(self) -> None:
        """Stop holding any place, because the person scrolls."""
        self._distance_from_end = None
        self._stop_holding()

    def _third(self) -> int:
        return self._area.viewport().height() // 3

    def _item_in_view(self, items: list[QWidget]) -> tuple[QWidget, float] | None:
        """The item across the upper third of the window, and the share of it above that line."""
        at = self._bar.value() + self._third()
        for item in items:
            top = self._top_of(item)
            if top <= at < top + item.height():
                return item, (at - top) / item.height()
        return None

    def _top_of(self, item: QWidget) -> int:
        return self._bar.value() + item.mapTo(self._area.viewport(), item.rect().topLeft()).y()

    def _move(self, value: int) -> None:
        self._is_own = True
        self._bar.setValue(value)
        self._is_own = False

    @Slot()
    def _stop_holding(self) -> None:
        self._timer.stop()
        self._held = self._sought = None

    @Slot()
    def _on_range_changed(self) -> None:
        if self.is_at_end:
            self._move(self._bar.maximum())
        elif self._sought is not None:
            self.seek_again()
        elif self._held is not None and isValid(self._held[0]):
            # Text that is wrapped anew, as beside a panel that opens, stays where it is read.
            item, share = self._held
            self._move(round(self._top_of(item) + share * item.height()) - self._third())
            self._timer.start()
        elif self._distance_from_end is not None:
            self._move(self._bar.maximum() - self._distance_from_end)
        self.moved.emit()

    @Slot(int)
    def _on_value_changed(self, value: int) -> None:
        self.is_at_end = self._is_whole() and value >= self._bar.maximum() - _NEAR_PX
        if not self._is_own:
            self._held = None
            if self._growth.isActive():
                self._distance_from_end = self._bar.maximum() - value
            self.scrolled.emit()
        self.moved.emit()


_BOTTOM_PX = 12


class NewestButton(TextButton):
    """Leads to the newest message, if it is far away or grows out of sight."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(tr("Newest messages"), parent, icon="chevron-down:text", theme=theme)
        self.setObjectName("newestButton")
        self.setToolTip(plain_tooltip("End"))
        self.hide()

    def offer(self, area: QRect, *, is_far: bool, has_news: bool) -> None:
        """Show the button at the bottom of an area if there is a reason to."""
        self.setText(tr("New text below") if has_news else tr("Newest messages"))
        if is_far or has_news:
            self.adjustSize()
            centre = area.center().x() - self.width() // 2
            self.move(centre, area.bottom() - self.height() - _BOTTOM_PX)
            self.raise_()
        self.setVisible(is_far or has_news)


def day_line(row: int, moment_of: Callable[[int], float], today: date) -> PlainLabel | None:
    """The day above a message; None if the previous message, or today for the first, has it too."""
    if not moment_of(row):
        return None
    day = day_of(moment_of(row))
    before = day_of(moment_of(row - 1)) if row else today
    if day == before:
        return None
    line = PlainLabel(day_in_words(day, today), tone="muted", scale="small")
    line.setObjectName("dayLine")
    line.setAlignment(Qt.AlignmentFlag.AlignCenter)
    line.setContentsMargins(0, 12, 0, 4)
    return line


RENDER_EVERY_MS = 80
# A long paragraph takes longer to render, so it is rendered less often.
_PAUSE_FACTOR = 10
_BATCH = 40
# While scrolling up, rows beyond this number are removed at the end.
_MOST_ROWS = 80
_DELETED_AT_ONCE = 4
_BUDGET_S = 0.008
_COLUMN_PX = 780


class MessageView(QScrollArea):
    """Shows a MessageModel; follows new text only while scrolled to the bottom."""

    # A question, and an answer to it.
    offered_requested = Signal(object, object)

    def __init__(self, theme: Theme, drawer: FormulaDrawer | None = None) -> None:
        super().__init__()
        self.asked = MessageActions(self)
        self._offered = ""
        self._theme = theme
        self._drawer = drawer
        self._model = MessageModel(self)
        self._connections: list[QMetaObject.Connection] = []
        self._items: dict[int, QuestionItem | AnswerItem] = {}
        self._changed: set[int] = set()
        # Of a long conversation, the rows from `_first_wanted` to `_end` are shown.
        self._first_wanted = self._end = 0
        self._days: dict[int, QWidget] = {}
        self._words = ""
        self._found: tuple[int, int] | None = None
        self._has_news = self._is_growing_up = False
        self._offers_writing = False
        self._build()
        self._connect()

    def _build(self) -> None:
        self.setObjectName("messages")
        self.setAccessibleName(tr("Messages"))
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._page = page = QWidget()
        page.setProperty("kind", "page")
        self._earlier = TextButton(
            tr("Show earlier messages"), kind="quiet", then=self._on_earlier_clicked
        )
        self._earlier.hide()
        self._later = TextButton(
            tr("Show later messages"), kind="quiet", then=self._on_later_clicked
        )
        self._later.hide()
        self._rows = vertical(spacing=2)
        inner = QWidget()
        vertical(
            (self._earlier, 0, Qt.AlignmentFlag.AlignHCenter),
            self._rows,
            (self._later, 0, Qt.AlignmentFlag.AlignHCenter),
            Stretch(),
            on=inner,
            margins=(20, 12, 20, 12),
        )
        page.setLayout(centred(inner, _COLUMN_PX))
        self.setWidget(page)
        self._newest = NewestButton(self._theme, self)
        self._build_timer = QTimer(self, singleShot=True)
        self._outdated: list[QWidget] = []
        self._delete_timer = QTimer(self, singleShot=True)
        self._pause_ms = RENDER_EVERY_MS
        self._rendered_at = 0.0
        self._place = ScrollPlace(self, lambda: self._end >= self._model.rows)
        self._render_timer = QTimer(self, singleShot=True)

    def _connect(self) -> None:
        self._build_timer.timeout.connect(self._build_rows)
        self._delete_timer.timeout.connect(self._delete_outdated)
        self._render_timer.timeout.connect(self._render_changed)
        self.asked.offered_requested.connect(self._on_offered_requested)
        self.asked.claim_shown.connect(self._place.show_widget)
        self._place.moved.connect(self._offer_newest)
        self._place.scrolled.connect(self._on_scrolled)
        self._newest.clicked.connect(self.scroll_to_end)
        bind(self, "End", tr("Go to the newest message"), self.scroll_to_end, INSIDE)

    @property
    def is_settled(self) -> bool:
        """True once all rows are built and rendered."""
        answers = (i for i in self._items.values() if isinstance(i, AnswerItem))
        return not (
            self._build_timer.isActive()
            or self._render_timer.isActive()
            or self._delete_timer.isActive()
            or any(not answer.body.is_rendered for answer in answers)
        )

    def set_model(self, model: MessageModel) -> None:
        """Show another conversation, scrolled to its end."""
        for connection in self._connections:
            self.disconnect(connection)
        self._model = model
        self._connections = [
            model.loaded.connect(self._on_loaded),
            model.added.connect(self._on_added),
            model.changed.connect(self._on_changed),
        ]
        self._on_loaded()

    def offer_writing(self, *, is_offered: bool) -> None:
        """Set whether a model is offered under the last answer when it is excerpts."""
        self._offers_writing = is_offered
        for item in self._items.values():
            if isinstance(item, AnswerItem):
                item.offer_writing(is_offered=is_offered)

    @Slot()
    def scroll_to_end(self) -> None:
        """Scroll to the newest message and follow it."""
        if self._end < self._model.rows:
            self._show_window(self._model.rows)
        self._has_news = False
        self._place.follow_end()

    def first_row_in_view(self) -> int:
        """The row of the first visible message."""
        bottoms = (
            (row, i.mapTo(self.viewport(), i.rect().bottomLeft()).y())
            for row, i in sorted(self._items.items())
        )
        return next((row for row, bottom in bottoms if bottom > 0), 0)

    def show_found(self, words: str, place: tuple[int, int] | None) -> None:
        """Mark words in all messages, and scroll to a row and one of its hits."""
        self._words, self._found = words, place
        for row, item in self._items.items():
            item.mark_words(words, self._hit_in(row))
        if place is None:
            return
        if place[0] not in self._items:
            self._show_window(min(self._model.rows, place[0] + _BATCH // 2))
        self._place.seek(self._found_height)

    def _hit_in(self, row: int) -> int:
        return self._found[1] if self._found and self._found[0] == row else -1

    def _found_height(self) -> int | None:
        item = self._items.get(self._found[0]) if self._found else None
        return item.mapTo(self._page, item.found_place()).y() if item else None

    def _show_window(self, end: int) -> None:
        """Show the messages before `end`; older ones are offered above, newer ones below."""
        for widget in (*self._items.values(), *self._days.values()):
            widget.hide()
            self._outdated.append(widget)
        self._delete_timer.start(0)
        self._items.clear()
        self._days.clear()
        self._changed.clear()
        self._first_wanted, self._end = max(0, end - _BATCH), end
        self._build_rows()

    @Slot()
    def _on_loaded(self) -> None:
        self._words, self._found = "", None
        self._show_window(self._model.rows)
        self.scroll_to_end()

    @Slot(int, int)
    def _on_added(self, first: int, last: int) -> None:
        if isinstance(before := self._items.get(first - 1), AnswerItem):
            before.show_as_last(is_last=False)
        if self._end == first:
            self._end = last + 1
            for row in range(first, last + 1):
                self._add_item(row, at_end=True)
        self.scroll_to_end()

    @Slot(int, int)
    def _on_changed(self, first: int, last: int) -> None:
        self._changed.update(range(first, last + 1))
        if self._model.turn(last).is_live and not self._place.is_at_end:
            self._has_news = True
            self._offer_newest()
        if not self._model.turn(last).is_live:
            self._render_changed()
        elif not self._render_timer.isActive():
            # Text after a pause, such as the first words, is shown at once.
            since_ms = int(1000 * (time.perf_counter() - self._rendered_at))
            self._render_timer.start(max(0, self._pause_ms - since_ms))

    @Slot()
    def _render_changed(self) -> None:
        began_at = time.perf_counter()
        for row in sorted(self._changed):
            if item := self._items.get(row):
                item.show_turn(self._model.turn(row))
        self._changed.clear()
        self._rendered_at = time.perf_counter()
        took_ms = 1000 * (self._rendered_at - began_at)
        self._pause_ms = max(RENDER_EVERY_MS, int(took_ms * _PAUSE_FACTOR))

    @Slot()
    def _build_rows(self) -> None:
        """Build rows next to the existing ones until the time budget is used up."""
        stop_at = time.perf_counter() + _BUDGET_S
        first = min(self._items, default=self._end)
        last = max(self._items, default=self._end - 1)
        while (
            first > self._first_wanted or last + 1 < self._end
        ) and time.perf_counter() < stop_at:
            if is_above := first > self._first_wanted:
                first -= 1
            else:
                last += 1
            self._add_item(first if is_above else last, at_end=not is_above)
        is_whole = first <= self._first_wanted and last + 1 >= self._end
        is_long = self._is_growing_up and len(self._items) > _MOST_ROWS
        if is_whole and is_long:
            self._remove_last()
        if not is_whole or is_long:
            self._build_timer.start(0)
        elif not self._place.is_at_end:
            # Somebody may have scrolled faster than rows were built.
            self._on_scrolled()
        self._earlier.setVisible(self._first_wanted > 0)
        self._later.setVisible(self._end < self._model.rows)
        self._place.seek_again()

    @Slot()
    def _delete_outdated(self) -> None:
        """Delete a few widgets of an earlier window: hundreds at once would halt this one."""
        for widget in self._outdated[-_DELETED_AT_ONCE:]:
            widget.deleteLater()
        del self._outdated[-_DELETED_AT_ONCE:]
        if self._outdated:
            self._delete_timer.start(0)

    def _remove_last(self) -> None:
        row = max(self._items)
        for widget in (self._items.pop(row), self._days.pop(row, None)):
            if widget is not None:
                self._place.shorten(widget.height() + self._rows.spacing())
                self._rows.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
        self._changed.discard(row)
        self._end = row

    @Slot()
    def _on_scrolled(self) -> None:
        """Build rows above or below before the person gets there."""
        bar = self.verticalScrollBar()
        if self._build_timer.isActive():
            return
        if bar.value() < bar.pageStep() and self._first_wanted > 0:
            self._on_earlier_clicked()
        elif bar.maximum() - bar.value() < bar.pageStep() and self._end < self._model.rows:
            self._on_later_clicked()

    def offer(self, words: str) -> None:
        """Offer an additional action with each answer; see `offered_requested`."""
        self._offered = words
        for item in self._items.values():
            if isinstance(item, AnswerItem):
                item.offer(words)

    def _add_item(self, row: int, *, at_end: bool) -> None:
        turn = self._model.turn(row)
        if turn.message.role is Role.USER:
            item = QuestionItem(self._theme, turn, self.asked)
        else:
            item = self._answer_item(row, turn)
        if self._words:
            item.mark_words(self._words, self._hit_in(row))
        self._items[row] = item
        self._rows.insertWidget(self._rows.count() if at_end else 0, item)
        # Screen readers follow the order of the children, and older messages are built later.
        if not at_end:
            item.lower()
        day = day_line(row, lambda n: self._model.turn(n).message.created_at, date.today())
        if day is not None:
            self._days[row] = day
            self._rows.insertWidget(self._rows.indexOf(item), day)
            day.stackUnder(item)
        self._earlier.lower()
        self._later.raise_()

    @Slot()
    def _on_earlier_clicked(self) -> None:
        self._place.keep_distance_from_end()
        self._is_growing_up = True
        self._first_wanted = max(0, self._first_wanted - _BATCH)
        self._build_rows()

    @Slot()
    def _on_later_clicked(self) -> None:
        self._is_growing_up = False
        self._end = min(self._model.rows, self._end + _BATCH)
        self._build_rows()

    def _answer_item(self, row: int, turn: Turn) -> AnswerItem:
        item = AnswerItem(self._theme, turn, self.asked, self._drawer)
        item.offer(self._offered)
        item.offer_writing(is_offered=self._offers_writing)
        item.show_as_last(is_last=row == self._model.rows - 1)
        return item

    @Slot(object)
    def _on_offered_requested(self, answer: Message) -> None:
        turns = range(self._model.rows)
        messages = [self._model.turn(row).message for row in turns]
        before = messages[: messages.index(answer)]
        question = next((m for m in reversed(before) if m.role is Role.USER), None)
        if question:
            self.offered_requested.emit(question, answer)

    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.size().width() != event.oldSize().width():
            self._place.hold(lambda: list(self._items.values()))
        super().resizeEvent(event)
        self._offer_newest()

    @Slot()
    def _offer_newest(self) -> None:
        bar, is_away = self.verticalScrollBar(), not self._place.is_at_end
        is_far = self._end < self._model.rows or bar.maximum() - bar.value() > bar.pageStep()
        self._has_news = self._has_news and is_away
        self._newest.offer(self.rect(), is_far=is_far and is_away, has_news=self._has_news)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._place.release()
        super().wheelEvent(event)
