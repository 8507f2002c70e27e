"""The page Health: the findings of `desktop-rag doctor`, in the same words. Qt thread."""

from collections.abc import Callable, Iterator
from threading import Event

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.diagnosis.finding import Finding, State, lines_of
from desktop_rag.diagnosis.repair_request import RepairRequest
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.upkeep.finding_row import FindingRow, check_name
from desktop_rag.ui.upkeep.repair_card import RepairCard
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

_INTRO = tr(
    "Reads everything that the app has stored, which takes a while for a large library, and looks"
    " at what it depends on: the model, your folders, the disk, the endpoint and the desktop."
    " Nothing is changed. An endpoint, if one is set, is asked one short question."
)
_ROW_GAP_PX = 16


class HealthPage(ScrolledPage):
    """Runs `diagnose` on a thread of its own when asked to, and shows each finding as it comes."""

    def __init__(
        self,
        bridge: Bridge,
        theme: Theme,
        diagnose: Callable[[Event], Iterator[Finding]],
        request: RepairRequest,
        parent: QWidget | None = None,
    ) -> None:
        """`diagnose` ends soon after its event is set."""
        super().__init__(tr("Health"), parent)
        self._bridge = bridge
        self._theme = theme
        self._diagnose = diagnose
        self._findings: list[Finding] = []
        self._job: Job | None = None
        self.copy = TextButton(tr("Copy report"), kind="quiet")
        self.check = TextButton(tr("Check now"), kind="primary")
        self.cancel = TextButton(tr("Cancel"))
        for button in (self.copy, self.cancel, self.check):
            self.header.addWidget(button)
        self._summary = PlainLabel(_INTRO, tone="muted", wrap=True)
        self.repair = RepairCard(bridge, request)
        self._card = Card()
        self._rows = QVBoxLayout(self._card)
        self._rows.setContentsMargins(18, 16, 18, 18)
        self._rows.setSpacing(_ROW_GAP_PX)
        for widget in (self._summary, self.repair, self._card):
            self.column.addWidget(widget)
        self.copy.clicked.connect(self._on_copy_clicked)
        self.check.clicked.connect(self._on_check_clicked)
        self.cancel.clicked.connect(self._on_cancel_clicked)
        self._show_buttons()

    @Slot()
    def _on_check_clicked(self) -> None:
        self._findings.clear()
        while item := self._rows.takeAt(0):
            if row := item.widget():
                row.deleteLater()
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
        self._tell(
            tr(
                "Checking… {count} done. Last: {check}.",
                count=len(self._findings),
                check=check_name(finding),
            )
        )
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
        self._tell(
            tr(
                "The check could not be finished. {title} {hint}",
                title=error.title,
                hint=error.hint,
            ).strip()
        )
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
