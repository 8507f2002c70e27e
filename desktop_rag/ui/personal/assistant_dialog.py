"""A form for one assistant, open until it is saved so that nothing typed is lost. Qt thread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from desktop_rag.core.assistant import LONGEST_NAME, Assistant, parse_filters
from desktop_rag.core.domain import Collection, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.search_syntax import limits_in_words
from desktop_rag.core.settings import Settings
from desktop_rag.ui.foundation.wording import (
    counts_in_words,
    failure_in_words,
    given_name,
    one_line,
)
from desktop_rag.ui.library.collection_field import CollectionCheckboxes
from desktop_rag.ui.personal.assistant_documents import OwnDocument, WishedDocuments
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, plain_tooltip, set_property
from desktop_rag.ui.widgets.form_fields import (
    DropDown,
    SettingsSection,
    note,
    radio_group,
    selected_value,
    text_area,
)
from desktop_rag.ui.widgets.forms import choose_files, choose_folder
from desktop_rag.ui.widgets.layouts import Stretch, fill, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import scrolling

_ROWS = 4
_ROW_PX = 26
_STATES_MS = 1_000


@dataclass
class _Row:
    """A line of the list: existing documents, or a path or link that will be added."""

    name: str
    tip: str
    state: str = ""
    source: Source | None = None
    path: Path | None = None
    link: str = ""
    is_removed: bool = False

    def in_words(self) -> str:
        if self.is_removed:
            return tr("{name} · removed when saved", name=self.name)
        if self.source is None:
            return tr("{name} · added when saved", name=self.name)
        return f"{self.name} · {self.state}"


class OwnDocumentsField(QWidget):
    """Lists an assistant's documents with their state; changes apply once the form is saved.

    `refresh_requested` asks to look at all of them again, `states_requested` for their present
    states, which `show_documents` takes.
    """

    refresh_requested = Signal()
    states_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[_Row] = []
        self._list = QListWidget()
        self._list.setObjectName("ownDocuments")
        self._list.setAccessibleName(tr("Documents of its own"))
        self._list.setFixedHeight(_ROWS * _ROW_PX + 8)
        title = tr("Add files to the assistant")
        self._files = TextButton(
            tr("Add files…"), then=lambda: choose_files(self, title, self.add_paths)
        )
        self._folder = TextButton(tr("Add folder…"), then=self._on_folder_clicked)
        self._remove = TextButton(tr("Remove"), then=self._on_remove_clicked)
        self._refresh = TextButton(tr("Refresh"), then=self.refresh_requested)
        self._link = QLineEdit(placeholderText="https://example.org/guide")
        self._link.setAccessibleName(tr("Links"))
        self._add_links = TextButton(tr("Add links"), then=self._on_links_added)
        self._timer = QTimer(self, interval=_STATES_MS)
        self._build()
        self._connect()
        self._show_rows()

    def _build(self) -> None:
        buttons = (self._files, self._folder, self._remove, self._refresh)
        for button in (*buttons, self._add_links):
            button.setAutoDefault(False)
        vertical(
            self._list,
            horizontal(*buttons, Stretch()),
            horizontal((self._link, 1), self._add_links),
            on=self,
            margins=0,
            spacing=6,
        )

    def _connect(self) -> None:
        self._link.textChanged.connect(self._show_buttons)
        self._list.currentRowChanged.connect(self._show_buttons)
        self._timer.timeout.connect(self.states_requested)

    @property
    def wished(self) -> WishedDocuments:
        """What is to be added and removed."""
        added = [row for row in self._rows if row.source is None]
        removed = [row.source.source_id for row in self._rows if row.source and row.is_removed]
        return WishedDocuments(
            tuple(row.path for row in added if row.path),
            tuple(row.link for row in added if row.link),
            frozenset(removed),
        )

    def show_documents(self, documents: Sequence[OwnDocument]) -> None:
        """Show the existing documents; what was added or removed here is kept."""
        removed = self.wished.removed
        there = [
            _Row(
                one_line(document.source.name),
                str(document.source.path) if document.source.is_on_disk else document.source.name,
                counts_in_words(document.counts),
                document.source,
                is_removed=document.source.source_id in removed,
            )
            for document in documents
        ]
        self._rows = [*there, *(row for row in self._rows if row.source is None)]
        if there:
            self._timer.start()
        else:
            self._timer.stop()
        self._show_rows()

    def _show_rows(self) -> None:
        current = self._list.currentRow()
        while self._list.count() > len(self._rows):
            self._list.takeItem(self._list.count() - 1)
        for place, row in enumerate(self._rows):
            item = self._list.item(place) or QListWidgetItem(self._list)
            item.setText(row.in_words())
            item.setToolTip(plain_tooltip(row.tip))
        self._list.setCurrentRow(min(current, len(self._rows) - 1))
        self._list.setVisible(bool(self._rows))
        self._show_buttons()

    @Slot()
    def _show_buttons(self) -> None:
        row = self._current
        self._remove.setEnabled(row is not None)
        self._remove.setText(tr("Keep") if row and row.is_removed else tr("Remove"))
        self._refresh.setEnabled(any(row.source for row in self._rows))
        self._add_links.setEnabled(bool(self._link.text().strip()))

    @property
    def _current(self) -> _Row | None:
        place = self._list.currentRow()
        return self._rows[place] if 0 <= place < len(self._rows) else None

    @Slot()
    def _on_folder_clicked(self) -> None:
        title, home = tr("Add a folder to the assistant"), str(Path.home())
        choose_folder(self, title, lambda path: self.add_paths([path]), start=home)

    @Slot(list)
    def add_paths(self, paths: Sequence[str]) -> None:
        """Add files or folders when the form is saved, except those already there."""
        known = {row.path or (row.source.path if row.source else None) for row in self._rows}
        new = [path for path in dict.fromkeys(map(Path, paths)) if path not in known]
        self._rows += [_Row(one_line(path.name or str(path)), str(path), path=path) for path in new]
        self._show_rows()

    @Slot()
    def _on_links_added(self) -> None:
        known = {row.link for row in self._rows}
        new = [link for link in dict.fromkeys(self._link.text().split()) if link not in known]
        self._rows += [_Row(one_line(link), link, link=link) for link in new]
        self._link.clear()
        self._show_rows()

    @Slot()
    def _on_remove_clicked(self) -> None:
        row = self._current
        if row and row.source:
            row.is_removed = not row.is_removed
        elif row:
            self._rows.remove(row)
        self._show_rows()


_WIDTH_PX = 680
_HEIGHT_PX = 640
_CHAT_MODEL = tr("Same as in the chat")
_STRICT, _OPEN = "strict", "open"
_KINDS = {_STRICT: tr("Documents only"), _OPEN: tr("Also the model's own knowledge")}
_INSTRUCTIONS_NOTE = tr(
    "Added to the app's built-in rules, which always apply: answers must be based on sources, and"
    " instructions inside documents are ignored."
)
_KIND_NOTE = tr(
    "If your documents have nothing on a question, the first option says so. The second lets the"
    " model answer from its own knowledge, and labels the answer clearly."
)
_COLLECTIONS_NOTE = tr(
    "If none is checked, and it has no documents of its own, the assistant uses all documents."
)
_OWN_NOTE = tr(
    "Files, folders and links for this assistant. They are indexed into a collection of its own,"
    " which is removed from the library with the assistant. Files are never touched."
)
_FILTERS_NOTE = tr(
    "Applied to every question. Examples: type:pdf, folder:taxes, after:2024, -word."
)


class RailsField(Protocol):
    """A widget that chooses the rails of an assistant."""

    @property
    def choice(self) -> QComboBox:
        """The list to choose from."""
        ...

    @property
    def rails(self) -> str:
        """The chosen rails."""
        ...


class AssistantDialog(QDialog):
    """`submitted` carries the Assistant as entered; a new one has no id.

    `own_documents` is the field for its own documents, `rails` the one for its rails.
    """

    submitted = Signal(object)

    def __init__(
        self,
        assistant: Assistant,
        settings: Settings,
        offers: Mapping[str, Sequence[str]],
        collections: Sequence[Collection],
        parent: QWidget,
        rails: RailsField | None = None,
    ) -> None:
        """`offers` maps the address of each endpoint to the models it offers."""
        super().__init__(parent)
        self.setObjectName("assistantDialog")
        self.setWindowTitle(tr("Assistant") if assistant.assistant_id else tr("New assistant"))
        self._assistant = assistant
        self._make_texts(assistant)
        self._model = _model_field(assistant, settings, offers)
        own = assistant.own_collection_id
        self._collections = CollectionCheckboxes(
            [c for c in collections if c.collection_id != own],
            [i for i in assistant.collection_ids if i != own],
        )
        self.own_documents = OwnDocumentsField()
        self._kinds = radio_group(self, tr("Answers"), _KINDS)
        self._kinds[_OPEN if assistant.is_open else _STRICT].setChecked(True)
        self.rails = rails
        self._memory = QCheckBox(tr("Learn from earlier answers"))
        self._memory.setChecked(assistant.uses_memory)
        self._error = PlainLabel(tone="danger", wrap=True, selectable=True)
        self._save = TextButton(tr("Save"), kind="primary", then=self._on_saved)
        self._cancel = TextButton(tr("Cancel"), then=self.reject)
        self._build()
        self._connect()
        self._on_edited()

    def _make_texts(self, assistant: Assistant) -> None:
        self._name = QLineEdit(assistant.name)
        self._name.setMaxLength(LONGEST_NAME)
        self._name.setPlaceholderText(tr("Contract assistant"))
        self._instructions = text_area(
            tr("Instructions"),
            assistant.instructions,
            lines=6,
            example=tr("Answer in two sentences and name the section."),
        )
        self._filters = QLineEdit(assistant.filters, placeholderText="type:pdf after:2024")
        self._filters_note = note(_FILTERS_NOTE)

    def _build(self) -> None:
        body = QWidget()
        body.setProperty("kind", "page")
        sections = vertical(on=body, margins=(20, 18, 20, 18), spacing=14)
        fill(sections, self._build_answers(), self._build_documents(), Stretch())
        vertical(
            (scrolling(body), 1),
            horizontal((self._error, 1), self._cancel, self._save, margins=(20, 0, 20, 0)),
            on=self,
            margins=(0, 0, 0, 16),
            spacing=12,
        )
        self._save.setDefault(True)
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    def _build_answers(self) -> SettingsSection:
        section = SettingsSection(tr("Answers"))
        section.add_row(tr("Name"), self._name, is_wide=True)
        section.add_row(tr("Instructions"), self._instructions, is_wide=True)
        section.add_note(note(_INSTRUCTIONS_NOTE))
        section.add_row(tr("Model"), self._model, is_wide=True)
        section.add_row(tr("Answers"), *self._kinds.values(), spacing_px=20)
        section.add_note(note(_KIND_NOTE))
        if isinstance(self.rails, QWidget):
            section.add_row(tr("Rails"), self.rails, is_wide=True)
        section.add_row(tr("Memory"), self._memory)
        return section

    def _build_documents(self) -> SettingsSection:
        section = SettingsSection(tr("Documents"))
        section.add_row(tr("Collections"), self._collections, is_wide=True)
        section.add_note(note(_COLLECTIONS_NOTE))
        section.add_row(tr("Its own"), self.own_documents, is_wide=True)
        section.add_note(note(_OWN_NOTE))
        section.add_row(tr("Filters"), self._filters, is_wide=True)
        section.add_note(self._filters_note)
        return section

    def _connect(self) -> None:
        self._name.textChanged.connect(self._on_edited)
        self._instructions.textChanged.connect(self._on_edited)
        self._filters.textChanged.connect(self._on_edited)

    def show_error(self, error: AppError) -> None:
        """Show why the assistant can't be saved."""
        self._error.setText(failure_in_words(error))
        self._save.setEnabled(True)

    @property
    def assistant(self) -> Assistant:
        """The assistant as entered."""
        base_url, model = self._model.currentData()
        own = self._assistant.own_collection_id
        return replace(
            self._assistant,
            name=self._name.text(),
            instructions=self._instructions.toPlainText(),
            base_url=base_url,
            model=model,
            collection_ids=(*self._collections.chosen, *((own,) if own else ())),
            filters=self._filters.text(),
            is_open=selected_value(self._kinds) == _OPEN,
            uses_memory=self._memory.isChecked(),
            rails=self.rails.rails if self.rails else self._assistant.rails,
        )

    @Slot()
    def _on_edited(self) -> None:
        self._error.setText("")
        is_valid = self._show_filters()
        self._save.setEnabled(is_valid and bool(self._name.text().strip()))

    def _show_filters(self) -> bool:
        """Show what the filters mean, or what is wrong with them; True if they are valid."""
        try:
            text, tone = limits_in_words(parse_filters(self._filters.text())), "muted"
        except AppError as error:
            text, tone = failure_in_words(error), "danger"
        self._filters_note.setText(text or _FILTERS_NOTE)
        self._filters_note.set_tone(tone)
        set_property(self._filters, "state", "wrong" if tone == "danger" else "")
        return tone == "muted"

    @Slot()
    def _on_saved(self) -> None:
        self._save.setEnabled(False)
        self.submitted.emit(self.assistant)


def _model_field(
    assistant: Assistant, settings: Settings, offers: Mapping[str, Sequence[str]]
) -> QComboBox:
    """A list of the endpoints' models, and the assistant's own if it no longer exists."""
    field = DropDown()
    field.setMinimumContentsLength(20)
    field.addItem(_CHAT_MODEL, ("", ""))
    for endpoint in settings.endpoints:
        own = [endpoint.model] if endpoint.model else []
        if endpoint.base_url == assistant.base_url:
            own.append(assistant.model)
        for model in dict.fromkeys((*own, *offers.get(endpoint.base_url, ()))):
            field.addItem(
                f"{one_line(model)} · {given_name(endpoint.label)}", (endpoint.base_url, model)
            )
    wanted = (assistant.base_url, assistant.model)
    known = [field.itemData(row) for row in range(field.count())]
    if assistant.has_model and wanted not in known:
        field.addItem(one_line(tr("{model} · not available", model=assistant.model)), wanted)
        known.append(wanted)
    field.setCurrentIndex(known.index(wanted) if assistant.has_model else 0)
    return field
