"""The settings page and its sections; changes apply at once and can be undone. Qt thread."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.language.translation import count_of, told, tr
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.settings import (
    FEW_FILES,
    TEXT_SIZES,
    ActivitySettings,
    AnswerSettings,
    AppearanceSettings,
    BackgroundSettings,
    ColourScheme,
    ModelCheck,
    Settings,
    WhenClosed,
    nearest_text_size,
)
from desktop_rag.desktop.hotkeys.hotkey import Action, Binding, Bound, Hotkey, has_portal_only
from desktop_rag.ui.documents.external_viewer import FileOpener
from desktop_rag.ui.endpoints.models_form import ModelsForm
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.window_language import language_name, languages
from desktop_rag.ui.settings.edited_settings import (
    MODEL_CHECKS,
    SAME_AS_SYSTEM,
    SCHEMES,
    WHEN_CLOSED,
    EditedSettings,
)
from desktop_rag.ui.settings.page_list import ANSWERING, APP, CARE, DOCUMENTS, GROUPS, PageList
from desktop_rag.ui.settings.preferences_form import (
    IndexingForm,
    PreferencesForm,
    TranscriptionForm,
)
from desktop_rag.ui.settings.retrieval_form import RetrievalForm
from desktop_rag.ui.widgets.controls import (
    ElidedLabel,
    PlainLabel,
    TextButton,
    plain_question,
    set_property,
    set_tip,
)
from desktop_rag.ui.widgets.form_fields import (
    SettingsSection,
    WheelGuard,
    note,
    radio_group,
    selected_value,
    show_checked,
)
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

_QUESTION = tr(
    "Delete {count}?\n\nYour chats stay as they are, but their answers no longer serve as examples."
    " This can't be undone."
)


class MemoryField(QWidget):
    """Shows the number of remembered answers, to delete them all."""

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._memory = chat.memory
        self._count = 0
        self._label = PlainLabel(tone="muted")
        self._delete = TextButton(tr("Delete all…"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._label)
        row.addWidget(self._delete)
        row.addStretch(1)
        self._delete.clicked.connect(self._on_delete_clicked)
        self._show(0)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    @Slot()
    def _on_delete_clicked(self) -> None:
        count = count_of(self._count, tr("remembered answer"), tr("remembered answers"))
        title = tr("Delete remembered answers")
        box = plain_question(self, title, _QUESTION.format(count=count))
        confirm = box.addButton(tr("Delete all"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        confirm.clicked.connect(self._on_confirmed)
        box.open()

    @Slot()
    def _on_confirmed(self) -> None:
        self._bridge.run(self, self._memory.forget_all, lambda _nothing: self._refresh())

    def _refresh(self) -> None:
        self._bridge.run(self, self._memory.count, self._show)

    def _show(self, count: int) -> None:
        self._count = count
        self._label.setText(
            tr("{count_of} remembered", count_of=count_of(count, tr("answer"), tr("answers")))
        )
        self._delete.setEnabled(count > 0)


_MODIFIER_KEYS = (Qt.Key.Key_Control, Qt.Key.Key_Shift, Qt.Key.Key_Alt, Qt.Key.Key_Meta)
_TONES = {Binding.BOUND: "success", Binding.TAKEN: "danger"}


class _PressedKey(QLineEdit):
    """Shows the last pressed key; `pressed` carries it in words."""

    pressed = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setPlaceholderText(tr("None. Press keys to set one"))
        self.setAccessibleName(name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _MODIFIER_KEYS or (key == Qt.Key.Key_Tab and not event.modifiers()):
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete) and not event.modifiers():
            self.pressed.emit("")
        else:
            self.pressed.emit(QKeySequence(event.keyCombination()).toString())


class HotkeyField(QWidget):
    """Takes a hotkey by pressing it, and shows if it works. `changed` carries its words or ""."""

    changed = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._key = _PressedKey(name)
        self._clear = TextButton(tr("Clear"), kind="quiet")
        self._clear.setAccessibleDescription(tr("Use no key for: {name}", name=name))
        self._outcome = PlainLabel(tone="muted", scale="small", wrap=True)
        self._outcome.hide()
        row = QHBoxLayout()
        row.addWidget(self._key, 1)
        row.addWidget(self._clear)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self._outcome)
        self._key.pressed.connect(self._on_pressed)
        self._clear.clicked.connect(lambda: self._on_pressed(""))

    @property
    def hotkey(self) -> str:
        """The hotkey in words, "" for none."""
        return self._key.text()

    def show_hotkey(self, text: str) -> None:
        """Show this hotkey without emitting `changed`."""
        self._key.setText(text)
        self._clear.setVisible(bool(text))

    def show_outcome(self, bound: Bound | None) -> None:
        """Show what the desktop did with the hotkey; None without one."""
        words = "" if bound is None else told(bound.words)
        if bound and bound.outcome is Binding.BOUND:
            words = tr("In use: {words}", words=words) if words else tr("In use")
        set_property(self._outcome, "tone", _TONES.get(bound.outcome, "warning") if bound else "")
        self._say(words)

    def _say(self, words: str) -> None:
        self._outcome.setText(words)
        self._outcome.setVisible(bool(words))

    @Slot(str)
    def _on_pressed(self, text: str) -> None:
        if text and Hotkey.parse(text) is None:
            self._say(tr("Use it with Ctrl, Alt or Meta, or a function key."))
            return
        self.show_hotkey(text)
        self._say("")
        self.changed.emit(text)


_HOTKEY_NOTE = tr(
    "Work in every program. Selected text is read when you press the key, never otherwise. A key"
    " set in your desktop's own settings can run “desktop-rag quick-ask” instead."
)
_PORTAL_NOTE = tr("On this desktop (Wayland) a program can't take a key by itself: it asks once.")
_STAY_NOTE = tr("While it runs, your folders are kept up to date and the quick ask opens at once.")
_NOTICE_NOTE = tr(
    "When the first indexing is done, a folder goes offline, something needs you, or an answer is"
    " ready while you look elsewhere."
)


class BackgroundForm(SettingsSection):
    """Edits BackgroundSettings, for the app without its window; `changed` carries the value."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Quick ask and background"), parent=parent)
        self._background = BackgroundSettings()
        self._when_closed = radio_group(self, tr("When the window is closed"), WHEN_CLOSED)
        self._starts = QCheckBox(tr("Start at login, in the background"))
        self._notifies = QCheckBox(tr("Show notifications"))
        self._hotkey = HotkeyField(tr("Hotkey of the quick ask"))
        self._selection_hotkey = HotkeyField(tr("Hotkey to ask about selected text"))
        self._ask_desktop = TextButton(tr("Ask the desktop for these keys"))
        self.add_row(tr("Quick ask"), self._hotkey, is_wide=True)
        self.add_row(tr("With selected text"), self._selection_hotkey, is_wide=True)
        self.add_note(note(_HOTKEY_NOTE))
        if has_portal_only():
            self.add_row("", self._ask_desktop)
            self.add_note(note(_PORTAL_NOTE))
        self.add_row(tr("Closing the window"), *self._when_closed.values(), spacing_px=20)
        self.add_note(note(_STAY_NOTE))
        self.add_row(tr("Login"), self._starts)
        self.add_row(tr("Notifications"), self._notifies)
        self.add_note(note(_NOTICE_NOTE))
        for button in self._when_closed.values():
            button.clicked.connect(self._on_edited)
        for field in (self._hotkey, self._selection_hotkey):
            field.changed.connect(self._on_edited)
        self._ask_desktop.clicked.connect(
            lambda: self._change_to(replace(self._background, asks_for_hotkeys=True))
        )
        for box in (self._starts, self._notifies):
            box.toggled.connect(self._on_edited)

    def show_background(self, background: BackgroundSettings) -> None:
        """Show these settings without emitting `changed`."""
        self._background = background
        self._hotkey.show_hotkey(background.hotkey)
        self._selection_hotkey.show_hotkey(background.selection_hotkey)
        self._when_closed[background.when_closed].setChecked(True)
        show_checked(self._starts, background.starts_at_login)
        show_checked(self._notifies, background.notifies)

    def show_hotkeys(self, outcome: Mapping[Action, Bound]) -> None:
        """Show the outcome of binding the hotkeys."""
        self._hotkey.show_outcome(outcome.get(Action.ASK))
        self._selection_hotkey.show_outcome(outcome.get(Action.ASK_ABOUT_SELECTION))

    @Slot()
    def _on_edited(self) -> None:
        self._change_to(
            replace(
                self._background,
                when_closed=WhenClosed(selected_value(self._when_closed)),
                starts_at_login=self._starts.isChecked(),
                notifies=self._notifies.isChecked(),
                hotkey=self._hotkey.hotkey,
                selection_hotkey=self._selection_hotkey.hotkey,
            )
        )

    def _change_to(self, background: BackgroundSettings) -> None:
        self._background = background
        self.changed.emit(background)


