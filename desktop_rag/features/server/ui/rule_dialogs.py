"""The dialogs that set and remove a rule for the users of another application. Qt thread."""

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QMessageBox,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.features.server.ui.token_dialogs import TickedList
from desktop_rag.features.server.values.access_values import (
    ALGORITHMS,
    USUAL_ALGORITHMS,
    AccessRule,
)
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import note
from desktop_rag.ui.widgets.scrolled_page import ContentScroll

_WIDTH_PX = 520
_LONGEST = 2_000
_KEY_NOTE = tr("A public key in PEM, or a JWKS. It is read again when the file changes.")
_ADDRESS_NOTE = tr(
    "The app asks there which documents a user may read: by https, or by http on this computer."
)


class RuleDialog(QDialog):
    """Asks which application decides about the readers of a collection.

    `submitted` carries the AccessRule.
    """

    submitted = Signal(object)

    def __init__(
        self, collections: Mapping[str, str], rule: AccessRule | None, parent: QWidget
    ) -> None:
        """`collections` has the names, by id, of those to choose from. A `rule` is changed."""
        super().__init__(parent)
        self.setWindowTitle(tr("Change the rule") if rule else tr("New rule"))
        self.setMinimumWidth(_WIDTH_PX)
        self._collection = QComboBox()
        for collection_id, name in collections.items():
            self._collection.addItem(one_line(name), collection_id)
        self._key = QLineEdit(rule.key_file if rule else "")
        self._choose = TextButton(tr("Choose…"))
        self._choose.setAccessibleName(tr("Choose the file of the key"))
        self._issuer = QLineEdit(rule.issuer if rule else "")
        self._audience = QLineEdit(rule.audience if rule else "")
        self._address = QLineEdit(rule.address if rule else "")
        self._issuer.setPlaceholderText("https://wiki.example")
        self._address.setPlaceholderText("https://wiki.example/rights")
        self._algorithms = TickedList(
            tr("Algorithms"), {name: name for name in ALGORITHMS},
            rule.algorithms if rule else USUAL_ALGORITHMS,
        )  # fmt: skip
        self._error = PlainLabel(tone="danger", wrap=True)
        self._error.hide()
        self._save = TextButton(tr("Save"), kind="primary")
        self._save.setDefault(True)
        self._cancel = TextButton(tr("Cancel"))
        self._scroll = ContentScroll(self._form())
        self._build()
        for field in (self._key, self._issuer, self._audience, self._address):
            field.setMaxLength(_LONGEST)
            field.textChanged.connect(self._show_saveable)
        self._choose.clicked.connect(self._on_choose_clicked)
        self._save.clicked.connect(self._on_save_clicked)
        self._cancel.clicked.connect(self.reject)
        self._show_saveable()

    def _form(self) -> QWidget:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        named = (
            (tr("Collection"), self._collection),
            (tr("Issuer of the users’ tokens (iss)"), self._issuer),
            (tr("Audience of the users’ tokens (aud)"), self._audience),
            (tr("Address of the application"), self._address),
        )
        for name, field in named:
            column.addWidget(PlainLabel(name))
            field.setAccessibleName(name)
            column.addWidget(field)
        column.addWidget(note(_ADDRESS_NOTE))
        name = tr("File of the public key")
        self._key.setAccessibleName(name)
        column.addWidget(PlainLabel(name))
        line = QHBoxLayout()
        line.addWidget(self._key, 1)
        line.addWidget(self._choose)
        column.addLayout(line)
        column.addWidget(note(_KEY_NOTE))
        column.addWidget(PlainLabel(tr("Algorithms")))
        column.addWidget(self._algorithms)
        column.addStretch(1)
        return inside

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(8)
        column.addWidget(self._scroll, 1)
        column.addWidget(self._error)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        for button in (self._cancel, self._save):
            buttons.addWidget(button)
        column.addSpacing(6)
        column.addLayout(buttons)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._scroll.make_room()

    def show_error(self, error: AppError) -> None:
        """Say why no rule was kept; the form stays."""
        self._error.setText(failure_in_words(error))
        self._error.show()
        self._show_saveable()

    @Slot()
    def _show_saveable(self) -> None:
        fields = (self._key, self._issuer, self._audience, self._address)
        self._save.setEnabled(all(field.text().strip() for field in fields))

    @Slot()
    def _on_choose_clicked(self) -> None:
        dialog = QFileDialog(self, tr("The public key of the users’ tokens"), str(Path.home()))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._key.setText)
        dialog.open()

    @Slot()
    def _on_save_clicked(self) -> None:
        self._save.setEnabled(False)
        self.submitted.emit(
            AccessRule(
                self._collection.currentData(),
                self._key.text().strip(),
                self._algorithms.ticked,
                self._issuer.text().strip(),
                self._audience.text().strip(),
                self._address.text().strip(),
            )
        )


class RemoveRuleQuestion(QMessageBox):
    """Asks whether every token may read a collection again; `confirmed` says so."""

    confirmed = Signal()

    def __init__(self, collection: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWindowTitle(tr("Remove rule"))
        self.setText(
            tr(
                "Let every token for “{name}” read all its documents again?",
                name=one_line(collection),
            )
        )
        button = self.addButton(tr("Remove"), QMessageBox.ButtonRole.DestructiveRole)
        self.setDefaultButton(self.addButton(QMessageBox.StandardButton.Cancel))
        button.clicked.connect(self.confirmed)
