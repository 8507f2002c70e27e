"""The field for an embedding model: a folder, the address of an endpoint, or nothing. Qt thread."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from desktop_rag.core.domain import EMBEDDED_ELSEWHERE
from desktop_rag.ui.widgets.controls import TextButton

MODEL_NOTE = (
    "A folder with an ONNX model as sentence-transformers saves it, or an endpoint, for example"
    f" http://localhost:11434/v1#nomic-embed-text. {EMBEDDED_ELSEWHERE}"
)


class ModelField(QObject):
    """A line with a button that chooses a folder, for a row. `changed` comes when it is entered."""

    changed = Signal()

    def __init__(self, name: str, placeholder: str, parent: QWidget) -> None:
        """`placeholder` says what an empty field means."""
        super().__init__(parent)
        self._parent = parent
        self._edit = QLineEdit(parent)
        self._edit.setAccessibleName(name)
        self._edit.setPlaceholderText(placeholder)
        self._browse = TextButton("Browse…")
        self._browse.setAccessibleDescription("Choose the folder of a model")
        self._edit.editingFinished.connect(self.changed)
        self._browse.clicked.connect(self._on_browse_clicked)

    @property
    def fields(self) -> Sequence[QWidget]:
        """What stands in the row: the line, then the button."""
        return (self._edit, self._browse)

    @property
    def spec(self) -> str:
        """What is entered."""
        return self._edit.text().strip()

    def show_spec(self, spec: str) -> None:
        """Show a choice; nothing is told."""
        self._edit.setText(spec)

    @Slot()
    def _on_browse_clicked(self) -> None:
        folder = self.spec if self.spec and Path(self.spec).is_absolute() else str(Path.home())
        dialog = QFileDialog(self._parent, "Choose the folder of a model", folder)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self._on_folder_chosen)
        dialog.open()

    @Slot("QStringList")
    def _on_folder_chosen(self, names: list[str]) -> None:
        self._edit.setText(names[0])
        self.changed.emit()
