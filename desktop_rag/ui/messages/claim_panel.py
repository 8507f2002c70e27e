"""Why a claim of an answer got its badge: claim and evidence side by side. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import SourceRef
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.messages.claim_marks import in_words, tone_of
from desktop_rag.ui.widgets.controls import Card, ElidedLabel, IconButton, PlainLabel, TextButton
from desktop_rag.ui.widgets.elided_button import ElidedButton
from desktop_rag.ui.widgets.marked_text import MarkedText

Span = tuple[int, int]

_NOTHING = "No source says anything like it."
_LONGEST_CHARS = 1_500
# What comes nearest to a claim says nothing of it below this.
_LEAST_SUPPORT = 0.1


class ClaimPanel(Card):
    """One claim of an answer at a time.

    `place_wanted` asks for the best place in all documents to verify the claim that is shown, for
    `show_place`; `view_requested` carries the SourceRef whose place is to be shown.
    """

    place_wanted = Signal()
    view_requested = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._claims: Sequence[Claim] = ()
        self._sources: dict[int, SourceRef] = {}
        self._index = 0
        self._place: SourceRef | None = None
        self._build()
        self._connect()
        self.hide()

    def _build(self) -> None:
        self._verdict = PlainLabel(scale="heading")
        self._verdict.setObjectName("claimVerdict")
        self._position = PlainLabel(tone="muted", scale="small")
        self._previous = IconButton(self._theme, "chevron-left:muted", "Sentence before")
        self._next = IconButton(self._theme, "chevron-right:muted", "Next sentence")
        self._close = IconButton(self._theme, "close:muted", "Close the check")
        head = QHBoxLayout()
        head.addWidget(self._verdict, 1)
        for widget in (self._position, self._previous, self._next, self._close):
            head.addWidget(widget)
        # Foreign words may be wider than the column: this breaks them.
        self._explanation = MarkedText(self._theme, "What the check found", role="text")
        self._claim = MarkedText(self._theme, "Sentence of the answer")
        self._evidence = MarkedText(self._theme, "Evidence in the source")
        self._source = ElidedLabel(tone="muted", scale="small")
        sides = QHBoxLayout()
        sides.setSpacing(18)
        title = PlainLabel("The answer says", tone="muted", scale="small")
        for label, text in ((title, self._claim), (self._source, self._evidence)):
            side = QVBoxLayout()
            side.setSpacing(3)
            side.addWidget(label)
            side.addWidget(text)
            side.addStretch(1)
            sides.addLayout(side, 1)
        self._view = TextButton("Show it in the document", kind="quiet")
        self._verify = ElidedButton("", kind="quiet")
        buttons = QHBoxLayout()
        buttons.addWidget(self._view)
        buttons.addWidget(self._verify)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 10, 10)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self._explanation)
        column.addLayout(sides)
        column.addLayout(buttons)

    def _connect(self) -> None:
        self._previous.clicked.connect(self._on_previous_clicked)
        self._next.clicked.connect(self._on_next_clicked)
        self._close.clicked.connect(self.hide)
        self._view.clicked.connect(self._on_view_clicked)
        self._verify.clicked.connect(self._on_verify_clicked)

    @property
    def claim(self) -> Claim:
        """The claim that is shown."""
        return self._claims[self._index]

    def show_claims(self, claims: Sequence[Claim], sources: Sequence[SourceRef]) -> None:
        """Take over what is known now; the claim that is open is followed."""
        if claims == self._claims:
            return
        is_open, former = not self.isHidden(), self._claims
        self._claims = claims
        self._sources = {source.n: source for source in sources}
        if is_open:
            self._follow(former[self._index])

    def _follow(self, former: Claim) -> None:
        starts = [claim.start for claim in self._claims]
        if former.start not in starts:
            self.hide()
            return
        self._index = starts.index(former.start)
        if self.claim == former:
            self._show_position()
        else:
            self.open_at(self._index)

    def open_at(self, index: int) -> None:
        """Show this claim; a badge that is older than what is known may speak of none."""
        if index >= len(self._claims):
            return
        self._index = index
        claim, checked = self.claim, self.claim.checked
        self._verdict.setText(in_words(claim.verdict))
        self._verdict.set_tone(tone_of(claim.verdict))
        self._show_position()
        self._explanation.show_marked(one_line(checked.explanation)[:_LONGEST_CHARS], [])
        self._explanation.setVisible(bool(checked.explanation))
        _show_cut(self._claim, checked.claim, _spans([d.in_claim for d in checked.differences]))
        self._show_evidence()
        self._place = None
        self._verify.hide()
        self.show()
        if claim.verdict not in (Verdict.SUPPORTED, Verdict.NOT_CHECKED):
            self.place_wanted.emit()

    def show_place(self, claim: Claim, place: SourceRef | None) -> None:
        """Offer to look where all documents say most about a claim, while it is shown."""
        if self.isHidden() or claim != self.claim or place is None:
            return
        self._place = place
        where = " · ".join(filter(None, (place.title, place.anchor.label())))
        self._verify.set_full_text(f"To verify, open: {one_line(where)}")
        self._verify.show()

    def _show_position(self) -> None:
        self._position.setText(f"{self._index + 1} of {len(self._claims)}")
        self._previous.setEnabled(self._index > 0)
        self._next.setEnabled(self._index + 1 < len(self._claims))

    def _show_evidence(self) -> None:
        checked, source = self.claim.checked, self._sources.get(self.claim.n)
        # Where words are told to differ, those of the source are to be seen.
        is_compared = any(d.in_claim and d.in_source for d in checked.differences)
        is_missing = checked.verdict is Verdict.NOT_IN_SOURCES and not is_compared
        is_shown = not is_missing or checked.support >= _LEAST_SUPPORT
        evidence = checked.evidence if is_shown else None
        self._view.setVisible(source is not None and evidence is not None)
        if source is None or evidence is None:
            self._source.set_full_text("The sources")
            self._evidence.show_marked(_NOTHING, [])
            return
        where = " · ".join(filter(None, (source.title, source.anchor.label())))
        self._source.set_full_text(one_line(f"Source {source.n} says ({where})"))
        first = evidence.start
        spans = _spans([d.in_source for d in self.claim.checked.differences])
        shown = source.text[first : evidence.end]
        _show_cut(self._evidence, shown, [(start - first, end - first) for start, end in spans])

    @Slot()
    def _on_previous_clicked(self) -> None:
        self.open_at(self._index - 1)

    @Slot()
    def _on_next_clicked(self) -> None:
        self.open_at(self._index + 1)

    @Slot()
    def _on_view_clicked(self) -> None:
        source, evidence = self._sources[self.claim.n], self.claim.checked.evidence
        assert evidence is not None, "there is no button without evidence"
        self.view_requested.emit(source.narrowed(evidence.start, evidence.end))

    @Slot()
    def _on_verify_clicked(self) -> None:
        self.view_requested.emit(self._place)


def _show_cut(shown: MarkedText, text: str, spans: Sequence[Span]) -> None:
    """Show the beginning of a text, with those parts marked that begin in it."""
    beginning = text[:_LONGEST_CHARS]
    inside = [
        (start, min(end, len(beginning))) for start, end in spans if 0 <= start < len(beginning)
    ]
    shown.show_marked(beginning + ("…" if beginning != text else ""), inside)


def _spans(spans: Sequence[Span | None]) -> list[Span]:
    """Those that are somewhere, in order, apart."""
    kept: list[Span] = []
    for start, end in sorted({span for span in spans if span}):
        if kept and start <= kept[-1][1]:
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]))
        else:
            kept.append((start, end))
    return kept
