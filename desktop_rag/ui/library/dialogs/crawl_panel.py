"""What came of fetching a source of links, and how far it is. Qt thread."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from desktop_rag.core.crawling.crawl_report import CrawlReport, CrawlState
from desktop_rag.core.language.translation import count_of, told, tr
from desktop_rag.ui.foundation.days import moment_in_words
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton

_LINES = 5
_MARGIN_PX = 16
_UNDER_WAY = (CrawlState.RUNNING, CrawlState.PAUSED)


class CrawlPanel(Card):
    """Shows a CrawlReport. `stop_requested` follows when the person ends a fetching."""

    stop_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._summary = PlainLabel(wrap=True)
        self._stop = TextButton(tr("Stop"))
        self._counts = PlainLabel(tone="muted", scale="small", wrap=True)
        self._title = PlainLabel(tr("Not read"), scale="small")
        self._refused = QPlainTextEdit()
        self._refused.setReadOnly(True)
        self._refused.setTabChangesFocus(True)
        self._refused.setAccessibleName(tr("Addresses that were not read"))
        self._refused.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        height = self._refused.fontMetrics().lineSpacing() * _LINES + _MARGIN_PX
        self._refused.setFixedHeight(height)
        self._build()
        self._stop.clicked.connect(self.stop_requested)

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(6)
        row = QHBoxLayout()
        row.addWidget(self._summary, 1)
        row.addWidget(self._stop, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(row)
        column.addWidget(self._counts)
        column.addWidget(self._title)
        column.addWidget(self._refused)

    def show_report(self, report: CrawlReport) -> None:
        """Show how far it is, or what came of it."""
        self._summary.setText(_summary(report))
        self._stop.setVisible(report.state in _UNDER_WAY)
        pieces = [count_of(report.requests, tr("request"), tr("requests"))]
        if report.waiting:
            pieces.append(tr("{waiting:,} addresses waiting", waiting=report.waiting))
        if report.copies:
            pieces.append(count_of(report.copies, tr("copy left out"), tr("copies left out")))
        self._counts.setText(" · ".join(pieces))
        lines = [f"{one_line(each.url)}  {one_line(told(each.reason))}" for each in report.refused]
        if report.refused_count > len(lines):
            lines.append(tr("and {more:,} more", more=report.refused_count - len(lines)))
        text = "\n".join(lines)
        # What is being read keeps its place.
        if self._refused.toPlainText() != text:
            self._refused.setPlainText(text)
        for each in (self._title, self._refused):
            each.setVisible(bool(lines))


def _summary(report: CrawlReport) -> str:
    pages = count_of(report.pages, tr("page"), tr("pages"))
    match report.state:
        case CrawlState.RUNNING:
            return tr("Reading: {pages} so far", pages=pages)
        case CrawlState.PAUSED:
            return tr("Paused after {pages}", pages=pages)
        case CrawlState.OFFLINE:
            return tr("No server answered")
        case CrawlState.STOPPED:
            return tr("Stopped after {pages}", pages=pages)
        case CrawlState.DONE:
            moment = moment_in_words(report.ended_at)
            if report.is_cut_off:
                return tr("{pages} read, {moment}; a limit left others out", pages=pages,
                          moment=moment)  # fmt: skip
            return tr("{pages} read, {moment}", pages=pages, moment=moment)
