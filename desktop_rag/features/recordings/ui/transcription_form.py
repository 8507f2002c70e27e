"""The settings of the transcription. Qt thread."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLineEdit, QWidget

from desktop_rag.activity.event_wording import text_of
from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import EndpointReport
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import Settings, TranscriptionDialect, TranscriptionSettings
from desktop_rag.models.endpoint_address import host_of, is_this_computer, normalise_base_url
from desktop_rag.ui.endpoints.key_field import KeyField
from desktop_rag.ui.endpoints.model_findings import ReportCard, ServerTestButton
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import failure_in_words
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.settings.settings_parts import MODELS, Part, Setting
from desktop_rag.ui.widgets.controls import add_clear_button, set_property
from desktop_rag.ui.widgets.form_fields import note
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage
from desktop_rag.ui.widgets.value_form import ValueForm

Test = Callable[[TranscriptionSettings, str], EndpointReport]
TRANSCRIPTION = tr("Transcription")
_WORDS = tr("speech to text, dictation, recordings, audio, video, voice, whisper")
_KEY = Setting(tr("Server key"), tr("password, API key, token"), TRANSCRIPTION)
_NAMES = ("base_url", "has_consent", "dialect", "model", "language", "max_upload_mb")
_INTRO = tr(
    "Audio and video files become searchable by what is said in them. A server turns them into"
    " text: one on this computer, such as that of whisper.cpp, or an online service. Without one,"
    " recordings are skipped."
)


class TranscriptionForm(ValueForm):
    """Edits TranscriptionSettings."""

    def __init__(self, bridge: Bridge, chat: Chat, test: Test) -> None:
        """`test` asks a server for a transcript, with this key or the stored one."""
        super().__init__(TRANSCRIPTION, TranscriptionSettings(), _INTRO)
        self._try = test
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
        self.add_row(_KEY.name, *self._key.fields, is_wide=True, words=_KEY.words)
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
        self._test.run(lambda: self._try(value, key), self._report.show_report)


def transcription_part(bridge: Bridge, chat: Chat, settings: EditedSettings, test: Test) -> Part:
    """The part of the settings; the form is built when it is first shown."""

    def build() -> QWidget:
        form, page = TranscriptionForm(bridge, chat, test), ScrolledPage(TRANSCRIPTION)
        page.column.addWidget(form)

        def show(shown: Settings) -> None:
            form.show_value(shown.transcription)

        def edit(value: TranscriptionSettings) -> None:
            settings.edit(replace(settings.value, transcription=value))
            show(settings.value)

        show(settings.value)
        settings.replaced.connect(show)
        form.changed.connect(edit)
        return page

    texts = (text_of(TranscriptionSettings, name) for name in _NAMES)
    declared = [Setting(t.name, t.words, TRANSCRIPTION) for t in texts]
    return Part(MODELS, TRANSCRIPTION, build, (*declared, _KEY), _WORDS)
