"""The choice of the documents to ask: all, a collection, or none at all. Qt thread."""

from collections.abc import Sequence

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QComboBox, QWidget

from desktop_rag.core.domain import Collection
from desktop_rag.core.language.translation import tr
from desktop_rag.core.shared_library import is_shared
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import collection_name

ALL = tr("All documents")
WITHOUT = tr("Without documents")
ASSISTANT_COLLECTIONS = tr("The assistant's collections")
_WITHOUT_KEY = " without"  # no id begins with a space
_MOST_PX = 240


class DocumentsChoice(QComboBox):
    """Offers all documents, the collections, and a chat without documents."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._collections: Sequence[Collection] = ()
        self._allowed_ids: Sequence[str] = ()
        self.setObjectName("collectionPicker")
        self.setAccessibleName(tr("Documents"))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(_MOST_PX)
        self._fill()

    @property
    def collection_id(self) -> str:
        """The chosen collection; "" for all documents, and for none."""
        return "" if self.is_without_documents else self.currentData() or ""

    @property
    def is_without_documents(self) -> bool:
        """True when the model is to answer without any document."""
        return self.currentData() == _WITHOUT_KEY

    def set_collections(self, collections: Sequence[Collection]) -> None:
        """Offer these collections; the choice is kept if it still exists."""
        self._collections = collections
        self._fill()

    def restrict(self, collection_ids: Sequence[str]) -> None:
        """Offer only the collections of an assistant; empty offers all."""
        self._allowed_ids = collection_ids
        self._fill()

    def choose(self, collection_id: str, *, is_without_documents: bool = False) -> None:
        """Select a collection, or no documents; an unknown collection selects all documents."""
        key = _WITHOUT_KEY if is_without_documents else collection_id
        self.setCurrentIndex(max(0, self.findData(key)))

    def _fill(self) -> None:
        chosen = self.currentData() or ""
        self.blockSignals(True)
        self.clear()
        self.addItem(ASSISTANT_COLLECTIONS if self._allowed_ids else ALL, "")
        for collection in self._collections:
            key = collection.collection_id
            if not self._allowed_ids or key in self._allowed_ids:
                icon = self._theme.icon("server:muted") if is_shared(key) else QIcon()
                self.addItem(icon, collection_name(collection), key)
        self.insertSeparator(self.count())
        self.addItem(WITHOUT, _WITHOUT_KEY)
        self.setCurrentIndex(max(0, self.findData(chosen)))
        self.blockSignals(False)
        self.currentIndexChanged.emit(self.currentIndex())
