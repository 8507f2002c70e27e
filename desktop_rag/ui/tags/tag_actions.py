"""The dialog for the tags of one or several files. Qt thread."""

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QObject, QStringListModel, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QDialog, QLineEdit, QListWidget, QListWidgetItem, QWidget

from desktop_rag.core.domain import LONGEST_TAG, Document, distinct_tags, typed_tags
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.widgets.controls import (
    ElidedLabel,
    PlainLabel,
    TextButton,
    add_clear_button,
    plain_tooltip,
)
from desktop_rag.ui.widgets.forms import open_once
from desktop_rag.ui.widgets.layouts import Gap, Stretch, horizontal, vertical

_WIDTH_PX, _LIST_PX = 500, 170
_TAG = Qt.ItemDataRole.UserRole
_SOME = tr("Some of the files have it. Checked, all get it; unchecked, it is taken from all.")
_ALL, _PART, _NONE = (
    Qt.CheckState.Checked, Qt.CheckState.PartiallyChecked, Qt.CheckState.Unchecked,
)  # fmt: skip


class TagDialog(QDialog):
    """`submitted` carries the tags to add to all files, and those to remove from them.

    A tag of only some of the files is half checked, and stays as it is until it is changed.
    """

    submitted = Signal(object, object)

    def __init__(
        self, documents: Sequence[Document], names: Sequence[str], parent: QWidget
    ) -> None:
        """`names` are the tags in use, for completion."""
        super().__init__(parent)
        self.setWindowTitle(tr("Tags"))
        self._before: dict[str, Qt.CheckState] = {}
        self._field = QLineEdit()
        self._field.setMaxLength(10 * LONGEST_TAG)
        self._field.setPlaceholderText(tr("Add a tag, such as to do or project/roof"))
        self._field.setAccessibleName(tr("Add a tag"))
        add_clear_button(self._field)
        self._field.installEventFilter(self)
        completer = QCompleter(QStringListModel(list(names), self), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self._field.setCompleter(completer)
        self._add = TextButton(tr("Add"), then=self._take_typed)
        self._add.setAutoDefault(False)
        self._tags = QListWidget()
        self._tags.setAccessibleName(tr("Tags"))
        self._tags.setFixedHeight(_LIST_PX)
        self._none = PlainLabel(tr("No tags yet."), tone="muted")
        self._stated = PlainLabel(tone="muted", scale="small", wrap=True)
        self._error = PlainLabel(tone="danger", wrap=True)
        self._error.hide()
        self._save = TextButton(tr("Save"), kind="primary", then=self._on_saved)
        self._save.setDefault(True)
        self._cancel = TextButton(tr("Cancel"), then=self.reject)
        self._build(documents)
        self._show(documents)
        self._field.textEdited.connect(self._on_edited)

    def _build(self, documents: Sequence[Document]) -> None:
        several = tr(
            "Tags of {count_of}", count_of=count_of(len(documents), tr("file"), tr("files"))
        )
        title = (
            several
            if len(documents) > 1
            else tr("Tags of {one_line}", one_line=one_line(documents[0].name))
        )
        self._column = vertical(
            ElidedLabel(title, scale="heading"),
            horizontal((self._field, 1), self._add),
            self._tags,
            self._none,
            self._stated,
            self._error,
            Gap(6),
            horizontal(Stretch(), self._cancel, self._save),
            on=self,
            margins=(20, 18, 20, 16),
            spacing=8,
        )
        self.setMinimumWidth(_WIDTH_PX)
        self._field.setFocus()

    def show_error(self, error: AppError) -> None:
        """Say why nothing was saved."""
        self._error.say(failure_in_words(error))
        self._save.setEnabled(True)
        self._fit()

    def _show(self, documents: Sequence[Document]) -> None:
        each = [{tag.casefold() for tag in document.given_tags} for document in documents]
        for tag in distinct_tags(tag for document in documents for tag in document.given_tags):
            is_in_all = all(tag.casefold() in own for own in each)
            self._before[tag] = _ALL if is_in_all else _PART
            self._insert(tag, self._before[tag])
        stated = distinct_tags(tag for document in documents for tag in document.tags)
        from_files = tr("the file itself") if len(documents) == 1 else tr("the files themselves")
        words = ", ".join(one_line(tag) for tag in stated)
        self._stated.setText(
            tr(
                "From {from_files}, to be changed there: {words}",
                from_files=from_files,
                words=words,
            )
        )
        self._stated.setVisible(bool(stated))
        self._show_list()

    def _insert(self, tag: str, state: Qt.CheckState) -> None:
        item = QListWidgetItem(one_line(tag), self._tags)
        item.setData(_TAG, tag)
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        item.setCheckState(state)
        if state is _PART:
            item.setToolTip(plain_tooltip(_SOME))

    def _show_list(self) -> None:
        self._tags.setVisible(self._tags.count() > 0)
        self._none.setVisible(self._tags.count() == 0)
        self._fit()

    def _fit(self) -> None:
        """Resize to the content: a window does not grow by itself."""
        if self.isVisible():
            self._column.activate()
            self.resize(self.width(), self._column.totalHeightForWidth(self.width()))

    def _items(self) -> list[QListWidgetItem]:
        return [self._tags.item(row) for row in range(self._tags.count())]

    def _take(self, tags: Iterable[str]) -> None:
        """Check these tags, adding new ones to the list."""
        known = {str(item.data(_TAG)).casefold(): item for item in self._items()}
        for tag in tags:
            item = known.get(tag.casefold())
            if item is None:
                self._insert(tag, _ALL)
                item = self._tags.item(self._tags.count() - 1)
            item.setCheckState(_ALL)
            self._tags.setCurrentItem(item)
        self._show_list()

    @Slot()
    def _take_typed(self) -> None:
        self._take(typed_tags(self._field.text()))
        self._field.clear()
        self._field.setFocus()

    @Slot(str)
    def _on_edited(self, text: str) -> None:
        """A comma ends a tag."""
        self._error.hide()
        ended, comma, rest = text.rpartition(",")
        if comma:
            self._take(typed_tags(ended))
            self._field.setText(rest.lstrip())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._field and isinstance(event, QKeyEvent):
            is_enter = event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
            # With nothing typed, Enter saves as in every dialog.
            if is_enter and event.type() == QEvent.Type.KeyPress and self._field.text().strip():
                self._take_typed()
                return True
        return super().eventFilter(watched, event)

    @Slot()
    def _on_saved(self) -> None:
        self._take_typed()
        states = {str(item.data(_TAG)): item.checkState() for item in self._items()}
        changed = {tag: state for tag, state in states.items() if state != self._before.get(tag)}
        added = tuple(tag for tag, state in changed.items() if state == _ALL)
        removed = tuple(
            tag for tag, state in changed.items() if state == _NONE and tag in self._before
        )
        self._save.setEnabled(False)
        self.submitted.emit(added, removed)


class TagActions(QObject):
    """Opens the dialog over a page and applies its result; `changed` follows."""

    changed = Signal()

    def __init__(self, bridge: Bridge, library: Library, page: QWidget) -> None:
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        self._page = page

    @Slot(object)
    def edit(self, documents: Sequence[Document]) -> None:
        """Let the person change the tags of these documents, as they are stored now."""
        library, ids = self._library, [document.document_id for document in documents]

        def look_up() -> tuple[list[Document], list[str]]:
            return library.documents.of_ids(ids), [tag.name for tag in library.tags.counts()]

        self._bridge.run(self, look_up, lambda found: self._open(*found))

    def _open(self, documents: Sequence[Document], names: Sequence[str]) -> None:
        if not documents:
            return
        dialog = TagDialog(documents, names, self._page)
        ids, tags = [document.document_id for document in documents], self._library.tags

        def finish(count: int) -> None:
            dialog.accept()
            if count:
                self.changed.emit()

        def submit(added: tuple[str, ...], removed: tuple[str, ...]) -> None:
            self._bridge.run(
                dialog,
                lambda: tags.change(ids, add=added, remove=removed),
                finish,
                dialog.show_error,
            )

        dialog.submitted.connect(submit)
        open_once(dialog)
