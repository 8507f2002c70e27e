"""Asks files, or parts of one, separately and combines their answers. Worker threads.

Each finding is reported as it comes, and all are combined at the end. When the run is stopped or
the endpoint fails, the findings so far are the answer.
"""

import re
import secrets
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from threading import Event

from desktop_rag.answer.citing.citations import citations, finish_answer
from desktop_rag.answer.endpoints.helper_job import patient_stream
from desktop_rag.answer.prompting.prompt import fenced, sanitized, turns_about
from desktop_rag.answer.sources.source_headings import described
from desktop_rag.answer.sources.source_merging import CountTokens, numbered
from desktop_rag.answer.writing.answers import AnswerDraft, GrowingAnswer
from desktop_rag.answer.writing.extractive_answer import quoted
from desktop_rag.core.conversation import (
    AnswerEvent,
    AnswerWaits,
    FileAsked,
    FileCounts,
    SourceRef,
    SourcesFound,
    TextDelta,
)
from desktop_rag.core.domain import Passage
from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import Chunk
from desktop_rag.models.ports import ChatModel, ChatTurn, HeardAnswer
from desktop_rag.store.contract.documents import DocumentStore

_ROOM_SHARE = 0.5
# The word that the model was told to answer with, or a sentence of its own without a citation.
_NOTHING = re.compile(r"(?s)\W*(?:NOTHING\b|(?i:nothing)\b(?!.*\[\d))")

# Markdown that must begin a line: a list, a table, a heading, a quotation, code.
_BLOCK = re.compile(r"(?:[-*+>|#]|\d+[.)]\s|```)")


@dataclass(frozen=True, slots=True)
class MapPart:
    """A file or a part of one, asked separately. `read` gives its numbered sources, if any.

    What lies inside a file, as an attachment of a mail, is a part of it.
    """

    path: str
    title: str
    read: Callable[[], tuple[SourceRef, ...]]


# The turns that ask a model about the sources of one part, and the sources that are sent.
TurnsOf = Callable[[Sequence[SourceRef], ChatModel], tuple[list[ChatTurn], Sequence[SourceRef]]]


@dataclass(frozen=True, slots=True)
class MapReduceStyle:
    """The prompts for one kind of map-reduce answer.

    `turns_of` asks a model about one part, `without_model` answers for it without one. `combine`
    are the instructions for combining the findings; `noun` is the plural of a part. With `is_asked`
    the person asked for this, and the counts say of how many files. With `must_cite` an answer of a
    part that cites nothing counts as none. The parts are chosen from so `many_files`, 0 for all of
    them. `framed` puts words around the findings from a number of files.
    """

    turns_of: TurnsOf
    without_model: Callable[[Sequence[SourceRef]], str]
    combine: str
    noun: str = "files"
    is_asked: bool = False
    must_cite: bool = False
    many_files: int = 0
    framed: Callable[[str, int], str] = lambda listed, _files: listed


class MapReduce:
    """Divides documents into parts, in reading order, and fills a draft from parts."""

    def __init__(self, documents: DocumentStore, count_tokens: CountTokens) -> None:
        self.documents = documents
        self._count_tokens = count_tokens

    def answer(
        self,
        draft: AnswerDraft,
        parts: Sequence[MapPart],
        style: MapReduceStyle,
        model: ChatModel | None,
        cancel: Event,
        *,
        reader: ChatModel | None = None,
    ) -> Iterator[AnswerEvent]:
        """Ask all parts, of the `reader` if there is one. When none answers, there is no text.

        Yields FileAsked before each part, then SourcesFound and TextDelta. AppError when the
        endpoint fails; the draft keeps the findings so far.
        """
        findings = _Findings(draft)
        draft.sources = ()
        asked = 0
        try:
            for part in parts:
                if cancel.is_set():
                    break
                yield FileAsked(asked, len(parts), len(findings.texts), part.title)
                if sources := part.read():
                    asking = _ask_part(style, sources, reader or model, cancel)
                    findings.add(part, *(yield from asking))
                asked += 1
            yield SourcesFound(draft.sources, draft.notes)
            if model and len(findings.texts) > 1 and not cancel.is_set():
                yield from self._combined(draft, findings, style.combine, model, cancel)
        finally:
            # Also when the endpoint failed: the findings so far are not lost.
            listed = "\n\n".join(findings.texts)
            if listed:
                listed = style.framed(listed, len(findings.files))
                draft.nearest = ()
                draft.model, draft.is_excerpts = (model.name, False) if model else ("", True)
            draft.text += listed
            read = {part.path for part in parts[:asked]}
            many = style.many_files or files_of(parts)
            counts = (
                FileCounts(len(findings.files), len(read), files_of(parts))
                if style.is_asked
                else FileCounts(many, len(read))
            )
            is_cut = asked < len(parts) and not counts.total
            hints = [_only_asked(asked, len(parts), style.noun)] if is_cut else []
            draft.note(*hints, files=counts)
        yield TextDelta(listed)

    def _combined(
        self,
        draft: AnswerDraft,
        findings: "_Findings",
        instructions: str,
        model: ChatModel,
        cancel: Event,
    ) -> Iterator[AnswerEvent]:
        fence = secrets.token_hex(8)
        room = int(model.context_tokens * _ROOM_SHARE)
        data = fenced("found", findings.within(room, self._count_tokens), fence)
        asked = f"{data}\n\nQuestion: {sanitized(draft.asked, fence)}"
        turns = [ChatTurn("system", instructions), ChatTurn("user", asked)]
        growing = GrowingAnswer(draft)
        with closing(patient_stream(model, turns, cancel)) as deltas:
            for delta in deltas:
                yield from growing.add(delta)
        yield from growing.finish()
        if draft.text.strip():
            draft.text += "\n\n"
            yield TextDelta("\n\n")

    def parts_of(self, document: Passage, room: int) -> list[MapPart]:
        """The whole document, given by its first passage, in parts of up to `room` tokens."""
        parts: list[list[Chunk]] = [[]]
        left = room
        for chunk, tokens in self.measured(document):
            if tokens > left and parts[-1]:
                parts.append([])
                left = room
            parts[-1].append(chunk)
            left -= tokens
        read = partial(part_sources, document)
        # The place where a part begins is its title.
        return [
            MapPart(document.path, part[0].anchor.label() or document.title, partial(read, part))
            for part in parts
            if part
        ]

    def measured(self, document: Passage) -> list[tuple[Chunk, int]]:
        """The chunks of a document with their numbers of tokens."""
        chunks = self.documents.chunks(document.document_id)
        tokens = self._count_tokens([chunk.text for chunk in chunks])
        return list(zip(chunks, tokens, strict=True))


