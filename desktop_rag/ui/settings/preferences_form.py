"""Settings sections: style of answers, indexing, transcription. Qt thread."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from desktop_rag.core.domain import EndpointReport
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.pictures import is_ocr_installed
from desktop_rag.core.settings import (
    AnswerLength,
    IndexSettings,
    LongReading,
    PreferenceSettings,
    TranscriptionDialect,
    TranscriptionSettings,
)
from desktop_rag.models.endpoint_address import host_of, is_this_computer, normalise_base_url
from desktop_rag.ui.endpoints.key_field import KeyField
from desktop_rag.ui.endpoints.model_field import MODEL_NOTE, ModelField
from desktop_rag.ui.endpoints.model_findings import ReportCard
from desktop_rag.ui.foundation.bridge import Bridge, EditEnd, Job
from desktop_rag.ui.foundation.wording import failure_in_words
from desktop_rag.ui.settings.edited_settings import (
    BUILT_IN_MODEL,
    DEFAULT_TONE,
    DIALECTS,
    LENGTHS,
    LONG_READING,
    SAME_AS_QUESTION,
)
from desktop_rag.ui.widgets.controls import TextButton, add_clear_button, set_property
from desktop_rag.ui.widgets.form_fields import (
    DropDown,
    SettingsSection,
    note,
    number_field,
    radio_group,
    selected_value,
    show_checked,
    show_number,
)

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

_LANGUAGES = (
    tr("Arabic"), tr("Chinese"), tr("Czech"), tr("Danish"), tr("Dutch"), tr("English"),
    tr("Finnish"), tr("French"), tr("German"), tr("Greek"), tr("Hindi"), tr("Hungarian"),
    tr("Italian"), tr("Japanese"), tr("Korean"), tr("Norwegian"), tr("Polish"), tr("Portuguese"),
    tr("Romanian"), tr("Russian"), tr("Spanish"), tr("Swedish"), tr("Turkish"), tr("Ukrainian"),
)  # fmt: skip
_TONES = ("plain", "formal", "friendly")
_MAX_LANGUAGE = 40
_MAX_TONE = 200
_LANGUAGE_NOTE = tr(
    "Choose a language or enter one: for what a model writes and what the app says in answers."
    " Quotes keep the language of their file. A model's answer in another language than its sources"
    " can't be checked."
)
_TONE_NOTE = tr("Choose a tone or describe one. Excerpts always keep the wording of the documents.")
_PROMPTS_NOTE = tr("Questions you ask often. Type / in the question field to use one.")


class PreferencesForm(SettingsSection):
    """Edits PreferenceSettings, the style of answers; `changed` carries the new value."""

    changed = Signal(object)
    prompts_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Style of answers"), parent=parent)
        self._language = _field(
            tr("Language of answers"), SAME_AS_QUESTION, _LANGUAGES, _MAX_LANGUAGE
        )
        self._tone = _field(tr("Tone of answers"), DEFAULT_TONE, _TONES, _MAX_TONE)
        self._lengths = radio_group(self, tr("Length of answers"), LENGTHS)
        self.add_row(
            tr("Language"),
            self._language,
            is_wide=True,
            words=tr("reply in German, translate, answer in another language"),
        )
        self.add_note(note(_LANGUAGE_NOTE))
        self.add_row(
            tr("Length"),
            *self._lengths.values(),
            spacing_px=20,
            words=tr("short answers, long answers, brief, detailed"),
        )
        self.add_row(
            tr("Tone"),
            self._tone,
            is_wide=True,
            words=tr("style, formal, friendly, voice, wording, how answers sound"),
        )
        self.add_note(note(_TONE_NOTE))
        for box in (self._language, self._tone):
            box.activated.connect(self._on_edited)
            _line_of(box).editingFinished.connect(self._on_edited)
        for button in self._lengths.values():
            button.clicked.connect(self._on_edited)
        prompts = TextButton(tr("Manage prompts…"), then=self.prompts_requested)
        self.add_row(
            tr("Prompts"),
            prompts,
            words=tr("templates, snippets, saved questions, slash commands, wordings"),
        )
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
    box = DropDown()
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
    "Pictures are read when everything else is searchable. Takes effect after a restart."
)
_NO_OCR_NOTE = tr(
    "Not installed. In a terminal: pipx install 'desktop-rag[ocr]'. Then start the app again."
)


class _IndexForm(SettingsSection):
    """Edits a part of IndexSettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self._index = IndexSettings()

    def _change_to(self, index: IndexSettings) -> None:
        self._index = index
        self.changed.emit(index)


