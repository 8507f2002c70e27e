"""The page "Health": the findings of `desktop-rag doctor`, and a repair. Qt thread."""

from collections.abc import Callable, Iterator
from threading import Event

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QMessageBox, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, told, tr
from desktop_rag.features.diagnosis.finding import Finding, State, lines_of
from desktop_rag.features.diagnosis.repair import RepairRequest
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import Card, IconLabel, PlainLabel, TextButton, plain_question
from desktop_rag.ui.widgets.layouts import Stretch, clear, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

_NEEDED = tr(
    "The library needs a repair. It cannot be repaired while it is open, so the repair is done when"
    " the app starts next."
)
_ARRANGED = tr(
    "The library is repaired when the app starts next. Close the window and open it again."
)
_CONFIRMATION = tr(
    "Repair the library at the next start?\n\n"
    "Kept: your own files, which are never changed; chats, collections, folders, assistants and"
    " feedback, also from the journal beside the library; and a damaged library file, under another"
    " name.\n\n"
    "Made again from your files: the parts of the index that are wrong. Until they are read again,"
    " some documents are not found."
)


class RepairCard(Card):
    """Offers a repair at the next start when a finding needs one, or shows it as arranged."""

    def __init__(self, bridge: Bridge, request: RepairRequest) -> None:
        super().__init__(kind="notice", tone="warning")
        self._bridge = bridge
        self._request = request
        self._is_needed = False
        self._text = PlainLabel(_NEEDED, wrap=True)
        self.arrange = TextButton(tr("Repair at next start…"), then=self._on_arrange_clicked)
        self.take_back = TextButton(tr("Do not repair"), then=lambda: self._arrange(False))
        vertical(
            self._text,
            horizontal(self.arrange, self.take_back, Stretch()),
            on=self,
            margins=(16, 12, 16, 12),
        )
        self._show_state(False)
        bridge.run(self, lambda: request.is_made, self._show_state)

    def show_needed(self, is_needed: bool) -> None:
        """Offer the repair, or not."""
        self._is_needed = is_needed
        self._show_state(not self.take_back.isHidden())

    @Slot()
    def _on_arrange_clicked(self) -> None:
        box = plain_question(self, tr("Repair the library"), _CONFIRMATION)
        yes = box.addButton(tr("Repair at next start"), QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        yes.clicked.connect(lambda: self._arrange(True))
        box.open()

    def _arrange(self, is_wanted: bool) -> None:
        def work() -> bool:
            self._request.make(is_wanted=is_wanted)
            return self._request.is_made

        self._bridge.run(self, work, self._show_state)

    def _show_state(self, is_arranged: bool) -> None:
        self.setVisible(self._is_needed or is_arranged)
        self._text.setText(_ARRANGED if is_arranged else _NEEDED)
        self.arrange.setVisible(not is_arranged)
        self.take_back.setVisible(is_arranged)


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
    """One finding: its state, name, title and hint. Read out as one sentence."""

    def __init__(self, theme: Theme, finding: Finding) -> None:
        super().__init__()
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
    """The name of a finding's check."""
    return CHECK_NAMES.get(finding.check, finding.check)


_INTRO = tr(
    "Reads everything that the app has stored, which takes a while for a large library, and looks"
    " at what it depends on: the model, your folders, the disk, the endpoint and the desktop."
    " Nothing is changed. An endpoint, if one is set, is asked one short question."
)
_ROW_GAP_PX = 16


class HealthPage(ScrolledPage):
    """Runs `diagnose` on its own thread on request, and shows each finding as it comes."""

    def __init__(
        self,
        bridge: Bridge,
        theme: Theme,
        diagnose: Callable[[Event], Iterator[Finding]],
        request: RepairRequest,
    ) -> None:
        """`diagnose` ends soon after its event is set."""
        super().__init__(tr("Health"))
        self._bridge = bridge
        self._theme = theme
        self._diagnose = diagnose
        self._findings: list[Finding] = []
        self._job: Job | None = None
        self.copy = TextButton(tr("Copy report"), kind="quiet", then=self._on_copy_clicked)
        self.check = TextButton(tr("Check now"), kind="primary", then=self._on_check_clicked)
        self.cancel = TextButton(tr("Cancel"), then=self._on_cancel_clicked)
        for button in (self.copy, self.cancel, self.check):
            self.header.addWidget(button)
        self._summary = PlainLabel(_INTRO, tone="muted", wrap=True)
        self.repair = RepairCard(bridge, request)
        self._card = Card()
        self._rows = vertical(on=self._card, margins=(18, 16, 18, 18), spacing=_ROW_GAP_PX)
        for widget in (self._summary, self.repair, self._card):
            self.column.addWidget(widget)
        self._show_buttons()

    @Slot()
    def _on_check_clicked(self) -> None:
        self._findings.clear()
        clear(self._rows)
        self.repair.show_needed(False)
        self._job = self._bridge.stream(
            self, self._diagnose, self._add, self._on_finished, self._on_failed
        )
        self._tell(tr("Checking…"))
        self._show_buttons()
        self.cancel.setFocus()

    @Slot()
    def _on_cancel_clicked(self) -> None:
        if self._job:
            self._job.cancel()
        self._job = None
        self._tell(tr("Cancelled. {told}", told=self._told()))
        self._show_buttons()
        self.check.setFocus()

    @Slot()
    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(lines_of(self._findings)) + "\n")
        self._tell(tr("Copied. {told}", told=self._told()))

    def _add(self, finding: Finding) -> None:
        self._findings.append(finding)
        self._rows.addWidget(FindingRow(self._theme, finding))
        count, check = len(self._findings), check_name(finding)
        self._tell(tr("Checking… {count} done. Last: {check}.", count=count, check=check))
        self._show_buttons()

    def _on_finished(self) -> None:
        has_focus = self.cancel.hasFocus()
        self._job = None
        self._tell(self._told())
        self.repair.show_needed(any(each.is_repairable for each in self._findings))
        self._show_buttons()
        if has_focus:
            self.check.setFocus()

    def _on_failed(self, error: AppError) -> None:
        self._job = None
        words = {"title": error.title, "hint": error.hint}
        self._tell(tr("The check could not be finished. {title} {hint}", **words).strip())
        self._show_buttons()

    def _told(self) -> str:
        """The result so far in a sentence."""
        return tr("{count} checks: {result}.", count=len(self._findings), result=self._result())

    def _result(self) -> str:
        problems = self._counted(State.PROBLEM, tr("problem"), tr("problems"))
        warnings = self._counted(State.WARNING, tr("warning"), tr("warnings"))
        if problems and warnings:
            return tr("{first} and {last}", first=problems, last=warnings)
        return problems or warnings or tr("nothing that needs attention")

    def _counted(self, state: State, one: str, many: str) -> str:
        """The number of findings in a state; "" for none."""
        count = sum(each.state is state for each in self._findings)
        return count_of(count, one, many) if count else ""

    def _tell(self, text: str) -> None:
        self._summary.setText(text)
        self._summary.setAccessibleName(text)

    def _show_buttons(self) -> None:
        is_running = self._job is not None
        self._card.setVisible(bool(self._findings))
        self.check.setVisible(not is_running)
        self.check.setText(tr("Check again") if self._findings else tr("Check now"))
        self.cancel.setVisible(is_running)
        self.copy.setVisible(bool(self._findings) and not is_running)
