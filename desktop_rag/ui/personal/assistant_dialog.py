"""A form for one assistant. Qt thread.

It stays open until the assistant is saved, so that nothing typed is lost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.assistant import LONGEST_NAME, Assistant, parse_filters
from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.search_syntax import limits_in_words
from desktop_rag.core.settings import Settings
from desktop_rag.ui.foundation.error_words import failure_in_words
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.library.collection_checkboxes import CollectionCheckboxes
from desktop_rag.ui.personal.own_documents_field import OwnDocumentsField
from desktop_rag.ui.personal.rails_field import RailsField
from desktop_rag.ui.settings.retrieval_form import RetrievalForm
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, set_property
from desktop_rag.ui.widgets.form_fields import (
    SettingsSection,
    WheelGuard,
    note,
    radio_group,
    selected_value,
)

_WIDTH_PX = 680
_HEIGHT_PX = 640
_LINES = 6
_MARGIN_PX = 16
_CHAT_MODEL = tr("Same as in the chat")
_STRICT, _OPEN = "strict", "open"
_KINDS = {
    _STRICT: tr("Documents only"),
    _OPEN: tr("Also the model's own knowledge"),
}
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
    ) -> None:
        """`offers` maps the address of each endpoint to the models it offers."""
        super().__init__(parent)
        self.setObjectName("assistantDialog")
        self.setWindowTitle(tr("Assistant") if assistant.assistant_id else tr("New assistant"))
        self._assistant = assistant
        guard = WheelGuard(self)
        self._make_texts(assistant)
        self._model = _model_field(assistant, settings, offers)
        guard.guard(self._model)
        own = assistant.own_collection_id
        self._collections = CollectionCheckboxes(
            [c for c in collections if c.collection_id != own],
            [i for i in assistant.collection_ids if i != own],
        )
        self.own_documents = OwnDocumentsField()
        self._kinds = radio_group(self, tr("Answers"), _KINDS)
        self._kinds[_OPEN if assistant.is_open else _STRICT].setChecked(True)
        self.rails = RailsField(assistant.rails)
        guard.guard(self.rails.choice)
        self._memory = QCheckBox(tr("Learn from earlier answers"))
        self._memory.setChecked(assistant.uses_memory)
        self._has_retrieval = QCheckBox(tr("Use separate search settings"))
        self._has_retrieval.setChecked(assistant.retrieval is not None)
        self._retrieval = RetrievalForm(guard)
        self._retrieval.show_retrieval(assistant.retrieval or settings.retrieval)
        self._error = PlainLabel(tone="danger", wrap=True, selectable=True)
        self._save = TextButton(tr("Save"), kind="primary")
        self._cancel = TextButton(tr("Cancel"))
        self._build()
        self._connect()
        self._on_edited()

    def _make_texts(self, assistant: Assistant) -> None:
        self._name = QLineEdit(assistant.name)
        self._name.setMaxLength(LONGEST_NAME)
        self._name.setPlaceholderText(tr("Contract assistant"))
        self._instructions = QPlainTextEdit(assistant.instructions)
        self._instructions.setAccessibleName(tr("Instructions"))
        self._instructions.setPlaceholderText(tr("Answer in two sentences and name the section."))
        self._instructions.setTabChangesFocus(True)
        lines = self._instructions.fontMetrics().lineSpacing() * _LINES
        self._instructions.setFixedHeight(lines + _MARGIN_PX)
        self._filters = QLineEdit(assistant.filters)
        self._filters.setPlaceholderText("type:pdf after:2024")
        self._filters_note = note(_FILTERS_NOTE)

    def _build(self) -> None:
        body = QWidget()
        body.setProperty("kind", "page")
        sections = QVBoxLayout(body)
        sections.setContentsMargins(20, 18, 20, 18)
        sections.setSpacing(14)
        for part in (
            self._build_answers(), self._build_documents(), self._has_retrieval, self._retrieval
        ):  # fmt: skip
            sections.addWidget(part)
        sections.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(body)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(20, 0, 20, 0)
        buttons.addWidget(self._error, 1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._save)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 16)
        column.setSpacing(12)
        column.addWidget(scroll, 1)
        column.addLayout(buttons)
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
        self._has_retrieval.toggled.connect(self._on_edited)
        self._save.clicked.connect(self._on_saved)
        self._cancel.clicked.connect(self.reject)

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
            retrieval=self._retrieval.retrieval if self._has_retrieval.isChecked() else None,
            is_open=selected_value(self._kinds) == _OPEN,
            uses_memory=self._memory.isChecked(),
            rails=self.rails.rails,
        )

    @Slot()
    def _on_edited(self) -> None:
        self._error.setText("")
        self._retrieval.setVisible(self._has_retrieval.isChecked())
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
    """A list of the endpoints' models, including the assistant's own if it no longer exists."""
    field = QComboBox()
    field.setMinimumContentsLength(20)
    field.addItem(_CHAT_MODEL, ("", ""))
    for endpoint in settings.endpoints:
        own = [endpoint.model] if endpoint.model else []
        if endpoint.base_url == assistant.base_url:
            own.append(assistant.model)
        for model in dict.fromkeys((*own, *offers.get(endpoint.base_url, ()))):
            field.addItem(one_line(f"{model} · {endpoint.label}"), (endpoint.base_url, model))
    wanted = (assistant.base_url, assistant.model)
    known = [field.itemData(row) for row in range(field.count())]
    if assistant.has_model and wanted not in known:
        field.addItem(one_line(tr("{model} · not available", model=assistant.model)), wanted)
        known.append(wanted)
    field.setCurrentIndex(known.index(wanted) if assistant.has_model else 0)
    return field