class IndexingForm(_IndexForm):
    """Which files are read, and when."""

    def __init__(self) -> None:
        super().__init__(tr("Files and pictures"))
        self._pauses_on_battery = QCheckBox(tr("Pause indexing on battery power"))
        self._reads_images = QCheckBox(tr("Read text in scanned pages and images"))
        self._has_ocr = is_ocr_installed()
        self._reads_images.setEnabled(self._has_ocr)
        name = tr("Pictures that take more than an hour")
        self._long_pictures = radio_group(self, name, LONG_READING)
        self._largest = number_field(1, 10_000, 50, " MB")
        self._largest.valueChanged.connect(self._on_edited)
        for box in (self._pauses_on_battery, self._reads_images):
            box.toggled.connect(self._on_edited)
        for button in self._long_pictures.values():
            # Not `toggled`, which fires for the deselected button too.
            button.clicked.connect(self._on_edited)
        self._build()

    def _build(self) -> None:
        self.add_row(
            tr("Maximum file size"), self._largest,
            words=tr("big files, large files, limit, too large, skipped"),
        )  # fmt: skip
        self.add_note(note(_LARGEST_NOTE))
        self.add_row(
            tr("Battery"), self._pauses_on_battery,
            words=tr("laptop, energy, unplugged, save power, stop indexing"),
        )  # fmt: skip
        self.add_row(
            tr("Text recognition"), self._reads_images,
            words=tr("OCR, scans, photos, screenshots, pictures"),
        )  # fmt: skip
        self.add_note(note(_IMAGES_NOTE if self._has_ocr else _NO_OCR_NOTE))
        self.add_row(
            tr("Many pictures"), *self._long_pictures.values(),
            words=tr("OCR, scans, photos, takes long, later"),
        )  # fmt: skip
        self.add_note(note(tr("Many are those that take more than an hour to read.")))

    def show_index(self, index: IndexSettings) -> None:
        """Show these settings without emitting `changed`."""
        self._index = index
        show_number(self._largest, index.max_file_mb)
        show_checked(self._pauses_on_battery, index.pauses_on_battery)
        show_checked(self._reads_images, index.reads_pictures and self._has_ocr)
        self._long_pictures[index.long_pictures].setChecked(True)

    @Slot()
    def _on_edited(self) -> None:
        self._change_to(
            replace(
                self._index,
                max_file_mb=self._largest.value(),
                pauses_on_battery=self._pauses_on_battery.isChecked(),
                reads_pictures=(
                    self._reads_images.isChecked() if self._has_ocr else self._index.reads_pictures
                ),
                long_pictures=LongReading(selected_value(self._long_pictures)),
            )
        )


