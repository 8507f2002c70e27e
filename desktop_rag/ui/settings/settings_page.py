"""The settings page. Changes are applied at once and can be undone. Qt thread."""

import os
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QCheckBox, QWidget

from desktop_rag.core.model_profile import ExaminationChanged
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import (
    ActivitySettings,
    AnswerSettings,
    BackgroundSettings,
    PreferenceSettings,
    RetrievalSettings,
    Settings,
)
from desktop_rag.ui.documents.file_opener import FileOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.settings.answers_form import AnswersForm
from desktop_rag.ui.settings.background_form import BackgroundForm
from desktop_rag.ui.settings.memory_field import MemoryField
from desktop_rag.ui.settings.model_field import MODEL_NOTE, ModelField
from desktop_rag.ui.settings.models_form import ModelsForm
from desktop_rag.ui.settings.preferences_form import PreferencesForm
from desktop_rag.ui.settings.retrieval_form import RetrievalForm
from desktop_rag.ui.settings.settings_fields import (
    SettingsSection,
    WheelGuard,
    note,
    number_field,
    radio_group,
    selected_value,
    show_checked,
    show_number,
)
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

_SCHEMES = {"system": "Same as system", "light": "Light", "dark": "Dark"}
_FINER_NOTE = (
    "Finds details in long passages that a search by meaning would miss. Indexing takes about twice"
    " as long, and the library about 10% more disk space. Takes effect at once: turning it on"
    " indexes long passages in the background, turning it off removes that data."
)
_ACTIVITY_NOTE = (
    "Questions by their chat, requests to endpoints, changes of the index and errors, on this"
    " computer only, for 90 days at most. No text of documents, no answers, no keys. See Activity"
    " above."
)
LICENCE = "Apache License 2.0"


