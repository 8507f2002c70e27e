"""The settings page and its sections; changes apply at once and can be undone. Qt thread."""

from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import AnswerSettings, Settings
from desktop_rag.ui.endpoints.models_form import ModelsForm
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.settings.app_forms import (
    AboutSection,
    ActivityForm,
    AppearanceForm,
    BackgroundForm,
)
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.settings.page_list import PageList
from desktop_rag.ui.settings.preferences_form import (
    AdvancedIndexingForm,
    IndexingForm,
    PreferencesForm,
    RetrievalForm,
)
from desktop_rag.ui.settings.settings_parts import (
    ADVANCED,
    ANSWERS,
    APP,
    ASSISTANTS,
    CARE,
    DOCUMENTS,
    MODELS,
    PAGES,
    Part,
    settings_in,
)
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, set_tip
from desktop_rag.ui.widgets.form_fields import SettingsSection
from desktop_rag.ui.widgets.forms import ask_first
from desktop_rag.ui.widgets.layouts import Stretch, fill, horizontal
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage
from desktop_rag.ui.widgets.value_form import ValueForm

_QUESTION = tr(
    "Delete {count}?\n\nYour chats stay as they are, but their answers no longer serve as examples."
    " This can't be undone."
)


class MemoryField(QWidget):
    """Shows the number of remembered answers, to delete them all."""

    def __init__(self, bridge: Bridge, chat: Chat) -> None:
        super().__init__()
        self._bridge = bridge
        self._memory = chat.memory
        self._count = 0
        self._label = PlainLabel(tone="muted")
        self._delete = TextButton(tr("Delete all…"), then=self._on_delete_clicked)
        horizontal(self._label, self._delete, Stretch(), on=self, margins=0, spacing=12)
        self._show(0)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    @Slot()
    def _on_delete_clicked(self) -> None:
        count = count_of(self._count, tr("remembered answer"), tr("remembered answers"))
        title, text = tr("Delete remembered answers"), _QUESTION.format(count=count)
        ask_first(self, title, text, tr("Delete all"), self._forget)

    def _forget(self) -> None:
        self._bridge.run(self, self._memory.forget_all, lambda _nothing: self._refresh())

    def _refresh(self) -> None:
        self._bridge.run(self, self._memory.count, self._show)

    def _show(self, count: int) -> None:
        self._count = count
        self._label.setText(
            tr("{count_of} remembered", count_of=count_of(count, tr("answer"), tr("answers")))
        )
        self._delete.setEnabled(count > 0)


class RememberingForm(ValueForm):
    """Edits AnswerSettings: what is remembered of chats."""

    def __init__(self, bridge: Bridge, chat: Chat) -> None:
        super().__init__(tr("What the app remembers"), AnswerSettings())
        self.add("stores_chats", "uses_memory")
        memory = MemoryField(bridge, chat)
        self.add_row("", memory, words=tr("forget, clear, erase, reset what it learned"))


class AnswersForm(ValueForm):
    """Edits AnswerSettings: checks and suggestions."""

    def __init__(self) -> None:
        super().__init__(tr("Answers"), AnswerSettings())
        self.add("checks_claims")
        self._of_checks = self.add("model_check")
        self.add("suggests_questions", "asks_few_files")

    def show_value(self, value: AnswerSettings) -> None:
        super().show_value(value)
        for box in self._of_checks:
            box.setEnabled(value.checks_claims)


_ASSISTANTS_NOTE = tr(
    "An assistant answers with instructions, documents and a model of its own. You choose one above"
    " a chat, or with @ in a question."
)


class AssistantsSection(SettingsSection):
    """Leads to the assistants: `requested` asks for their list."""

    requested = Signal()

    def __init__(self) -> None:
        super().__init__(ASSISTANTS, _ASSISTANTS_NOTE)
        manage = TextButton(tr("Manage assistants…"), then=self.requested)
        self.add_row("", manage, words=_ROLE_WORDS)


WRITTEN = tr("Written answers")
ABOUT = tr("About")
# What else people call parts of the settings.
_MODEL_WORDS = tr("AI, LLM, language model, chat model, endpoint, connect, server, cloud")
_ROLE_WORDS = tr("roles, persona, system prompt, instructions, custom GPT, bot")
# Time to read what was saved and to undo it.
_UNDO_MS = 30_000


