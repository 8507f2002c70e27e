"""The settings, and the pages beside them. Changes apply at once and can be undone. Qt thread."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.model_profile import ExaminationChanged
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import (
    ActivitySettings,
    AnswerSettings,
    AppearanceSettings,
    BackgroundSettings,
    IndexSettings,
    PreferenceSettings,
    RetrievalSettings,
    Settings,
    TranscriptionSettings,
)
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.models.models_form import ModelsForm
from desktop_rag.ui.settings.about_section import AboutSection, ActivityForm
from desktop_rag.ui.settings.answers_form import AnswersForm
from desktop_rag.ui.settings.appearance_form import AppearanceForm
from desktop_rag.ui.settings.background_form import BackgroundForm
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.settings.indexing_form import IndexingForm
from desktop_rag.ui.settings.memory_field import MemoryField
from desktop_rag.ui.settings.page_groups import ANSWERING, APP, CARE, DOCUMENTS, GROUPS
from desktop_rag.ui.settings.page_list import PageList
from desktop_rag.ui.settings.preferences_form import PreferencesForm
from desktop_rag.ui.settings.retrieval_form import RetrievalForm
from desktop_rag.ui.settings.transcription_form import TranscriptionForm
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, set_tip
from desktop_rag.ui.widgets.form_fields import WheelGuard
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

# Time to read what was saved and to undo it.
_UNDO_MS = 30_000


class SettingsPage(PageList):
    """Edits Settings; each change creates a new value.

    `add_page` puts a page beside those of the settings.
    """

    def __init__(
        self,
        bridge: Bridge,
        chat: "Chat",
        settings: EditedSettings,
        home: Home,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Settings"), GROUPS, parent)
        self._settings = settings
        guard = WheelGuard(self)
        self._models = ModelsForm(bridge, chat, guard)
        self._preferences = PreferencesForm(guard)
        self.prompts_requested = self._preferences.prompts_requested
        self._answers = AnswersForm(MemoryField(bridge, chat))
        self._retrieval = RetrievalForm(guard)
        self._indexing = IndexingForm(guard)
        self._transcription = TranscriptionForm(bridge, chat, guard)
        self.background = BackgroundForm()
        self._appearance = AppearanceForm(guard)
        self._activity = ActivityForm()
        self._about = AboutSection(bridge, home)
        self._build()
        self._show_settings(settings.value)
        self._connect()

    @Slot(object)
    def _show_settings(self, settings: Settings) -> None:
        self._models.show_settings(settings)
        self._preferences.show_preferences(settings.preferences)
        self._answers.show_answers(settings.answers)
        self._retrieval.show_retrieval(settings.retrieval)
        self._indexing.show_index(settings.index)
        self._transcription.show_transcription(settings.transcription)
        self.background.show_background(settings.background)
        self._appearance.show_appearance(settings.appearance)
        self._activity.show_activity(settings.activity)

    def on_examination_changed(self, event: ExaminationChanged) -> None:
        """Show the progress or the result of measuring a model."""
        self._models.on_examination_changed(event)

    def connect_model(self) -> None:
        """Show the page of models; without an endpoint, look for one on this computer."""
        self.show_page(0)
        self._models.connect_model()

    @Slot()
    def add_endpoint(self) -> None:
        """Show the page of models with the empty form of a new endpoint."""
        self.show_page(0)
        self._models.add_endpoint()

    def reveal(self, section: str) -> None:
        """Show the page with this section, scrolled to it, and focus its first control."""
        for position, page in enumerate(self.pages):
            if isinstance(page, ScrolledPage) and page.has_card(section):
                self.show_page(position)
                page.reveal(section)
                return

    def _build(self) -> None:
        for group, name, sections in (
            (ANSWERING, tr("Models"), (self._models,)),
            (ANSWERING, tr("Answers"), (self._preferences, self._answers)),
            (ANSWERING, tr("Search"), (self._retrieval,)),
            (DOCUMENTS, tr("Indexing"), (self._indexing,)),
            (DOCUMENTS, tr("Transcription"), (self._transcription,)),
            (APP, tr("Desktop"), (self.background,)),
            (APP, tr("Appearance"), (self._appearance,)),
            (CARE, tr("About"), (self._about, self._activity)),
        ):
            page = ScrolledPage(name)
            for section in sections:
                page.column.addWidget(section)
            self.add_page(name, page, group)
        self._saved = PlainLabel(tone="muted", wrap=True)
        self._saved.setIndent(8)
        self._undo = TextButton(tr("Undo"), kind="quiet")
        self._forgetting = QTimer(self, singleShot=True, interval=_UNDO_MS)
        self.foot.addWidget(self._saved)
        self.foot.addWidget(self._undo, 0, Qt.AlignmentFlag.AlignLeft)
        self._show_undo()

    def _connect(self) -> None:
        self._settings.replaced.connect(self._show_settings)
        self._settings.changed.connect(self._show_undo)
        self._models.changed.connect(self._settings.edit)
        self._preferences.changed.connect(self._on_preferences_changed)
        self._answers.changed.connect(self._on_answers_changed)
        self._retrieval.changed.connect(self._on_retrieval_changed)
        self._indexing.changed.connect(self._on_indexing_changed)
        self._transcription.changed.connect(self._on_transcription_changed)
        self.background.changed.connect(self._on_background_changed)
        self._appearance.changed.connect(self._on_appearance_changed)
        self._activity.changed.connect(self._on_activity_changed)
        self._undo.clicked.connect(self._on_undo_clicked)
        # What is undone has to be in view.
        self._forgetting.timeout.connect(self._forget)
        self.page_shown.connect(self._forget)
        self._models.endpoint_shown.connect(self._forget)

    # --- changes ---------------------------------------------------------------------------------

    @Slot(object)
    def _on_preferences_changed(self, preferences: PreferenceSettings) -> None:
        self._settings.edit(replace(self._settings.value, preferences=preferences))

    @Slot(object)
    def _on_answers_changed(self, answers: AnswerSettings) -> None:
        self._settings.edit(replace(self._settings.value, answers=answers))

    @Slot(object)
    def _on_retrieval_changed(self, retrieval: RetrievalSettings) -> None:
        self._settings.edit(replace(self._settings.value, retrieval=retrieval))

    @Slot(object)
    def _on_indexing_changed(self, index: IndexSettings) -> None:
        self._settings.edit(replace(self._settings.value, index=index))

    @Slot(object)
    def _on_transcription_changed(self, transcription: TranscriptionSettings) -> None:
        self._settings.edit(replace(self._settings.value, transcription=transcription))

    @Slot(object)
    def _on_background_changed(self, background: BackgroundSettings) -> None:
        self._settings.edit(replace(self._settings.value, background=background))

    @Slot(object)
    def _on_appearance_changed(self, appearance: AppearanceSettings) -> None:
        self._settings.edit(replace(self._settings.value, appearance=appearance))

    @Slot(object)
    def _on_activity_changed(self, activity: ActivitySettings) -> None:
        self._settings.edit(replace(self._settings.value, activity=activity))

    @Slot()
    def _on_undo_clicked(self) -> None:
        shown = self._models.shown
        self._settings.undo()
        if self._models.shown != shown:
            self._forget()

    @Slot()
    def _forget(self) -> None:
        self._settings.forget_changes()
        self._show_undo()

    @Slot()
    def _show_undo(self) -> None:
        last = self._settings.last_change
        for widget in (self._saved, self._undo):
            widget.setVisible(last is not None)
        if last:
            said = tr("Saved. {change}", change=last.in_words())
            if last.waits_for_a_start:
                said = tr("{saved}. Used from the next start on.", saved=said)
            self._saved.setText(said)
            set_tip(self._undo, tr("Undo: {change}", change=last.turned().in_words()))
            self._forgetting.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():
            self._forget()