class SettingsPage(ScrolledPage):
    """Edits Settings; each change creates a new value and passes it to `apply`."""

    def __init__(
        self,
        bridge: Bridge,
        chat: "Chat",
        settings: Settings,
        apply: Callable[[Settings], None],
        home: Home,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("Settings", parent)
        self._bridge = bridge
        self._chat = chat
        self._settings = settings
        self._apply = apply
        self._home = home
        self._history: list[Settings] = []
        self._opener = FileOpener(bridge, self)
        self._guard = WheelGuard(self)
        self._build()
        self.show_settings(settings)
        self._connect()
        bridge.run(self, _version, self._version.setText)

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self._settings

    def show_settings(self, settings: Settings) -> None:
        """Show settings that were changed elsewhere, without applying them."""
        self._settings = settings
        self._models.show_settings(settings)
        self._answers.show_answers(settings.answers)
        self._preferences.show_preferences(settings.preferences)
        self.background.show_background(settings.background)
        self._schemes[settings.appearance.scheme].setChecked(True)
        self._retrieval.show_retrieval(settings.retrieval)
        show_number(self._largest, settings.index.max_file_mb)
        self._model.show_spec(settings.index.model_folder)
        show_number(self._threads, settings.index.embedding_threads)
        show_checked(self._makes_windows, settings.index.makes_windows)
        show_checked(self._pauses_on_battery, settings.index.pauses_on_battery)
        show_checked(self._reads_images, settings.index.reads_pictures)
        show_checked(self._records_activity, settings.activity.is_recorded)

    def on_examination_changed(self, event: ExaminationChanged) -> None:
        """Show the progress or the result of measuring a model."""
        self._models.on_examination_changed(event)

    def change(self, settings: Settings) -> None:
        """Apply settings that the person changed elsewhere."""
        self.show_settings(settings)
        self._apply(settings)

    def use_model(self, base_url: str, model: str) -> None:
        """Use this model of an endpoint for answers; excerpts if both are ""."""
        chosen = self._settings.using(base_url, model)
        self._models.show_settings(chosen)
        self._change_to(chosen)

    # --- building --------------------------------------------------------------------------------

    def _build(self) -> None:
        self._build_actions()
        self._models = ModelsForm(self._bridge, self._chat, self._guard)
        self._retrieval = RetrievalForm(self._guard)
        self._preferences = PreferencesForm(self._guard)
        self.prompts_requested = self._preferences.prompts_requested
        self.background = BackgroundForm()
        self._answers = AnswersForm(MemoryField(self._bridge, self._chat))
        for section in (
            self._models,
            self._build_appearance(),
            self._retrieval,
            self._preferences,
            self._answers,
            self._build_indexing(),
            self.background,
            self._build_activity(),
            self._build_about(),
        ):
            self.column.addWidget(section)

    def _build_actions(self) -> None:
        self._saved = PlainLabel("Saved.", tone="muted")
        self._undo = TextButton("Undo", kind="quiet")
        self._undo.setAccessibleDescription("Undo the last change of a setting")
        policy = self._undo.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._undo.setSizePolicy(policy)
        self.header.addWidget(self._saved)
        self.header.addWidget(self._undo)
        self._show_undo()

    def _build_appearance(self) -> SettingsSection:
        section = SettingsSection("Appearance")
        self._schemes = radio_group(self, "Theme", _SCHEMES)
        section.add_row("Theme", *self._schemes.values(), spacing_px=20)
        return section

    def _build_indexing(self) -> SettingsSection:
        section = SettingsSection("Indexing")
        self._makes_windows = QCheckBox("Also search parts of long passages")
        self._pauses_on_battery = QCheckBox("Pause indexing on battery power")
        self._reads_images = QCheckBox("Read text in scanned pages and images")
        self._largest = number_field(1, 10_000, 50, " MB")
        self._threads = number_field(0, os.cpu_count() or 1, 1, " threads")
        self._threads.setSpecialValueText("Automatic")
        for field in (self._largest, self._threads):
            self._guard.guard(field)
        section.add_row("Maximum file size", self._largest)
        section.add_note(
            note(
                "Larger files are skipped and listed in the library. Takes effect after a restart."
            )
        )
        section.add_row("Processor threads", self._threads)
        section.add_note(note("Fewer threads leave more power for other apps."))
        self._model = ModelField("Embedding model", "Built-in model", self)
        section.add_row("Embedding model", *self._model.fields, is_wide=True)
        section.add_note(
            note(f"{MODEL_NOTE} Takes effect after a restart. All documents are then embedded again"
                 " in the background; until that is done, search uses the old model.")
        )  # fmt: skip
        section.add_row("Fine-grained search", self._makes_windows)
        section.add_note(note(_FINER_NOTE))
        section.add_row("Battery", self._pauses_on_battery)
        section.add_row("Text recognition", self._reads_images)
        section.add_note(
            note(
                "Needs the optional “ocr” package and slows down indexing. Takes effect after a"
                " restart."
            )
        )
        return section

    def _build_activity(self) -> SettingsSection:
        section = SettingsSection("Activity")
        self._records_activity = QCheckBox("Record what the app does")
        section.add_row("Event log", self._records_activity)
        section.add_note(note(_ACTIVITY_NOTE))
        return section

    def _build_about(self) -> SettingsSection:
        section = SettingsSection("About")
        self._version = PlainLabel(selectable=True)
        folder = ElidedLabel(str(self._home.root), mode=Qt.TextElideMode.ElideMiddle)
        self._open_home = TextButton("Open")
        self._open_home.setAccessibleDescription("Open the app's data folder")
        section.add_row("Version", self._version)
        section.add_row("Licence", PlainLabel(LICENCE, selectable=True))
        section.add_row("Data folder", folder, self._open_home, is_wide=True)
        section.add_note(
            note("Index, chats, settings and log, all on this computer. API keys are not in it.")
        )
        return section

    def _connect(self) -> None:
        self._models.changed.connect(self._change_to)
        self._retrieval.changed.connect(self._on_retrieval_changed)
        self._answers.changed.connect(self._on_answers_changed)
        self.background.changed.connect(self._on_background_changed)
        self._preferences.changed.connect(self._on_preferences_changed)
        for button in self._schemes.values():
            # Not `toggled`, which fires for the deselected button too.
            button.clicked.connect(self._on_edited)
        for field in (self._largest, self._threads):
            field.valueChanged.connect(self._on_edited)
        for box in (
            self._makes_windows,
            self._pauses_on_battery,
            self._reads_images,
            self._records_activity,
        ):
            box.toggled.connect(self._on_edited)
        self._model.changed.connect(self._on_edited)
        self._undo.clicked.connect(self._on_undo_clicked)
        self._open_home.clicked.connect(self._on_open_home_clicked)

    # --- changes ---------------------------------------------------------------------------------

    @Slot(object)
    def _on_retrieval_changed(self, retrieval: RetrievalSettings) -> None:
        self._change_to(replace(self._settings, retrieval=retrieval))

    @Slot(object)
    def _on_answers_changed(self, answers: AnswerSettings) -> None:
        self._change_to(replace(self._settings, answers=answers))

    @Slot(object)
    def _on_preferences_changed(self, preferences: PreferenceSettings) -> None:
        self._change_to(replace(self._settings, preferences=preferences))

    @Slot(object)
    def _on_background_changed(self, background: BackgroundSettings) -> None:
        self._change_to(replace(self._settings, background=background))

    @Slot()
    def _on_edited(self) -> None:
        now = self._settings
        scheme = selected_value(self._schemes)
        self._change_to(
            replace(
                now,
                appearance=replace(now.appearance, scheme=scheme),
                activity=ActivitySettings(self._records_activity.isChecked()),
                index=replace(
                    now.index,
                    max_file_mb=self._largest.value(),
                    embedding_threads=self._threads.value(),
                    model_folder=self._model.spec,
                    makes_windows=self._makes_windows.isChecked(),
                    pauses_on_battery=self._pauses_on_battery.isChecked(),
                    reads_pictures=self._reads_images.isChecked(),
                ),
            )
        )

    @Slot(object)
    def _change_to(self, settings: Settings) -> None:
        if settings != self._settings:
            self._history.append(self._settings)
            self._settings = settings
            self._apply(settings)
            self._show_undo()

    @Slot()
    def _on_undo_clicked(self) -> None:
        self.show_settings(self._history.pop())
        self._apply(self._settings)
        self._show_undo()

    def _show_undo(self) -> None:
        self._saved.setVisible(bool(self._history))
        self._undo.setVisible(bool(self._history))

    @Slot()
    def _on_open_home_clicked(self) -> None:
        self._opener.open(self._home.root)


def _version() -> str:
    """The installed version. It reads a file, so it runs on a worker thread."""
    try:
        return version("desktop-rag")
    except PackageNotFoundError:
        return "not installed (running from source)"
