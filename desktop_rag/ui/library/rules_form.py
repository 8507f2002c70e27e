"""What is left out of a folder, as fields. Qt thread."""

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QPlainTextEdit, QVBoxLayout, QWidget

from desktop_rag.core.domain import SourceRules
from desktop_rag.ui.settings.settings_fields import note, show_number, whole_number
from desktop_rag.ui.widgets.controls import PlainLabel

_QUIET_MS = 400
_LINES = 3
_MARGIN_PX = 16


class RulesForm(QWidget):
    """Edits SourceRules; `changed` comes once the person paused."""

    changed = Signal()

    def __init__(self, rules: SourceRules, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._quiet = QTimer(self)
        self._quiet.setSingleShot(True)
        self._quiet.setInterval(_QUIET_MS)
        self._quiet.timeout.connect(self.changed)
        self._gitignore = QCheckBox("Leave out what .gitignore files name")
        self._hidden = QCheckBox("Read hidden files and folders too")
        self._patterns = QPlainTextEdit()
        self._patterns.setTabChangesFocus(True)
        self._patterns.setPlaceholderText("*.log\n/archive/\nnode_modules")
        self._patterns.setAccessibleName("Patterns to leave out")
        height = self._patterns.fontMetrics().lineSpacing() * _LINES + _MARGIN_PX
        self._patterns.setFixedHeight(height)
        self._largest = whole_number(0, 10_000, 50, " MB")
        self._largest.setSpecialValueText("as in the settings")
        self._largest.setAccessibleName("Largest file")
        self._build()
        self.show_rules(rules)
        for box in (self._gitignore, self._hidden):
            box.toggled.connect(self._on_edited)
        self._patterns.textChanged.connect(self._on_edited)
        self._largest.valueChanged.connect(self._on_edited)

    @property
    def rules(self) -> SourceRules:
        """What the fields say now."""
        lines = self._patterns.toPlainText().splitlines()
        return SourceRules(
            uses_gitignore=self._gitignore.isChecked(),
            includes_hidden=self._hidden.isChecked(),
            excluded=tuple(line.strip() for line in lines if line.strip()),
            max_file_mb=self._largest.value(),
        )

    def show_rules(self, rules: SourceRules) -> None:
        """Fill the fields."""
        self._gitignore.setChecked(rules.uses_gitignore)
        self._hidden.setChecked(rules.includes_hidden)
        self._patterns.setPlainText("\n".join(rules.excluded))
        show_number(self._largest, rules.max_file_mb)

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._gitignore)
        column.addWidget(self._hidden)
        column.addWidget(PlainLabel("Leave out"))
        column.addWidget(self._patterns)
        column.addWidget(note("One pattern a line, as in a .gitignore file."))
        column.addWidget(PlainLabel("Largest file"))
        column.addWidget(self._largest)

    @Slot()
    def _on_edited(self) -> None:
        self._quiet.start()
