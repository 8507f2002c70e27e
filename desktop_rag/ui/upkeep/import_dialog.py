"""Shows what a backup holds before it is merged into the library. Qt thread."""

from datetime import date

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from desktop_rag.backup.contents import BackupContents, in_words
from desktop_rag.core.language.translation import told, tr
from desktop_rag.ui.foundation.days import written_day
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton

_WIDTH_PX = 520
_MOST_HEIGHT_PX = 520
# Further ones are counted.
_LISTED = 8
_MERGED = tr(
    "What both have is kept once. Nothing of your library is removed; of assistants and prompts the"
    " newer one stays."
)
_NOT_HERE = tr("Not on this computer, shown as offline until they are there or you remove them:")
_ENDPOINTS = tr(
    "Names these endpoints, which would receive questions or texts. Check that they are yours:"
)
_INDEX = tr(
    "It also holds an index. That is taken into an empty library only, with the app closed:"
    " desktop-rag backup import. Here the folders are read again."
)


class ImportDialog(QDialog):
    """Accepted when the person wants to merge the backup."""

    def __init__(self, name: str, contents: BackupContents, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Import a backup"))
        self.setMinimumWidth(_WIDTH_PX)
        body = QWidget()
        self._column = QVBoxLayout(body)
        self._column.setSpacing(10)
        of = (
            tr("the collection “{collection}”", collection=contents.collection)
            if contents.collection
            else tr("everything")
        )
        self._say(
            tr(
                "{name}: a backup of {of} from {day}",
                name=name,
                of=of,
                day=written_day(date.fromisoformat(contents.day)),
            ),
            scale="heading",
        )
        self._say(tr("It holds {in_words}.", in_words=told(in_words(contents.counts))))
        self._say(_MERGED, tone="muted")
        if contents.has_settings:
            self._say(
                tr("Its settings are taken only if you have not changed any here."), tone="muted"
            )
        if contents.has_index:
            self._say(_INDEX, tone="muted")
        self._list(_ENDPOINTS, contents.addresses)
        self._list(_NOT_HERE, contents.missing)
        self._column.addStretch(1)
        scroll = QScrollArea()
        scroll.setAccessibleName(tr("What the backup holds"))
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(body)
        scroll.setMinimumHeight(min(_MOST_HEIGHT_PX, self._column.heightForWidth(_WIDTH_PX - 24)))
        outer = QVBoxLayout(self)
        outer.addWidget(scroll, 1)
        outer.addLayout(self._buttons())

    def _buttons(self) -> QHBoxLayout:
        merge = TextButton(tr("Import"), kind="primary")
        merge.setDefault(True)
        merge.clicked.connect(self.accept)
        cancel = TextButton(tr("Cancel"))
        cancel.clicked.connect(self._on_cancelled)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(merge)
        return row

    def _say(self, words: str, *, tone: str = "", scale: str = "") -> None:
        self._column.addWidget(
            PlainLabel(words, tone=tone, scale=scale, wrap=True, selectable=True)
        )

    def _list(self, heading: str, items: tuple[str, ...]) -> None:
        if not items:
            return
        more = len(items) - _LISTED
        shown = [*items[:_LISTED], *([tr("and {more:,} more", more=more)] if more > 0 else [])]
        self._say(heading, tone="warning")
        self._say("\n".join(shown))

    @Slot()
    def _on_cancelled(self) -> None:
        self.reject()