class AdvancedIndexingForm(_IndexForm):
    """How passages are embedded: what few people ever change."""

    def __init__(self) -> None:
        super().__init__(tr("Indexing"))
        self._makes_windows = QCheckBox(tr("Also search parts of long passages"))
        self._threads = number_field(0, os.cpu_count() or 1, 1, tr(" threads"))
        self._threads.setSpecialValueText(tr("Automatic"))
        self._model = ModelField(tr("Embedding model"), BUILT_IN_MODEL, self)
        self._threads.valueChanged.connect(self._on_edited)
        self._makes_windows.toggled.connect(self._on_edited)
        self._model.changed.connect(self._on_edited)
        self._build()

    def _build(self) -> None:
        self.add_row(
            tr("Embedding model"), *self._model.fields, is_wide=True,
            words=tr("vectors, embeddings, meaning, ONNX, language of documents"),
        )  # fmt: skip
        self.add_note(note(_MODEL_NOTE))
        self.add_row(
            tr("Fine-grained search"), self._makes_windows,
            words=tr("details, sliding windows, overlap, disk space, precision"),
        )  # fmt: skip
        self.add_note(note(_FINER_NOTE))
        self.add_row(
            tr("Processor threads"), self._threads,
            words=tr("CPU, cores, slow computer, fan, speed of indexing, performance"),
        )  # fmt: skip
        self.add_note(note(tr("Fewer threads leave more power for other apps.")))

    def show_index(self, index: IndexSettings) -> None:
        """Show these settings without emitting `changed`."""
        self._index = index
        show_number(self._threads, index.embedding_threads)
        self._model.show_spec(index.model_folder)
        show_checked(self._makes_windows, index.makes_windows)

    @Slot()
    def _on_edited(self) -> None:
        self._change_to(
            replace(
                self._index,
                embedding_threads=self._threads.value(),
                model_folder=self._model.spec,
                makes_windows=self._makes_windows.isChecked(),
            )
        )


_INTRO = tr(
    "Audio and video files become searchable by what is said in them. A server turns them into"
    " text: one on this computer, such as that of whisper.cpp, or an online service. Without one,"
    " recordings are skipped."
)
_LARGEST_FILE_NOTE = tr(
    "WAV files are sent in pieces. Larger files of other formats are skipped with the reason."
)


