"""The panel with an answer's numbered sources and excerpts of their passages. Qt thread."""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import regex
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.language.translation import count_of, told, tr
from desktop_rag.core.markup.plain_markdown import is_markdown, plain_markdown
from desktop_rag.core.parsed import HEADING_SEPARATOR, Anchor
from desktop_rag.core.quotes import Span
from desktop_rag.core.shared_library import is_shared
from desktop_rag.ui.foundation.document_kinds import with_head_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line, place_in_words
from desktop_rag.ui.widgets.controls import (
    Card,
    ElidedLabel,
    IconButton,
    PlainLabel,
    TextButton,
    set_property,
    set_tip,
)
from desktop_rag.ui.widgets.layouts import Stretch, clear, horizontal, vertical
from desktop_rag.ui.widgets.marked_text import MarkedText

# The size of an excerpt.
MOST_CHARS = 280
# Rows of a table and of a list are short.
MOST_LINES = 10
_LEAD_CHARS = 90
# Of several places each has less room.
_SHORT_LEAD_CHARS = 30
_FEW_LINES = 4
_MOST_PLACES = 4
_NEAR_CHARS = 60
_CUT = " …"


class Excerpt(NamedTuple):
    """A text with its marked spans."""

    text: str
    marked: list[Span]


def excerpt(passage: str, marked: Sequence[Span]) -> Excerpt:
    """The passage cut at words around the marked spans, with … where something is left out.

    `marked` are in order and do not overlap. Of many lines only the first are shown, even if a
    marked span goes on.
    """
    if len(marked) > 1:
        places = _joined([_short(passage, place) for place in marked[:_MOST_PLACES]])
    else:
        places = [_around(passage, marked[0] if marked else (0, 0))]
    return _written(passage, places, marked)


def _around(passage: str, place: Span) -> Span:
    """A span with the words before it, extended to the length of an excerpt."""
    at, stop = place
    start = _word_start(passage, at - _LEAD_CHARS, at)
    end = min(len(passage), max(start + MOST_CHARS, stop))
    if end < len(passage):
        space = passage.rfind(" ", max(start, stop), end)
        end = space if space > 0 else end
    return _in_lines(passage, (start, end), at, MOST_LINES)


def _short(passage: str, place: Span) -> Span:
    """A span with a few words before it on its line."""
    at, end = place
    line = passage.rfind("\n", 0, at) + 1
    start = _word_start(passage, max(line, at - _SHORT_LEAD_CHARS), at)
    return _in_lines(passage, (start, end), at, _FEW_LINES)


def _word_start(passage: str, start: int, at: int) -> int:
    if start <= 0:
        return 0
    space = passage.find(" ", start, at)
    return space + 1 if space >= 0 else start


def _in_lines(passage: str, span: Span, at: int, most: int) -> Span:
    start, end = span
    if passage.count("\n", start, end) < most:
        return span
    start = max(start, passage.rfind("\n", 0, at) + 1)
    return start, start + len("\n".join(passage[start:end].split("\n")[:most]))


