"""Settings sections: style of answers, retrieval, indexing, transcription. Qt thread."""

import os
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit

from desktop_rag.answer.chat import Chat
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.pictures import is_ocr_installed
from desktop_rag.core.settings import (
    IndexSettings,
    PreferenceSettings,
    RetrievalSettings,
    TranscriptionDialect,
    TranscriptionSettings,
)
from desktop_rag.models.endpoint_address import host_of, is_this_computer, normalise_base_url
from desktop_rag.ui.endpoints.key_field import KeyField
from desktop_rag.ui.endpoints.model_field import MODEL_NOTE, ModelField
from desktop_rag.ui.endpoints.model_findings import ReportCard, ServerTestButton
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import failure_in_words
from desktop_rag.ui.settings.edited_settings import (
    BUILT_IN_MODEL,
    DEFAULT_TONE,
    DIALECTS,
    LATER_SOURCES,
    LENGTHS,
    ROOMS,
    SAME_AS_QUESTION,
)
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, add_clear_button, set_property
from desktop_rag.ui.widgets.form_fields import DropDown, note, number_field
from desktop_rag.ui.widgets.value_form import ValueForm

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


class PreferencesForm(ValueForm):
    """Edits PreferenceSettings, the style of answers."""

    prompts_requested = Signal()

    def __init__(self) -> None:
        super().__init__(tr("Style of answers"), PreferenceSettings())
        language = _field(tr("Language of answers"), SAME_AS_QUESTION, _LANGUAGES, _MAX_LANGUAGE)
        self._add_box(
            "language",
            tr("Language"),
            language,
            tr("reply in German, translate, answer in another language"),
        )
        self.add_note(note(_LANGUAGE_NOTE))
        self.add_choice(
            "length",
            tr("Length"),
            LENGTHS,
            name=tr("Length of answers"),
            words=tr("shorter, longer, short answers, long answers, brief, detailed"),
        )
        self._add_box(
            "tone",
            tr("Tone"),
            _field(tr("Tone of answers"), DEFAULT_TONE, _TONES, _MAX_TONE),
            tr("style, formal, friendly, voice, wording, how answers sound"),
        )
        self.add_note(note(_TONE_NOTE))
        self.add_row(
            tr("Prompts"),
            TextButton(tr("Manage prompts…"), then=self.prompts_requested),
            words=tr("templates, snippets, saved questions, slash commands, wordings"),
        )
        self.add_note(note(_PROMPTS_NOTE))
        self.show_value(self.value)

    def _add_box(self, setting: str, label: str, box: QComboBox, words: str) -> None:
        edited = (box.activated, _line_of(box).editingFinished)
        self.bind(setting, partial(_show, box), partial(_text, box), *edited)
        self.add_row(label, box, is_wide=True, words=words)


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


_ROOM_NOTE = tr(
    "How much of your documents is sent with a question. Fast: about four pages. Balanced: up to a"
    " quarter of what the model can read, less for a slow one. Thorough: up to half of it; answers"
    " take longer and cost more."
)
_LATER_NOTE = tr(
    "Where the sources of a follow-up question come from. If you use a model, it first rewrites the"
    " question so that it makes sense on its own."
)


class RetrievalForm(ValueForm):
    """Edits RetrievalSettings."""

    def __init__(self) -> None:
        super().__init__(tr("Search"), RetrievalSettings())
        self.add_choice(
            "room",
            tr("What a model reads"),
            ROOMS,
            words=tr("how many passages, context, number of sources, cost, speed, top k, tokens"),
            about=_ROOM_NOTE,
        )
        self.add_choice(
            "later_sources",
            tr("Follow-up questions"),
            LATER_SOURCES,
            words=tr("next question, conversation, same sources, search again"),
            about=_LATER_NOTE,
        )


_LARGEST_NOTE = tr(
    "Larger files are skipped and listed in the library. Takes effect after a restart."
)
_LEFT_OUT = tr("In the library: by Folders › Options… of a folder, or by Exclude in a file's menu.")
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


class IndexingForm(ValueForm):
    """Edits IndexSettings: which files are read, and when."""

    def __init__(self) -> None:
        super().__init__(tr("Files and pictures"), IndexSettings())
        self.add_setting(
            "max_file_mb",
            tr("Maximum file size"),
            number_field(1, 10_000, 50, " MB"),
            words=tr("big files, large files, limit, too large, skipped"),
            about=_LARGEST_NOTE,
        )
        self.add_row(
            tr("Leave out files"),
            PlainLabel(_LEFT_OUT, wrap=True),
            is_wide=True,
            words=tr("exclude, ignore, skip, hide, patterns, gitignore, hidden files, subfolder"),
        )
        self.add_tick(
            "pauses_on_battery",
            tr("Battery"),
            tr("Pause indexing on battery power"),
            words=tr("laptop, energy, unplugged, save power, stop indexing"),
        )
        reads = QCheckBox(tr("Read text in scanned pages and images"))
        label, words = tr("Text recognition"), tr("OCR, scans, photos, screenshots, pictures")
        if is_ocr_installed():
            self.add_setting("reads_pictures", label, reads, words=words, about=_IMAGES_NOTE)
        else:
            reads.setEnabled(False)
            self.add_row(label, reads, words=words)
            self.add_note(note(_NO_OCR_NOTE))


