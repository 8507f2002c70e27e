"""The widget of one answer: it shows a `Turn`, and tells what the person does. Qt thread."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint, QSize, Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import QAction, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from desktop_rag.core.conversation import AnswerStep, Feedback, Message, MessageState, SourceRef
from desktop_rag.core.language.translation import count_of, decimal_in_words, told, tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.markdown.claim_marks import summary, worst
from desktop_rag.ui.markdown.formula_drawing import FormulaDrawer
from desktop_rag.ui.messages.answer_body import AnswerBody
from desktop_rag.ui.messages.claim_panel import ClaimPanel
from desktop_rag.ui.messages.message_model import MessageActions, Phase, Turn, is_of_empty_library
from desktop_rag.ui.messages.question_item import QuestionButton
from desktop_rag.ui.widgets.controls import (
    Card,
    ElidedButton,
    ElidedLabel,
    IconButton,
    IconLabel,
    PlainLabel,
    Spinner,
    TextButton,
    ToolButton,
    set_property,
    set_tip,
)
from desktop_rag.ui.widgets.flow_row import FlowRow, WrappingRow
from desktop_rag.ui.widgets.layouts import Stretch, clear, drop, horizontal, vertical
from desktop_rag.ui.widgets.marked_text import MarkedText

_MAX_THINKING_CHARS = 20_000


class _Collapsible(QWidget):
    """A button that unfolds what is below it; built when there is something to show."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self._name = name
        self._button: ToolButton | None = None
        self.hide()

    def _content(self) -> QWidget:
        """Make what is unfolded."""
        raise NotImplementedError

    def _show(self, words: str, *, is_wanted: bool) -> None:
        if is_wanted and self._button is None:
            self._build()
        if self._button:
            self._button.setText(words)
        self.setVisible(is_wanted)

    def _build(self) -> None:
        self._button = ToolButton()
        self._button.setObjectName(f"{self._name}Button")
        self._button.setCheckable(True)
        self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._button.setIconSize(QSize(16, 16))
        self._button.toggled.connect(self._on_toggled)
        self._unfolded = self._content()
        vertical(
            (self._button, 0, Qt.AlignmentFlag.AlignLeft),
            self._unfolded,
            on=self,
            margins=(0, 0, 0, 4),
            spacing=4,
        )
        self._on_toggled(is_open=False)

    @property
    def _is_open(self) -> bool:
        return self._button is not None and self._button.isChecked()

    @Slot(bool)
    def _on_toggled(self, is_open: bool) -> None:
        assert self._button, "only a built button is pressed"
        self._theme.set_icon(self._button, f"chevron-{'down' if is_open else 'right'}:muted")
        self._unfolded.setVisible(is_open)


class CollapsibleThinking(_Collapsible):
    """The model's thinking."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "thinking")
        self._thinking = ""

    def show_thinking(self, thinking: str, *, is_thinking: bool) -> None:
        """Set the text; it is laid out only while unfolded."""
        self._thinking = thinking
        self._show(tr("Thinking…") if is_thinking else tr("Thinking"), is_wanted=bool(thinking))
        if self._is_open:
            self._label.setText(thinking[-_MAX_THINKING_CHARS:])

    def _content(self) -> QWidget:
        self._label = PlainLabel(tone="muted", wrap=True, selectable=True)
        self._label.setObjectName("thinkingText")
        return self._label

    @Slot(bool)
    def _on_toggled(self, is_open: bool) -> None:
        self._label.setText(self._thinking[-_MAX_THINKING_CHARS:] if is_open else "")
        super()._on_toggled(is_open)


class CollapsibleQuery(_Collapsible):
    """The database query behind an answer."""

    def __init__(self, theme: Theme, asked: MessageActions) -> None:
        super().__init__(theme, "query")
        self._asked = asked

    def show_queries(self, sources: Sequence[SourceRef], model: str) -> None:
        """Show the queries of these sources, by rule without a model; hidden without any."""
        queries = [source.query for source in sources if source.query]
        words = tr("Calculated with a query") if model else tr("Calculated by rule, with a query")
        self._show(words, is_wanted=bool(queries))
        if queries:
            self._query.show_marked("\n\n".join(queries), ())

    def _content(self) -> QWidget:
        content = QWidget()
        self._query = MarkedText(self._theme, tr("Query"), role="text")
        self._query.setObjectName("queryText")
        self._query.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        change = TextButton(tr("Change the query…"))
        set_tip(change, tr("Puts it into the field for questions; sent from there, it runs again."))
        change.clicked.connect(
            lambda: self._asked.query_change_requested.emit(self._query.toPlainText())
        )
        vertical(self._query, (change, 0, Qt.AlignmentFlag.AlignLeft), on=content, margins=0)
        return content


class CollapsibleUnbacked(_Collapsible):
    """The sentences of a weak model that no source has."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "unbacked")

    def show_sentences(self, sentences: Sequence[str]) -> None:
        """Show these sentences; hidden without any."""
        if (count := len(sentences)) == 1:
            words = tr("1 sentence of the model not backed by a source")
        else:
            words = tr("{count} sentences of the model not backed by a source", count=count)
        self._show(words, is_wanted=bool(sentences))
        if sentences:
            self._label.setText("\n".join(map(one_line, sentences)))

    def _content(self) -> QWidget:
        self._label = PlainLabel(tone="muted", wrap=True, selectable=True)
        self._label.setObjectName("unbackedText")
        return self._label


