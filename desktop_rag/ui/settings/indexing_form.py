"""Settings for reading and embedding files. Qt thread."""

import os
from dataclasses import replace

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import IndexSettings, LongReading
from desktop_rag.ui.models.model_field import MODEL_NOTE, ModelField
from desktop_rag.ui.settings.choice_words import BUILT_IN_MODEL, LONG_READING
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

_LARGEST_NOTE = tr(
    "Larger files are skipped and listed in the library. Takes effect after a restart."
)
_AFTER_A_RESTART = tr(
    "Takes effect after a restart. All documents are then embedded again in the background; until"
    " that is done, search uses the old model."
)
_MODEL_NOTE = f"{MODEL_NOTE} {_AFTER_A_RESTART}"
_FINER_NOTE = tr(
    "Finds details in long passages that a search by meaning would miss. Indexing takes about twice"
    " as long, and the library about 10% more disk space. Takes effect at once: turning it on"
    " indexes long passages in the background, turning it off removes that data."
)
_IMAGES_NOTE = tr(
    "Needs the optional “ocr” package. Pictures are read when everything else is searchable. Takes"
    " effect after a restart."
)


class IndexingForm(SettingsSection):
    """Edits IndexSettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, guard: WheelGuard, parent: QWidget | None = None) -> None:
        super().__init__(tr("Indexing"), parent=parent)
        self._index = IndexSettings()
        self._makes_windows = QCheckBox(tr("Also search parts of long passages"))
        self._pauses_on_battery = QCheckBox(tr("Pause indexing on battery power"))
        self._reads_images = QCheckBox(tr("Read text in scanned pages and images"))
        name = tr("Pictures that take more than an hour")
        self._long_pictures = radio_group(self, name, LONG_READING)
        self._largest = number_field(1, 10_000, 50, " MB")
        self._threads = number_field(0, os.cpu_count() or 1, 1, tr(" threads"))
        self._threads.setSpecialValueText(tr("Automatic"))
        self._model = ModelField(tr("Embedding model"), BUILT_IN_MODEL, self)
        for field in (self._largest, self._threads):
            guard.guard(field)
            field.valueChanged.connect(self._on_edited)
        for box in (self._makes_windows, self._pauses_on_battery, self._reads_images):
            box.toggled.connect(self._on_edited)
        for button in self._long_pictures.values():
            # Not `toggled`, which fires for the deselected button too.
            button.clicked.connect(self._on_edited)
        self._model.changed.connect(self._on_edited)
        self._build()

    def _build(self) -> None:
        self.add_row(tr("Maximum file size"), self._largest)
        self.add_note(note(_LARGEST_NOTE))
        self.add_row(tr("Processor threads"), self._threads)
        self.add_note(note(tr("Fewer threads leave more power for other apps.")))
        self.add_row(tr("Embedding model"), *self._model.fields, is_wide=True)
        self.add_note(note(_MODEL_NOTE))
        self.add_row(tr("Fine-grained search"), self._makes_windows)
        self.add_note(note(_FINER_NOTE))
        self.add_row(tr("Battery"), self._pauses_on_battery)
        self.add_row(tr("Text recognition"), self._reads_images)
        self.add_note(note(_IMAGES_NOTE))
        self.add_row(tr("Many pictures"), *self._long_pictures.values())
        self.add_note(note(tr("Many are those that take more than an hour to read.")))

    def show_index(self, index: IndexSettings) -> None:
        """Show these settings without emitting `changed`."""
        self._index = index
        show_number(self._largest, index.max_file_mb)
        show_number(self._threads, index.embedding_threads)
        self._model.show_spec(index.model_folder)
        show_checked(self._makes_windows, index.makes_windows)
        show_checked(self._pauses_on_battery, index.pauses_on_battery)
        show_checked(self._reads_images, index.reads_pictures)
        self._long_pictures[index.long_pictures].setChecked(True)

    @Slot()
    def _on_edited(self) -> None:
        self._index = replace(
            self._index,
            max_file_mb=self._largest.value(),
            embedding_threads=self._threads.value(),
            model_folder=self._model.spec,
            makes_windows=self._makes_windows.isChecked(),
            pauses_on_battery=self._pauses_on_battery.isChecked(),
            reads_pictures=self._reads_images.isChecked(),
            long_pictures=LongReading(selected_value(self._long_pictures)),
        )
        self.changed.emit(self._index)
