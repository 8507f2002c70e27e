"""A dialog for adding web pages, and for changing what is read of them. Qt thread."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QDialog, QLineEdit, QPlainTextEdit, QWidget

from desktop_rag.core.crawling import CrawlReport, CrawlState
from desktop_rag.core.domain import Collection, Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, told, tr
from desktop_rag.ui.foundation.days import moment_in_words
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.library.collection_field import CollectionField
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import DropDown, note, number_field, text_area
from desktop_rag.ui.widgets.layouts import Gap, Stretch, fill, horizontal, vertical

_MOST_STEPS = 100
_USUAL_STEPS = 3
_INDENT_PX = 24


class FollowForm(QWidget):
    """Edits whether links of pages are followed, and how far."""

    def __init__(self, links: WebLinks) -> None:
        super().__init__()
        self._follows = QCheckBox(tr("Follow links"))
        self._depth = number_field(1, _MOST_STEPS, 1, tr(" steps"))
        self._depth.setAccessibleName(tr("Steps from the address"))
        self._path = QLineEdit(placeholderText=tr("the folder of the address"))
        self._path.setAccessibleName(tr("Only below this path"))
        self._fields = QWidget()
        self._build()
        self._follows.toggled.connect(self._on_toggled)
        self._follows.setChecked(links.follow_depth > 0)
        self._depth.setValue(links.follow_depth or _USUAL_STEPS)
        self._path.setText(links.path_limit)
        self._on_toggled()

    def applied_to(self, links: WebLinks) -> WebLinks:
        """The links with what was entered here."""
        if not self._follows.isChecked():
            return replace(links, follow_depth=0, path_limit="")
        path = self._path.text().strip()
        return replace(links, follow_depth=self._depth.value(), path_limit=path)

    def _build(self) -> None:
        column = vertical(self._follows, on=self, margins=0, spacing=6)
        inner = vertical(on=self._fields, margins=(_INDENT_PX, 0, 0, 0), spacing=6)
        for label, field in (
            (tr("Steps from the address"), self._depth),
            (tr("Only below this path"), self._path),
        ):
            row = horizontal((PlainLabel(label), 1), (field, 2))
            inner.addLayout(row)
        text = tr(
            "Pages of the same site are read, one after the other, unless it asks programs not to."
        )
        inner.addWidget(note(text))
        column.addWidget(self._fields)

    @Slot()
    def _on_toggled(self) -> None:
        self._fields.setVisible(self._follows.isChecked())


_UNDER_WAY = (CrawlState.RUNNING, CrawlState.PAUSED)


class CrawlPanel(Card):
    """Shows the result or progress of fetching links; `stop_requested` asks to end it."""

    stop_requested = Signal()

    def __init__(self, words: Callable[[CrawlReport], str]) -> None:
        """`words` say how far it is."""
        super().__init__()
        self._words = words
        self._summary = PlainLabel(wrap=True)
        self._stop = TextButton(tr("Stop"), then=self.stop_requested)
        self._counts = PlainLabel(tone="muted", scale="small", wrap=True)
        self._title = PlainLabel(tr("Not read"), scale="small")
        self._refused = text_area(tr("Addresses that were not read"), lines=5)
        self._refused.setReadOnly(True)
        self._refused.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._build()

    def _build(self) -> None:
        vertical(
            horizontal((self._summary, 1), (self._stop, 0, Qt.AlignmentFlag.AlignTop)),
            self._counts,
            self._title,
            self._refused,
            on=self,
            margins=(14, 10, 14, 10),
            spacing=6,
        )

    def show_report(self, report: CrawlReport) -> None:
        """Show the progress or the result."""
        self._summary.setText(self._words(report))
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
        # Unchanged text keeps its scroll position.
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


_WIDTH_PX = 560
_HEIGHT_PX = 480
# By the hours between two updates.
_UPDATES = {
    0.0: tr("Manually"),
    1.0: tr("Every hour"),
    24.0: tr("Every day"),
    168.0: tr("Every week"),
}
_DEFAULT_H = 24.0
_ADD, _ADD_ANYWAY = tr("Add links"), tr("Add anyway")


def update_field(hours: float) -> DropDown:
    """A choice of the hours between two updates."""
    field = DropDown()
    for each, words in _UPDATES.items():
        field.addItem(words, each)
    if field.findData(hours) < 0:
        field.addItem(tr("Every {hours} hours", hours=f"{hours:g}"), hours)
    field.setCurrentIndex(field.findData(hours))
    return field


class LinksDialog(QDialog):
    """`submitted` carries the collection's name and the WebLinks when the person confirms.

    Its last value is True when the person wants addresses that can't be fetched now. The dialog
    stays open until the links are added, so that nothing typed is lost. `stop_requested` follows
    when the person stops fetching the edited links.
    """

    submitted = Signal(str, object, bool)
    stop_requested = Signal()

    def __init__(
        self, collections: Sequence[Collection], parent: QWidget, source: Source | None = None
    ) -> None:
        """With a `source`, the dialog changes its links; its collection stays."""
        super().__init__(parent)
        links = source.links if source and source.links else WebLinks(())
        self._source = source
        self._action = tr("Save") if source else _ADD
        name = one_line(source.name) if source else ""
        self.setWindowTitle(tr("Options for {name}", name=name) if name else tr("Add web links"))
        self._addresses = text_area(
            tr("Addresses"),
            "\n".join(links.urls),
            example="https://example.org/guide\nhttps://example.org/sitemap.xml",
        )
        self._limit = number_field(1, 10_000, 50, tr(" pages"))
        self._limit.setValue(links.page_limit)
        self._limit.setAccessibleName(tr("Maximum number of pages"))
        self._refresh = update_field(links.refresh_hours if source else _DEFAULT_H)
        self._refresh.setAccessibleName(tr("Update"))
        self._collection = CollectionField(collections)
        self._follow = FollowForm(links)
        self._panel = CrawlPanel(_summary)
        self._panel.hide()
        self._panel.stop_requested.connect(self.stop_requested)
        self._error = PlainLabel(tone="danger", wrap=True)
        self._error.hide()
        self._confirm = TextButton(self._action, kind="primary", then=self._on_confirm_clicked)
        self._cancel = TextButton(tr("Cancel"), then=self.reject)
        self._build()
        self._confirm.setDefault(True)
        self._confirm.setEnabled(source is not None)
        self._addresses.textChanged.connect(self._on_text_changed)

    def _build(self) -> None:
        hint = tr(
            "One per line. A sitemap or feed adds all pages it lists. Pages are downloaded by this"
            " computer, from public addresses and from hosts of the local network that the"
            " collection allows."
        )
        column = vertical(
            PlainLabel(tr("Addresses"), scale="heading"),
            (self._addresses, 1),
            self._error,
            note(hint),
            on=self,
            margins=(20, 18, 20, 16),
            spacing=8,
        )
        for label, field in (
            (tr("Page limit"), self._limit),
            (tr("Update"), self._refresh),
            (tr("Collection"), self._collection),
        ):
            title = PlainLabel(label)
            row = horizontal((title, 1), (field, 2))
            column.addLayout(row)
            if field is self._collection and self._source:
                title.hide()
                field.hide()
        fill(
            column,
            self._follow,
            self._panel,
            Gap(6),
            horizontal(Stretch(), self._cancel, self._confirm),
        )
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    def show_report(self, report: CrawlReport) -> None:
        """Show the progress or the result of fetching the links."""
        self._panel.show_report(report)
        if self._panel.isHidden():
            self._panel.show()
            self.resize(self.width(), self.height() + self._panel.sizeHint().height())

    def show_error(self, error: AppError) -> None:
        """Show what is wrong with the addresses."""
        self._show_problem(failure_in_words(error), self._action)

    def show_refused(self, refused: Sequence[tuple[str, str]]) -> None:
        """Show which addresses can't be fetched, each with its reason."""
        lines = "\n".join(f"{one_line(url)}: {told(reason)}" for url, reason in refused)
        count = (
            tr("This address") if len(refused) == 1 else tr("{count} addresses", count=len(refused))
        )
        self._show_problem(
            tr("{count} can't be fetched now.\n{lines}", count=count, lines=lines), _ADD_ANYWAY
        )

    def _show_problem(self, text: str, action: str) -> None:
        self._error.say(text)
        self._confirm.setText(action)
        self._confirm.setEnabled(True)
        self._addresses.setFocus()

    @Slot()
    def _on_text_changed(self) -> None:
        self._error.hide()
        self._confirm.setText(self._action)
        self._confirm.setEnabled(bool(self._urls()))

    @Slot()
    def _on_confirm_clicked(self) -> None:
        links = self._follow.applied_to(
            WebLinks(self._urls(), self._limit.value(), self._refresh.currentData())
        )
        is_wanted_anyway = self._confirm.text() == _ADD_ANYWAY
        self._confirm.setEnabled(False)
        self._confirm.setText(tr("Checking…"))
        self.submitted.emit(self._collection.name, links, is_wanted_anyway)

    def _urls(self) -> tuple[str, ...]:
        return tuple(self._addresses.toPlainText().split())
