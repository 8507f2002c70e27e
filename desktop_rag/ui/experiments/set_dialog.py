"""Writes a set of questions: its name, and a line for each question. Qt thread."""

import uuid
from dataclasses import replace

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.experiments.question_set import LONGEST_NAME, QuestionSet, SetQuestion
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.error_words import failure_in_words
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import note

_SIZE_PX = (640, 480)
_TAGS, _EXPECTED = "#", "=>"
_HELP = tr(
    "One question a line. What follows => is the answer you expect, if you know one; words that"
    " begin with # are tags: When is the lamp lit? => At dusk. #sea"
)


class SetDialog(QDialog):
    """`submitted` carries the QuestionSet as written."""

    submitted = Signal(object)

    def __init__(self, edited: QuestionSet, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("setDialog")
        self.setWindowTitle(tr("Questions"))
        self._edited = edited
        self._name = QLineEdit(edited.name)
        self._name.setAccessibleName(tr("Name of the set"))
        self._name.setMaxLength(LONGEST_NAME)
        self._lines = QPlainTextEdit("\n".join(map(line_of, edited.questions)))
        self._lines.setAccessibleName(tr("Questions, one a line"))
        self._lines.setTabChangesFocus(True)
        self._error = PlainLabel(tone="danger", wrap=True, selectable=True)
        self._save = TextButton(tr("Save"), kind="primary")
        self._cancel = TextButton(tr("Cancel"))
        buttons = QHBoxLayout()
        buttons.addWidget(self._error, 1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._save)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        for words, field in (
            (tr("Name of the set"), self._name),
            (tr("Questions, one a line"), self._lines),
        ):
            label = PlainLabel(words)
            label.setBuddy(field)
            column.addWidget(label)
            column.addWidget(field, int(field is self._lines))
        column.addWidget(note(_HELP))
        column.addLayout(buttons)
        self._save.setDefault(True)
        self.resize(*_SIZE_PX)
        self._save.clicked.connect(self._on_saved)
        self._cancel.clicked.connect(self.reject)

    def show_error(self, error: AppError) -> None:
        """Show why the set can't be saved."""
        self._error.setText(failure_in_words(error))

    @Slot()
    def _on_saved(self) -> None:
        lines = self._lines.toPlainText().splitlines()
        questions = questions_of(lines, self._edited.questions)
        if not any(question.text for question in questions):
            self._error.setText(tr("There is no question yet. Write at least one."))
            self._lines.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        self.submitted.emit(replace(self._edited, name=self._name.text(), questions=questions))


def line_of(question: SetQuestion) -> str:
    """A question as a line; of several expected answers the first is shown."""
    parts = [" ".join(question.text.split())]
    if question.expected:
        parts.append(f"{_EXPECTED} {' '.join(question.expected[0].split())}")
    parts += [_TAGS + "_".join(tag.split()) for tag in question.tags]
    return " ".join(parts)


def questions_of(lines: list[str], known: tuple[SetQuestion, ...]) -> tuple[SetQuestion, ...]:
    """The questions of these lines; one that only its answer changed in stays the same one."""
    by_line = {line_of(question): question for question in known}
    by_text = {" ".join(question.text.split()): question for question in known}
    found: list[SetQuestion] = []
    for line in filter(str.strip, lines):
        if line in by_line:
            found.append(by_line[line])
            continue
        text, _, rest = line.partition(_EXPECTED)
        words = (rest if _EXPECTED in line else text).split()
        tags = tuple(word[1:] for word in words if word.startswith(_TAGS) and word[1:])
        plain = " ".join(word for word in words if not word.startswith(_TAGS))
        asked, expected = (" ".join(text.split()), plain) if _EXPECTED in line else (plain, "")
        same = by_text.get(asked, SetQuestion(uuid.uuid4().hex, asked))
        answers = (expected, *same.expected[1:]) if expected else ()
        found.append(replace(same, expected=answers, tags=tags))
    return tuple(found)