class SettingsPage(PageList):
    """Edits Settings; each change creates a new value. `add_part` adds a part beside its own.

    `privacy_forms` are for the page on privacy.
    """

    shortcuts_requested = Signal()

    def __init__(self, bridge: Bridge, chat: Chat, settings: EditedSettings, home: Home) -> None:
        super().__init__(tr("Settings"), PAGES)
        self._bridge, self._chat = bridge, chat
        self._settings = settings
        self._models = ModelsForm(bridge, chat)
        self.own_model_requested = self._models.own_requested
        self._preferences = PreferencesForm()
        self.prompts_requested = self._preferences.prompts_requested
        self._answers = AnswersForm()
        self._retrieval = RetrievalForm()
        self._indexing = IndexingForm()
        self._advanced = AdvancedIndexingForm()
        self._assistants = AssistantsSection()
        self.assistants_requested = self._assistants.requested
        self.background = BackgroundForm()
        self._appearance = AppearanceForm()
        self._remembering = RememberingForm(bridge, chat)
        self._activity = ActivityForm()
        self.privacy_forms = (self._remembering, self._activity)
        self._about = AboutSection(bridge, home)
        # By the part of the settings that each edits.
        self._forms: tuple[tuple[str, ValueForm], ...] = (
            ("preferences", self._preferences),
            ("answers", self._answers),
            ("answers", self._remembering),
            ("retrieval", self._retrieval),
            ("index", self._indexing),
            ("index", self._advanced),
            ("background", self.background),
            ("appearance", self._appearance),
            ("activity", self._activity),
        )
        self._build()
        self._show_settings(settings.value)
        self._connect()

    @Slot(object)
    def _show_settings(self, settings: Settings) -> None:
        self._models.show_settings(settings)
        for name, form in self._forms:
            form.show_value(getattr(settings, name))

    def connect_model(self) -> None:
        """Show the models; without an endpoint, look for one on this computer."""
        self.show_named(WRITTEN)
        self._models.connect_model()

    def offer_own_model(self, *, is_offered: bool) -> None:
        """Show or hide the way to the models that the app runs itself."""
        self._models.offer_own(is_offered=is_offered)

    @Slot()
    def add_endpoint(self) -> None:
        """Show the models with the empty form of a new endpoint."""
        self.show_named(WRITTEN)
        self._models.add_endpoint()

    def reveal(self, heading: str) -> None:
        """Show the part with this heading or name, at the first of its settings."""
        for found in self.every:
            setting = found.setting
            if heading == found.part.name or (setting and heading == setting.heading):
                self.show_found(found)
                return

    def _build(self) -> None:
        for page, name, words, sections in (
            (MODELS, WRITTEN, _MODEL_WORDS, (self._models,)),
            (ANSWERS, ANSWERS, "", (self._preferences, self._answers, self._retrieval)),
            (DOCUMENTS, DOCUMENTS, tr("files, folders, indexing"), (self._indexing,)),
            (APP, APP, tr("desktop, window"), (self._appearance, self.background)),
            (ASSISTANTS, ASSISTANTS, _ROLE_WORDS, (self._assistants,)),
            (CARE, ABOUT, tr("info, license"), (self._about,)),
            (ADVANCED, tr("Indexing"), "", (self._advanced,)),
        ):
            part = ScrolledPage(name)
            for section in sections:
                part.column.addWidget(section)
            found = settings_in(*sections)
            self.add_part(Part(page, name, part, found, words, is_last=name == ABOUT))
        self.list_page(ASSISTANTS, is_listed=False)
        self._saved = PlainLabel(tone="muted", wrap=True)
        self._saved.setIndent(8)
        self._undo = TextButton(tr("Undo"), kind="quiet", then=self._on_undo_clicked)
        self._forgetting = QTimer(self, singleShot=True, interval=_UNDO_MS)
        shortcuts = TextButton(
            tr("Keyboard shortcuts"), kind="quiet", then=self.shortcuts_requested
        )
        set_tip(shortcuts, tr("Keyboard shortcuts (F1)"))
        fill(
            self.foot,
            (shortcuts, 0, Qt.AlignmentFlag.AlignLeft),
            self._saved,
            (self._undo, 0, Qt.AlignmentFlag.AlignLeft),
        )
        self._show_undo()

    def _connect(self) -> None:
        self._settings.replaced.connect(self._show_settings)
        self._settings.changed.connect(self._show_undo)
        self._models.changed.connect(self._settings.edit)
        for name, form in self._forms:
            form.changed.connect(partial(self._edit_section, name))
        # What is undone has to be in view.
        self._forgetting.timeout.connect(self._forget)
        self.page_shown.connect(self._forget)
        self._models.endpoint_shown.connect(self._forget)

    def _edit_section(self, name: str, value: object) -> None:
        sections: dict[str, Any] = {name: value}
        self._settings.edit(replace(self._settings.value, **sections))
        # Two forms edit the same part.
        for same, form in self._forms:
            if same == name:
                form.show_value(value)

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

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Assistants are made above a chat; until there is one, this page has nothing to lead to.
        self._bridge.run(
            self,
            self._chat.assistants.all,
            lambda found: self.list_page(ASSISTANTS, is_listed=bool(found)),
        )

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():
            self._forget()
