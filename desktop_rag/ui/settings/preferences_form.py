"""Settings for the language, length and tone of answers. Qt thread."""

import os
from dataclasses import replace

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import AnswerLength, IndexSettings, LongReading, PreferenceSettings
from desktop_rag.ui.endpoints.model_field import MODEL_NOTE, ModelField
from desktop_rag.ui.settings.edited_settings import (
    BUILT_IN_MODEL,
    DEFAULT_TONE,
    LENGTHS,
    LONG_READING,
    SAME_AS_QUESTION,
)
from desktop_rag.ui.widgets.controls import TextButton
from desktop_rag.ui.widgets.form_fields import (
    SettingsSection,
    WheelGuard,
    note,
    number_field,
    radio_group,
    selected_value,
    show_checked,
    show_number,
)

_LANGUAGES = (
    tr("Arabic"),
    tr("Chinese"),
    tr("Czech"),
    tr("Danish"),
    tr("Dutch"),
    tr("English"),
    tr("Finnish"),
    tr("French"),
    tr("German"),
    tr("Greek"),
    tr("Hindi"),
    tr("Hungarian"),
    tr("Italian"),
    tr("Japanese"),
    tr("Korean"),
    tr("Norwegian"),
    tr("Polish"),
    tr("Portuguese"),
    tr("Romanian"),
    tr("Russian"),
    tr("Spanish"),
    tr("Swedish"),
    tr("Turkish"),
    tr("Ukrainian"),
)
_TONES = ("plain", "formal", "friendly")
_MAX_LANGUAGE = 40
_MAX_TONE = 200
_LANGUAGE_NOTE = tr(
    "Choose a language or enter one. An answer in another language than its sources can't be"
    " checked."
)
_TONE_NOTE = tr("Choose a tone or describe one. Excerpts always keep the wording of the documents.")
_PROMPTS_NOTE = tr("Questions you ask often. Type / in the question field to use one.")


class PreferencesForm(SettingsSection):
    """Edits PreferenceSettings; `changed` carries the new value."""

    changed = Signal(object)
    prompts_requested = Signal()

    def __init__(self, guard: WheelGuard, parent: QWidget | None = None) -> None:
        super().__init__(tr("Style of answers"), parent=parent)
        self._language = _field(
            tr("Language of answers"), SAME_AS_QUESTION, _LANGUAGES, _MAX_LANGUAGE
        )
        self._tone = _field(tr("Tone of answers"), DEFAULT_TONE, _TONES, _MAX_TONE)
        self._lengths = radio_group(self, tr("Length of answers"), LENGTHS)
        self.add_row(tr("Language"), self._language, is_wide=True)
        self.add_note(note(_LANGUAGE_NOTE))
        self.add_row(tr("Length"), *self._lengths.values(), spacing_px=20)
        self.add_row(tr("Tone"), self._tone, is_wide=True)
        self.add_note(note(_TONE_NOTE))
        for box in (self._language, self._tone):
            guard.guard(box)
            box.activated.connect(self._on_edited)
            _line_of(box).editingFinished.connect(self._on_edited)
        for button in self._lengths.values():
            button.clicked.connect(self._on_edited)
        prompts = TextButton(tr("Manage prompts…"))
        prompts.clicked.connect(self.prompts_requested)
        self.add_row(tr("Prompts"), prompts)
        self.add_note(note(_PROMPTS_NOTE))
        self._shown = PreferenceSettings()
        self.show_preferences(self._shown)

    def show_preferences(self, preferences: PreferenceSettings) -> None:
        """Show these settings without emitting `changed`."""
        self._shown = preferences
        _show(self._language, preferences.language)
        _show(self._tone, preferences.tone)
        self._lengths[preferences.length.value].setChecked(True)

    @Slot()
    def _on_edited(self) -> None:
        now = PreferenceSettings(
            _text(self._language), AnswerLength(selected_value(self._lengths)), _text(self._tone)
        )
        if now != self._shown:
            self.show_preferences(now)
            self.changed.emit(now)


def _field(name: str, default: str, choices: tuple[str, ...], max_chars: int) -> QComboBox:
    """An editable list; its first row stands for the default."""
    box = QComboBox()
    box.setEditable(True)
    box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
    box.addItem(default)
    box.addItems(choices)
    box.setAccessibleName(name)
    _line_of(box).setMaxLength(max_chars)
    _line_of(box).setAccessibleName(name)
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


