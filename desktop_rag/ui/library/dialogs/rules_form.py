"""Form fields for the rules of a folder. Qt thread."""

from dataclasses import replace

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QPlainTextEdit, QVBoxLayout, QWidget

from desktop_rag.core.domain import SourceRules
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.form_fields import note, number_field, show_number

_DELAY_MS = 400
_LINES = 3
_MARGIN_PX = 16


class RulesForm(QWidget):
    """Edits SourceRules; `changed` follows once the person stops typing."""

    changed = Signal()

    def __init__(self, rules: SourceRules, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._delay = QTimer(self)
        self._delay.setSingleShot(True)
        self._delay.setInterval(_DELAY_MS)
        self._delay.timeout.connect(self.changed)
        self._gitignore = QCheckBox(tr("Skip files ignored by .gitignore"))
        self._hidden = QCheckBox(tr("Include hidden files and folders"))
        self._patterns = QPlainTextEdit()
        self._patterns.setTabChangesFocus(True)
        self._patterns.setPlaceholderText("*.log\n/archive/\nnode_modules")
        self._patterns.setAccessibleName(tr("Patterns to exclude"))
        height = self._patterns.fontMetrics().lineSpacing() * _LINES + _MARGIN_PX
        self._patterns.setFixedHeight(height)
        self._largest = number_field(0, 10_000, 50, " MB")
        self._largest.setSpecialValueText(tr("Same as in Settings"))
        self._largest.setAccessibleName(tr("Maximum file size"))
        self._shown = rules
        self._keeps_files = QCheckBox()
        self._build()
        self.show_rules(rules)
        for box in (self._gitignore, self._hidden, self._keeps_files):
            box.toggled.connect(self._on_edited)
        self._patterns.textChanged.connect(self._on_edited)
        self._largest.valueChanged.connect(self._on_edited)

    @property
    def rules(self) -> SourceRules:
        """The rules as entered."""
        lines = self._patterns.toPlainText().splitlines()
        return replace(
            self._shown,
            uses_gitignore=self._gitignore.isChecked(),
            includes_hidden=self._hidden.isChecked(),
            excluded=tuple(line.strip() for line in lines if line.strip()),
            max_file_mb=self._largest.value(),
            excluded_files=self._shown.excluded_files if self._keeps_files.isChecked() else (),
        )

    def show_rules(self, rules: SourceRules) -> None:
        """Show these rules."""
        self._shown = rules
        count = len(rules.excluded_files)
        self._keeps_files.setText(
            tr(
                "Keep excluding {count_of}",
                count_of=count_of(count, tr("single file"), tr("single files")),
            )
        )
        self._keeps_files.setChecked(True)
        self._keeps_files.setVisible(count > 0)
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
        column.addWidget(PlainLabel(tr("Exclude")))
        column.addWidget(self._patterns)
        column.addWidget(note(tr("One pattern per line, as in a .gitignore file.")))
        column.addWidget(self._keeps_files)
        column.addWidget(PlainLabel(tr("Maximum file size")))
        column.addWidget(self._largest)

    @Slot()
    def _on_edited(self) -> None:
        self._delay.start()