def _joined(spans: Sequence[Span]) -> list[Span]:
    """The spans, with those near each other joined."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and start - joined[-1][1] < _NEAR_CHARS:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _written(passage: str, places: Sequence[Span], marked: Sequence[Span]) -> Excerpt:
    text = ""
    shown: list[Span] = []
    for start, end in places:
        text += "… " if start and not text else " … " if text else ""
        shift = len(text) - start
        text += passage[start:end]
        kept = ((max(first, start), min(last, end)) for first, last in marked)
        shown += [(first + shift, last + shift) for first, last in kept if first < last]
    return Excerpt(text + (_CUT if places[-1][1] < len(passage) else ""), shown)


class PassageText(MarkedText):
    """A collapsible passage with a marked quote; `clicked` follows a click without selection."""

    clicked = Signal()

    def __init__(
        self,
        theme: Theme,
        text: str,
        quote: str,
        *,
        wrapped_from: int = 0,
        is_markdown: bool = False,
    ) -> None:
        """Lines of `wrapped_from` characters may be hard-wrapped; Markdown loses its marks."""
        super().__init__(theme, tr("Passage"))
        self._had_selection = False
        passage = text.strip()
        shown = unwrapped(passage, wrapped_from) if wrapped_from else passage
        self._plain = plain_markdown(shown) if is_markdown else None
        self._passage = self._plain.text if self._plain else shown
        self._stripped = len(text) - len(text.lstrip())
        at = text.find(quote.strip())
        self._marked = self._shown([(at, at + len(quote.strip()))])
        self.is_whole = not self.is_longer
        self._show()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._had_selection = self.textCursor().hasSelection()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        selects = self._had_selection or self.textCursor().hasSelection()
        if event.button() == Qt.MouseButton.LeftButton and not selects:
            self.clicked.emit()

    def mark(self, spans: Sequence[Span]) -> None:
        """Mark these spans of the text instead; they are in order and do not overlap."""
        self._marked = self._shown(spans)
        self._show()

    def _shown(self, spans: Sequence[Span]) -> list[Span]:
        """Spans of the text as spans of what is shown."""
        found = [tuple(map(self._place, span)) for span in spans]
        return [(start, end) for start, end in found if 0 <= start < end]

    def _place(self, offset: int) -> int:
        offset -= self._stripped
        return self._plain.place(offset) if self._plain and offset >= 0 else offset

    @property
    def is_longer(self) -> bool:
        """True if the collapsed passage is shortened."""
        lines = self._passage.count("\n")
        return len(self._passage) > MOST_CHARS + 40 or lines > MOST_LINES + 1

    def show_whole(self, is_whole: bool) -> None:
        """Show the whole passage, or only the part around the quote."""
        self.is_whole = is_whole
        self._show()

    def _show(self) -> None:
        if self.is_whole:
            self.show_marked(self._passage, self._marked)
        else:
            self.show_marked(*excerpt(self._passage, self._marked))


def unwrapped(text: str, line_chars: int) -> str:
    """Join hard-wrapped lines by replacing line breaks with spaces; offsets stay valid.

    A line is joined with the next if it has at least `line_chars` characters and the next one
    starts with a lower-case letter.
    """
    return regex.sub(rf"(?<=[^\n]{{{line_chars}}})\n(?=\p{{Ll}})", " ", text)


class _Place(PlainLabel):
    """A place in a document, whole: the end of a path of headings says most."""

    def __init__(self, text: str, *, is_small: bool) -> None:
        super().__init__(text, tone="muted", scale="small" if is_small else "", wrap=True)
        # A long word must not widen the panel.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        """Take the height now: the layouts around it would first draw it with that of before."""
        self.setFixedHeight(max(1, self.heightForWidth(self.width())))


_BUDGET_S = 0.008
# The place and the passage of a card have a height each for its width.
_PASSES = 2
_MAX_COPIES = 2
# Minimum line lengths of running text that may be hard-wrapped.
_PAGE_LINE_CHARS = 40
_TEXT_LINE_CHARS = 60
_MISSING = tr("Not in your library")
_SHARED = tr("From the shared library")
_SEARCHING = tr("Searching your documents…")
_NONE = tr("This answer has no sources.")
# More that no sentence cites are behind a button.
_MOST_OTHERS = 3
# The gap between passages of one document, and the extra gap between documents.
_GAP_PX = 4
_EXTRA_GAP_PX = 6


class SourceCard(Card):
    """One source: document, location, passage with its quote highlighted, and buttons.

    `same` quote the same passage elsewhere in the answer. With `follows`, the card above already
    names the same document.
    """

    read_requested = Signal(object)
    open_requested = Signal(object)

    def __init__(
        self, theme: Theme, source: SourceRef, *same: SourceRef, follows: bool = False
    ) -> None:
        super().__init__(kind="source")
        self._theme = theme
        self.source = source
        self._numbers = ", ".join(str(each.n) for each in (source, *same))
        self._follows = follows
        self.setProperty("cited", source.is_cited)
        self._caution = PlainLabel(tone="muted", scale="small", wrap=True)
        self._caution.hide()
        self._build()
        self._connect()

    def _build(self) -> None:
        source = self.source
        number = PlainLabel(self._numbers)
        number.setObjectName("sourceNumber")
        number.setProperty("cited", source.is_cited)
        number.setAlignment(Qt.AlignmentFlag.AlignCenter)
        # Attachments are passed whole, without a score.
        if source.score:
            set_tip(number, tr("Relevance: {score:.2f}", score=source.score))
        text, quote = _in_words(source)
        self._passage = PassageText(
            self._theme, text, quote, wrapped_from=_wrapped_from(source.anchor),
            is_markdown=is_markdown(source.path, source.url),
        )  # fmt: skip
        self._fold = TextButton(tr("Show more"), kind="quiet", then=self._on_fold_clicked)
        self._read = IconButton(
            self._theme, "eye:muted", tr("Read source {n}", n=source.n), then=self._on_read_clicked
        )
        self._open = IconButton(
            self._theme, "open:muted", tr("Open source {n} in another program", n=source.n)
        )
        self._copy = IconButton(
            self._theme, "copy:muted", tr("Copy source {n}", n=source.n), then=self._on_copy_clicked
        )
        head = horizontal(spacing=10)
        # A single line is centred beside the number, several start at its top.
        align = Qt.AlignmentFlag.AlignVCenter if self._follows else Qt.AlignmentFlag.AlignTop
        head.addWidget(number, 0, align)
        head.addLayout(self._build_words(), 1)
        buttons = horizontal(self._copy, self._read, self._open, spacing=0)
        foot = horizontal(self._fold, Stretch())
        # Beside a title they would leave it a word or two.
        (head if self._follows else foot).addLayout(buttons)
        column = vertical(head, self._passage, on=self, margins=(12, 10, 10, 10), spacing=6)
        if also_in := self.source.also_in:
            text, everywhere = _copies_in_words(also_in), "\n".join(also_in)
            column.addWidget(_muted(text, Qt.TextElideMode.ElideMiddle, everywhere))
        column.addWidget(self._caution)
        column.addLayout(foot)
        self._show_buttons()

    def _show_buttons(self) -> None:
        # Only once they are in the card: a parentless visible widget is a window.
        self._fold.setVisible(self._passage.is_longer)
        for button in (self._open, self._read):
            button.setVisible(self.source.is_in_library)
        if is_shared(self.source.document_id) and not self.source.url:
            self._open.hide()  # its file is on another computer

    def _build_words(self) -> QVBoxLayout:
        """Title, location and file, without repeating a text."""
        source = self.source
        title = ElidedLabel(one_line(source.title or source.path))
        title.setObjectName("sourceTitle")
        # A document of one chapter begins each place with its title.
        said = one_line(place_in_words(source.anchor)).removeprefix(f"{title.full_text} › ")
        place = _Place(said, is_small=not self._follows)
        where = source.url or source.path
        file = _muted(_name_of(source), Qt.TextElideMode.ElideMiddle, where)
        words = vertical(spacing=1)
        shown = [""]
        origin = "" if source.is_in_library else _MISSING
        origin = _SHARED if is_shared(source.document_id) else origin
        missing = _muted(origin, Qt.TextElideMode.ElideRight)
        for line in (place,) if self._follows else (title, place, file, missing):
            text = line.full_text if isinstance(line, ElidedLabel) else line.text()
            if text not in shown:
                shown.append(text)
                words.addWidget(line)
        if not self._follows:
            words.addStretch(1)
        return words

    def _connect(self) -> None:
        self._passage.clicked.connect(self._on_read_clicked)
        self._open.clicked.connect(lambda: self.open_requested.emit(self.source))

    def mark(self, places: Sequence[Span]) -> None:
        """Mark these spans of the passage instead of its quote, if there are any."""
        if places:
            self._passage.mark([self._in_words(span) for span in places])

    def _in_words(self, span: Span) -> Span:
        start, end = (_shown(self.source, self.source.text[:place]) for place in span)
        return len(start), len(end)

    def warn(self, caution: str) -> None:
        """Say what to know of the file, unless the card above says it."""
        text = one_line(told(caution)) if caution and not self._follows else ""
        self._caution.say(text)

    def set_chosen(self, is_chosen: bool) -> None:
        """Highlight the card a citation points to."""
        set_property(self, "chosen", is_chosen)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()
        if event.button() == Qt.MouseButton.LeftButton:
            self._on_read_clicked()

    @Slot()
    def _on_read_clicked(self) -> None:
        self.read_requested.emit(self.source)

    @Slot()
    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self.source.text)
        self._copy.show_as("check:success", tr("Copied"))

    @Slot()
    def _on_fold_clicked(self) -> None:
        is_whole = not self._passage.is_whole
        self._passage.show_whole(is_whole)
        self._fold.setText(tr("Show less") if is_whole else tr("Show more"))


class _Page(QWidget):
    """What is scrolled; `resized` follows each change of its width."""

    resized = Signal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.resized.emit()


class SourcesPanel(QWidget):
    """Lists cited sources first, then the others; without sources, the nearest passages.

    Consecutive passages of one document name it once. `read_requested` and `open_requested` carry a
    SourceRef, to read here or in another program; `ask_requested` carries several to ask about.
    """

    ask_requested = Signal(object)
    read_requested = Signal(object)
    open_requested = Signal(object)
    close_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.sources: tuple[SourceRef, ...] = ()
        self._nearest: tuple[SourceRef, ...] = ()
        self._places: Mapping[int, Sequence[Span]] = {}
        self._cautions: Mapping[str, str] = {}
        self._cards: dict[int, SourceCard] = {}
        # Headings, and sources of one passage, without a widget yet.
        self._waiting: deque[str | list[SourceRef]] = deque()
        # What is shown once it is asked for.
        self._folded: list[list[SourceRef]] = []
        self._last_document_id = ""
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._add_some)
        self._build()

    def _build(self) -> None:
        self.setProperty("kind", "sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._title = PlainLabel(tr("Sources"), scale="heading")
        self._ask = IconButton(self._theme, "chat:muted", tr("Ask about these files only"))
        self._ask.clicked.connect(lambda: self.ask_requested.emit(self.sources or self._nearest))
        close = IconButton(
            self._theme, "close:muted", tr("Close sources"), then=self.close_requested
        )
        head = horizontal((self._title, 1), self._ask, close, margins=(14, 10, 8, 0))
        self._page = _Page()
        self._page.resized.connect(self._lay_out)
        self._page.setProperty("kind", "sidebar")
        self._column = vertical(on=self._page, margins=(12, 0, 12, 12), spacing=_GAP_PX)
        self._scroll = QScrollArea(widgetResizable=True)
        self._scroll.setAccessibleName(tr("Sources"))
        self._scroll.setObjectName("sources")
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(self._page)
        self._empty = PlainLabel(_NONE, tone="muted", wrap=True)
        self._empty.setContentsMargins(14, 4, 14, 0)
        self._ask.hide()
        vertical(head, self._empty, (self._scroll, 1), on=self, margins=0)

    def show_sources(
        self,
        sources: Sequence[SourceRef],
        nearest: Sequence[SourceRef] = (),
        *,
        is_searching: bool = False,
    ) -> None:
        """Show the sources of an answer, or its nearest passages if it has none yet."""
        self._empty.setText(_SEARCHING if is_searching else _NONE)
        self._empty.setVisible(not sources and not nearest)
        self._ask.setVisible(any(s.is_in_library for s in (*sources, *nearest)))
        if (tuple(sources), tuple(nearest)) == (self.sources, self._nearest):
            return
        self.sources, self._nearest = tuple(sources), tuple(nearest)
        self._places, self._cautions = {}, {}
        self._clear()
        passages = _by_passage(sources)
        cited = [each for each in passages if each[0].is_cited]
        others = [each for each in passages if not each[0].is_cited]
        if cited and others:
            self._waiting.append(tr("Cited · {count}", count=len(cited)))
        self._waiting.extend(cited)
        if cited and len(others) > _MOST_OTHERS:
            self._folded = others
        else:
            self._add_others(others, is_beside=bool(cited))
        self._unfold = TextButton(
            tr("Also found · {count}", count=len(self._folded)),
            kind="quiet",
            then=self._show_folded,
        )
        if nearest:
            self._waiting.extend([tr("Nearest, but probably not about it"), *_by_passage(nearest)])
        self._column.addWidget(self._unfold, 0, Qt.AlignmentFlag.AlignLeft)
        self._unfold.setVisible(bool(self._folded))
        self._column.addStretch(1)
        self._add_some()
        title = tr("Nearest passages") if nearest else tr("Sources")
        count = count_of(len(passages), tr("source"), tr("sources"))
        self._title.setText(count if sources else title)
        self._scroll.verticalScrollBar().setValue(0)

    def mark_cited(self, places: Mapping[int, Sequence[Span]]) -> None:
        """Mark these spans of the passages on show, by source number."""
        self._places = places
        for card in self._cards.values():
            card.mark(self._places_in(card))

    def warn(self, cautions: Mapping[str, str]) -> None:
        """Say what to know of the files of the sources on show, by the ids of their documents."""
        self._cautions = cautions
        for card in self._cards.values():
            card.warn(cautions.get(card.source.document_id, ""))

    def choose(self, n: int) -> None:
        """Highlight card n and scroll to it."""
        if any(each.n == n for group in self._folded for each in group):
            self._show_folded()
        while self._waiting and n not in self._cards:
            self._add_next()
        for card in self._cards.values():
            card.set_chosen(card is self._cards.get(n))
        if card := self._cards.get(n):
            self._column.activate()
            self._scroll.ensureWidgetVisible(card, 0, 12)

    def _add_others(self, others: Sequence[list[SourceRef]], *, is_beside: bool) -> None:
        """Have these shown below the cited ones."""
        if others and is_beside:
            self._waiting.append(tr("Also found · {count}", count=len(others)))
        self._waiting.extend(others)

    @Slot()
    def _show_folded(self) -> None:
        others, self._folded = self._folded, []
        self._unfold.hide()
        self._add_others(others, is_beside=True)
        self._add_some()

    def _places_in(self, card: SourceCard) -> list[Span]:
        """The marked spans of all sources of a card."""
        numbers = [n for n, each in self._cards.items() if each is card]
        return sorted({place for n in numbers for place in self._places.get(n, ())})

    def _clear(self) -> None:
        self._waiting.clear()
        self._folded = []
        self._last_document_id = ""
        self._cards.clear()
        clear(self._column)

    @Slot()
    def _add_some(self) -> None:
        """Add cards for a few milliseconds, then let the window handle events."""
        stop_at = time.perf_counter() + _BUDGET_S
        while self._waiting:
            self._add_next()
            if time.perf_counter() > stop_at:
                self._timer.start(0)
                break
        self._lay_out()

    @Slot()
    def _lay_out(self) -> None:
        """Give the cards their heights now: Qt would first draw them with those of before.

        Widths come first: they give the passages their heights, and those then the cards theirs.
        """
        layouts = [layout for card in self._cards.values() if (layout := card.layout())]
        for _ in range(_PASSES):
            self._column.activate()
            for layout in layouts:
                layout.activate()
        self._column.activate()
        # The page gets its height, and with that the cards keep theirs.
        QCoreApplication.sendEvent(self._scroll, QEvent(QEvent.Type.LayoutRequest))

    def _add_next(self) -> None:
        item = self._waiting.popleft()
        widget: QWidget
        if isinstance(item, str):
            follows = False
            widget = PlainLabel(item, tone="muted", scale="small")
            self._last_document_id = ""
        else:
            first = item[0]
            is_same = first.is_in_library and first.document_id == self._last_document_id
            follows = is_same and bool(place_in_words(first.anchor))
            widget = SourceCard(self._theme, *item, follows=follows)
            self._cards |= {each.n: widget for each in item}
            widget.mark(self._places_in(widget))
            widget.warn(self._cautions.get(first.document_id, ""))
            self._last_document_id = first.document_id
            widget.read_requested.connect(self.read_requested)
            widget.open_requested.connect(self.open_requested)
        if not follows:
            self._column.insertSpacing(self._column.count() - 2, _EXTRA_GAP_PX)
        self._column.insertWidget(self._column.count() - 2, widget)
        # The layout would show it later, and leaves out what is hidden.
        widget.show()


def _by_passage(sources: Sequence[SourceRef]) -> list[list[SourceRef]]:
    """The sources of each passage, cited ones first."""
    found: dict[object, list[SourceRef]] = {}
    for source in sorted(sources, key=lambda each: not each.is_cited):
        found.setdefault(source.passage, []).append(source)
    return list(found.values())


def _in_words(source: SourceRef) -> tuple[str, str]:
    """The passage and its quote as shown: the head of a message is translated."""
    before = source.text.partition(source.quote)[0] if source.quote else ""
    started, ended = (_shown(source, each) for each in (before, before + source.quote))
    return _shown(source, source.text), ended[len(started) :] if source.quote else ""


def _shown(source: SourceRef, text: str) -> str:
    return with_head_in_words(text, source.path, source.part)


def _wrapped_from(anchor: Anchor) -> int:
    """The minimum length of a hard-wrapped line: short on pages, longer where code may follow."""
    if anchor.page is not None:
        return _PAGE_LINE_CHARS
    return _TEXT_LINE_CHARS if anchor.heading else 0


def _muted(text: str, mode: Qt.TextElideMode, tip: str = "") -> ElidedLabel:
    return ElidedLabel(one_line(text), tone="muted", scale="small", mode=mode, tip=tip)


def _copies_in_words(also_in: Sequence[str]) -> str:
    """The other files with the same text, with their folders, because copies share names."""
    names = ["/".join(Path(where).parts[-2:]) for where in also_in[:_MAX_COPIES]]
    more = len(also_in) - len(names)
    rest = tr(" and {more} more", more=more) if more else ""
    return tr("Also in {join}{value}", join=", ".join(names), value=rest)


def _name_of(source: SourceRef) -> str:
    """The address of a web page, or the file's name with the part inside it."""
    name = Path(source.path).name
    return source.url or (f"{name}{HEADING_SEPARATOR}{source.part}" if source.part else name)
