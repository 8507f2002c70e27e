"""Why a claim of an answer got its badge: claim and evidence side by side. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import SourceRef
from desktop_rag.ui.claim_marks import in_words, tone_of
from desktop_rag.ui.controls import Card, ElidedLabel, IconButton, PlainLabel, TextButton
from desktop_rag.ui.marked_text import MarkedText
from desktop_rag.ui.theme import Theme
from desktop_rag.ui.wording import one_line

Span = tuple[int, int]

_NOTHING = "No source says anything like it."
_LONGEST_EVIDENCE_CHARS = 1_500


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
        self._explanation = PlainLabel(wrap=True, selectable=True)
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
        self._verify = TextButton("", kind="quiet")
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
        """Take over what is known now; what is open stays open."""
        if claims == self._claims:
            return
        self._claims = claims
        self._sources = {source.n: source for source in sources}
        if self._index >= len(claims):
            self.hide()
        elif not self.isHidden():
            self.open_at(self._index)

    def open_at(self, index: int) -> None:
        """Show this claim."""
        self._index = index
        claim, checked = self.claim, self.claim.checked
        self._verdict.setText(in_words(claim.verdict))
        self._verdict.set_tone(tone_of(claim.verdict))
        self._position.setText(f"{index + 1} of {len(self._claims)}")
        self._previous.setEnabled(index > 0)
        self._next.setEnabled(index + 1 < len(self._claims))
        self._explanation.setText(checked.explanation)
        self._explanation.setVisible(bool(checked.explanation))
        self._claim.show_marked(checked.claim, _spans([d.in_claim for d in checked.differences]))
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
        # A single & would underline what follows.
        self._verify.setText(f"To verify, open: {one_line(where)[:80]}".replace("&", "&&"))
        self._verify.show()

    def _show_evidence(self) -> None:
        evidence, source = self.claim.checked.evidence, self._sources.get(self.claim.n)
        self._view.setVisible(source is not None and evidence is not None)
        if source is None or evidence is None:
            self._source.set_full_text("The sources")
            self._evidence.show_marked(_NOTHING, [])
            return
        where = " · ".join(filter(None, (source.title, source.anchor.label())))
        self._source.set_full_text(one_line(f"Source {source.n} says ({where})"))
        first = evidence.start
        shown = source.text[first : evidence.end][:_LONGEST_EVIDENCE_CHARS]
        inside = [
            (start - first, min(end - first, len(shown)))
            for start, end in _spans([d.in_source for d in self.claim.checked.differences])
            if first <= start < first + len(shown)
        ]
        self._evidence.show_marked(shown, inside)

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


def _spans(spans: Sequence[Span | None]) -> list[Span]:
    """Those that are somewhere, in order, apart."""
    kept: list[Span] = []
    for start, end in sorted({span for span in spans if span}):
        if kept and start <= kept[-1][1]:
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]))
        else:
            kept.append((start, end))
    return kept
