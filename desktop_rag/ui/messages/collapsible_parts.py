"""What is folded at an answer: thinking, steps, queries, unbacked sentences. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QWidget

from desktop_rag.core.conversation import AnswerStep, SourceRef
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.messages.message_model import MessageActions
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, ToolButton, set_tip
from desktop_rag.ui.widgets.layouts import clear, vertical
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