# Settings for reading and embedding files. Qt thread.

_LARGEST_NOTE = tr(
    "Larger files are skipped and listed in the library. Takes effect after a restart."
)
_AFTER_A_RESTART = tr(
    "Takes effect after a restart. All documents are then embedded again in the background; until"
    " that is done, search uses the old model."
)
_MODEL_NOTE = f"{MODEL_NOTE} {_AFTER_A_RESTART}"
_FINER_NOTE = tr(
    "Finds details in long passages that a search by meaning would miss. Indexing takes about twice"
    " as long, and the library about 10% more disk space. Takes effect at once: turning it on"
    " indexes long passages in the background, turning it off removes that data."
)
_IMAGES_NOTE = tr(
    "Needs the optional “ocr” package. Pictures are read when everything else is searchable. Takes"
    " effect after a restart."
)


class IndexingForm(SettingsSection):
    """Edits IndexSettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, guard: WheelGuard, parent: QWidget | None = None) -> None:
        super().__init__(tr("Indexing"), parent=parent)
        self._index = IndexSettings()
        self._makes_windows = QCheckBox(tr("Also search parts of long passages"))
        self._pauses_on_battery = QCheckBox(tr("Pause indexing on battery power"))
        self._reads_images = QCheckBox(tr("Read text in scanned pages and images"))
        name = tr("Pictures that take more than an hour")
        self._long_pictures = radio_group(self, name, LONG_READING)
        self._largest = number_field(1, 10_000, 50, " MB")
        self._threads = number_field(0, os.cpu_count() or 1, 1, tr(" threads"))
        self._threads.setSpecialValueText(tr("Automatic"))
        self._model = ModelField(tr("Embedding model"), BUILT_IN_MODEL, self)
        for field in (self._largest, self._threads):
            guard.guard(field)
            field.valueChanged.connect(self._on_edited)
        for box in (self._makes_windows, self._pauses_on_battery, self._reads_images):
            box.toggled.connect(self._on_edited)
        for button in self._long_pictures.values():
            # Not `toggled`, which fires for the deselected button too.
            button.clicked.connect(self._on_edited)
        self._model.changed.connect(self._on_edited)
        self._build()

    def _build(self) -> None:
        self.add_row(tr("Maximum file size"), self._largest)
        self.add_note(note(_LARGEST_NOTE))
        self.add_row(tr("Processor threads"), self._threads)
        self.add_note(note(tr("Fewer threads leave more power for other apps.")))
        self.add_row(tr("Embedding model"), *self._model.fields, is_wide=True)
        self.add_note(note(_MODEL_NOTE))
        self.add_row(tr("Fine-grained search"), self._makes_windows)
        self.add_note(note(_FINER_NOTE))
        self.add_row(tr("Battery"), self._pauses_on_battery)
        self.add_row(tr("Text recognition"), self._reads_images)
        self.add_note(note(_IMAGES_NOTE))
        self.add_row(tr("Many pictures"), *self._long_pictures.values())
        self.add_note(note(tr("Many are those that take more than an hour to read.")))

    def show_index(self, index: IndexSettings) -> None:
        """Show these settings without emitting `changed`."""
        self._index = index
        show_number(self._largest, index.max_file_mb)
        show_number(self._threads, index.embedding_threads)
        self._model.show_spec(index.model_folder)
        show_checked(self._makes_windows, index.makes_windows)
        show_checked(self._pauses_on_battery, index.pauses_on_battery)
        show_checked(self._reads_images, index.reads_pictures)
        self._long_pictures[index.long_pictures].setChecked(True)

    @Slot()
    def _on_edited(self) -> None:
        self._index = replace(
            self._index,
            max_file_mb=self._largest.value(),
            embedding_threads=self._threads.value(),
            model_folder=self._model.spec,
            makes_windows=self._makes_windows.isChecked(),
            pauses_on_battery=self._pauses_on_battery.isChecked(),
            reads_pictures=self._reads_images.isChecked(),
            long_pictures=LongReading(selected_value(self._long_pictures)),
        )
        self.changed.emit(self._index)
