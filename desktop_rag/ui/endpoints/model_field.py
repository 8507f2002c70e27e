"""The field for an embedding model: a folder, an endpoint's address, or empty. Qt thread."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QLineEdit, QWidget

from desktop_rag.core.domain import EMBEDDED_ELSEWHERE
from desktop_rag.core.language.translation import told, tr
from desktop_rag.ui.widgets.controls import TextButton
from desktop_rag.ui.widgets.forms import choose_folder

_FORMS = tr(
    "The folder of an ONNX model in sentence-transformers format, or an endpoint such as"
    " http://localhost:11434/v1#nomic-embed-text."
)
MODEL_NOTE = f"{_FORMS} {told(EMBEDDED_ELSEWHERE)}"


class ModelField(QObject):
    """A line edit with a Browse button, for a row. `changed` follows when editing is finished."""

    changed = Signal()

    def __init__(self, name: str, placeholder: str, parent: QWidget) -> None:
        """`placeholder` describes the default, which an empty field stands for."""
        super().__init__(parent)
        self._parent = parent
        self._edit = QLineEdit(parent, placeholderText=placeholder)
        self._edit.setAccessibleName(name)
        self._browse = TextButton(tr("Browse…"), then=self._on_browse_clicked)
        self._browse.setAccessibleDescription(tr("Choose a model folder"))
        self._edit.editingFinished.connect(self.changed)

    @property
    def fields(self) -> Sequence[QWidget]:
        """The line edit and the button."""
        return (self._edit, self._browse)

    @property
    def spec(self) -> str:
        """The text as entered."""
        return self._edit.text().strip()

    def show_spec(self, spec: str) -> None:
        """Show this text without emitting `changed`."""
        self._edit.setText(spec)

    @Slot()
    def _on_browse_clicked(self) -> None:
        folder = self.spec if self.spec and Path(self.spec).is_absolute() else str(Path.home())
        choose_folder(self._parent, tr("Choose a model folder"), self._take, start=folder)

    def _take(self, folder: str) -> None:
        self._edit.setText(folder)
        self.changed.emit()
