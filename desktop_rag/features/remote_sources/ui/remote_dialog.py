"""A dialog for adding a folder of a server, and for changing how it is read. Qt thread."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from desktop_rag.core.crawling import CrawlReport, CrawlState
from desktop_rag.core.domain import Collection, Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, told, tr
from desktop_rag.core.library_events import FolderPreview
from desktop_rag.features.web_pages.ui.links_dialog import CrawlPanel, update_field
from desktop_rag.ui.foundation.days import moment_in_words
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.library.collection_field import CollectionField
from desktop_rag.ui.library.dialogs.folder_dialog import PreviewPanel
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import DropDown, note
from desktop_rag.ui.widgets.layouts import Gap, Stretch, fill, horizontal, vertical

_WIDTH_PX = 620
_HEIGHT_PX = 560


class RemoteDialog(QDialog):
    """`look_requested` and `submitted` carry the links and the password that was entered.

    A new source is looked at first, and added with the collection's name. The dialog stays open
    until that is done, so that nothing typed is lost. `stop_requested` ends a round under way.
    """

    look_requested = Signal(object, str)
    submitted = Signal(str, object, str)
    stop_requested = Signal()

    def __init__(
        self,
        remote: str,
        most_files: int,
        collections: Sequence[Collection],
        parent: QWidget,
        source: Source | None = None,
    ) -> None:
        """With a `source`, the dialog changes it; its collection stays."""
        super().__init__(parent)
        start = WebLinks(("",), most_files, remote=remote)
        self._links = source.links if source and source.links else start
        self._is_new = source is None
        name = one_line(source.name) if source else ""
        self.setWindowTitle(
            tr("Options for {name}", name=name) if name else tr("Add a cloud folder")
        )
        self._address = QLineEdit(self._links.urls[0])
        self._address.setPlaceholderText("https://cloud.example.org/remote.php/dav/files/ann/")
        self._user = QLineEdit(self._links.user)
        self._password = QLineEdit(echoMode=QLineEdit.EchoMode.Password)
        if source:
            self._password.setPlaceholderText(tr("unchanged"))
        self._folder = DropDown()
        self._folder.setEnabled(False)
        self._update = update_field(self._links.refresh_hours)
        self._collection = CollectionField(collections)
        self._preview = PreviewPanel()
        self._panel = CrawlPanel(_summary)
        self._panel.stop_requested.connect(self.stop_requested)
        self._error = PlainLabel(tone="danger", wrap=True)
        self._error.hide()
        self._look = TextButton(tr("See what is there"), then=self._on_look_clicked)
        self._confirm = TextButton(
            tr("Add folder") if self._is_new else tr("Save"), kind="primary", then=self._submit
        )
        self._build()
        self._connect()

    def _build(self) -> None:
        column = vertical(on=self, margins=(20, 18, 20, 16), spacing=8)
        rows: list[tuple[str, QWidget]] = [
            (tr("Address"), self._address),
            (tr("User"), self._user),
            (tr("App password"), self._password),
        ]
        later: list[tuple[str, QWidget]] = [(tr("Update"), self._update)]
        if self._is_new:
            later = [(tr("Folder"), self._folder), *later, (tr("Collection"), self._collection)]
        for label, field in (*rows, *later):
            field.setAccessibleName(label)
            column.addLayout(horizontal((PlainLabel(label), 1), (field, 3)))
            if field is self._password:
                text = tr(
                    "Nextcloud shows the address in its files, under Settings, and makes app"
                    " passwords in its settings, under Security. The password is kept in the"
                    " keyring of this computer."
                )
                fill(column, note(text), self._error)
        shown: QWidget = self._preview if self._is_new else self._panel
        column.addWidget(shown, 1)
        self._panel.hide()
        if self._is_new:
            self._preview.show_error(AppError(tr("Nothing checked yet.")))
        cancel = TextButton(tr("Cancel"), then=self.reject)
        buttons = [self._look] if self._is_new else []
        fill(column, Gap(6), horizontal(*buttons, Stretch(), cancel, self._confirm))
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    def _connect(self) -> None:
        for field in (self._address, self._user, self._password):
            field.textChanged.connect(self._on_typed)
        self._folder.activated.connect(self._on_look_clicked)
        self._confirm.setEnabled(not self._is_new)
        (self._look if self._is_new else self._confirm).setDefault(True)
        self._look.setEnabled(False)

    @property
    def links(self) -> WebLinks:
        """What was entered."""
        return replace(
            self._links,
            urls=(self._address.text().strip(),),
            user=self._user.text().strip(),
            refresh_hours=self._update.currentData(),
            path_limit=self._folder.currentData() or "",
        )

    def show_preview(self, preview: FolderPreview) -> None:
        """Show what is there, and the folders to choose from."""
        self._preview.show_preview(preview)
        chosen = self._folder.currentData()
        if not chosen:
            self._folder.clear()
            self._folder.addItem(tr("All of it"), "")
            for folder in preview.folders:
                self._folder.addItem(one_line(folder), folder)
            self._folder.setEnabled(bool(preview.folders))
        self._look.setEnabled(True)
        self._confirm.setEnabled(True)
        self._confirm.setFocus()

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
        self._folder.clear()
        self._folder.setEnabled(False)
        has_address = bool(self._address.text().strip())
        self._look.setEnabled(has_address)
        self._confirm.setEnabled(has_address and not self._is_new)

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
