"""Asks for passwords of encrypted files, and forgets them on request. Qt thread."""

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QDialog, QLineEdit, QRadioButton, QWidget

from desktop_rag.core.domain import Document, Unlocked
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.library_events import Notice
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import failure_in_words
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import note
from desktop_rag.ui.widgets.forms import open_once
from desktop_rag.ui.widgets.layouts import Gap, Stretch, horizontal, vertical

_WIDTH_PX = 500
_LONGEST = 1000
_IN_THE_CLEAR = tr(
    "The text of the file is then in the library's index, which is not encrypted. Forget the"
    " password to remove it from there."
)
_SESSION_NOTE = tr("If the file changes after that, you are asked again.")


class PasswordDialog(QDialog):
    """`submitted` carries the password, True to keep it in the keyring, and True to try it on the
    folder.

    The dialog stays open until the password has opened the file.
    """

    submitted = Signal(str, bool, bool)

    def __init__(self, document: Document, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Enter password"))
        self._password = QLineEdit(echoMode=QLineEdit.EchoMode.Password, maxLength=_LONGEST)
        self._password.setAccessibleName(tr("Password"))
        self._shows = QCheckBox(tr("Show password"))
        self._session = QRadioButton(tr("Remember it until the app closes"))
        self._session.setChecked(True)
        self._keyring = QRadioButton(tr("Keep it in this computer's keyring"))
        self._folder = QCheckBox()
        self._folder.hide()
        self._error = PlainLabel(tone="danger", wrap=True)
        self._error.hide()
        self._open = TextButton(tr("Open"), kind="primary", then=self._on_open_clicked)
        self._open.setDefault(True)
        self._open.setEnabled(False)
        self._cancel = TextButton(tr("Cancel"), then=self.reject)
        self._build(document)
        self._password.textChanged.connect(self._on_text_changed)
        self._shows.toggled.connect(self._on_show_toggled)

    def _build(self, document: Document) -> None:
        self._column = vertical(
            ElidedLabel(document.name, scale="heading", tip=str(document.path)),
            self._password,
            self._shows,
            self._error,
            Gap(4),
            self._session,
            note(_SESSION_NOTE),
            self._keyring,
            self._folder,
            Gap(4),
            note(_IN_THE_CLEAR),
            Gap(6),
            horizontal(Stretch(), self._cancel, self._open),
            on=self,
            margins=(20, 18, 20, 16),
            spacing=8,
        )
        self.setMinimumWidth(_WIDTH_PX)
        self._password.setFocus()

    def offer_folder(self, others: int) -> None:
        """Offer to try the password on this number of other files in the folder."""
        files = count_of(others, tr("other"), tr("others"))
        self._folder.setText(
            tr("Try it on all encrypted files in this folder ({files} now)", files=files)
        )
        self._folder.setVisible(others > 0)
        self._fit()

    def show_error(self, error: AppError) -> None:
        """Show why the file was not opened; the password can be typed again."""
        self._error.say(failure_in_words(error))
        self._set_busy(is_busy=False)
        self._password.selectAll()
        self._password.setFocus()
        self._fit()

    def _fit(self) -> None:
        """Make room for the content: a window does not grow by itself."""
        height_px = self._column.totalHeightForWidth(self.width())
        self.setMinimumHeight(height_px)
        self.resize(self.width(), max(self.height(), height_px))

    def _set_busy(self, *, is_busy: bool) -> None:
        self._password.setReadOnly(is_busy)
        self._open.setEnabled(not is_busy and bool(self._password.text()))
        self._open.setText(tr("Opening…") if is_busy else tr("Open"))

    @Slot()
    def _on_text_changed(self) -> None:
        self._error.hide()
        self._set_busy(is_busy=False)

    @Slot(bool)
    def _on_show_toggled(self, is_shown: bool) -> None:
        modes = QLineEdit.EchoMode
        self._password.setEchoMode(modes.Normal if is_shown else modes.Password)

    @Slot()
    def _on_open_clicked(self) -> None:
        self._set_busy(is_busy=True)
        is_for_folder = self._folder.isVisible() and self._folder.isChecked()
        self.submitted.emit(self._password.text(), self._keyring.isChecked(), is_for_folder)


_NOT_KEPT = Notice(
    tr("The password is remembered until you close the app."),
    tr("No keyring is available on this computer."),
)


class PasswordActions(QObject):
    """Opens the dialog over a page and applies its result."""

    def __init__(self, bridge: Bridge, library: Library, page: QWidget) -> None:
        super().__init__(page)
        self._bridge = bridge
        self._passwords = library.passwords
        self._page = page

    @Slot(object)
    def ask(self, document: Document) -> None:
        """Ask for the password of a document."""
        dialog = PasswordDialog(document, self._page)

        def enter(password: str, keeps: bool, for_folder: bool) -> None:
            def finish(unlocked: Unlocked) -> None:
                dialog.accept()
                if keeps and not unlocked.is_kept:
                    self._bridge.post(_NOT_KEPT)

            self._bridge.run(
                dialog,
                lambda: self._passwords.enter(
                    document, password, keeps=keeps, for_folder=for_folder
                ),
                finish,
                dialog.show_error,
            )

        dialog.submitted.connect(enter)
        self._bridge.run(
            dialog, lambda: self._passwords.locked_beside(document), dialog.offer_folder
        )
        open_once(dialog)

    @Slot(object)
    def forget(self, document: Document) -> None:
        """Forget the password of a document, and remove its text from the index."""
        self._bridge.run(self, lambda: self._passwords.forget(document))
