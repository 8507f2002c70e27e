"""How the person likes answers, as settings. Qt thread."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from desktop_rag.core.settings import AnswerLength, PreferenceSettings
from desktop_rag.ui.settings.settings_fields import (
    SettingsSection,
    WheelGuard,
    choice,
    chosen,
    note,
)
from desktop_rag.ui.widgets.controls import TextButton

_AS_ASKED = "That of the question"
_LANGUAGES = (
    "Arabic", "Chinese", "Czech", "Danish", "Dutch", "English", "Finnish", "French", "German",
    "Greek", "Hindi", "Hungarian", "Italian", "Japanese", "Korean", "Norwegian", "Polish",
    "Portuguese", "Romanian", "Russian", "Spanish", "Swedish", "Turkish", "Ukrainian",
)  # fmt: skip
_LENGTHS = {
    AnswerLength.BRIEF.value: "brief",
    AnswerLength.NORMAL.value: "normal",
    AnswerLength.DETAILED.value: "detailed",
}
_TONES = ("plain", "formal", "friendly")
_NO_TONE = "The model's own"
_LONGEST_LANGUAGE = 40
_LONGEST_TONE = 200
_LANGUAGE_NOTE = (
    "Choose one, or write another. What is in another language than its sources can't be checked."
)
_TONE_NOTE = "Choose one, or describe it. Excerpts, which need no model, are as the documents are."
_PROMPTS_NOTE = "Questions that you ask again and again: write / in the question field to use one."


class PreferencesForm(SettingsSection):
    """`changed` carries the PreferenceSettings as they are now."""

    changed = Signal(object)
    prompts_requested = Signal()

    def __init__(self, guard: WheelGuard, parent: QWidget | None = None) -> None:
        super().__init__("How answers are written", parent=parent)
        self._language = _field("Language of answers", _AS_ASKED, _LANGUAGES, _LONGEST_LANGUAGE)
        self._tone = _field("Tone of answers", _NO_TONE, _TONES, _LONGEST_TONE)
        self._lengths = choice(self, "Length of answers", _LENGTHS)
        self.add_row("Language", self._language, is_wide=True)
        self.add_note(note(_LANGUAGE_NOTE))
        self.add_row("Length", *self._lengths.values(), spacing_px=20)
        self.add_row("Tone", self._tone, is_wide=True)
        self.add_note(note(_TONE_NOTE))
        for box in (self._language, self._tone):
            guard.guard(box)
            box.activated.connect(self._on_edited)
            _line_of(box).editingFinished.connect(self._on_edited)
        for button in self._lengths.values():
            button.clicked.connect(self._on_edited)
        prompts = TextButton("Manage prompts…")
        prompts.clicked.connect(self.prompts_requested)
        self.add_row("Prompts", prompts)
        self.add_note(note(_PROMPTS_NOTE))
        self._shown = PreferenceSettings()
        self.show_preferences(self._shown)

    def show_preferences(self, preferences: PreferenceSettings) -> None:
        """Show settings; nothing is told."""
        self._shown = preferences
        _show(self._language, preferences.language)
        _show(self._tone, preferences.tone)
        self._lengths[preferences.length.value].setChecked(True)

    @Slot()
    def _on_edited(self) -> None:
        now = PreferenceSettings(
            _text(self._language), AnswerLength(chosen(self._lengths)), _text(self._tone)
        )
        if now != self._shown:
            self.show_preferences(now)
            self.changed.emit(now)


def _field(name: str, none: str, words: tuple[str, ...], most_chars: int) -> QComboBox:
    """A list that takes other words too; its first row stands for none."""
    box = QComboBox()
    box.setEditable(True)
    box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
    box.addItem(none)
    box.addItems(words)
    box.setAccessibleName(name)
    _line_of(box).setMaxLength(most_chars)
    return box


def _line_of(box: QComboBox) -> QLineEdit:
    line = box.lineEdit()
    assert line is not None, "it is editable"
    return line


def _text(box: QComboBox) -> str:
    written = " ".join(box.currentText().split())
    return "" if written == box.itemText(0) else written


def _show(box: QComboBox, text: str) -> None:
    box.setCurrentText(text or box.itemText(0))