class AdvancedIndexingForm(ValueForm):
    """Edits IndexSettings: how passages are embedded, which few people ever change."""

    def __init__(self) -> None:
        super().__init__(tr("Indexing"), IndexSettings())
        model = ModelField(tr("Embedding model"), BUILT_IN_MODEL, self)
        self.bind("model_folder", model.show_spec, lambda: model.spec, model.changed)
        self.add_row(
            tr("Embedding model"),
            *model.fields,
            is_wide=True,
            words=tr("vectors, embeddings, meaning, ONNX, language of documents"),
        )
        self.add_note(note(_MODEL_NOTE))
        self.add_tick(
            "makes_windows",
            tr("Fine-grained search"),
            tr("Also search parts of long passages"),
            words=tr("details, sliding windows, overlap, disk space, precision"),
            about=_FINER_NOTE,
        )
        threads = number_field(0, os.cpu_count() or 1, 1, tr(" threads"))
        threads.setSpecialValueText(tr("Automatic"))
        self.add_setting(
            "embedding_threads",
            tr("Processor threads"),
            threads,
            words=tr("CPU, cores, slow computer, fan, speed of indexing, performance"),
            about=tr("Fewer threads leave more power for other apps."),
        )


_INTRO = tr(
    "Audio and video files become searchable by what is said in them. A server turns them into"
    " text: one on this computer, such as that of whisper.cpp, or an online service. Without one,"
    " recordings are skipped."
)
_LARGEST_FILE_NOTE = tr(
    "WAV files are sent in pieces. Larger files of other formats are skipped with the reason."
)


class TranscriptionForm(ValueForm):
    """Edits TranscriptionSettings."""

    def __init__(self, bridge: Bridge, chat: Chat) -> None:
        super().__init__(tr("Transcription"), TranscriptionSettings(), _INTRO)
        self._chat = chat
        self._address = QLineEdit()
        self._address.setPlaceholderText("http://127.0.0.1:8080, https://api.openai.com/v1")
        add_clear_button(self._address)
        self._address_note = note()
        self._consent = QCheckBox(tr("Send my recordings to this server"))
        self._key = KeyField(bridge, chat, self)
        self._model = QLineEdit()
        self._test = ServerTestButton(bridge, self._on_test_clicked)
        self._report = ReportCard(self)
        self._add_server()
        self._add_requests()

    def _add_server(self) -> None:
        self.add_setting(
            "base_url",
            tr("Server address"),
            self._address,
            is_wide=True,
            words=tr("speech to text, whisper, URL, host, recordings"),
        )
        self.add_note(self._address_note)
        self.add_setting(
            "has_consent",
            tr("Consent"),
            self._consent,
            words=tr("permission, allow, upload recordings, privacy"),
        )
        self.add_choice(
            "dialect",
            tr("Kind of server"),
            DIALECTS,
            words=tr("API, protocol, whisper"),
            spacing_px=8,
        )
        self.add_row(
            tr("Server key"), *self._key.fields, is_wide=True, words=tr("password, API key, token")
        )
        self.add_note(self._key)

    def _add_requests(self) -> None:
        self.add_setting(
            "model",
            tr("Speech model"),
            self._model,
            self._test,
            is_wide=True,
            words=tr("whisper model, speech recognition, test"),
        )
        self.add_note(self._report)
        self.add_setting(
            "language",
            tr("Spoken language"),
            QLineEdit(placeholderText=tr("Detected by the server")),
            words=tr("language of speech, recordings, accent"),
            about=tr("A code such as de or en."),
        )
        largest = number_field(0, 10_000, 5, " MB")
        largest.setSpecialValueText(tr("Any size"))
        self.add_setting(
            "max_upload_mb",
            tr("Largest request"),
            largest,
            words=tr("upload limit, size of recordings, long recordings"),
            about=_LARGEST_FILE_NOTE,
        )

    def show_value(self, value: TranscriptionSettings) -> None:
        if value.base_url != self.value.base_url:
            self._test.stop()
            self._report.hide()
        super().show_value(value)
        self._key.set_address(value.base_url)
        is_near = not value.base_url or is_this_computer(value.base_url)
        self._consent.setEnabled(not is_near)
        self._model.setEnabled(value.dialect is TranscriptionDialect.OPENAI)
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
        self._say_of_address(words)

    def _say_of_address(self, words: str, *, is_wrong: bool = False) -> None:
        set_property(self._address, "state", "wrong" if is_wrong else "")
        self._address_note.say(words, "danger" if is_wrong else "muted")

    def change_to(self, value: TranscriptionSettings) -> None:
        try:
            base_url = normalise_base_url(value.base_url) if value.base_url else ""
        except AppError as error:
            self._say_of_address(failure_in_words(error), is_wrong=True)
            return
        if value.dialect is TranscriptionDialect.WHISPER_CPP:
            base_url = base_url.removesuffix("/inference")
        # Consent is for one server.
        has_consent = value.has_consent and base_url == self.value.base_url
        language = value.language.lower()
        super().change_to(
            replace(value, base_url=base_url, language=language, has_consent=has_consent)
        )

    # --- test ------------------------------------------------------------------------------------

    @Slot()
    def _on_test_clicked(self) -> None:
        self.settle()
        if self._address.property("state") == "wrong" or not self.value.base_url:
            self._address.setFocus()
            return
        value, key = self.value, self._key.typed
        models = self._chat.models
        self._test.run(lambda: models.test_transcription(value, key), self._report.show_report)
