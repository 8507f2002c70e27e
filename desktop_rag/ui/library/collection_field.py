"""An editable list for choosing a collection or naming a new one. Qt thread."""

from collections.abc import Sequence

from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from desktop_rag.core.domain import Collection
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.wording import one_line

_MAX_NAME = 80


class CollectionField(QComboBox):
    """Lists the existing collections by name; any other name creates a new one."""

    def __init__(self, collections: Sequence[Collection], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setMaxCount(1000)
        line = QLineEdit()
        line.setMaxLength(_MAX_NAME)
        line.setPlaceholderText(tr("My documents"))
        line.setAccessibleName(tr("Collection"))
        self.setLineEdit(line)
        self.addItems([one_line(collection.name) for collection in collections])
        self.setAccessibleName(tr("Collection"))

    @property
    def name(self) -> str:
        """The chosen name; empty for the first collection."""
        return self.currentText().strip()
