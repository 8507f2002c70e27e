"""Settings sections: style of answers, retrieval, indexing, transcription. Qt thread."""

from dataclasses import replace
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit

from desktop_rag.activity.event_wording import text_of
from desktop_rag.answer.chat import Chat
from desktop_rag.core.errors import AppError
from desktop_rag.core.extras import way_to_install
from desktop_rag.core.language.translation import told, tr
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
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, add_clear_button, set_property
from desktop_rag.ui.widgets.form_fields import DropDown, note
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
_PROMPTS_NOTE = tr("Questions you ask often. Type / in the question field to use one.")


class PreferencesForm(ValueForm):
    """Edits PreferenceSettings, the style of answers."""

    prompts_requested = Signal()

    def __init__(self) -> None:
        super().__init__(tr("Style of answers"), PreferenceSettings())
        self._add_box("language", _LANGUAGES, _MAX_LANGUAGE)
        self.add("length")
        self._add_box("tone", _TONES, _MAX_TONE)
        self.add_row(
            tr("Prompts"),
            TextButton(tr("Manage prompts…"), then=self.prompts_requested),
            words=tr("templates, snippets, saved questions, slash commands, wordings"),
        )
        self.add_note(note(_PROMPTS_NOTE))
        self.show_value(self.value)

    def _add_box(self, setting: str, choices: tuple[str, ...], max_chars: int) -> None:
        """An editable list; its first row stands for the default."""
        box = DropDown()
        box.setEditable(True)
        box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        box.addItem(text_of(PreferenceSettings, setting).empty)
        box.addItems(choices)
        line = _line_of(box)
        line.setMaxLength(max_chars)
        edited = (box.activated, line.editingFinished)
        self.bind(setting, partial(_show, box), partial(_text, box), *edited)
        self.add_field(setting, box, is_wide=True)
        line.setAccessibleName(box.accessibleName())


def _line_of(box: QComboBox) -> QLineEdit:
    line = box.lineEdit()
    assert line is not None, "it is editable"
    return line


def _text(box: QComboBox) -> str:
    written = " ".join(box.currentText().split())
    return "" if written == box.itemText(0) else written


def _show(box: QComboBox, text: str) -> None:
    box.setCurrentText(text or box.itemText(0))


class RetrievalForm(ValueForm):
    """Edits RetrievalSettings."""

    def __init__(self) -> None:
        super().__init__(tr("Search"), RetrievalSettings())
        self.add("room", "later_sources")


_LEFT_OUT = tr("In the library: by Folders › Options… of a folder, or by Exclude in a file's menu.")
_AFTER_A_RESTART = tr(
    "Takes effect after a restart. All documents are then embedded again in the background; until"
    " that is done, search uses the old model."
)
_MODEL_NOTE = f"{MODEL_NOTE} {_AFTER_A_RESTART}"


class IndexingForm(ValueForm):
    """Edits IndexSettings: which files are read, and when."""

    def __init__(self) -> None:
        super().__init__(tr("Files and pictures"), IndexSettings())
        self.add("max_file_mb")
        self.add_row(
            tr("Leave out files"),
            PlainLabel(_LEFT_OUT, wrap=True),
            is_wide=True,
            words=tr("exclude, ignore, skip, hide, patterns, gitignore, hidden files, subfolder"),
        )
        self.add("pauses_on_battery")
        if is_ocr_installed():
            self.add("reads_pictures")
            return
        text = text_of(IndexSettings, "reads_pictures")
        reads = QCheckBox(text.name)
        reads.setEnabled(False)
        self.add_row(text.label, reads, words=text.words)
        absent = tr("Not installed. Start the app again after this:")
        way = f"{absent} {told(way_to_install('ocr'))}"
        self.add_note(PlainLabel(way, tone="muted", scale="small", wrap=True, selectable=True))


class AdvancedIndexingForm(ValueForm):
    """Edits IndexSettings: how passages are embedded, which few people ever change."""

    def __init__(self) -> None:
        super().__init__(tr("Indexing"), IndexSettings())
        model = ModelField(
            tr("Embedding model"), text_of(IndexSettings, "model_folder").empty, self
        )
        self.bind("model_folder", model.show_spec, lambda: model.spec, model.changed)
        self.add_row(
            tr("Embedding model"),
            *model.fields,
            is_wide=True,
            words=tr("vectors, embeddings, meaning, ONNX, language of documents"),
        )
        self.add_note(note(_MODEL_NOTE))
        self.add("makes_windows", "embedding_threads")


_INTRO = tr(
    "Audio and video files become searchable by what is said in them. A server turns them into"
    " text: one on this computer, such as that of whisper.cpp, or an online service. Without one,"
    " recordings are skipped."
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
        self._key = KeyField(bridge, chat, self)
        self._model = QLineEdit()
        self._test = ServerTestButton(bridge, self._on_test_clicked)
        self._report = ReportCard(self)
        self._add_server()
        self._add_requests()

    def _add_server(self) -> None:
        self.add_field("base_url", self._address, is_wide=True)
        self.add_note(self._address_note)
        [self._consent] = self.add("has_consent")
        self.add("dialect")
        self.add_row(
            tr("Server key"), *self._key.fields, is_wide=True, words=tr("password, API key, token")
        )
        self.add_note(self._key)

    def _add_requests(self) -> None:
        self.add_field("model", self._model, self._test, is_wide=True)
        self.add_note(self._report)
        self.add("language", "max_upload_mb")

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