class TranscriptionForm(SettingsSection):
    """Edits TranscriptionSettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, bridge: Bridge, chat: "Chat") -> None:
        super().__init__(tr("Transcription"), _INTRO)
        self._bridge = bridge
        self._chat = chat
        self._value = TranscriptionSettings()
        self._job: Job | None = None
        self._address = QLineEdit()
        self._address.setPlaceholderText("http://127.0.0.1:8080, https://api.openai.com/v1")
        add_clear_button(self._address)
        self._address_note = note()
        self._consent = QCheckBox(tr("Send my recordings to this server"))
        self._dialects = radio_group(self, tr("Kind of server"), DIALECTS)
        self._key = KeyField(bridge, chat, self)
        self._model = QLineEdit()
        self._language = QLineEdit(placeholderText=tr("Detected by the server"))
        self._largest = number_field(0, 10_000, 5, " MB")
        self._largest.setSpecialValueText(tr("Any size"))
        self._test = TextButton(tr("Test"), kind="primary", then=self._on_test_clicked)
        self._report = ReportCard(self)
        self._add_rows()
        self._connect()

    def _add_rows(self) -> None:
        self.add_row(
            tr("Server address"),
            self._address,
            is_wide=True,
            words=tr("speech to text, whisper, URL, host, recordings"),
        )
        self.add_note(self._address_note)
        self.add_row(
            tr("Consent"), self._consent, words=tr("permission, allow, upload recordings, privacy")
        )
        self.add_row(
            tr("Kind of server"), *self._dialects.values(), words=tr("API, protocol, whisper")
        )
        self.add_row(
            tr("Server key"), *self._key.fields, is_wide=True, words=tr("password, API key, token")
        )
        self.add_note(self._key)
        self.add_row(
            tr("Speech model"),
            self._model,
            self._test,
            is_wide=True,
            words=tr("whisper model, speech recognition, test"),
        )
        self.add_note(self._report)
        self.add_row(
            tr("Spoken language"), self._language,
            words=tr("language of speech, recordings, accent"),
        )  # fmt: skip
        self.add_note(note(tr("A code such as de or en.")))
        self.add_row(
            tr("Largest request"),
            self._largest,
            words=tr("upload limit, size of recordings, long recordings"),
        )
        self.add_note(note(_LARGEST_FILE_NOTE))

    def _connect(self) -> None:
        self._edits = [EditEnd(field) for field in (self._address, self._model, self._language)]
        for edit in self._edits:
            edit.ended.connect(self._on_edited)
        self._largest.valueChanged.connect(self._on_edited)
        self._consent.toggled.connect(self._on_edited)
        for button in self._dialects.values():
            button.toggled.connect(self._on_edited)

    def show_transcription(self, value: TranscriptionSettings) -> None:
        """Show these settings without emitting `changed`."""
        if value.base_url != self._value.base_url:
            self._stop_test()
            self._report.hide()
        self._value = value
        self._address.setText(value.base_url)
        self._model.setText(value.model)
        self._language.setText(value.language)
        show_number(self._largest, value.max_upload_mb)
        show_checked(self._consent, value.has_consent)
        for dialect, button in self._dialects.items():
            with QSignalBlocker(button):
                button.setChecked(dialect == value.dialect)
        self._key.set_address(value.base_url)
        self._show_state()

    def _show_state(self) -> None:
        value = self._value
        is_near = not value.base_url or is_this_computer(value.base_url)
        self._consent.setEnabled(not is_near)
        self._model.setEnabled(value.dialect is TranscriptionDialect.OPENAI)
        set_property(self._address, "state", "")
        self._address_note.set_tone("muted")
        if not value.base_url:
            words = tr("Without an address, recordings are skipped.")
        elif is_near:
            words = tr("This is your own computer. Recordings don't leave it.")
        elif value.has_consent:
            words = tr("Recordings are sent to {host}.", host=host_of(value.base_url))
        else:
            words = tr(
                "Nothing is sent to {host} until you agree below.", host=host_of(value.base_url)
            )
        self._address_note.setText(words)

    @Slot()
    def _on_edited(self) -> None:
        dialect = TranscriptionDialect(selected_value(self._dialects))
        typed = self._address.text().strip()
        try:
            base_url = normalise_base_url(typed) if typed else ""
        except AppError as error:
            set_property(self._address, "state", "wrong")
            self._address_note.set_tone("danger")
            self._address_note.setText(failure_in_words(error))
            return
        if dialect is TranscriptionDialect.WHISPER_CPP:
            base_url = base_url.removesuffix("/inference")
        is_same = base_url == self._value.base_url
        value = replace(
            self._value,
            base_url=base_url,
            dialect=dialect,
            model=self._model.text().strip(),
            language=self._language.text().strip().lower(),
            max_upload_mb=self._largest.value(),
            # Consent is for one server.
            has_consent=is_same and self._consent.isChecked(),
        )
        is_changed = value != self._value
        self.show_transcription(value)
        if is_changed:
            self.changed.emit(value)

    # --- test ------------------------------------------------------------------------------------

    @Slot()
    def _on_test_clicked(self) -> None:
        for edit in self._edits:
            edit.settle()
        self._stop_test()
        if self._address.property("state") == "wrong" or not self._value.base_url:
            self._address.setFocus()
            return
        value, key = self._value, self._key.typed
        self._test.setEnabled(False)
        self._test.setText(tr("Testing…"))
        self._job = self._bridge.run(
            self,
            lambda: self._chat.models.test_transcription(value, key),
            self._on_tested,
            self._on_failed,
        )

    def _stop_test(self) -> None:
        if self._job:
            self._job.cancel()
        self._job = None
        self._test.setEnabled(True)
        self._test.setText(tr("Test"))

    def _on_tested(self, report: EndpointReport) -> None:
        self._stop_test()
        self._report.show_report(report)

    def _on_failed(self, error: AppError) -> None:
        self._on_tested(EndpointReport(error.title, error.hint, is_ok=False))
