"""A dialog for the rules of a folder, with a preview of the files they include. Qt thread.

The bridge counts the folder again after each change; no file is opened.
"""

from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop_rag.core.domain import Collection, Source, SourceRules
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import FolderPreview
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.library.collection_field import CollectionField
from desktop_rag.ui.library.dialogs.preview_panel import PreviewPanel
from desktop_rag.ui.library.dialogs.rules_form import RulesForm
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import note

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_WIDTH_PX = 780
_HEIGHT_PX = 520


class FolderDialog(QDialog):
    """Adds a folder, or edits the rules of one in the library.

    `submitted` carries the collection's name, the rules, and the address of the site that the
    folder mirrors, "" for none, when the person confirms.
    """

    submitted = Signal(str, object, str)

    def __init__(
        self,
        bridge: Bridge,
        library: "Library",
        path: Path,
        collections: Sequence[Collection],
        source: Source | None,
        parent: QWidget,
    ) -> None:
        """With a `source`, the dialog edits its rules; its collection stays."""
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._path = path
        self._cancel = Event()
        self._job: Job | None = None
        self._collection = CollectionField(collections)
        self._rules = RulesForm(source.rules if source else SourceRules())
        self._base = QLineEdit(source.base_address if source else "")
        self._base.setPlaceholderText("https://example.org/guide/")
        self._base.setAccessibleName(tr("Address of the site"))
        self._preview = PreviewPanel()
        self._confirm = TextButton(tr("Save") if source else tr("Add folder"), kind="primary")
        self._cancel_button = TextButton(tr("Cancel"))
        name = one_line(path.name or str(path))
        self.setWindowTitle(
            tr("Options for {name}", name=name) if source else tr("Add {name}", name=name)
        )
        self._build(is_new=source is None)
        self._confirm.setDefault(True)
        self._confirm.clicked.connect(self._on_confirm_clicked)
        self._cancel_button.clicked.connect(self.reject)
        self._rules.changed.connect(self._count)
        self._count()

    def done(self, result: int) -> None:
        self._cancel.set()
        super().done(result)

    def _build(self, *, is_new: bool) -> None:
        left = QVBoxLayout()
        left.setSpacing(8)
        if is_new:
            left.addWidget(PlainLabel(tr("Collection")))
            left.addWidget(self._collection)
        left.addWidget(self._rules)
        left.addWidget(PlainLabel(tr("Address of the site")))
        left.addWidget(self._base)
        left.addWidget(note(tr("For a folder that mirrors a site: its sources link there.")))
        left.addStretch(1)
        columns = QHBoxLayout()
        columns.setSpacing(20)
        columns.addLayout(left, 2)
        columns.addWidget(self._preview, 3)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self._cancel_button)
        buttons.addWidget(self._confirm)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(20, 18, 20, 16)
        outer.setSpacing(14)
        outer.addWidget(ElidedLabel(one_line(str(self._path)), scale="heading"))
        outer.addLayout(columns, 1)
        outer.addLayout(buttons)
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    @Slot()
    def _count(self) -> None:
        """Count the folder again, cancelling an earlier count."""
        self._cancel.set()
        if self._job:
            self._job.cancel()
        self._cancel = cancel = Event()
        library, path, rules = self._library, self._path, self._rules.rules
        self._preview.show_counting()
        self._job = self._bridge.run(
            self,
            lambda: library.sources.preview(path, rules, cancel=cancel),
            self._show,
            self._fail,
        )

    def _show(self, preview: FolderPreview) -> None:
        self._preview.show_preview(preview)

    def _fail(self, error: AppError) -> None:
        self._preview.show_error(error)

    @Slot()
    def _on_confirm_clicked(self) -> None:
        self.submitted.emit(self._collection.name, self._rules.rules, self._base.text().strip())
        self.accept()