_SIZE_NOTE = tr("Ctrl and + or − change it everywhere in the window, Ctrl and 0 resets it.")
_LANGUAGE_NOTE = tr(
    "Another language is used from the next start on. Answers follow the question; excerpts stay in"
    " the language of the document."
)


class AppearanceForm(SettingsSection):
    """Edits AppearanceSettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, guard: WheelGuard, parent: QWidget | None = None) -> None:
        super().__init__(tr("Appearance"), parent=parent)
        self._schemes = radio_group(self, tr("Theme"), SCHEMES)
        self._sizes = QComboBox()
        for percent in TEXT_SIZES:
            self._sizes.addItem(f"{percent} %", percent)
        self._languages = QComboBox()
        self._languages.addItem(SAME_AS_SYSTEM, "")
        for code in languages(resources_dir() / "words"):
            self._languages.addItem(language_name(code), code)
        guard.guard(self._sizes)
        guard.guard(self._languages)
        self.add_row(tr("Theme"), *self._schemes.values(), spacing_px=20)
        self.add_row(tr("Text size"), self._sizes)
        self.add_note(note(_SIZE_NOTE))
        self.add_row(tr("Language"), self._languages)
        self.add_note(note(_LANGUAGE_NOTE))
        for button in self._schemes.values():
            # Not `toggled`, which fires for the deselected button too.
            button.clicked.connect(self._on_edited)
        self._sizes.activated.connect(self._on_edited)
        self._languages.activated.connect(self._on_edited)

    def show_appearance(self, appearance: AppearanceSettings) -> None:
        """Show these settings without emitting `changed`."""
        self._schemes[appearance.scheme].setChecked(True)
        self._sizes.setCurrentIndex(
            self._sizes.findData(nearest_text_size(appearance.text_percent))
        )
        self._languages.setCurrentIndex(max(0, self._languages.findData(appearance.language)))

    @Slot()
    def _on_edited(self) -> None:
        self.changed.emit(
            AppearanceSettings(
                ColourScheme(selected_value(self._schemes)),
                self._sizes.currentData(),
                self._languages.currentData(),
            )
        )


_CHECK_NOTE = tr(
    "Each sentence gets a badge. The check runs on this computer and compares words and numbers: it"
    " is a hint, not a proof."
)
_MODEL_NOTE = tr(
    "A model that is measured to judge well reads the sentences that words leave open, and says in"
    " one sentence what agrees and what differs: one request for each answer. Online services are"
    " asked only after you agreed."
)
_HIDE_NOTE = tr(
    "Hides an answer if your documents support none of its sentences. You can still show it."
)
_QUESTION_NOTE = tr(
    "Takes one short request after each answer. Without a model, headings are suggested."
)
_FEW_NOTE = tr(
    "Where a question may find at most {FEW_FILES} files. Their text takes up to twelve requests to"
    " the model.",
    FEW_FILES=FEW_FILES,
)
_MEMORY_NOTE = tr(
    "Shows the model up to three earlier answers to similar questions, best rated first, so that it"
    " matches the style you like. When off, new answers are not remembered."
)


class AnswersForm(SettingsSection):
    """Edits AnswerSettings: checks, suggestions, memory; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, memory: QWidget, parent: QWidget | None = None) -> None:
        """`memory` is a widget shown below the memory setting."""
        super().__init__(tr("Answers"), parent=parent)
        self._checks = QCheckBox(tr("Check each sentence against the sources"))
        self._model_check = radio_group(self, tr("Also check with the model"), MODEL_CHECKS)
        self._hides = QCheckBox(tr("Hide unsupported answers"))
        self._suggests = QCheckBox(tr("Suggest follow-up questions"))
        self._asks_few = QCheckBox(tr("Read few files in full when passages don't answer"))
        self._remembers = QCheckBox(tr("Learn from earlier answers"))
        for label, box, explanation in (
            (tr("Checks"), self._checks, _CHECK_NOTE),
            ("", self._hides, _HIDE_NOTE),
            (tr("Suggestions"), self._suggests, _QUESTION_NOTE),
            (tr("Nothing found"), self._asks_few, _FEW_NOTE),
            (tr("Memory"), self._remembers, _MEMORY_NOTE),
        ):
            if box is self._hides:
                self.add_row(tr("With the model"), *self._model_check.values(), spacing_px=20)
                self.add_note(note(_MODEL_NOTE))
            self.add_row(label, box)
            self.add_note(note(explanation))
            box.toggled.connect(self._on_toggled)
        for button in self._model_check.values():
            button.clicked.connect(self._on_toggled)
        self.add_row("", memory)

    def show_answers(self, answers: AnswerSettings) -> None:
        """Show these settings without emitting `changed`."""
        show_checked(self._checks, answers.checks_claims)
        self._model_check[answers.model_check].setChecked(True)
        show_checked(self._hides, answers.hides_unsupported)
        show_checked(self._suggests, answers.suggests_questions)
        show_checked(self._asks_few, answers.asks_few_files)
        show_checked(self._remembers, answers.uses_memory)
        self._update_enabled()

    @Slot()
    def _on_toggled(self) -> None:
        self._update_enabled()
        self.changed.emit(
            AnswerSettings(
                checks_claims=self._checks.isChecked(),
                model_check=ModelCheck(selected_value(self._model_check)),
                hides_unsupported=self._hides.isChecked(),
                suggests_questions=self._suggests.isChecked(),
                asks_few_files=self._asks_few.isChecked(),
                uses_memory=self._remembers.isChecked(),
            )
        )

    def _update_enabled(self) -> None:
        for box in (*self._model_check.values(), self._hides):
            box.setEnabled(self._checks.isChecked())


