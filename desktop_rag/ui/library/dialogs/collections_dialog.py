"""A dialog for making, renaming, filling, configuring and removing collections. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from desktop_rag.core.domain import Collection, Source
from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import ChunkMethod, ChunkSettings
from desktop_rag.ui.endpoints.model_field import MODEL_NOTE, ModelField
from desktop_rag.ui.foundation.wording import collection_name, given_name, one_line
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton, plain_tooltip
from desktop_rag.ui.widgets.form_fields import (
    DropDown,
    note,
    number_field,
    radio_group,
    selected_value,
    show_number,
    text_area,
)
from desktop_rag.ui.widgets.layouts import Gap, Stretch, fill, horizontal, vertical

_MIN_ROWS = 3
_ROW_PX = 26


class MemberList(QListWidget):
    """One checkbox per source: checked for members, otherwise with the collection it is in."""

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
        """Show the members of this collection; a new one, whose id is empty, has none."""
        names = {c.collection_id: collection_name(c) for c in self._collections}
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


_WIDTH_PX = 800
_METHODS: dict[ChunkMethod, str] = {
    "structure": tr("At headings, paragraphs and sentences"),
    "tokens": tr("Into passages of equal length"),
    "words": tr("Into passages of up to 1,000 characters"),
}


class CollectionsDialog(QDialog):
    """Edits one collection at a time; nothing changes until the person saves or confirms.

    `saved` carries a Collection with its new name and settings (its id is empty if it is new) and
    the ids of its members; `removed` carries an id.
    """

    saved = Signal(object, object)
    removed = Signal(str)

    def __init__(
        self, collections: Sequence[Collection], sources: Sequence[Source], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Collections"))
        self._collections = list(collections)
        self._members = MemberList(collections, sources, self)
        self._new = TextButton(tr("New collection"), kind="quiet", then=self._on_new)
        self._chosen = DropDown()
        self._chosen.addItems([collection_name(c) for c in collections])
        self._chosen.setAccessibleName(tr("Collection"))
        self._name = QLineEdit()
        self._name.setAccessibleName(tr("Name of the collection"))
        self._methods = radio_group(self, tr("Split documents"), _METHODS)
        self._overlap = number_field(0, 128, 8, tr(" tokens"))
        self._overlap.setAccessibleName(tr("Overlap between passages"))
        self._model = ModelField(tr("Embedding model"), tr("Same as in Settings"), self)
        self._hosts = text_area(
            tr("Hosts of the local network"), lines=2, example="wiki.example:8080\n10.1.0.0/16"
        )
        self._save = TextButton(tr("Save"), kind="primary", then=self._on_saved)
        self._close = TextButton(tr("Close"), then=self.reject)
        self._remove = TextButton(tr("Remove…"), kind="danger")
        self._build()
        self._chosen.currentIndexChanged.connect(self._show)
        self._remove.clicked.connect(self._question.show)
        self._keep.clicked.connect(self._question.hide)
        self._show()

    def _build(self) -> None:
        vertical(
            horizontal((self._chosen, 1), self._new),
            (horizontal((self._build_members(), 1), (self._build_settings(), 1), spacing=24), 1),
            self._build_question(),
            Gap(6),
            horizontal(self._remove, Stretch(), self._close, self._save),
            on=self,
            margins=(20, 18, 20, 16),
            spacing=8,
        )
        self._save.setDefault(True)
        self.resize(_WIDTH_PX, self.sizeHint().height())

    def _build_members(self) -> QVBoxLayout:
        return vertical(
            PlainLabel(tr("Name")),
            self._name,
            PlainLabel(tr("Folders, files and links in it")),
            (self._members, 1),
            self._members.note,
            spacing=8,
        )

    def _build_settings(self) -> QVBoxLayout:
        column = vertical(PlainLabel(tr("Split documents")), spacing=8)
        fill(column, *self._methods.values())
        split_again = tr(
            "Documents are split again in the background, without reading the files again. "
            "Until a document is ready, its old passages are used."
        )
        first, *others = self._model.fields
        again = tr(
            "Documents are embedded again in the background; until all are done, search uses the"
            " old model."
        )
        fill(
            column,
            PlainLabel(tr("Overlap between passages")),
            self._overlap,
            note(split_again),
            PlainLabel(tr("Embedding model")),
            horizontal((first, 1), *others),
            note(f"{MODEL_NOTE} {again}"),
            PlainLabel(tr("Hosts of the local network")),
            self._hosts,
            note(tr("One per line. Links may name them besides public addresses.")),
            Stretch(),
        )
        return column

    def _build_question(self) -> QWidget:
        self._question = Card(self, kind="notice", tone="warning")
        self._confirm = TextButton(tr("Remove"), kind="danger", then=self._on_removed)
        self._keep = TextButton(tr("Keep"))
        text = tr(
            "Remove this collection with its folders and links? Your files stay where they are."
        )
        horizontal((PlainLabel(text, wrap=True), 1), self._keep, self._confirm, on=self._question)
        self._question.hide()
        return self._question

    @property
    def _collection(self) -> Collection:
        return self._collections[self._chosen.currentIndex()]

    @Slot()
    def _show(self) -> None:
        self._question.hide()
        self._name.setText(given_name(self._collection.name))
        self._members.show_members(self._collection.collection_id)
        self._remove.setVisible(bool(self._collection.collection_id))
        self._methods[self._collection.chunking.method].setChecked(True)
        show_number(self._overlap, self._collection.chunking.overlap_tokens)
        self._model.show_spec(self._collection.embedder)
        self._hosts.setPlainText("\n".join(self._collection.intranet_hosts))

    @Slot()
    def _on_new(self) -> None:
        if self._collections[-1].collection_id:
            self._collections.append(Collection("", ""))
            self._chosen.addItem(tr("New collection"))
        self._chosen.setCurrentIndex(len(self._collections) - 1)
        self._name.setFocus()

    @Slot()
    def _on_saved(self) -> None:
        before = self._collection
        method = selected_value(self._methods)
        chunking = ChunkSettings(method, before.chunking.max_tokens, self._overlap.value())
        name, model = self._name.text(), self._model.spec
        name = before.name if name == given_name(before.name) else name
        hosts = tuple(self._hosts.toPlainText().splitlines())
        edited = Collection(before.collection_id, name, chunking, model, hosts)
        self.saved.emit(edited, self._members.chosen)
        self.accept()

    @Slot()
    def _on_removed(self) -> None:
        self.removed.emit(self._collection.collection_id)
        self.accept()
