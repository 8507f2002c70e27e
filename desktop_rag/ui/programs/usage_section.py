"""What was asked of the local server: figures, the switch of the log, the way to it. Qt thread."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QWidget

from desktop_rag.core.language.translation import decimal_in_words, number_in_words, tr
from desktop_rag.core.programs.usage_figures import Usage, UsageFigures
from desktop_rag.core.settings import Settings
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.programs.program_access import ProgramRecords
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection, note, show_checked

_INTRO = tr("Who asked, when, for how long and how it ended is kept for up to 90 days.")
_TEXT = tr(
    "Off, only their lengths are kept. The text is on this computer, in the app's folder, and shown"
    " on the admin page too."
)
_SPANS = {7: tr("7 days"), 30: tr("30 days"), 90: tr("90 days")}
_MOST_TOKENS = 12


class UsageSection(SettingsSection):
    """`log_wanted` says that the requests are to be shown."""

    log_wanted = Signal()

    def __init__(
        self,
        bridge: Bridge,
        records: ProgramRecords,
        settings: EditedSettings,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Use"), _INTRO, parent)
        self._bridge = bridge
        self._records = records
        self._settings = settings
        self._span = QComboBox()
        for days, words in _SPANS.items():
            self._span.addItem(words, days)
        self._whole = PlainLabel(wrap=True)
        self._figures = QWidget()
        self._lines = QGridLayout(self._figures)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setHorizontalSpacing(16)
        self._lines.setVerticalSpacing(4)
        self._lines.setColumnStretch(0, 1)
        self._logs_text = QCheckBox(tr("Keep questions and answers in the log"))
        self._log = TextButton(tr("Show the requests…"))
        self.add_row(tr("Time"), self._span)
        self.add_note(self._whole)
        self.add_note(self._figures)
        self.add_row(tr("Log"), self._logs_text)
        self.add_note(note(_TEXT))
        self.add_row("", self._log)
        self._span.currentIndexChanged.connect(self.refresh)
        self._log.clicked.connect(self.log_wanted)
        self._logs_text.toggled.connect(self._on_toggled)
        settings.replaced.connect(self._show_settings)
        self._show_settings(settings.value)

    @Slot()
    def refresh(self) -> None:
        """Read the figures again."""
        days = self._span.currentData()
        self._bridge.run(self, lambda: self._records.usage(days), self._show_usage)

    def _show_usage(self, figures: UsageFigures) -> None:
        whole = figures.whole
        self._whole.setText(_in_words(whole) if whole.requests else tr("Nothing was asked."))
        while item := self._lines.takeAt(0):
            if widget := item.widget():
                widget.deleteLater()
        self._figures.setVisible(bool(figures.tokens))
        if not figures.tokens:
            return
        heads = (tr("Token"), tr("Requests"), tr("Answers"), tr("Refused"), tr("Median"))
        self._add_line(0, heads, tone="muted")
        for number, usage in enumerate(figures.tokens[:_MOST_TOKENS], 1):
            name = one_line(usage.label) or tr("without a valid token")
            numbers = [
                number_in_words(each) for each in (usage.requests, usage.answers, usage.refused)
            ]
            self._add_line(number, (name, *numbers, _seconds(usage.median_ms)))

    def _add_line(self, line: int, texts: Sequence[str], tone: str = "") -> None:
        name = ElidedLabel(texts[0])
        self._lines.addWidget(name, line, 0)
        for column, text in enumerate(texts[1:], 1):
            label = PlainLabel(text, tone=tone)
            self._lines.addWidget(label, line, column, Qt.AlignmentFlag.AlignRight)

    @Slot(object)
    def _show_settings(self, settings: Settings) -> None:
        show_checked(self._logs_text, settings.server.logs_text)

    @Slot(bool)
    def _on_toggled(self, is_on: bool) -> None:
        value = self._settings.value
        self._settings.edit(replace(value, server=replace(value.server, logs_text=is_on)))


def _in_words(usage: Usage) -> str:
    return tr(
        "{requests} requests, {answers} answers, {refused} refused, {errors} errors;"
        " {asked} characters asked, {answered} answered; median {median}, slowest {slowest}.",
        requests=number_in_words(usage.requests),
        answers=number_in_words(usage.answers),
        refused=number_in_words(usage.refused),
        errors=number_in_words(usage.errors),
        asked=number_in_words(usage.asked_chars),
        answered=number_in_words(usage.answer_chars),
        median=_seconds(usage.median_ms),
        slowest=_seconds(usage.slowest_ms),
    )


def _seconds(ms: int) -> str:
    return f"{decimal_in_words(ms / 1000, 2)} s" if ms else "–"