LICENCE = tr("Apache License 2.0")
_HOME_NOTE = tr("Index, chats, settings and log, all on this computer. API keys are not in it.")
_ACTIVITY_NOTE = tr(
    "Questions by their chat, requests to endpoints, changes of the index and errors, on this"
    " computer only, for 90 days at most. No text of documents, no answers, no keys. See the page"
    " Activity."
)


class AboutSection(SettingsSection):
    """Shows version, licence and data folder."""

    def __init__(self, bridge: Bridge, home: Home, parent: QWidget | None = None) -> None:
        super().__init__(tr("About"), parent=parent)
        self._opener = FileOpener(bridge, self)
        self._version = PlainLabel(selectable=True)
        folder = ElidedLabel(str(home.root), mode=Qt.TextElideMode.ElideMiddle)
        self._open_home = TextButton(tr("Open"))
        self._open_home.setAccessibleDescription(tr("Open the app's data folder"))
        self.add_row(tr("Version"), self._version)
        self.add_row(tr("Licence"), PlainLabel(LICENCE, selectable=True))
        self.add_row(tr("Data folder"), folder, self._open_home, is_wide=True)
        self.add_note(note(_HOME_NOTE))
        self._open_home.clicked.connect(lambda: self._opener.open(home.root))
        bridge.run(self, _version, self._version.setText)


