"""An answer as it grows, for the chat in a page: everything that its reader can see change.

The server's thread. Other programs get the finished answer at once, in OpenAI's form; a chat shows
the sources before the text, and the text before its check.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from desktop_rag.core.conversation import (
    AnswerChanged,
    AnswerDone,
    AnswerEvent,
    AnswerRestated,
    AnswerWaits,
    Message,
    SourcesFound,
    TextDelta,
    ThinkingDelta,
)
from desktop_rag.serve.answer_run import AnswerRun
from desktop_rag.serve.refusals import Refusal
from desktop_rag.serve.responses import KEEP_ALIVE, event
from desktop_rag.serve.wire_sources import extension, source_json
from desktop_rag.serve.worker_events import Nothing


async def growing(run: AnswerRun) -> AsyncGenerator[bytes]:
    """The events of an answer; a refusal is one too. `end` is the last of a whole stream."""
    try:
        async with aclosing(run.events()) as events:
            async for each in events:
                told = None if isinstance(each, Nothing) else _told(each, run)
                yield event(told) if told else KEEP_ALIVE
        yield event({"type": "end"})
    except Refusal as refusal:
        told = {"type": "error", "status": refusal.status, "retry_after": refusal.retry_after_s}
        yield event(told | refusal.to_json())


def _told(each: AnswerEvent | AnswerChanged, run: AnswerRun) -> dict[str, Any] | None:
    """An event in the form of the wire; None for one that says nothing to a reader."""
    match each:
        case SourcesFound():
            found = [source_json(source, (), run.address) for source in each.sources]
            notes = each.notes.in_words() if each.notes else ""
            return {"type": "sources", "sources": found, "notes": notes}
        case TextDelta():
            return {"type": "text", "text": each.text}
        case AnswerRestated():
            return {"type": "restated", "text": each.text}
        case ThinkingDelta():
            return {"type": "thinking"}
        case AnswerWaits():
            return {"type": "waiting", "reason": each.reason}
        case AnswerDone():
            return {"type": "answer"} | _answer(each.message, run)
        case AnswerChanged():
            return {"type": "changed"} | _answer(each.message, run)
        case _:
            return None


def _answer(message: Message, run: AnswerRun) -> dict[str, Any]:
    fault = " ".join(part for part in (message.error_title, message.error_hint) if part)
    nearest = [source_json(source, (), run.address) for source in message.nearest]
    told = {"answer_id": message.message_id, "fault": fault, "nearest": nearest}
    return extension(message, run.address) | told
