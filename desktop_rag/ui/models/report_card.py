"""What a test of a server found, below the button that started it. Qt thread."""

from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_rag.core.domain import EndpointReport
from desktop_rag.core.language.translation import told, tr
from desktop_rag.models.endpoint_address import host_of
from desktop_rag.models.endpoints.providers import Provider, programs
from desktop_rag.ui.widgets.controls import Card, PlainLabel, set_property


class ReportCard(Card):
    """The result of testing the endpoint; a success is gone once something else was shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, kind="notice")
        self._title = PlainLabel(wrap=True, selectable=True)
        self._title.setObjectName("noticeTitle")
        self._hint = PlainLabel(wrap=True, selectable=True)
        words = QVBoxLayout(self)
        words.setContentsMargins(12, 8, 12, 8)
        words.setSpacing(2)
        words.addWidget(self._title)
        words.addWidget(self._hint)
        self._is_success = False
        self.hide()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._is_success and not event.spontaneous():
            self.hide()

    def show_report(self, report: EndpointReport) -> None:
        """Show the report's title and hint, as a success, a next step or a failure."""
        self._is_success = report.is_ok
        tone = "success" if report.is_ok else "warning" if report.is_reached else "danger"
        set_property(self, "tone", tone)
        for label in (self._title, self._hint):
            # The style sheet selects labels by their own property, not by that of the card.
            set_property(label, "on", tone)
        title, hint = told(report.title), told(report.hint)
        self._title.setText(title)
        self._hint.setText(hint)
        self._hint.setVisible(bool(hint))
        self.setAccessibleName(f"{title} {hint}")
        self.show()


def nobody_there(base_url: str) -> EndpointReport:
    """What to do when no model server answers at the usual address of a program."""
    here = [program for program in programs() if program.address == base_url]
    way = tr(
        "Start {programs}, then press Test. Nothing is saved until it answers.",
        programs=tr(" or ").join(map(_started, here)),
    )
    other = tr("Nothing installed yet? “Find running servers” shows the steps to a free model.")
    return EndpointReport(
        tr("No model server answers at {host}.", host=host_of(base_url)),
        f"{way} {other}",
        is_ok=False,
    )


def _started(program: Provider) -> str:
    """The name of a program, with the command that starts its server where there is one."""
    is_command = not program.start.endswith(".")
    return f"{program.name} ({program.start})" if is_command else program.name
