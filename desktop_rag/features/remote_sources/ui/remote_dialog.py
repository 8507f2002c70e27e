"""The dialog for adding a place on a server, and for changing how it is read. Qt thread."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QDate, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QDateEdit,
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.crawling import CrawlReport, CrawlState
from desktop_rag.core.domain import Collection, Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, told, tr, translated
from desktop_rag.core.library_events import FolderPreview
from desktop_rag.features.remote_sources.remote import RemoteKind
from desktop_rag.features.web_pages.ui.links_dialog import CrawlPanel, update_field
from desktop_rag.ui.foundation.days import moment_in_words
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.library.collection_field import CollectionField
from desktop_rag.ui.library.dialogs.folder_dialog import PreviewPanel
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import note
from desktop_rag.ui.widgets.layouts import Gap, Stretch, fill, horizontal, vertical

_WIDTH_PX = 620
_HEIGHT_PX = 560
_CHOICE_PX = 104


class RemoteDialog(QDialog):
    """Asks for what the kind declares. `look_requested` and `submitted` carry the links and the
    password that was entered.

    A new source is looked at first, and added with the collection's name. The dialog stays open
    until that is done, so that nothing typed is lost. `stop_requested` ends a round under way.
    """

    look_requested = Signal(object, str)
    submitted = Signal(str, object, str)
    stop_requested = Signal()

    def __init__(
        self,
        kind: RemoteKind,
        most_files: int,
        collections: Sequence[Collection],
        parent: QWidget,
        source: Source | None = None,
    ) -> None:
        """With a `source`, the dialog changes it; its collection stays."""
        super().__init__(parent)
        self._kind = kind
        start = WebLinks((kind.address,), most_files, remote=kind.name)
        self._links = source.links if source and source.links else start
        self._is_new = source is None
        name = one_line(source.name) if source else ""
        self.setWindowTitle(
            tr("Options for {name}", name=name)
            if name
            else tr("Add from: {kind}", kind=translated(kind.words))
        )
        self._address = QLineEdit(self._links.urls[0], placeholderText=kind.example)
        self._user = QLineEdit(self._links.user)
        self._password = QLineEdit(echoMode=QLineEdit.EchoMode.Password)
        if source:
            self._password.setPlaceholderText(tr("unchanged"))
        self._folders = QListWidget()
        self._folders.setFixedHeight(_CHOICE_PX)
        self._folders.hide()
        self._has_since = QCheckBox(tr("Only since"))
        self._since = QDateEdit(QDate.currentDate().addYears(-1))
        self._since.setCalendarPopup(True)
        self._update = update_field(self._links.refresh_hours)
        self._collection = CollectionField(collections)
        self._preview = PreviewPanel()
        self._panel = CrawlPanel(_summary)
        self._panel.stop_requested.connect(self.stop_requested)
        self._error = PlainLabel(tone="danger", wrap=True)
        self._error.hide()
        self._look = TextButton(tr("See what is there"), then=self._on_look_clicked)
        self._confirm = TextButton(
            tr("Add") if self._is_new else tr("Save"), kind="primary", then=self._submit
        )
        self._build()
        self._connect()

    def _build(self) -> None:
        column = vertical(on=self, margins=(20, 18, 20, 16), spacing=8)
        kind = self._kind
        rows: list[tuple[str, QWidget]] = [(tr("Address"), self._address)]
        rows += [(translated(kind.user), self._user)] if kind.user else []
        secret = translated(kind.secret)
        rows += [(secret, self._password)] if secret else []
        later: list[tuple[str, QWidget]] = [(tr("Update"), self._update)]
        if self._is_new:
            later.append((tr("Collection"), self._collection))
        self._add_rows(column, rows)
        kept = tr("{secret}: kept in the keyring of this computer.", secret=secret)
        said = (translated(kind.note), kept if secret else "")
        fill(column, note(" ".join(filter(None, said))), self._error)
        if self._is_new and kind.takes_since:
            self._since.setAccessibleName(tr("Only since"))
            column.addLayout(horizontal((self._has_since, 1), (self._since, 3)))
        self._folders.setAccessibleName(translated(kind.folders))
        column.addWidget(self._folders)
        self._add_rows(column, later)
        shown: QWidget = self._preview if self._is_new else self._panel
        column.addWidget(shown, 1)
        self._panel.hide()
        if self._is_new:
            self._preview.show_error(AppError(tr("Nothing checked yet.")))
        cancel = TextButton(tr("Cancel"), then=self.reject)
        buttons = [self._look] if self._is_new else []
        fill(column, Gap(6), horizontal(*buttons, Stretch(), cancel, self._confirm))
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    @staticmethod
    def _add_rows(column: QVBoxLayout, rows: Sequence[tuple[str, QWidget]]) -> None:
        for label, field in rows:
            field.setAccessibleName(label)
            column.addLayout(horizontal((PlainLabel(label), 1), (field, 3)))

    def _connect(self) -> None:
        for field in (self._address, self._user, self._password):
            field.textChanged.connect(self._on_typed)
        self._password.editingFinished.connect(self._on_secret_typed)
        self._folders.itemChanged.connect(self._on_look_clicked)
        self._since.dateChanged.connect(self._on_since_chosen)
        self._has_since.toggled.connect(self._on_typed)
        self._confirm.setEnabled(not self._is_new)
        (self._look if self._is_new else self._confirm).setDefault(True)
        self._look.setEnabled(self._is_new and bool(self._kind.address))

    def begin(self) -> None:
        """Look at once at a place for which nothing has to be entered."""
        if self._kind.address and not self._kind.secret:
            self._on_look_clicked()

    @property
    def links(self) -> WebLinks:
        """What was entered."""
        return replace(
            self._links,
            urls=(self._address.text().strip(),),
            user=self._user.text().strip(),
            refresh_hours=self._update.currentData(),
            chosen=self._chosen if self._is_new else self._links.chosen,
            since=self._first_day if self._is_new else self._links.since,
        )

    @property
    def _chosen(self) -> tuple[str, ...]:
        items = [self._folders.item(row) for row in range(self._folders.count())]
        checked = [item for item in items if item.checkState() is Qt.CheckState.Checked]
        return tuple(item.data(Qt.ItemDataRole.UserRole) for item in checked)

    @property
    def _first_day(self) -> str:
        day = self._since.date().toString(Qt.DateFormat.ISODate)
        return day if self._has_since.isChecked() else ""

    def show_preview(self, preview: FolderPreview, links: WebLinks) -> None:
        """Show what is there, and the folders to choose from; nothing once others are asked for."""
        if replace(links, refresh_hours=self.links.refresh_hours) != self.links:
            return
        self._preview.show_preview(preview)
        if not links.chosen and self._kind.folders:
            self._offer(preview.folders)
        self._look.setEnabled(True)
        self._confirm.setEnabled(True)
        self._confirm.setFocus()

    def _offer(self, folders: Sequence[str]) -> None:
        with QSignalBlocker(self._folders):
            self._folders.clear()
            for folder in folders:
                item = QListWidgetItem(one_line(folder), self._folders)
                item.setData(Qt.ItemDataRole.UserRole, folder)
                item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable)
                item.setCheckState(Qt.CheckState.Unchecked)
        self._folders.setVisible(bool(folders))

    def show_error(self, error: AppError) -> None:
        """Show why it can't be read or added, and the way out."""
        self._error.say(failure_in_words(error))
        if self._is_new:
            self._preview.show_error(AppError(tr("Nothing checked yet.")))
        self._look.setEnabled(True)
        self._confirm.setEnabled(not self._is_new)

    def show_report(self, report: CrawlReport) -> None:
        """Show the progress or the result of the last round."""
        self._panel.show_report(report)
        self._panel.show()

    @Slot()
    def _on_typed(self) -> None:
        self._error.hide()
        self._folders.clear()
        self._folders.hide()
        has_address = bool(self._address.text().strip())
        self._look.setEnabled(has_address)
        self._confirm.setEnabled(has_address and not self._is_new)

    @Slot()
    def _on_since_chosen(self) -> None:
        self._has_since.setChecked(True)
        self._on_typed()

    @Slot()
    def _on_secret_typed(self) -> None:
        """Look once all is entered, which saves a press."""
        user = self._user.text().strip()
        is_whole = self._password.text() and self._kind.takes_secret(user)
        if is_whole and self._look.isEnabled() and not self._confirm.isEnabled():
            self._on_look_clicked()

    @Slot()
    def _on_look_clicked(self) -> None:
        self._error.hide()
        self._preview.show_counting()
        self._look.setEnabled(False)
        self._confirm.setEnabled(False)
        self.look_requested.emit(self.links, self._password.text())

    @Slot()
    def _submit(self) -> None:
        self._confirm.setEnabled(False)
        self.submitted.emit(self._collection.name, self.links, self._password.text())


def _summary(report: CrawlReport) -> str:
    files = count_of(report.pages, tr("file"), tr("files"))
    match report.state:
        case CrawlState.RUNNING:
            return tr("Reading: {files} so far", files=files)
        case CrawlState.PAUSED:
            return tr("Paused after {files}", files=files)
        case CrawlState.OFFLINE:
            return told(report.refused[-1].reason) if report.refused else tr("No server answered")
        case CrawlState.STOPPED:
            return tr("Stopped after {files}", files=files)
        case CrawlState.DONE:
            return tr("{files} there, {moment}", files=files,
                      moment=moment_in_words(report.ended_at))  # fmt: skip
