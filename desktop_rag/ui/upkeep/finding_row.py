"""One finding of the diagnosis: its state, what was found, the way out. Qt thread."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from desktop_rag.core.language.translation import told, tr
from desktop_rag.diagnosis.finding import Finding, State
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import IconLabel, PlainLabel

# Icon with its colour, word, tone.
_LOOKS = {
    State.OK: ("success:success", "OK", "success"),
    State.WARNING: ("warning:warning", tr("Warning"), "warning"),
    State.PROBLEM: ("error:danger", tr("Problem"), "danger"),
    State.NOT_CHECKED: ("help:muted", tr("Not checked"), "muted"),
}
# The names of the checks.
CHECK_NAMES = {
    "chat model": tr("Chat model"),
    "chats": tr("Chats"),
    "connections": tr("Connections"),
    "database": tr("Database"),
    "endpoint": tr("Endpoint"),
    "folder": tr("Folder"),
    "hotkeys": tr("Hotkeys"),
    "index": tr("Index"),
    "journal": tr("Journal"),
    "keyring": tr("Keyring"),
    "model": tr("Model"),
    "model files": tr("Model files"),
    "permissions": tr("Permissions"),
    "repair": tr("Repair"),
    "replica": tr("Replica"),
    "sandbox": tr("Sandbox"),
    "settings": tr("Settings"),
    "slow searches": tr("Slow searches"),
    "slow statements": tr("Slow statements"),
    "space": tr("Free space"),
    "store": tr("Stored data"),
    "tray": tr("Tray"),
    "vector index": tr("Vector index"),
    "watching": tr("Watching folders"),
}
_STATE_WIDTH_PX = 96


class FindingRow(QWidget):
    """Read out as one sentence; its text can be selected."""

    def __init__(self, theme: Theme, finding: Finding, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        icon, word, tone = _LOOKS[finding.state]
        name = check_name(finding)
        what, way_out = told(finding.title), told(finding.hint)
        said = f"{name}: {word}. {what} {way_out}".strip()
        self.setAccessibleName(said)
        state = PlainLabel(word, tone=tone)
        state.setMinimumWidth(_STATE_WIDTH_PX)
        title = PlainLabel(what, wrap=True, selectable=True)
        title.setAccessibleName(said)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(2, 1)
        grid.addWidget(IconLabel(theme, icon), 0, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(state, 0, 1, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(PlainLabel(name, scale="heading"), 0, 2)
        grid.addWidget(title, 1, 2)
        if way_out:
            hint = PlainLabel(way_out, tone="muted", wrap=True, selectable=True)
            hint.setAccessibleName(tr("{name}, the way out: {hint}", name=name, hint=way_out))
            grid.addWidget(hint, 2, 2)


def check_name(finding: Finding) -> str:
    """What the check of a finding is called."""
    return CHECK_NAMES.get(finding.check, finding.check)
