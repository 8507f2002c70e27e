"""The settings page and the forms of its sections; changes apply at once and can be undone.

Qt thread.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from desktop_rag.activity.event_wording import text_of
from desktop_rag.answer.chat import Chat
from desktop_rag.core.extras import way_to_install
from desktop_rag.core.language.translation import count_of, told, tr
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.pictures import is_ocr_installed
from desktop_rag.core.settings import (
    TEXT_SIZES,
    ActivitySettings,
    AnswerSettings,
    AppearanceSettings,
    BackgroundSettings,
    IndexSettings,
    PreferenceSettings,
    RetrievalSettings,
    Settings,
    nearest_text_size,
)
from desktop_rag.desktop.hotkeys.hotkey import Action, Binding, Bound, Hotkey, has_portal_only
from desktop_rag.ui.documents.external_viewer import FileOpener
from desktop_rag.ui.endpoints.model_field import MODEL_NOTE, ModelField
from desktop_rag.ui.endpoints.models_form import ModelsForm
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.window_language import language_name, languages
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.settings.page_list import PageList
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
from desktop_rag.ui.widgets.controls import (
    ElidedLabel,
    PlainLabel,
    TextButton,
    set_property,
    set_tip,
)
from desktop_rag.ui.widgets.form_fields import DropDown, SettingsSection, note
from desktop_rag.ui.widgets.forms import ask_first
from desktop_rag.ui.widgets.layouts import Stretch, fill, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage
from desktop_rag.ui.widgets.value_form import ValueForm

_MODIFIER_KEYS = (Qt.Key.Key_Control, Qt.Key.Key_Shift, Qt.Key.Key_Alt, Qt.Key.Key_Meta)
_BOUND_TONES = {Binding.BOUND: "success", Binding.TAKEN: "danger"}


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

    def __init__(self, name: str) -> None:
        super().__init__()
        self._key = _PressedKey(name)
        self._clear = TextButton(tr("Clear"), kind="quiet", then=lambda: self._on_pressed(""))
        self._clear.setAccessibleDescription(tr("Use no key for: {name}", name=name))
        self._outcome = PlainLabel(tone="muted", scale="small", wrap=True)
        self._outcome.hide()
        vertical(
            horizontal((self._key, 1), self._clear), self._outcome, on=self, margins=0, spacing=4
        )
        self._key.pressed.connect(self._on_pressed)

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
        tone = _BOUND_TONES.get(bound.outcome, "warning") if bound else ""
        set_property(self._outcome, "tone", tone)
        self._say(words)

    def _say(self, words: str) -> None:
        self._outcome.say(words)

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


class BackgroundForm(ValueForm):
    """Edits BackgroundSettings, for the app without its window."""

    def __init__(self) -> None:
        super().__init__(tr("Quick ask and background"), BackgroundSettings())
        self._hotkey = self._add_hotkey("hotkey")
        self._selection_hotkey = self._add_hotkey("selection_hotkey")
        self.add_note(note(_HOTKEY_NOTE))
        if has_portal_only():
            ask = TextButton(tr("Ask the desktop for these keys"), then=self._on_ask_clicked)
            self.add_row("", ask, words=tr("Wayland, shortcut, permission"))
            self.add_note(note(_PORTAL_NOTE))
        self.add("when_closed", "starts_at_login", "notifies")

    def _add_hotkey(self, setting: str) -> HotkeyField:
        field = HotkeyField(text_of(BackgroundSettings, setting).name)
        self.bind(setting, field.show_hotkey, lambda: field.hotkey, field.changed)
        self.add_field(setting, field, is_wide=True)
        return field

    def show_hotkeys(self, outcome: Mapping[Action, Bound]) -> None:
        """Show the outcome of binding the hotkeys."""
        self._hotkey.show_outcome(outcome.get(Action.ASK))
        self._selection_hotkey.show_outcome(outcome.get(Action.ASK_ABOUT_SELECTION))

    @Slot()
    def _on_ask_clicked(self) -> None:
        self.change_to(replace(self.value, asks_for_hotkeys=True))


class AppearanceForm(ValueForm):
    """Edits AppearanceSettings."""

    def __init__(self) -> None:
        super().__init__(tr("Appearance"), AppearanceSettings())
        sizes, tongues = DropDown(), DropDown()
        for percent in TEXT_SIZES:
            sizes.addItem(f"{percent} %", percent)
        tongues.addItem(text_of(AppearanceSettings, "language").empty, "")
        for code in languages(resources_dir() / "words"):
            tongues.addItem(language_name(code), code)
        self.add("scheme")
        self.add_field("text_percent", sizes)
        self.add_field("language", tongues)

    def show_value(self, value: AppearanceSettings) -> None:
        super().show_value(replace(value, text_percent=nearest_text_size(value.text_percent)))


LICENCE = tr("Apache License 2.0")
_HOME_NOTE = tr("Index, chats, settings and log, all on this computer. API keys are not in it.")


class AboutSection(SettingsSection):
    """Shows version, licence and data folder."""

    def __init__(self, bridge: Bridge, home: Home) -> None:
        super().__init__(tr("About"))
        self._opener = FileOpener(bridge, self)
        self._version = PlainLabel(selectable=True)
        folder = ElidedLabel(str(home.root), mode=Qt.TextElideMode.ElideMiddle)
        self._open_home = TextButton(tr("Open"), then=lambda: self._opener.open(home.root))
        self._open_home.setAccessibleDescription(tr("Open the app's data folder"))
        self.add_row(tr("Version"), self._version, words=tr("update, release, which version"))
        self.add_row(
            tr("Licence"),
            PlainLabel(LICENCE, selectable=True),
            words=tr("license, copyright, open source"),
        )
        self.add_row(
            tr("Data folder"),
            folder,
            self._open_home,
            is_wide=True,
            words=tr("where is my data, storage location, path, disk, log"),
        )
        self.add_note(note(_HOME_NOTE))
        bridge.run(self, _version, self._version.setText)


class ActivityForm(ValueForm):
    """Edits ActivitySettings."""

    def __init__(self) -> None:
        super().__init__(tr("Activity"), ActivitySettings())
        self.add("is_recorded")


def _version() -> str:
    """The installed version. It reads a file, so it runs on a worker thread."""
    try:
        return version("desktop-rag")
    except PackageNotFoundError:
        return tr("not installed (running from source)")


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
