"""Settings for the server that turns recordings into text. Qt thread.

Keyring and network are reached through the bridge.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from desktop_rag.core.domain import EndpointReport
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import TranscriptionDialect, TranscriptionSettings
from desktop_rag.models.endpoint_address import host_of, is_this_computer, normalise_base_url
from desktop_rag.ui.endpoints.key_field import KeyField
from desktop_rag.ui.endpoints.model_findings import ReportCard
from desktop_rag.ui.foundation.bridge import Bridge, EditEnd, Job
from desktop_rag.ui.foundation.wording import failure_in_words
from desktop_rag.ui.settings.edited_settings import DIALECTS
from desktop_rag.ui.widgets.controls import TextButton, add_clear_button, set_property
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

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

_INTRO = tr(
    "Audio and video files become searchable by what is said in them. A server turns them into"
    " text: one on this computer, such as that of whisper.cpp, or an online service. Without one,"
    " recordings are skipped."
)
_LARGEST_NOTE = tr(
    "WAV files are sent in pieces. Larger files of other formats are skipped with the reason."
)


class TranscriptionForm(SettingsSection):
    """Edits TranscriptionSettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(
        self, bridge: Bridge, chat: "Chat", guard: WheelGuard, parent: QWidget | None = None
    ) -> None:
        super().__init__(tr("Transcription"), _INTRO, parent)
        self._bridge = bridge
        self._chat = chat
        self._value = TranscriptionSettings()
        self._job: Job | None = None
        self._address = QLineEdit()
        self._address.setPlaceholderText("http://127.0.0.1:8080, https://api.openai.com/v1")
        add_clear_button(self._address)
        self._address_note = note()
        self._consent = QCheckBox(tr("Send my recordings to this server"))
        self._dialects = radio_group(
            self, tr("Kind of server"), DIALECTS,
        )  # fmt: skip
        self._key = KeyField(bridge, chat, self)
        self._model = QLineEdit()
        self._language = QLineEdit()
        self._language.setPlaceholderText(tr("Detected by the server"))
        self._largest = number_field(0, 10_000, 5, " MB")
        self._largest.setSpecialValueText(tr("Any size"))
        guard.guard(self._largest)
        self._test = TextButton(tr("Test"), kind="primary")
        self._report = ReportCard(self)
        self._add_rows()
        self._connect()

    def _add_rows(self) -> None:
        self.add_row(tr("Server address"), self._address, is_wide=True)
        self.add_note(self._address_note)
        self.add_row(tr("Consent"), self._consent)
        self.add_row(tr("Kind of server"), *self._dialects.values())
        self.add_row(tr("Server key"), *self._key.fields, is_wide=True)
        self.add_note(self._key)
        self.add_row(tr("Speech model"), self._model, self._test, is_wide=True)
        self.add_note(self._report)
        self.add_row(tr("Spoken language"), self._language)
        self.add_note(note(tr("A code such as de or en.")))
        self.add_row(tr("Largest request"), self._largest)
        self.add_note(note(_LARGEST_NOTE))

    def _connect(self) -> None:
        self._edits = [EditEnd(field) for field in (self._address, self._model, self._language)]
        for edit in self._edits:
            edit.ended.connect(self._on_edited)
        self._largest.valueChanged.connect(self._on_edited)
        self._consent.toggled.connect(self._on_edited)
        for button in self._dialects.values():
            button.toggled.connect(self._on_edited)
        self._test.clicked.connect(self._on_test_clicked)

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
            button.blockSignals(True)
            button.setChecked(dialect == value.dialect)
            button.blockSignals(False)
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