class CollapsibleSteps(_Collapsible):
    """What the model looked up before it answered; `opened` carries the first source of a step."""

    opened = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "steps")
        self._shown: tuple[AnswerStep, ...] = ()

    def show_steps(self, steps: Sequence[AnswerStep], sources: Sequence[SourceRef]) -> None:
        """Show the steps, each with a way to what it found among the sources."""
        words = tr("Looked further: {steps}", steps=count_of(len(steps), tr("step"), tr("steps")))
        self._show(words, is_wanted=bool(steps))
        if not steps or self._shown == tuple(steps):
            return
        self._shown = tuple(steps)
        clear(self._rows)
        by_number = {source.n: source for source in sources}
        for step in steps:
            found = next((by_number[n] for n in step.sources if n in by_number), None)
            self._rows.addWidget(self._row(step, found), alignment=Qt.AlignmentFlag.AlignLeft)

    def _content(self) -> QWidget:
        content = QWidget()
        content.setObjectName("stepsList")
        self._rows = vertical(on=content, margins=(20, 0, 0, 0), spacing=2)
        return content

    def _row(self, step: AnswerStep, found: SourceRef | None) -> QWidget:
        said = one_line(step.said)
        if found is None:
            return PlainLabel(said, tone="muted", scale="small", selectable=True)
        row = TextButton(said, kind="quiet", then=lambda: self.opened.emit(found))
        row.setAccessibleName(tr("{step}. Press to open what was found.", step=said))
        return row


_MOST_SUGGESTED = 3


class FollowUpList(QWidget):
    """Suggested questions below the last answer; a press asks one."""

    def __init__(self, asked: MessageActions) -> None:
        super().__init__()
        self._asked = asked
        self._questions: tuple[str, ...] = ()
        self._buttons: list[QuestionButton] = []
        title = PlainLabel(tr("Ask next"), tone="muted", scale="small")
        self._column = vertical(title, on=self, margins=(0, 8, 0, 0), spacing=6)
        self.hide()

    def show_questions(self, questions: Sequence[str]) -> None:
        """Show the first of these questions; hidden without any."""
        # More would push a short answer out of a small window.
        questions = questions[:_MOST_SUGGESTED]
        self.setVisible(bool(questions))
        if tuple(questions) == self._questions:
            return
        self._questions = tuple(questions)
        drop(self._buttons)
        self._buttons = [QuestionButton(question, "followUp") for question in questions]
        for button in self._buttons:
            button.clicked.connect(partial(self._asked.follow_up_chosen.emit, button.question))
            self._column.addWidget(button)


# The states of an answer that shows a FailureCard.
BROKEN_OFF = (MessageState.FAILED, MessageState.CUT)


