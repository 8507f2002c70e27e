"""Where one chooses any number of collections. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from desktop_rag.core.domain import Collection
from desktop_rag.ui.foundation.wording import one_line

_MOST_ROWS = 5
_ROW_PX = 26
_GONE = "A collection that is gone"


class CollectionCheckboxes(QListWidget):
    """A box for each collection, and for each chosen one that is gone: it can be let go of."""

    def __init__(
        self,
        collections: Sequence[Collection],
        chosen: Sequence[str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("collectionChecks")
        self.setAccessibleName("Collections")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        there = {collection.collection_id: collection.name for collection in collections}
        for collection_id in dict.fromkeys((*there, *chosen)):
            item = QListWidgetItem(one_line(there.get(collection_id, _GONE)), self)
            item.setData(Qt.ItemDataRole.UserRole, collection_id)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable)
            is_chosen = collection_id in chosen
            item.setCheckState(Qt.CheckState.Checked if is_chosen else Qt.CheckState.Unchecked)
        self.setFixedHeight(min(self.count(), _MOST_ROWS) * _ROW_PX + 8)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The ids of those that are checked."""
        items = [self.item(row) for row in range(self.count())]
        checked = [item for item in items if item.checkState() is Qt.CheckState.Checked]
        return tuple(item.data(Qt.ItemDataRole.UserRole) for item in checked)