def _ask_part(
    style: MapReduceStyle, sources: Sequence[SourceRef], model: ChatModel | None, cancel: Event
) -> Generator[AnswerEvent, None, tuple[str, tuple[SourceRef, ...]]]:
    """The answer of one part, with its sources and citations checked; "" when it has nothing."""
    if model is None:
        return finish_answer(style.without_model(sources), sources)
    turns, sent = style.turns_of(sources, model)
    heard = HeardAnswer()
    with closing(patient_stream(model, turns, cancel)) as deltas:
        for delta in deltas:
            heard.add(delta)
            if delta.status:
                yield AnswerWaits(delta.status)
    written = heard.text
    if cancel.is_set() or _NOTHING.match(written) or not written.strip():
        return "", ()
    text, cited = finish_answer(written.strip(), sent)
    return ("", ()) if style.must_cite and not any(s.is_cited for s in cited) else (text, cited)


class _Findings:
    """The answers of the parts, their sources numbered consecutively in the draft."""

    def __init__(self, draft: AnswerDraft) -> None:
        self._draft = draft
        self.texts: list[str] = []
        self.files: set[str] = set()

    def add(self, part: MapPart, text: str, sources: Sequence[SourceRef]) -> None:
        """Add the answer of a part, if any, with the sources that it cites."""
        cited = [source for source in sources if source.is_cited] or list(sources[:1])
        if not text or not cited:
            return
        before = len(self._draft.sources)
        numbers = {source.n: before + n for n, source in enumerate(cited, start=1)}
        # Whole passages again: the quotes are located once more in the whole answer.
        fresh = (
            replace(s, n=numbers[s.n], quote="", is_cited=False, start=s.start - _quote_offset(s),
                    end=s.start - _quote_offset(s) + len(s.text))
            for s in cited
        )  # fmt: skip
        self._draft.sources = (*self._draft.sources, *fresh)
        text = _renumbered(text, numbers)
        if not any(True for _ in citations(text)):
            text = f"{text} [{before + 1}]"
        self.texts.append(_titled(quoted(" ".join(part.title.split())), text.strip()))
        self.files.add(part.path)

    def within(self, most_tokens: int, count_tokens: CountTokens) -> str:
        kept: list[str] = []
        for text, tokens in zip(self.texts, count_tokens(self.texts), strict=True):
            most_tokens -= tokens
            if most_tokens < 0 and kept:
                break
            kept.append(text)
        return "\n\n".join(kept)


def _titled(title: str, text: str) -> str:
    """A finding below or behind its title; lists and tables keep their lines."""
    is_line = "\n" not in text and not _BLOCK.match(text)
    return f"**{title}:** {text}" if is_line else f"**{title}**\n\n{text}"


def _quote_offset(source: SourceRef) -> int:
    return max(0, source.text.find(source.quote)) if source.quote else 0


def _renumbered(text: str, numbers: dict[int, int]) -> str:
    parts: list[str] = []
    done = 0
    for citation in citations(text):
        fresh = "".join(f"[{numbers[n]}]" for n in citation.numbers if n in numbers)
        parts += [text[done : citation.start], fresh]
        done = citation.end
    return "".join([*parts, text[done:]])


def files_of(parts: Sequence[MapPart]) -> int:
    """The number of files that these are, or are parts of."""
    return len({part.path for part in parts})


def _only_asked(asked: int, total: int, noun: str) -> str:
    if noun == "files":
        return tr("Only {asked:,} of {total:,} files were asked.", asked=asked, total=total)
    return tr("Only {asked:,} of {total:,} parts were asked.", asked=asked, total=total)


# At most half of the context, and no more than this: models overlook the middle of long texts.
_MOST_PART_TOKENS = 3_000
_PART_SHARE = 0.5


def part_tokens(model: ChatModel | None) -> int:
    """The tokens of a part for this model."""
    room = int(model.context_tokens * _PART_SHARE) if model else _MOST_PART_TOKENS
    return min(room, _MOST_PART_TOKENS)


def part_sources(document: Passage, chunks: Sequence[Chunk]) -> tuple[SourceRef, ...]:
    """The chunks of a document as numbered sources."""
    return numbered(
        [
            Passage(
                chunk.position, document.document_id, document.path, document.title, chunk.text,
                chunk.anchor, chunk.start, chunk.end, 1.0, document.part, document.url,
            )
            for chunk in chunks
        ]
    )  # fmt: skip


def turns_of_part(
    documents: DocumentStore,
    question: str,
    rules: str,
    sources: Sequence[SourceRef],
    _model: ChatModel,
) -> tuple[list[ChatTurn], Sequence[SourceRef]]:
    """All sources of a part: nothing is left out to make room, as parts are cut to fit."""
    fence = secrets.token_hex(8)
    told = described(documents, sources)
    return turns_about(sources, sanitized(question, fence), rules, fence, told), sources
