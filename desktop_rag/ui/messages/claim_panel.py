"""A panel that explains the verdict on a claim, beside its evidence. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot

from desktop_rag.core.claims import Basis, Claim, Verdict
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.language.translation import told, tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line, place_in_words
from desktop_rag.ui.markdown.claim_marks import VERDICTS, tone_of, verdict_in_words
from desktop_rag.ui.widgets.controls import (
    Card,
    ElidedButton,
    ElidedLabel,
    IconButton,
    PlainLabel,
    TextButton,
)
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical
from desktop_rag.ui.widgets.marked_text import MarkedText

Span = tuple[int, int]

_NO_EVIDENCE = tr("No source says anything similar.")
_NOT_COMPARED = tr("It was not compared with any source.")
_BASES = {
    Basis.QUOTE: tr("Quote"),
    Basis.COMPUTED: tr("Computed"),
    Basis.TABLE: tr("From a table"),
    Basis.READ: tr("Read by the app"),
}
_MAX_CHARS = 1_500
# Below this score the nearest passage is unrelated to the claim.
_MIN_SUPPORT = 0.1


class ClaimPanel(Card):
    """Shows one claim of an answer at a time. Its parts are built when it first opens: most answers
    of a long chat never open one.

    `verification_requested` asks for the passage of the library that best verifies the claim, to be
    passed to `show_best_passage`; `view_requested` carries a SourceRef to show in its document.
    """

    verification_requested = Signal()
    view_requested = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._claims: Sequence[Claim] = ()
        self._sources: dict[int, SourceRef] = {}
        self._index = 0
        self._place: SourceRef | None = None
        self._is_built = False
        self.hide()

    def _build(self) -> None:
        self._verdict = PlainLabel(scale="heading")
        self._verdict.setObjectName("claimVerdict")
        self._position = PlainLabel(tone="muted", scale="small")
        self._previous = IconButton(self._theme, "chevron-left:muted", tr("Previous sentence"))
        self._next = IconButton(self._theme, "chevron-right:muted", tr("Next sentence"))
        self._close = IconButton(self._theme, "close:muted", tr("Close"), then=self.hide)
        head = horizontal(
            (self._verdict, 1), self._position, self._previous, self._next, self._close
        )
        # A text widget breaks words wider than the column.
        self._readers = ElidedLabel(tone="muted", scale="small")
        self._explanation = MarkedText(self._theme, tr("Result of the check"), role="text")
        self._reason = MarkedText(self._theme, tr("What the model says"), role="text")
        self._claim = MarkedText(self._theme, tr("Sentence of the answer"))
        self._evidence = MarkedText(self._theme, tr("Evidence in the source"))
        self._source = ElidedLabel(tone="muted", scale="small")
        sides = horizontal(spacing=18)
        title = PlainLabel(tr("The answer says"), tone="muted", scale="small")
        for label, text in ((title, self._claim), (self._source, self._evidence)):
            side = vertical(label, text, Stretch(), spacing=3)
            sides.addLayout(side, 1)
        self._view = TextButton(tr("Show in document"), kind="quiet", then=self._on_view_clicked)
        self._verify = ElidedButton("", kind="quiet")
        vertical(
            head,
            self._readers,
            self._explanation,
            self._reason,
            sides,
            horizontal(self._view, self._verify, Stretch()),
            on=self,
            margins=(14, 10, 10, 10),
            spacing=8,
        )

    def _connect(self) -> None:
        self._previous.clicked.connect(lambda: self.show_claim(self._index - 1))
        self._next.clicked.connect(lambda: self.show_claim(self._index + 1))
        self._verify.clicked.connect(lambda: self.view_requested.emit(self._place))

    @property
    def claim(self) -> Claim:
        """The claim that is shown."""
        return self._claims[self._index]

    @property
    def sources(self) -> tuple[SourceRef, ...]:
        """The sources of the answer."""
        return tuple(self._sources.values())

    def show_claims(self, claims: Sequence[Claim], sources: Sequence[SourceRef]) -> None:
        """Set the current claims; an open claim stays open."""
        if claims == self._claims:
            return
        is_open, previous = not self.isHidden(), self._claims
        self._claims = claims
        self._sources = {source.n: source for source in sources}
        if is_open:
            self._follow(previous[self._index])

    def _follow(self, previous: Claim) -> None:
        starts = [claim.start for claim in self._claims]
        if previous.start not in starts:
            self.hide()
            return
        self._index = starts.index(previous.start)
        if self.claim == previous:
            self._show_position()
        else:
            self.show_claim(self._index)

    def show_claim(self, index: int) -> None:
        """Show this claim; an outdated badge may have an index out of range."""
        if index >= len(self._claims):
            return
        if not self._is_built:
            self._build()
            self._connect()
            self._is_built = True
        self._index = index
        claim, checked = self.claim, self.claim.checked
        self._verdict.setText(verdict_in_words(claim))
        self._verdict.set_tone(tone_of(claim))
        self._show_position()
        self._explanation.show_marked(one_line(told(checked.explanation))[:_MAX_CHARS], [])
        self._explanation.setVisible(bool(checked.explanation))
        self._readers.set_full_text(_readers(claim))
        self._reason.show_marked(one_line(claim.reason), [])
        self._reason.setVisible(bool(claim.reason))
        _show_cut(self._claim, checked.claim, _spans([d.in_claim for d in checked.differences]))
        self._show_evidence()
        self._place = None
        self._verify.hide()
        self.show()
        if claim.verdict not in (Verdict.SUPPORTED, Verdict.NOT_CHECKED):
            self.verification_requested.emit()

    def show_best_passage(self, claim: Claim, place: SourceRef | None) -> None:
        """Offer the passage that best verifies a claim, if the claim is still shown."""
        if self.isHidden() or claim != self.claim or place is None:
            return
        self._place = place
        where = " · ".join(filter(None, (place.title, place_in_words(place.anchor))))
        self._verify.set_full_text(tr("Verify in {one_line}", one_line=one_line(where)))
        self._verify.show()

    def _show_position(self) -> None:
        self._position.setText(
            tr("{value} of {count}", value=self._index + 1, count=len(self._claims))
        )
        self._previous.setEnabled(self._index > 0)
        self._next.setEnabled(self._index + 1 < len(self._claims))

    def _show_evidence(self) -> None:
        checked, source = self.claim.checked, self._sources.get(self.claim.n)
        # Differing words in the source are shown even when the claim is not supported.
        is_compared = any(d.in_claim and d.in_source for d in checked.differences)
        is_missing = checked.verdict is Verdict.NOT_IN_SOURCES and not is_compared
        is_shown = not is_missing or checked.support >= _MIN_SUPPORT
        evidence = checked.evidence if is_shown else None
        self._view.setVisible(source is not None and evidence is not None)
        if source is None or evidence is None:
            self._source.set_full_text(tr("The sources"))
            is_checked = checked.verdict is not Verdict.NOT_CHECKED
            self._evidence.show_marked(_NO_EVIDENCE if is_checked else _NOT_COMPARED, [])
            return
        where = " · ".join(filter(None, (source.title, place_in_words(source.anchor))))
        self._source.set_full_text(
            one_line(tr("Source {n} ({where}) says", n=source.n, where=where))
        )
        first = evidence.start
        spans = _spans([d.in_source for d in self.claim.checked.differences])
        shown = source.text[first : evidence.end]
        _show_cut(self._evidence, shown, [(start - first, end - first) for start, end in spans])

    @Slot()
    def _on_view_clicked(self) -> None:
        source, evidence = self._sources[self.claim.n], self.claim.checked.evidence
        assert evidence is not None, "there is no button without evidence"
        self.view_requested.emit(source.narrowed(evidence.start, evidence.end))


def _readers(claim: Claim) -> str:
    """Who gave the verdict, and whether the other one doubts it."""
    judge = one_line(claim.judge)
    if claim.judged is None:
        return _BASES[claim.checked.basis]
    if claim.is_disputed:
        said = VERDICTS[claim.judged]
        return tr("Read by the app. {model} says: {said}", model=judge, said=said)
    return tr("Read by {model}", model=judge)


def _show_cut(shown: MarkedText, text: str, spans: Sequence[Span]) -> None:
    """Show the beginning of a text, with the spans that start in it marked."""
    beginning = text[:_MAX_CHARS]
    inside = [
        (start, min(end, len(beginning))) for start, end in spans if 0 <= start < len(beginning)
    ]
    shown.show_marked(beginning + ("…" if beginning != text else ""), inside)


def _spans(spans: Sequence[Span | None]) -> list[Span]:
    """The given spans, sorted and merged."""
    kept: list[Span] = []
    for start, end in sorted({span for span in spans if span}):
        if kept and start <= kept[-1][1]:
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]))
        else:
            kept.append((start, end))
    return kept