class FailureCard(Card):
    """The reason why an answer failed or was cut off, with Retry and other remedies.

    Its parts are built for the first failure.
    """

    def __init__(self, theme: Theme, asked: MessageActions) -> None:
        super().__init__(kind="notice", tone="danger")
        self._theme = theme
        self._asked = asked
        self._is_from_model = self._is_built = False
        self.hide()

    def _build(self) -> None:
        self._title = PlainLabel(wrap=True, selectable=True)
        self._title.setObjectName("noticeTitle")
        self._hint = PlainLabel(wrap=True, selectable=True)
        asked = self._asked
        self._retry = TextButton(
            tr("Retry"), icon="retry", theme=self._theme, then=asked.retry_requested
        )
        self._excerpts = TextButton(
            tr("Show excerpts instead"), then=lambda: asked.retry_requested.emit(True)
        )
        self._settings = TextButton(
            tr("Open settings"), kind="quiet", then=asked.settings_requested
        )
        # In a narrow chat they don't fit beside each other in every language.
        buttons = FlowRow()
        for button in (self._retry, self._excerpts, self._settings):
            buttons.addWidget(button)
        vertical(self._title, self._hint, buttons, on=self, margins=(14, 12, 14, 12), spacing=6)
        self._is_built = True

    def show_failure(self, message: Message) -> None:
        """Show the error of a failed or cut answer; hidden for any other."""
        if message.state not in BROKEN_OFF:
            self.hide()
            return
        if not self._is_built:
            self._build()
        self._title.setText(told(message.error_title))
        self._hint.say(told(message.error_hint))
        # No setting can keep an answer from being cut.
        self._settings.setVisible(message.state is MessageState.FAILED)
        self._is_from_model = bool(message.model) and message.state is MessageState.FAILED
        self.show()

    def offer_retry(self, *, is_offered: bool) -> None:
        """Offer Retry, or not: only the last answer can be asked again."""
        if self._is_built:
            self._retry.setVisible(is_offered)
            self._excerpts.setVisible(is_offered and self._is_from_model)


_INCOMPLETE = (MessageState.STOPPED, MessageState.CUT)
_WITHOUT = tr(
    "Without documents, as you chose: nothing was searched. The model answers from its own"
    " knowledge, without sources or checks."
)
_WORDS = tr(
    "Not from your documents: nothing relevant was found in them. The model answers from its own"
    " knowledge, without sources or checks."
)


# A longer name is elided before the buttons move to a line of their own.
_MAX_BYLINE_PX = 260
_OPINIONS = {
    Feedback.LIKED: ("thumb-up", tr("Good answer")),
    Feedback.DISLIKED: ("thumb-down", tr("Bad answer")),
}
_CONSEQUENCES = {
    Feedback.LIKED: tr("Questions like this one get it as their first example."),
    Feedback.DISLIKED: tr("It is an example for no other question."),
}
_OUTCOMES = {MessageState.STOPPED: tr("stopped"), MessageState.CUT: tr("cut off")}
EXCERPTS_BYLINE = tr("Excerpts from your documents")


