"""The documents table with its filters. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QButtonGroup,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.domain import DocumentState, Source
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.library.document_rows import STATES_OF_GROUP, Column, StateGroup
from desktop_rag.ui.library.documents_table import DocumentsTable
from desktop_rag.ui.widgets.controls import TextButton

_TYPING_MS = 150
_WIDE_CHARACTERS = 150
_HIDDEN_IN = {
    StateGroup.SEARCHABLE: (Column.REASON,),
    StateGroup.IN_PROGRESS: (Column.REASON, Column.PASSAGES, Column.INDEXED),
    StateGroup.FAILED: (Column.PASSAGES, Column.INDEXED),
    StateGroup.SKIPPED: (Column.PASSAGES, Column.INDEXED),
}


class DocumentsPanel(QWidget):
    """Filters and sorts the documents; the signals carry what the person wants for one of them."""

    open_requested = Signal(object)
    folder_requested = Signal(object)
    view_requested = Signal(object)
    summary_requested = Signal(object)
    retry_requested = Signal()
    password_requested = Signal(object)
    forgetting_requested = Signal(object)
    tags_requested = Signal(object)

    def __init__(self, theme: Theme, model: DocumentModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model
        self._chips: dict[StateGroup, TextButton] = {}
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._build()
        self._connect()
        self._show_counts()

    def set_sources(self, sources: Sequence[Source]) -> None:
        """Offer these sources as a filter."""
        chosen = self._source_id
        self._source.blockSignals(True)
        self._source.clear()
        self._source.addItem("All folders", "")
        for source in sources:
            self._source.addItem(one_line(source.name), source.source_id)
        self._source.setCurrentIndex(max(0, self._source.findData(chosen)))
        self._source.blockSignals(False)
        self._source.setVisible(len(sources) > 1)
        self._apply_filter()

    def show_files(self, source_id: str, group: StateGroup) -> None:
        """Filter by this source and group, replacing the current filter."""
        self._text.clear()
        self._source.setCurrentIndex(max(0, self._source.findData(source_id)))
        self._chips[group].setChecked(True)
        self._table.setFocus()

    # --- building --------------------------------------------------------------------------------

    def _build(self) -> None:
        chips = QHBoxLayout()
        chips.setSpacing(6)
        self._group_of_chips = QButtonGroup(self)
        for group in StateGroup:
            chip = TextButton(group.value, self, kind="chip")
            chip.setCheckable(True)
            self._group_of_chips.addButton(chip)
            self._chips[group] = chip
            chips.addWidget(chip)
        self._chips[StateGroup.ALL].setChecked(True)
        chips.addStretch(1)
        # One line where it fits, else two.
        self._bars = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._bars.setSpacing(8)
        self._bars.addLayout(chips)
        self._bars.addLayout(self._build_filters(), 1)
        # Otherwise the single line would keep the page too wide to switch to two.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(self._bars)
        self._table = DocumentsTable(self._theme, self._model, self)
        column.addWidget(self._table, 1)

    def _build_filters(self) -> QHBoxLayout:
        self._text = QLineEdit(self)
        self._text.setPlaceholderText("Filter by name, folder, tag or reason")
        self._text.setAccessibleName("Filter files")
        self._text.setClearButtonEnabled(True)
        self._source = QComboBox(self)
        self._source.setAccessibleName("Folder")
        self._source.addItem("All folders", "")
        self._source.setMinimumContentsLength(12)
        self._source.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self._source.hide()
        self._retry = TextButton("Retry failed", self, icon="retry:text", theme=self._theme)
        self._enter_password = TextButton("Enter password…", self)
        self._enter_password.setAccessibleDescription("Open the selected encrypted file")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._text, 1)
        row.addWidget(self._source)
        row.addWidget(self._retry)
        row.addWidget(self._enter_password)
        return row

    def _connect(self) -> None:
        self._group_of_chips.buttonToggled.connect(self._on_chip_toggled)
        self._text.textChanged.connect(self._on_text_changed)
        self._typing.timeout.connect(self._apply_filter)
        self._source.currentIndexChanged.connect(self._apply_filter)
        self._retry.clicked.connect(self._on_retry_clicked)
        self._enter_password.clicked.connect(self._on_password_clicked)
        self._table.current_changed.connect(self._show_password_button)
        self._table.password_requested.connect(self.password_requested)
        self._table.forgetting_requested.connect(self.forgetting_requested)
        self._table.tags_requested.connect(self.tags_requested)
        self._table.open_requested.connect(self.open_requested)
        self._table.folder_requested.connect(self.folder_requested)
        self._table.view_requested.connect(self.view_requested)
        self._table.summary_requested.connect(self.summary_requested)
        self._model.counts_changed.connect(self._show_counts)

    # --- filters ---------------------------------------------------------------------------------

    @property
    def _group(self) -> StateGroup:
        return next(group for group, chip in self._chips.items() if chip.isChecked())

    @property
    def _source_id(self) -> str:
        return self._source.currentData() or ""

    @Slot()
    def _on_text_changed(self) -> None:
        self._typing.start()

    @Slot(QAbstractButton, bool)
    def _on_chip_toggled(self, _chip: QAbstractButton, is_checked: bool) -> None:
        if is_checked:
            self._apply_filter()

    @Slot()
    def _apply_filter(self) -> None:
        self._typing.stop()
        group = self._group
        self._model.set_filter(group, self._text.text(), self._source_id)
        self._table.set_hidden(_HIDDEN_IN.get(group, ()))
        self._show_counts()

    @Slot()
    def _show_counts(self) -> None:
        counts = self._model.counts(self._source_id)
        for group, chip in self._chips.items():
            number = sum(counts.of(state) for state in STATES_OF_GROUP[group])
            chip.setText(f"{group.value} {number:,}")
            is_rare = group in {StateGroup.OFFLINE, StateGroup.SKIPPED}
            chip.setVisible(number > 0 or chip.isChecked() or not is_rare)
        self._retry.setVisible(self._model.counts().of(DocumentState.FAILED) > 0)
        self._show_password_button()
        has_files = counts.total > 0
        self._table.set_empty_text("No files match the filter." if has_files else "No files yet.")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = self.width() >= _WIDE_CHARACTERS * self.fontMetrics().averageCharWidth()
        sides = QBoxLayout.Direction
        self._bars.setDirection(sides.LeftToRight if is_wide else sides.TopToBottom)

    @Slot()
    def _show_password_button(self) -> None:
        current = self._table.current
        self._enter_password.setVisible(current is not None and current.needs_password)

    @Slot()
    def _on_password_clicked(self) -> None:
        self.password_requested.emit(self._table.current)

    @Slot()
    def _on_retry_clicked(self) -> None:
        self.retry_requested.emit()
