"""The members of a collection, as checkboxes over all folders, files and links. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from desktop_rag.core.domain import Collection, Source
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import plain_tooltip
from desktop_rag.ui.widgets.form_fields import note

_MIN_ROWS = 3
_ROW_PX = 26


class MemberList(QListWidget):
    """One checkbox per source: checked if it is in the collection, else with the one it is in."""

    def __init__(
        self, collections: Sequence[Collection], sources: Sequence[Source], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._collections = collections
        self._sources = sources
        self.note = note("")
        self.setObjectName("collectionChecks")
        self.setAccessibleName(tr("Members"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(_MIN_ROWS * _ROW_PX)

    @property
    def chosen(self) -> frozenset[str]:
        """The ids of the checked sources."""
        items = [self.item(row) for row in range(self.count())]
        checked = [item for item in items if item.checkState() is Qt.CheckState.Checked]
        return frozenset(item.data(Qt.ItemDataRole.UserRole) for item in checked)

    def show_members(self, collection_id: str) -> None:
        """Show what is in this collection; in a new one, whose id is empty, there is nothing."""
        names = {c.collection_id: one_line(c.name) for c in self._collections}
        others = [name for key, name in names.items() if key != collection_id]
        self.clear()
        for source in self._sources:
            is_member = source.collection_id == collection_id
            place = "" if is_member else tr(" — in {get}", get=names.get(source.collection_id, "?"))
            item = QListWidgetItem(f"{one_line(source.name)}{place}", self)
            item.setToolTip(plain_tooltip(one_line(str(source.path))))
            item.setData(Qt.ItemDataRole.UserRole, source.source_id)
            # The only collection keeps what is in it.
            is_free = bool(others) or not is_member
            enabled = Qt.ItemFlag.ItemIsEnabled if is_free else Qt.ItemFlag.NoItemFlags
            item.setFlags(enabled | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if is_member else Qt.CheckState.Unchecked)
        self.note.setText(
            tr("Each is in one collection. What you take out goes to “{value}”.", value=others[0])
            if others
            else tr("Each is in one collection; this is the only one.")
        )
