"""One answer on its way to a client, in the terms of every API. The server's thread."""

import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from desktop_rag.core.conversation import (
    AnswerChanged,
    AnswerDone,
    AnswerEvent,
    AnswerRestated,
    Message,
    SourceRef,
    StepTaken,
    TextDelta,
)
from desktop_rag.core.markup.inert_markdown import inert
from desktop_rag.features.server.access.callers import Asked
from desktop_rag.features.server.filters.filter_chain import CallsMade
from desktop_rag.features.server.program_answers import Answers, failure
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.serving import SourceLinks
from desktop_rag.features.server.wire_sources import Citation, citations, markdown_list
from desktop_rag.features.server.worker_events import Nothing, Workers
from desktop_rag.models.ports import ToolCall

# Clients and proxies give up a connection that stays silent.
_SILENCE_S = 10.0


@dataclass(frozen=True, slots=True)
class TextPiece:
    """More of the text; "" when there is none yet and the answer goes on, or a `step` was taken."""

    text: str
    step: str = ""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """The finished answer, the text that was sent, the citations in it, and calls of tools."""

    message: Message
    text: str
    citations: tuple[Citation, ...]
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerRun:
    """Answers a question for a client. With `appends_sources` a list of them ends the text."""

    asked: Asked
    answers: Answers
    workers: Workers
    links: SourceLinks
    appends_sources: bool = False
    is_streamed: bool = False

    @property
    def sees_paths(self) -> bool:
        """True when the caller sees the paths of files."""
        return self.asked.caller.sees_paths

    def address(self, source: SourceRef) -> str:
        """The address on this server that shows a source."""
        return self.links.link(self.asked.caller, source.document_id, source.start, source.end)

    async def events(self) -> AsyncGenerator[AnswerEvent | AnswerChanged | CallsMade | Nothing]:
        """All that happens, as it comes; closing the generator cancels the answer."""
        make = partial(self.answers.events, self.asked)
        whole = self.workers.events(make, silence_s=_SILENCE_S, joined=_one_delta)
        async with aclosing(whole) as events:
            async for each in events:
                yield each

    async def pieces(self) -> AsyncGenerator[TextPiece | FinishedRun]:
        """The text as it comes, then the finished answer; closing cancels. Refuses a failed one."""
        sent: list[str] = []
        # The answer as the window would show it now: it can take back what was sent here.
        shown = ""
        message: Message | None = None
        calls: tuple[ToolCall, ...] = ()
        said_at = time.monotonic()
        async with aclosing(self.events()) as events:
            async for each in events:
                if isinstance(each, TextDelta | AnswerRestated):
                    shown, news = grown(shown, each)
                    sent.append(news)
                    yield TextPiece(news)
                elif isinstance(each, AnswerDone | AnswerChanged):
                    if refusal := failure(each):
                        raise refusal
                    message = each.message
                    if not sent and message.text:
                        sent.append(message.text)
                        yield TextPiece(message.text)
                elif isinstance(each, CallsMade):
                    calls = each.calls
                elif piece := _between(each, said_at):
                    yield piece
                else:
                    continue
                said_at = time.monotonic()
        if message is None:
            raise Refusal(503, "The server is ending.")
        for piece in self._end(message, "".join(sent)):
            yield replace(piece, calls=calls) if isinstance(piece, FinishedRun) else piece

    async def finished(self) -> FinishedRun:
        """The finished answer, for a response in one piece. Refuses when it failed."""
        async with aclosing(self.pieces()) as pieces:
            async for piece in pieces:
                if isinstance(piece, FinishedRun):
                    return piece
        raise AssertionError("every run ends with its message")

    def _end(self, message: Message, sent: str) -> Iterator[TextPiece | FinishedRun]:
        # What was streamed can't be taken back; a whole response has the text as it is stored.
        text = sent if self.is_streamed else message.text
        appended = markdown_list(message.sources, self.address) if self.appends_sources else ""
        if appended:
            yield TextPiece(appended)
        found = citations(text, [source for source in message.sources if source.is_cited])
        yield FinishedRun(message, text + appended, tuple(found))


def _one_delta(first: object, second: object) -> TextDelta | None:
    if isinstance(first, TextDelta) and isinstance(second, TextDelta):
        return TextDelta(first.text + second.text)
    return None


def grown(shown: str, event: TextDelta | AnswerRestated) -> tuple[str, str]:
    """The answer after an event, and what a client has not got of it, so that nothing is lost."""
    if isinstance(event, TextDelta):
        return shown + event.text, event.text
    same = 0
    while event.text[same : same + 1] and event.text[same] == shown[same : same + 1]:
        same += 1
    # Another answer, such as a refusal in place of what was shown, is a paragraph of its own.
    if event.text and 2 * same < min(len(shown), len(event.text)):
        return event.text, f"\n\n{event.text}"
    return event.text, event.text[same:]


def _between(each: AnswerEvent | Nothing, said_at: float) -> TextPiece | None:
    """A piece without text, None while the client was told something lately: thoughts are many.

    A step quotes what the model asked for, so it is made inert.
    """
    if isinstance(each, StepTaken):
        return TextPiece("", inert(each.step.said))
    is_silent = isinstance(each, Nothing) or time.monotonic() - said_at >= _SILENCE_S
    return TextPiece("") if is_silent else None