class ActivityForm(SettingsSection):
    """Edits ActivitySettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Activity"), parent=parent)
        self._records = QCheckBox(tr("Record what the app does"))
        self.add_row(tr("Event log"), self._records)
        self.add_note(note(_ACTIVITY_NOTE))
        self._records.toggled.connect(lambda on: self.changed.emit(ActivitySettings(on)))

    def show_activity(self, activity: ActivitySettings) -> None:
        """Show these settings without emitting `changed`."""
        show_checked(self._records, activity.is_recorded)


def _version() -> str:
    """The installed version. It reads a file, so it runs on a worker thread."""
    try:
        return version("desktop-rag")
    except PackageNotFoundError:
        return tr("not installed (running from source)")


# Time to read what was saved and to undo it.
_UNDO_MS = 30_000


class SettingsPage(PageList):
    """Edits Settings; each change creates a new value. `add_page` adds a page beside its own."""

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
        for name, form in (
            ("preferences", self._preferences),
            ("answers", self._answers),
            ("retrieval", self._retrieval),
            ("index", self._indexing),
            ("transcription", self._transcription),
            ("background", self.background),
            ("appearance", self._appearance),
            ("activity", self._activity),
        ):
            form.changed.connect(partial(self._edit_section, name))
        self._undo.clicked.connect(self._on_undo_clicked)
        # What is undone has to be in view.
        self._forgetting.timeout.connect(self._forget)
        self.page_shown.connect(self._forget)
        self._models.endpoint_shown.connect(self._forget)

    def _edit_section(self, name: str, value: object) -> None:
        sections: dict[str, Any] = {name: value}
        self._settings.edit(replace(self._settings.value, **sections))

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
