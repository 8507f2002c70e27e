"""An editable field for one collection, and checkboxes for any number of them. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QListWidget, QListWidgetItem

from desktop_rag.core.domain import Collection
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.wording import collection_name, one_line
from desktop_rag.ui.widgets.form_fields import DropDown

_MAX_NAME = 80


class CollectionField(DropDown):
    """Lists the existing collections by name; any other name creates a new one."""

    def __init__(self, collections: Sequence[Collection]) -> None:
        super().__init__()
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setMaxCount(1000)
        line = QLineEdit(maxLength=_MAX_NAME, placeholderText=tr("My documents"))
        line.setAccessibleName(tr("Collection"))
        self.setLineEdit(line)
        for collection in collections:
            self.addItem(collection_name(collection), collection.name)
        self.setAccessibleName(tr("Collection"))

    @property
    def name(self) -> str:
        """The chosen name; empty for the first collection."""
        typed = self.currentText().strip()
        place = self.findText(typed)
        return self.itemData(place) if place >= 0 else typed


_MAX_ROWS = 5
_ROW_PX = 26
_REMOVED = tr("Removed collection")


class CollectionCheckboxes(QListWidget):
    """One checkbox per collection, and per chosen collection that was removed since."""

    def __init__(self, collections: Sequence[Collection], chosen: Sequence[str]) -> None:
        super().__init__()
        self.setObjectName("collectionChecks")
        self.setAccessibleName(tr("Collections"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        names = {each.collection_id: collection_name(each) for each in collections}
        for collection_id in dict.fromkeys((*names, *chosen)):
            item = QListWidgetItem(one_line(names.get(collection_id, _REMOVED)), self)
            item.setData(Qt.ItemDataRole.UserRole, collection_id)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable)
            is_chosen = collection_id in chosen
            item.setCheckState(Qt.CheckState.Checked if is_chosen else Qt.CheckState.Unchecked)
        self.setFixedHeight(min(self.count(), _MAX_ROWS) * _ROW_PX + 8)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The ids of the checked collections."""
        items = [self.item(row) for row in range(self.count())]
        checked = [item for item in items if item.checkState() is Qt.CheckState.Checked]
        return tuple(item.data(Qt.ItemDataRole.UserRole) for item in checked)