class AnswerFooter(QWidget):
    """The row below an answer: its byline, sources and actions, with rarely used ones in a menu."""

    def __init__(self, theme: Theme, turn: Turn, asked: MessageActions) -> None:
        super().__init__()
        self._theme = theme
        self._turn = turn
        self._asked = asked
        self._is_last = False
        self._build()

    def _build(self) -> None:
        # A model's name may be long: it must not widen the window.
        self._byline = ElidedLabel(tone="muted", scale="small")
        self._byline.setObjectName("byline")
        asked, sent = self._asked, self._sent
        self._sources = TextButton(
            "",
            kind="quiet",
            icon="quote:accent",
            theme=self._theme,
            then=sent(asked.sources_requested),
        )
        set_tip(self._sources, tr("A source is a passage. A file may give several."))
        self._opinions = {
            opinion: IconButton(
                self._theme, f"{icon}:muted", name, then=partial(self._toggle, opinion)
            )
            for opinion, (icon, name) in _OPINIONS.items()
        }
        button = partial(IconButton, self._theme)
        self._copy = button("copy:muted", tr("Copy answer"), then=self._on_copy_clicked)
        rewrite, told = sent(asked.rewrite_requested), sent(asked.sent_requested)
        self._rewrite = button("pencil:muted", tr("Rewrite answer"), then=rewrite)
        set_tip(self._rewrite, tr("Write your own answer, which later ones can cite"))
        self._retry = button("retry:muted", tr("Regenerate answer"), then=asked.retry_requested)
        self._told = button("server:muted", tr("What was sent to the model"), then=told)
        self._more = button("more:muted", tr("More for this answer"))
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self._more)
        self._every_file = menu.addAction(tr("Ask every file"), asked.every_file_requested.emit)
        self._offered = menu.addAction("", sent(asked.offered_requested))
        self._fork = menu.addAction(
            tr("Continue in a copy of this chat"), sent(asked.fork_requested)
        )
        self._remove = menu.addAction(tr("Remove this answer"), sent(asked.removal_requested))
        self._more.setMenu(menu)
        actions = [self._rewrite, self._retry, self._copy, self._told, self._more]
        self._row = WrappingRow(
            [self._byline, self._sources],
            [*self._opinions.values(), *actions],
            at=2,
            stretched=0,
            min_px=0,
            aligns_right=True,
        )
        vertical(self._row, on=self, margins=0)

    def _sent(self, signal: SignalInstance) -> Callable[[], None]:
        """Emits the signal with the message on show."""
        return lambda: signal.emit(self._turn.message)

    def offer(self, words: str) -> None:
        """Offer an additional action with stored answers, in these words."""
        self._offered.setText(words)
        self.show_turn(self._turn, is_last=self._is_last)

    def show_turn(self, turn: Turn, *, is_last: bool) -> None:
        """Show the current state of the answer; the last one can be asked again."""
        self._is_last = is_last
        self._turn, message, is_over = turn, turn.message, not turn.is_live
        words = one_line(byline(message)) if is_over else ""
        self._byline.set_full_text(words)
        metrics = self._byline.fontMetrics()
        self._row.set_min_px(min(metrics.horizontalAdvance(words) + 1, _MAX_BYLINE_PX))
        is_nearest = bool(message.nearest and not message.sources)
        passages = len({source.passage for source in message.sources})
        count = count_of(passages, tr("source"), tr("sources"))
        self._sources.setText(tr("Show the nearest passages") if is_nearest else count)
        self._sources.setVisible(bool(message.sources or message.nearest))
        is_stored = bool(message.message_id and message.text) and is_over
        # The notice of an empty library is neither rated nor rewritten.
        is_answer = is_stored and not is_of_empty_library(message)
        self._copy.setVisible(bool(message.text) and is_over)
        self._rewrite.setVisible(is_answer)
        self._show_opinion(message, is_visible=is_answer)
        # An answer that broke off has Retry in its card.
        has_ended = is_last and is_over and message.state not in BROKEN_OFF
        self._retry.setVisible(has_ended)
        self._told.setVisible(bool(message.model) and is_over)
        self._every_file.setVisible(has_ended and _may_ask_every_file(message))
        self._offered.setVisible(is_stored and bool(self._offered.text()))
        self._fork.setVisible(bool(message.message_id) and is_over)
        self._remove.setVisible(is_over and message.is_of_every_file)
        self._more.setVisible(any(map(QAction.isVisible, self._more.menu().actions())))

    def _show_opinion(self, message: Message, *, is_visible: bool) -> None:
        for opinion, (icon, name) in _OPINIONS.items():
            is_held = message.feedback is opinion
            button = self._opinions[opinion]
            shown = tr("{name} (selected)", name=name) if is_held else name
            button.show_as(f"{icon}:{'accent' if is_held else 'muted'}", shown)
            set_tip(button, f"{shown}. {_CONSEQUENCES[opinion]}")
            button.setVisible(is_visible)

    def _toggle(self, opinion: Feedback) -> None:
        message = self._turn.message
        given = Feedback.NONE if message.feedback is opinion else opinion
        self._asked.feedback_given.emit(message, given)

    @Slot()
    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self._turn.message.text_with_sources)
        self._copy.show_as("check:success", tr("Copied"))


def _may_ask_every_file(message: Message) -> bool:
    """False for greetings, and for answers from every file, which Retry repeats."""
    is_talk = not (message.notes or message.sources or message.model or message.error_title)
    has_none = is_of_empty_library(message) or message.scope.is_without_documents
    return not (message.is_of_every_file or is_talk or has_none)


def byline(message: Message) -> str:
    """The model and the time it took: `llama-3.1 · 4.2 s`."""
    parts = [EXCERPTS_BYLINE if message.is_excerpts else "", message.model]
    if message.is_of_every_file:
        parts.insert(0, tr("every file asked"))
    if outcome := _OUTCOMES.get(message.state):
        parts.insert(0, outcome)
    if message.seconds:
        parts.append(f"{decimal_in_words(message.seconds, 1)} s")
    if message.is_rewritten:
        parts.append(tr("your own answer is saved"))
    return " · ".join(part for part in parts if part)


