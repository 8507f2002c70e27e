"""The widget of one answer: it shows a `Turn` and emits what was pressed. Qt thread."""

from PySide6.QtCore import QPoint, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.conversation import Message
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.markdown.claim_marks import summary, worst
from desktop_rag.ui.markdown.formula_drawer import FormulaDrawer
from desktop_rag.ui.messages.answer_body import AnswerBody
from desktop_rag.ui.messages.answer_footer import AnswerFooter
from desktop_rag.ui.messages.answer_notices import (
    HiddenAnswerNotice,
    ModelKnowledgeNotice,
    is_of_empty_library,
    may_be_supported,
)
from desktop_rag.ui.messages.claim_panel import ClaimPanel
from desktop_rag.ui.messages.collapsible_query import CollapsibleQuery
from desktop_rag.ui.messages.failure_card import FailureCard
from desktop_rag.ui.messages.follow_up_list import FollowUpList
from desktop_rag.ui.messages.message_model import Phase, Turn
from desktop_rag.ui.messages.past_answers_button import PastAnswersButton
from desktop_rag.ui.widgets.controls import (
    ElidedLabel,
    PlainLabel,
    TextButton,
    ToolButton,
    set_property,
)
from desktop_rag.ui.widgets.spinner import Spinner

_MAX_THINKING_CHARS = 20_000
_PHASES = {
    Phase.SEARCHING: tr("Searching your documents…"),
    Phase.READING: tr("Reading the sources…"),
    Phase.THINKING: tr("Thinking…"),
    Phase.WRITING: tr("Writing…"),
}
_UNSTORED = tr(
    "This answer was not stored: the disk is full. It is stored by itself once there is room, as"
    " long as the app stays open."
)


