"""Settings sections: style of answers, retrieval, indexing. Qt thread."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit

from desktop_rag.activity.event_wording import text_of
from desktop_rag.core.extras import way_to_install
from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.pictures import is_ocr_installed
from desktop_rag.core.settings import IndexSettings, PreferenceSettings, RetrievalSettings
from desktop_rag.ui.endpoints.model_field import MODEL_NOTE, ModelField
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
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