_PHASES = {
    Phase.SEARCHING: tr("Searching your documents…"),
    Phase.READING: tr("Reading the sources…"),
    Phase.THINKING: tr("Thinking…"),
    Phase.WRITING: tr("Writing…"),
}
_COUNTS_SAID = tr(
    "The passages beside the answer are of these files. What is inside a file, such as an"
    " attachment, counts as a file here."
)
_WRITTEN = tr("Excerpts come without a model. A model writes answers from them.")
_UNSTORED = tr(
    "This answer is not stored yet: the disk refuses it. It is stored by itself once that works"
    " again, as long as the app stays open."
)


class AnswerItem(QWidget):
    """An answer: thinking, text, failure, checks, byline and actions."""

    def __init__(
        self, theme: Theme, turn: Turn, asked: MessageActions, drawer: FormulaDrawer | None = None
    ) -> None:
        super().__init__()
        self._theme = theme
        self._drawer = drawer
        self._turn = turn
        self._asked = asked
        self._is_last = False
        self._offers_writing = False
        self._build()
        self._connect()
        self.show_turn(turn)

    def offer(self, words: str) -> None:
        """Offer an additional action with this answer, in these words."""
        self._footer.offer(words)

    def _build(self) -> None:
        self._thinking = CollapsibleThinking(self._theme)
        self._steps = CollapsibleSteps(self._theme)
        self._own_knowledge = Card(kind="notice", tone="warning")
        self._own_words = PlainLabel(_WORDS, wrap=True)
        icon, inside = IconLabel(self._theme, "info:warning"), (14, 8, 14, 8)
        horizontal(icon, (self._own_words, 1), on=self._own_knowledge, margins=inside, spacing=10)
        self.body = AnswerBody(self._theme, self._drawer)
        self._query = CollapsibleQuery(self._theme, self._asked)
        self._unbacked = CollapsibleUnbacked(self._theme)
        self._failure = FailureCard(self._theme, self._asked)
        # A file's title may be long: it must not widen the window.
        self._status = ElidedLabel(tone="muted")
        self._notes = PlainLabel(tone="muted", scale="small", wrap=True, selectable=True)
        self._notes.setObjectName("searchNotes")
        set_tip(self._notes, _COUNTS_SAID)
        self._unstored = PlainLabel(_UNSTORED, tone="warning", wrap=True, selectable=True)
        self._unstored.setObjectName("unstored")
        self._add = TextButton(tr("Add folder…"), then=self._asked.folder_requested)
        self._claims = ClaimPanel(self._theme)
        self._check = TextButton("", kind="quiet", then=self._on_check_clicked)
        self._check.setObjectName("claimSummary")
        self._offer = ElidedButton("", kind="quiet")
        self._checking = Spinner(self._theme, tr("Checking the answer against its sources"))
        self._remembered = TextButton("", kind="quiet", then=self._on_past_wanted)
        self._remembered.setObjectName("remembered")
        self._remembered.setAccessibleDescription(tr("Press to see and delete them."))
        self._remembered.hide()
        written = self._asked.writing_requested
        self._write = TextButton(tr("Written answers…"), kind="quiet", then=written)
        set_tip(self._write, _WRITTEN)
        self._footer = AnswerFooter(self._theme, self._turn, self._asked)
        self._follow_ups = FollowUpList(self._asked)
        left = Qt.AlignmentFlag.AlignLeft
        vertical(
            self._thinking, self._steps, self._own_knowledge, self.body, self._query,
            self._unbacked, self._status, self._notes, self._unstored, self._failure,
            (self._add, 0, left), horizontal(self._checking, self._check, self._offer, Stretch()),
            self._claims, (self._remembered, 0, left), (self._write, 0, left), self._footer,
            self._follow_ups, on=self, margins=(0, 4, 0, 10), spacing=4,
        )  # fmt: skip

    def _connect(self) -> None:
        asked = self._asked
        self.body.citation_clicked.connect(self._on_source_chosen)
        self._steps.opened.connect(self._on_source_chosen)
        self.body.claim_clicked.connect(self._show_claim)
        self.body.address_clicked.connect(asked.address_clicked)
        self._offer.clicked.connect(lambda: asked.offer_pressed.emit(self._turn.offer))
        self._claims.view_requested.connect(asked.view_requested)
        self._claims.verification_requested.connect(
            lambda: asked.verification_requested.emit(self._claims)
        )

    def mark_words(self, words: str, current: int) -> None:
        """Mark words in the text; `current` is the index of the current hit, or -1."""
        self.body.mark_words(words, current)

    def found_place(self) -> QPoint:
        """The position of the current hit in this widget."""
        return self.body.mapTo(self, self.body.found_place())

    def show_as_last(self, *, is_last: bool) -> None:
        """Show or hide what only the last answer has: Retry and follow-up questions."""
        self._is_last = is_last
        self._show_actions()

    def offer_writing(self, *, is_offered: bool) -> None:
        """Set whether a model is offered under excerpts."""
        self._offers_writing = is_offered
        self._show_actions()

    def show_turn(self, turn: Turn) -> None:
        """Show the current state of the answer."""
        self._turn = turn
        message = turn.message
        self._thinking.show_thinking(message.thinking, is_thinking=turn.phase is Phase.THINKING)
        steps = message.notes.steps if message.notes else ()
        self._steps.show_steps(steps, message.sources)
        self.body.show_text(message.text, message.sources, message.claims, is_live=turn.is_live)
        words = _WITHOUT if message.scope.is_without_documents else _WORDS
        # Setting the same words again would have the whole conversation laid out again.
        if words != self._own_words.text():
            self._own_words.setText(words)
        self._own_knowledge.setVisible(message.is_own_knowledge)
        self._query.show_queries(() if turn.is_live else message.sources, message.model)
        self._unbacked.show_sentences(message.notes.unbacked if message.notes else ())
        self._show_claims(message)
        self._status.set_full_text(one_line(turn.progress) or _PHASES.get(turn.phase, ""))
        self._status.setVisible(turn.is_live and turn.phase is not Phase.WRITING)
        self._failure.show_failure(message)
        self._unstored.setVisible(message.is_unstored)
        self._notes.say(one_line(_notes_in_words(message)))
        past = count_of(len(message.remembered), tr("earlier answer"), tr("earlier answers"))
        self._remembered.setText(tr("Guided by {count_of}", count_of=past))
        self._remembered.setVisible(bool(message.remembered))
        self._show_actions()
        set_property(self, "live", turn.is_live)

    def _show_claims(self, message: Message) -> None:
        words, tone = summary(message.claims, is_checking=self._turn.is_checking)
        if not words and message.text and message.state in _INCOMPLETE:
            words, tone = tr("Not checked, as the answer is not complete"), "muted"
        self._check.setText(words)
        self._check.setAccessibleName(tr("Answer check: {words}. Press for details.", words=words))
        self._check.setVisible(bool(words))
        self._checking.setVisible(bool(words) and self._turn.is_checking)
        set_property(self._check, "tone", tone)
        offer = self._turn.offer
        self._offer.setVisible(offer is not None)
        if offer:
            self._offer.set_full_text(tr("Check with {model}…", model=one_line(offer.model)))
        self._claims.show_claims(message.claims, message.sources)

    def _show_actions(self) -> None:
        message, is_over = self._turn.message, not self._turn.is_live
        self._footer.show_turn(self._turn, is_last=self._is_last)
        self._add.setVisible(self._is_last and is_over and is_of_empty_library(message))
        self._follow_ups.show_questions(message.follow_ups if self._is_last and is_over else ())
        is_excerpt = self._is_last and is_over and message.is_excerpts
        self._write.setVisible(is_excerpt and self._offers_writing)
        self._failure.offer_retry(is_offered=self._is_last)

    @Slot()
    def _on_check_clicked(self) -> None:
        """Open the panel at the claim with the worst verdict."""
        if not self._turn.message.claims:
            return
        if self._claims.isHidden():
            self._show_claim(worst(self._turn.message.claims))
        else:
            self._claims.hide()

    @Slot(int)
    def _show_claim(self, index: int) -> None:
        self._claims.show_claim(index)
        self._asked.claim_shown.emit(self._claims)

    @Slot(object)
    def _on_source_chosen(self, source: SourceRef) -> None:
        self._asked.citation_clicked.emit(self._turn.message, source)

    @Slot()
    def _on_past_wanted(self) -> None:
        self._asked.past_answers_requested.emit(self._turn.message)


def _notes_in_words(message: Message) -> str:
    """How the question was searched, and the number of files with a finding."""
    if message.notes is None:
        return ""
    counted, named = message.notes.files, len(message.notes.scope)
    if counted and named == counted.read == counted.matched:
        counted = None  # the sentence that names these files says it
    return f"{message.notes.in_words()} {counted.in_words() if counted else ''}".strip()
