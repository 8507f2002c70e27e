"""The row below an answer: who wrote it, its sources, and what can be done with it. Qt thread."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QToolButton, QVBoxLayout, QWidget

from desktop_rag.core.conversation import Feedback, Message, MessageState
from desktop_rag.core.language.translation import count_of, decimal_in_words, tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.messages.answer_notices import is_of_empty_library
from desktop_rag.ui.messages.failure_card import BROKEN_OFF
from desktop_rag.ui.messages.message_model import Turn
from desktop_rag.ui.widgets.controls import ElidedLabel, IconButton, TextButton
from desktop_rag.ui.widgets.wrapping_row import WrappingRow

# A name that needs more than this is elided before the buttons move to a line of their own.
_MAX_BYLINE_PX = 260
_OPINIONS = {
    Feedback.LIKED: ("thumb-up", tr("Good answer")),
    Feedback.DISLIKED: ("thumb-down", tr("Bad answer")),
}
_OUTCOMES = {MessageState.STOPPED: tr("stopped"), MessageState.CUT: tr("cut off")}
EXCERPTS_BYLINE = tr("Excerpts from your documents")


class AnswerFooter(QWidget):
    """Shows what fits the state of an answer; what is rarely used is in a menu, with words.

    `retry_requested` always carries False: as an answer, not as excerpts.
    """

    retry_requested = Signal(bool)
    every_file_requested = Signal()
    sources_requested = Signal()
    fork_requested = Signal()
    rewrite_requested = Signal()
    schedule_requested = Signal()
    removal_requested = Signal()
    feedback_given = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._turn: Turn | None = None
        self._build()
        self._connect()

    def _build(self) -> None:
        # A model's name may be long: it must not widen the window.
        self._byline = ElidedLabel(tone="muted", scale="small")
        self._byline.setObjectName("byline")
        self._sources = TextButton("", kind="quiet", icon="quote:accent", theme=self._theme)
        self._opinions = {
            opinion: IconButton(self._theme, f"{icon}:muted", name)
            for opinion, (icon, name) in _OPINIONS.items()
        }
        self._copy = IconButton(self._theme, "copy:muted", tr("Copy answer"))
        self._rewrite = IconButton(self._theme, "pencil:muted", tr("Rewrite answer"))
        self._retry = IconButton(self._theme, "retry:muted", tr("Regenerate answer"))
        self._more = IconButton(self._theme, "more:muted", tr("More for this answer"))
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self._more)
        self._every_file = menu.addAction(tr("Ask every file"))
        self._schedule = menu.addAction(tr("Ask this regularly…"))
        self._fork = menu.addAction(tr("Continue in a copy of this chat"))
        self._remove = menu.addAction(tr("Remove this answer"))
        self._more.setMenu(menu)
        actions = [self._rewrite, self._retry, self._copy, self._more]
        self._row = WrappingRow(
            [self._byline, self._sources],
            [*self._opinions.values(), *actions],
            at=2,
            stretched=0,
            min_px=0,
            aligns_right=True,
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._row)

    def _connect(self) -> None:
        self._every_file.triggered.connect(self.every_file_requested)
        self._schedule.triggered.connect(self.schedule_requested)
        self._fork.triggered.connect(self.fork_requested)
        self._remove.triggered.connect(self.removal_requested)
        self._retry.clicked.connect(self.retry_requested)
        self._sources.clicked.connect(self.sources_requested)
        self._rewrite.clicked.connect(self.rewrite_requested)
        self._copy.clicked.connect(self._on_copy_clicked)
        self._opinions[Feedback.LIKED].clicked.connect(self._on_like_clicked)
        self._opinions[Feedback.DISLIKED].clicked.connect(self._on_dislike_clicked)

    def show_turn(self, turn: Turn, *, is_last: bool) -> None:
        """Show the current state of the answer; the last one can be asked again."""
        self._turn, message, is_over = turn, turn.message, not turn.is_live
        words = one_line(byline(message)) if is_over else ""
        self._byline.set_full_text(words)
        metrics = self._byline.fontMetrics()
        self._row.set_min_px(min(metrics.horizontalAdvance(words) + 1, _MAX_BYLINE_PX))
        self._sources.setText(_sources_in_words(message))
        self._sources.setVisible(bool(message.sources or message.nearest))
        is_stored = bool(message.message_id and message.text) and is_over
        # Nobody likes, or writes better, that there are no documents.
        is_answer = is_stored and not is_of_empty_library(message)
        self._copy.setVisible(bool(message.text) and is_over)
        self._rewrite.setVisible(is_answer)
        self._show_opinion(message, is_visible=is_answer)
        # An answer that broke off has Retry in its card.
        has_ended = is_last and is_over and message.state not in BROKEN_OFF
        self._retry.setVisible(has_ended)
        self._every_file.setVisible(has_ended and _may_ask_every_file(message))
        self._schedule.setVisible(is_stored)
        self._fork.setVisible(bool(message.message_id) and is_over)
        self._remove.setVisible(is_over and message.is_of_every_file)
        self._more.setVisible(any(map(QAction.isVisible, self._more.menu().actions())))

    def _show_opinion(self, message: Message, *, is_visible: bool) -> None:
        for opinion, (icon, name) in _OPINIONS.items():
            is_held = message.feedback is opinion
            button = self._opinions[opinion]
            button.show_as(
                f"{icon}:{'accent' if is_held else 'muted'}",
                tr("{name} (selected)", name=name) if is_held else name,
            )
            button.setVisible(is_visible)

    @Slot()
    def _on_like_clicked(self) -> None:
        self._toggle(Feedback.LIKED)

    @Slot()
    def _on_dislike_clicked(self) -> None:
        self._toggle(Feedback.DISLIKED)

    def _toggle(self, opinion: Feedback) -> None:
        is_held = self._turn is not None and self._turn.message.feedback is opinion
        self.feedback_given.emit(Feedback.NONE if is_held else opinion)

    @Slot()
    def _on_copy_clicked(self) -> None:
        if self._turn:
            QGuiApplication.clipboard().setText(self._turn.message.text)
            self._copy.show_as("check:success", tr("Copied"))


def _may_ask_every_file(message: Message) -> bool:
    """False for what was asked of every file, which Retry repeats, and for a greeting, which was
    not searched for.
    """
    is_talk = not (message.notes or message.sources or message.model or message.error_title)
    has_none = is_of_empty_library(message) or message.scope.is_without_documents
    return not (message.is_of_every_file or is_talk or has_none)


def _sources_in_words(message: Message) -> str:
    if message.nearest and not message.sources:
        return tr("Show the nearest passages")
    return count_of(len(message.sources), tr("source"), tr("sources"))


def byline(message: Message) -> str:
    """The model and the time it took: `llama-3.1 · 4.2 s`."""
    parts = [EXCERPTS_BYLINE if message.is_excerpts else message.model]
    if message.is_of_every_file:
        parts.insert(0, tr("every file asked"))
    if outcome := _OUTCOMES.get(message.state):
        parts.insert(0, outcome)
    if message.seconds:
        parts.append(f"{decimal_in_words(message.seconds, 1)} s")
    if message.is_rewritten:
        parts.append(tr("your own answer is saved"))
    return " · ".join(part for part in parts if part)
