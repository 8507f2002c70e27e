"""The measured capabilities of a model with the button that measures them; test reports. Qt thread.

The examination runs on other threads and gives way to answers.
"""

from collections.abc import Callable

from PySide6.QtCore import Slot
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import EndpointReport
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.model_profile import ExaminationChanged, ModelProfile
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoint_address import host_of
from desktop_rag.models.endpoints.examination import FAR
from desktop_rag.models.endpoints.providers import Provider, programs
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.wording import failure_in_words
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton, set_property, set_tip
from desktop_rag.ui.widgets.layouts import horizontal, vertical

_NOT_MEASURED = tr("Not measured yet. It is measured when it is first used.")
_RUNNING = tr("Measuring. This may take a few minutes; your questions take priority.")
_COST = tr(
    "Measures the context size and features of the model with about 17 short requests, some 630"
    " words in all. Where its server doesn't state what it reads, filler words follow: one request"
    " of 16,384 tokens to a remote endpoint, some 60,000 tokens in all to one nearby."
)


class ModelFindings(QWidget):
    """Shows what is known about one model of one endpoint."""

    def __init__(
        self,
        bridge: Bridge,
        chat: Chat,
        typed_key: Callable[[], str],
        parent: QWidget | None = None,
    ) -> None:
        """`typed_key` returns the key as typed, before it is saved."""
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._endpoint = EndpointSettings()
        self._typed_key = typed_key
        self._job = Job()
        self._label = PlainLabel(wrap=True, selectable=True)
        self._label.setAccessibleName(tr("Capabilities of the model"))
        bridge.hear(ExaminationChanged, self._on_examination_changed)
        self.button = TextButton(tr("Measure"), then=self._on_clicked)
        horizontal((self._label, 1), self.button, on=self, margins=0, spacing=8)
        self._show_profile(ModelProfile())

    def show_endpoint(self, endpoint: EndpointSettings) -> None:
        """Show what is known about this endpoint's model."""
        is_same = (endpoint.base_url, endpoint.model) == self._shown
        self._endpoint = endpoint
        if not is_same:
            self._refresh()

    def _on_examination_changed(self, event: ExaminationChanged) -> None:
        if (event.base_url, event.model) == self._shown:
            if event.is_running:
                self._show_running()
            else:
                self._refresh()

    @property
    def _shown(self) -> tuple[str, str]:
        return self._endpoint.base_url, self._endpoint.model

    def _refresh(self) -> None:
        self._job.cancel()
        endpoint = self._endpoint
        self._show_profile(ModelProfile())
        if endpoint.is_set:
            self._job = self._bridge.run(
                self, lambda: self._chat.models.profile(endpoint), self._show_profile
            )

    @Slot()
    def _on_clicked(self) -> None:
        endpoint, key = self._endpoint, self._typed_key()
        self._show_running()

        def show(profile: ModelProfile) -> None:
            if endpoint == self._endpoint:
                self._show_profile(profile)

        def fail(error: AppError) -> None:
            if endpoint == self._endpoint:
                self._show_failure(error)

        self._bridge.run(self, lambda: self._chat.models.examine(endpoint, key), show, fail)

    def _show_profile(self, profile: ModelProfile) -> None:
        findings = profile.findings()
        self._label.setText("\n".join(map(told, findings)) if findings else _NOT_MEASURED)
        self._label.set_tone("" if findings else "muted")
        self._show_button(tr("Measure again") if profile.is_examined else tr("Measure"), True)
        price = self._endpoint.price_in * FAR.most / 1_000_000
        costs = tr("At the price of the endpoint the long one is {cost:,.2g}.", cost=price)
        said = f"{_COST} {costs}" if price else _COST
        self.button.setAccessibleDescription(said)
        set_tip(self.button, said)

    def _show_running(self) -> None:
        self._job.cancel()
        self._label.setText(_RUNNING)
        self._label.set_tone("muted")
        self._show_button(tr("Measuring…"), False)

    def _show_failure(self, error: AppError) -> None:
        self._label.setText(failure_in_words(error))
        self._label.set_tone("danger")
        self._show_button(tr("Measure"), True)

    def _show_button(self, text: str, is_usable: bool) -> None:
        self.button.setText(text)
        self.button.setEnabled(is_usable and self._endpoint.is_set)


class ServerTestButton(TextButton):
    """Tests a server, and says so while it does."""

    def __init__(self, bridge: Bridge, then: Callable[[], object]) -> None:
        super().__init__(tr("Test"), kind="primary", then=then)
        self._bridge = bridge
        self._job = Job()

    def run(
        self, test: Callable[[], EndpointReport], done: Callable[[EndpointReport], object]
    ) -> None:
        """Test on another thread, instead of a test under way; `done` gets what was found."""

        def end(report: EndpointReport) -> None:
            self.stop()
            done(report)

        def fail(error: AppError) -> None:
            end(EndpointReport(error.title, error.hint, is_ok=False))

        self.stop()
        self.setEnabled(False)
        self.setText(tr("Testing…"))
        self._job = self._bridge.run(self, test, end, fail)

    def stop(self) -> None:
        """Take no notice of a test under way."""
        self._job.cancel()
        self.setEnabled(True)
        self.setText(tr("Test"))


class ReportCard(Card):
    """The result of testing a server; a success disappears once another page is shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, kind="notice")
        self._title = PlainLabel(wrap=True, selectable=True)
        self._title.setObjectName("noticeTitle")
        self._hint = PlainLabel(wrap=True, selectable=True)
        vertical(self._title, self._hint, on=self, margins=(12, 8, 12, 8), spacing=2)
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
        self._hint.say(hint)
        self.setAccessibleName(f"{title} {hint}")
        self.show()


def nobody_there(base_url: str) -> EndpointReport:
    """A report with the next steps when no model server answers at a usual address."""
    here = [program for program in programs() if program.address == base_url]
    way = tr(
        "Start {programs}, then press Test. Nothing is saved until it answers.",
        programs=tr(" or ").join(map(_started, here)),
    )
    other = tr("Nothing installed yet? “Find running servers” tells how to get a free model.")
    return EndpointReport(
        tr("No model server answers at {host}.", host=host_of(base_url)),
        f"{way} {other}",
        is_ok=False,
    )


def _started(program: Provider) -> str:
    """The name of a program, with the command that starts its server if there is one."""
    is_command = not program.start.endswith(".")
    return f"{program.name} ({program.start})" if is_command else program.name
