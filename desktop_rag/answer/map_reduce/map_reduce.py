"""Asks several pieces one by one and puts together what they say. Worker threads.

A piece is a file, or a part of one. What each says is told as it is found, and put together at
the end. Stopped early, or when the endpoint fails on the way, what was found until then is the
answer.
"""

import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Event

from desktop_rag.answer.citing.citation_validation import finish_answer
from desktop_rag.answer.citing.citations import citations
from desktop_rag.answer.prompting.prompt import CountTokens
from desktop_rag.answer.prompting.prompt_sanitizer import sanitized
from desktop_rag.answer.writing.answer_draft import AnswerDraft
from desktop_rag.core.conversation import (
    AnswerEvent,
    FileAsked,
    FileCounts,
    SearchNotes,
    SourceRef,
    SourcesFound,
    TextDelta,
)
from desktop_rag.models.ports import ChatModel, ChatTurn

_ROOM_SHARE = 0.5
# The word that a model was told to answer with, or a sentence of its own that rests on no source.
_NOTHING = re.compile(r"(?s)\W*(?:NOTHING\b|(?i:nothing)\b(?!.*\[\d))")


@dataclass(frozen=True, slots=True)
class MapPart:
    """What is asked by itself. `read` gives its numbered sources, none when it has nothing."""

    document_id: str
    title: str
    read: Callable[[], tuple[SourceRef, ...]]


# The turns that ask a model about the sources of one piece, and those of them that are sent.
TurnsOf = Callable[[Sequence[SourceRef], ChatModel], tuple[list[ChatTurn], Sequence[SourceRef]]]


@dataclass(frozen=True, slots=True)
class MapReduceStyle:
    """How each piece is asked, with a model and `without_model`, and all are put `together`.

    `together` are the instructions for that; `called` says what many pieces are called.
    """

    turns_of: TurnsOf
    without_model: Callable[[Sequence[SourceRef]], str]
    together: str
    called: str = "files"


class MapReduce:
    """Fills a draft from pieces."""

    def __init__(self, count_tokens: CountTokens) -> None:
        self._count_tokens = count_tokens

    def answer(
        self,
        draft: AnswerDraft,
        pieces: Sequence[MapPart],
        way: MapReduceStyle,
        model: ChatModel | None,
        cancel: Event,
    ) -> Iterator[AnswerEvent]:
        """Ask all of them; with nothing found the draft has no text.

        Yields FileAsked before each piece, then SourcesFound and TextDelta. AppError for whatever
        the endpoint did wrong; the draft keeps what had been found by then.
        """
        findings = _Findings(draft)
        draft.sources = ()
        asked = 0
        try:
            for piece in pieces:
                if cancel.is_set():
                    break
                yield FileAsked(asked, len(pieces), len(findings.texts), piece.title)
                if sources := piece.read():
                    findings.add(piece, *_said(way, sources, model, cancel))
                asked += 1
            yield SourcesFound(draft.sources, draft.notes)
            if model and len(findings.texts) > 1 and not cancel.is_set():
                yield from self._together(draft, findings, way.together, model, cancel)
        finally:
            # Also when the endpoint failed on the way: what was found is not lost.
            listed = findings.listed()
            draft.text += listed
            if listed:
                draft.nearest = ()
                draft.model, draft.is_excerpts = (model.name, False) if model else ("", True)
            read = {piece.document_id for piece in pieces[:asked]}
            counts = FileCounts(len(findings.documents), len(read))
            draft.notes = _told(draft.notes, counts, asked, len(pieces), way.called)
        yield TextDelta(listed)

    def _together(
        self,
        draft: AnswerDraft,
        findings: "_Findings",
        wanted: str,
        model: ChatModel,
        cancel: Event,
    ) -> Iterator[AnswerEvent]:
        fence = secrets.token_hex(8)
        room = int(model.context_tokens * _ROOM_SHARE)
        data = sanitized(findings.within(room, self._count_tokens), fence)
        asked = sanitized(draft.asked, fence)
        turns = [
            ChatTurn("system", wanted),
            ChatTurn("user", f"<found-{fence}>\n{data}\n</found-{fence}>\n\nQuestion: {asked}"),
        ]
        for delta in model.stream(turns, cancel):
            if not delta.is_thinking:
                draft.text += delta.text
                yield TextDelta(delta.text)
        if draft.text.strip():
            draft.text += "\n\n"
            yield TextDelta("\n\n")


def _said(
    way: MapReduceStyle, sources: Sequence[SourceRef], model: ChatModel | None, cancel: Event
) -> tuple[str, tuple[SourceRef, ...]]:
    """What one piece says, checked like any answer; "" when it says nothing."""
    if model is None:
        return finish_answer(way.without_model(sources), sources)
    turns, sent = way.turns_of(sources, model)
    written = "".join(d.text for d in model.stream(turns, cancel) if not d.is_thinking)
    if cancel.is_set() or _NOTHING.match(written) or not written.strip():
        return "", ()
    return finish_answer(written.strip(), sent)


class _Findings:
    """What the pieces said, with their sources numbered on through the draft."""

    def __init__(self, draft: AnswerDraft) -> None:
        self._draft = draft
        self.texts: list[str] = []
        self.documents: set[str] = set()

    def add(self, piece: MapPart, said: str, sources: Sequence[SourceRef]) -> None:
        """Take what a piece said, if it said anything, with the sources that it cites."""
        cited = [source for source in sources if source.is_cited] or list(sources[:1])
        if not said or not cited:
            return
        before = len(self._draft.sources)
        numbers = {source.n: before + n for n, source in enumerate(cited, start=1)}
        # As they were sent: what is cited is found anew in the whole answer.
        fresh = (
            replace(s, n=numbers[s.n], quote="", is_cited=False, start=s.start - _lead(s),
                    end=s.start - _lead(s) + len(s.text))
            for s in cited
        )  # fmt: skip
        self._draft.sources = (*self._draft.sources, *fresh)
        said = _renumbered(said, numbers)
        if not any(True for _ in citations(said)):
            said = f"{said} [{before + 1}]"
        self.texts.append(f"**{_plain(piece.title)}:** {' '.join(said.split())}")
        self.documents.add(piece.document_id)

    def listed(self) -> str:
        """One paragraph a piece."""
        return "\n\n".join(self.texts)

    def within(self, most_tokens: int, count_tokens: CountTokens) -> str:
        """The first ones that fit."""
        kept: list[str] = []
        for text, tokens in zip(self.texts, count_tokens(self.texts), strict=True):
            most_tokens -= tokens
            if most_tokens < 0 and kept:
                break
            kept.append(text)
        return "\n".join(kept)


def _lead(source: SourceRef) -> int:
    """How far its quote stands inside of the passage."""
    return max(0, source.text.find(source.quote)) if source.quote else 0


def _renumbered(text: str, numbers: dict[int, int]) -> str:
    parts: list[str] = []
    done = 0
    for citation in citations(text):
        fresh = "".join(f"[{numbers[n]}]" for n in citation.numbers if n in numbers)
        parts += [text[done : citation.start], fresh]
        done = citation.end
    return "".join([*parts, text[done:]])


def _plain(title: str) -> str:
    """A title as Markdown that shows it literally, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", " ".join(title.split()))


def _told(
    notes: SearchNotes | None, counts: FileCounts, asked: int, total: int, called: str
) -> SearchNotes:
    notes = notes or SearchNotes()
    hints = notes.hints
    if asked < total:
        hints = (*hints, f"Only {asked:,} of {total:,} {called} were asked.")
    return replace(notes, hints=hints, files=counts)