class CollapsibleThinking(QWidget):
    """The model's thinking, collapsed by default."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._thinking = ""
        self._button = ToolButton()
        self._button.setObjectName("thinkingButton")
        self._button.setCheckable(True)
        self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._button.setIconSize(QSize(16, 16))
        self._button.toggled.connect(self._on_toggled)
        self._label = PlainLabel(tone="muted", wrap=True, selectable=True)
        self._label.setObjectName("thinkingText")
        self._label.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(4)
        column.addWidget(self._button, alignment=Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._label)
        self._on_toggled(is_open=False)

    def show_thinking(self, thinking: str, *, is_thinking: bool) -> None:
        """Set the text; it is laid out only while expanded."""
        self._thinking = thinking
        self._button.setText(tr("Thinking…") if is_thinking else tr("Thinking"))
        self.setVisible(bool(thinking))
        if self._button.isChecked():
            self._label.setText(thinking[-_MAX_THINKING_CHARS:])

    @Slot(bool)
    def _on_toggled(self, is_open: bool) -> None:
        self._theme.set_icon(self._button, f"chevron-{'down' if is_open else 'right'}:muted")
        self._label.setText(self._thinking[-_MAX_THINKING_CHARS:] if is_open else "")
        self._label.setVisible(is_open)


class AnswerItem(QWidget):
    """An answer: thinking, text, failure, checks, byline and actions."""

    citation_clicked = Signal(object)
    address_clicked = Signal(str)
    retry_requested = Signal(bool)
    every_file_requested = Signal()
    settings_requested = Signal()
    folder_requested = Signal()
    sources_requested = Signal()
    fork_requested = Signal()
    rewrite_requested = Signal()
    schedule_requested = Signal()
    removal_requested = Signal()
    follow_up_chosen = Signal(str)
    view_requested = Signal(object)
    verification_requested = Signal(object)
    claim_shown = Signal(QWidget)
    past_answers_requested = Signal()
    feedback_given = Signal(object)

    def __init__(
        self,
        theme: Theme,
        turn: Turn,
        drawer: FormulaDrawer | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._drawer = drawer
        self._turn = turn
        self._is_last = False
        self._hides_unsupported = False
        self._revealed_id = ""
        self._build()
        self._connect()
        self.show_turn(turn)

    @property
    def body(self) -> AnswerBody:
        """The text of the answer."""
        return self._body

    def _build(self) -> None:
        self._thinking = CollapsibleThinking(self._theme)
        self._own_knowledge = ModelKnowledgeNotice(self._theme)
        self._body = AnswerBody(self._theme, self._drawer)
        self._query = CollapsibleQuery(self._theme)
        self._failure = FailureCard(self._theme)
        # A file's title may be long: it must not widen the window.
        self._status = ElidedLabel(tone="muted")
        self._notes = PlainLabel(tone="muted", scale="small", wrap=True, selectable=True)
        self._notes.setObjectName("searchNotes")
        self._unstored = PlainLabel(_UNSTORED, tone="warning", wrap=True, selectable=True)
        self._unstored.setObjectName("unstored")
        self._hidden = HiddenAnswerNotice()
        self._add = TextButton(tr("Add folder…"))
        self._claims = ClaimPanel(self._theme)
        self._check = TextButton("", kind="quiet")
        self._check.setObjectName("claimSummary")
        self._checking = Spinner(self._theme, tr("Checking the answer against its sources"))
        self._remembered = PastAnswersButton()
        self._footer = AnswerFooter(self._theme)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 10)
        column.setSpacing(4)
        for widget in (self._thinking, self._own_knowledge, self._body, self._query, self._status):
            column.addWidget(widget)
        for widget in (self._notes, self._unstored, self._failure, self._hidden):
            column.addWidget(widget)
        column.addWidget(self._add, alignment=Qt.AlignmentFlag.AlignLeft)
        check = QHBoxLayout()
        check.addWidget(self._checking)
        check.addWidget(self._check)
        check.addStretch(1)
        column.addLayout(check)
        column.addWidget(self._claims)
        column.addWidget(self._remembered, alignment=Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._footer)
        self._follow_ups = FollowUpList()
        column.addWidget(self._follow_ups)

    def _connect(self) -> None:
        self._body.citation_clicked.connect(self.citation_clicked)
        self._body.claim_clicked.connect(self._show_claim)
        self._check.clicked.connect(self._on_check_clicked)
        self._add.clicked.connect(self.folder_requested)
        self._hidden.show_requested.connect(self._on_show_requested)
        self._claims.view_requested.connect(self.view_requested)
        self._claims.verification_requested.connect(self._on_verification_requested)
        self._body.address_clicked.connect(self.address_clicked)
        self._failure.retry_requested.connect(self.retry_requested)
        self._failure.settings_requested.connect(self.settings_requested)
        self._footer.retry_requested.connect(self.retry_requested)
        self._footer.every_file_requested.connect(self.every_file_requested)
        self._footer.removal_requested.connect(self.removal_requested)
        self._footer.sources_requested.connect(self.sources_requested)
        self._footer.fork_requested.connect(self.fork_requested)
        self._footer.rewrite_requested.connect(self.rewrite_requested)
        self._footer.schedule_requested.connect(self.schedule_requested)
        self._footer.feedback_given.connect(self.feedback_given)
        self._remembered.clicked.connect(self.past_answers_requested)
        self._follow_ups.chosen.connect(self.follow_up_chosen)

    def mark_words(self, words: str, current: int) -> None:
        """Mark words in the text; `current` is the index of the hit the person is at, or -1."""
        self._body.mark_words(words, current)

    def found_place(self) -> QPoint:
        """Where the current hit is in this widget."""
        return self._body.mapTo(self, self._body.found_place())

    def show_as_last(self, *, is_last: bool) -> None:
        """Set to True for the last answer, which can be regenerated and has follow-up questions."""
        self._is_last = is_last
        self._show_actions()

    def hide_unsupported(self, *, is_wanted: bool) -> None:
        """Set to True to hide the answer when no sentence of it is supported."""
        self._hides_unsupported = is_wanted
        self._show_claims(self._turn.message)

    def show_turn(self, turn: Turn) -> None:
        """Show the current state of the answer."""
        self._turn = turn
        message = turn.message
        self._thinking.show_thinking(message.thinking, is_thinking=turn.phase is Phase.THINKING)
        self._body.show_text(message.text, message.sources, message.claims, is_live=turn.is_live)
        self._own_knowledge.show_for(message)
        self._query.show_queries(() if turn.is_live else message.sources)
        self._show_claims(message)
        self._status.set_full_text(one_line(turn.progress) or _PHASES.get(turn.phase, ""))
        self._status.setVisible(turn.is_live and turn.phase is not Phase.WRITING)
        self._failure.show_failure(message)
        self._unstored.setVisible(message.is_unstored)
        self._notes.setText(one_line(_notes_in_words(message)))
        self._notes.setVisible(bool(self._notes.text()))
        self._remembered.show_past(message.remembered)
        self._show_actions()
        set_property(self, "live", turn.is_live)

    def _show_claims(self, message: Message) -> None:
        words, tone = summary(message.claims, is_checking=self._turn.is_checking)
        self._check.setText(words)
        self._check.setAccessibleName(tr("Answer check: {words}. Press for details.", words=words))
        self._check.setVisible(bool(words))
        self._checking.setVisible(bool(words) and self._turn.is_checking)
        set_property(self._check, "tone", tone)
        self._claims.show_claims(message.claims, message.sources)
        is_wanted = message.message_id == self._revealed_id
        is_hidden = self._hides_unsupported and not (is_wanted or may_be_supported(message.claims))
        self._hidden.setVisible(is_hidden)
        self._body.setVisible(not is_hidden)

    def _show_actions(self) -> None:
        message, is_over = self._turn.message, not self._turn.is_live
        self._footer.show_turn(self._turn, is_last=self._is_last)
        self._add.setVisible(self._is_last and is_over and is_of_empty_library(message))
        self._follow_ups.show_questions(message.follow_ups if self._is_last and is_over else ())
        self._failure.offer_retry(is_offered=self._is_last)

    @Slot()
    def _on_check_clicked(self) -> None:
        """Open the panel at the claim with the worst verdict."""
        if self._claims.isHidden():
            self._show_claim(worst(self._turn.message.claims))
        else:
            self._claims.hide()

    @Slot(int)
    def _show_claim(self, index: int) -> None:
        self._claims.show_claim(index)
        self.claim_shown.emit(self._claims)

    @Slot()
    def _on_show_requested(self) -> None:
        self._revealed_id = self._turn.message.message_id
        self._show_claims(self._turn.message)

    @Slot()
    def _on_verification_requested(self) -> None:
        self.verification_requested.emit(self._claims)


def _notes_in_words(message: Message) -> str:
    """Notes on how the question was searched, and the number of files with a finding."""
    if message.notes is None:
        return ""
    counted, named = message.notes.files, len(message.notes.scope)
    if counted and named == counted.read == counted.matched:
        counted = None  # the sentence that names these files says it
    return f"{message.notes.in_words()} {counted.in_words() if counted else ''}".strip()
