"""The form of a topic: its name, its sentences and what happens. Qt thread."""

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.features.rails.topics.rail_topic import RailTopic, TopicReply
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.form_fields import DropDown, note
from desktop_rag.ui.widgets.layouts import Gap, fill, vertical

REPLIES = {
    TopicReply.DOCUMENTS: tr("Answer from the documents"),
    TopicReply.TEXT: tr("Say a given text"),
    TopicReply.REFUSAL: tr("Refuse politely"),
    TopicReply.FOLLOW_UP: tr("Ask back"),
}
TEXT_NAMES = {
    TopicReply.TEXT: tr("The text"),
    TopicReply.REFUSAL: tr("The refusal"),
    TopicReply.FOLLOW_UP: tr("The question"),
}
USUAL_REFUSAL = tr("I'd rather not speak about that. I am glad to help with anything else.")


def topic_in_words(topic: RailTopic) -> str:
    """`ask for the price · say a given text · 3 sentences`."""
    name = one_line(topic.name) or tr("(no name)")
    count = len(topic.tidied().examples)
    said = tr("1 sentence") if count == 1 else tr("{count} sentences", count=count)
    return f"{name} · {REPLIES[topic.reply]} · {said}"


_LINE, _TEXT = "\n", "\n\n"
_EXAMPLE_LINES, _TEXT_LINES = 6, 4
_MARGIN_PX = 16
_TEXTS_NOTE = tr("Several texts, with an empty line between them, are said in turn.")
_THEN_NOTE = tr(
    "Said after the person's answer. Without a text, that answer goes to the documents, together"
    " with the question before it."
)
_DOCUMENTS_NOTE = tr(
    "These sentences are answered as always. Such a topic keeps questions to the documents apart"
    " from topics that sound alike."
)


class TopicForm(QWidget):
    """`edited` carries the topic as it is now, and the name of the field that was changed."""

    edited = Signal(object, str)

    def __init__(self) -> None:
        super().__init__()
        self._topic = RailTopic()
        self._name = QLineEdit(placeholderText=tr("ask for the price"))
        self._name.setAccessibleName(tr("Name of the topic"))
        self._examples = _lines(tr("Example sentences"), _EXAMPLE_LINES)
        self._examples.setPlaceholderText(tr("How much is a ticket?\nWhat does it cost to get in?"))
        self._reply = DropDown()
        self._reply.setAccessibleName(tr("What happens"))
        for reply, words in REPLIES.items():
            self._reply.addItem(words, reply)
        self._said_name = PlainLabel()
        self._said = _lines(tr("The text"), _TEXT_LINES)
        self._said_note = note(_TEXTS_NOTE)
        self._then_name = PlainLabel(tr("Then say"))
        self._then = _lines(tr("Then say"), _TEXT_LINES)
        self._then_note = note(_THEN_NOTE)
        self._documents_note = note(_DOCUMENTS_NOTE)
        # The texts by the fields of a topic, with what separates them.
        self._texts = {
            "examples": (self._examples, _LINE),
            "texts": (self._said, _TEXT),
            "then": (self._then, _TEXT),
        }
        self._build()
        self._name.textEdited.connect(self._on_name)
        self._reply.activated.connect(self._on_reply)
        for field, (editor, _) in self._texts.items():
            editor.textChanged.connect(partial(self._on_texts, field))

    def _build(self) -> None:
        column = vertical(on=self, margins=0, spacing=5)
        named = (
            (PlainLabel(tr("Name")), self._name),
            (PlainLabel(tr("Sentences, one a line")), self._examples),
            (PlainLabel(tr("What happens")), self._reply),
        )
        for label, field in named:
            label.setBuddy(field)
            fill(column, label, field, Gap(4))
        column.addWidget(self._documents_note)
        for part in (
            self._said_name, self._said, self._said_note,
            self._then_name, self._then, self._then_note,
        ):  # fmt: skip
            column.addWidget(part)
        column.addStretch(1)

    def show_topic(self, topic: RailTopic) -> None:
        """Show a topic; unchanged fields keep their cursor."""
        self._topic = topic
        if self._name.text() != topic.name:
            self._name.setText(topic.name)
        for field, (editor, separator) in self._texts.items():
            _show(editor, separator.join(getattr(topic, field)))
        self._reply.setCurrentIndex(self._reply.findData(topic.reply))
        is_told = topic.reply is not TopicReply.DOCUMENTS
        is_asking = topic.reply is TopicReply.FOLLOW_UP
        self._documents_note.setVisible(not is_told)
        for widget in (self._said_name, self._said, self._said_note):
            widget.setVisible(is_told)
        for widget in (self._then_name, self._then, self._then_note):
            widget.setVisible(is_asking)
        words = TEXT_NAMES.get(topic.reply, "")
        self._said_name.setText(words)
        self._said.setAccessibleName(words)

    def write_name(self) -> None:
        """Put the cursor into the name."""
        self._name.setFocus()
        self._name.selectAll()

    def _edit(self, topic: RailTopic, field: str) -> None:
        self._topic = topic
        self.edited.emit(topic, field)

    @Slot(str)
    def _on_name(self, name: str) -> None:
        self._edit(replace(self._topic, name=name), "name")

    def _on_texts(self, field: str) -> None:
        editor, separator = self._texts[field]
        texts = tuple(editor.toPlainText().split(separator))
        self._edit(replace(self._topic, **{field: texts}), field)

    @Slot()
    def _on_reply(self) -> None:
        reply = TopicReply(self._reply.currentData())
        topic = replace(self._topic, reply=reply)
        if reply is TopicReply.REFUSAL and not topic.tidied().texts:
            topic = replace(topic, texts=(USUAL_REFUSAL,))
        self.show_topic(topic)
        self._edit(topic, "")


def _lines(name: str, lines: int) -> QPlainTextEdit:
    field = QPlainTextEdit(tabChangesFocus=True)
    field.setAccessibleName(name)
    field.setFixedHeight(field.fontMetrics().lineSpacing() * lines + _MARGIN_PX)
    return field


def _show(field: QPlainTextEdit, text: str) -> None:
    if field.toPlainText() != text:
        with QSignalBlocker(field):
            field.setPlainText(text)
