"""The chat to embed in pages: its files, which anybody may read, and its answers."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import cache, partial
from typing import Any, Literal

from pydantic import Field
from starlette.responses import Response
from starlette.routing import Route

from desktop_rag.core.conversation import (
    AnswerChanged,
    AnswerDone,
    AnswerEvent,
    AnswerRestated,
    AnswerStep,
    AnswerWaits,
    Message,
    SourceRef,
    SourcesFound,
    StepTaken,
    TextDelta,
    ThinkingDelta,
)
from desktop_rag.features.server.access.callers import Asked, Caller
from desktop_rag.features.server.answer_run import AnswerRun
from desktop_rag.features.server.filters.filter_chain import CallsMade
from desktop_rag.features.server.model_names import EVERYTHING
from desktop_rag.features.server.openai_api.chat_messages import GivenMessage, conversation
from desktop_rag.features.server.operations import ASK, Form, operation, operations_of, routes_of
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.responses import (
    KEEP_ALIVE,
    EventResponse,
    event,
    text_route,
    web_file,
)
from desktop_rag.features.server.serving import Serving
from desktop_rag.features.server.wire_sources import extension, source_json
from desktop_rag.features.server.worker_events import Nothing

_HEAD = """\
// The chat of desktop-rag. Its sources, with comments, are in resources/web.
(() => {
"use strict";
"""
_END = """\
globalThis.DesktopRag = { Client, init };
})();
"""
# In the order in which each uses only those before it.
_PARTS = ("client.js", "words.js", "markup.js", "style.js", "chat.js")
_IMPORT = re.compile(r"^import\s+\{[^}]*\}\s+from\s+\"\./[\w.]+\";\n", re.MULTILINE)
_COMMENT = re.compile(r"^(?:\s*(?://|/\*\*)|\s+\*(?:/| |$)).*\n", re.MULTILINE)
_INDENT = re.compile(r"^\s+", re.MULTILINE)
# Operators that stand in no text of the chat.
_SPACED = re.compile(r" (=>|[=!]==|&&|\|\||=) ")
_STYLE_FILE = re.compile(r"(?<=const STYLE=`)[^`]*")
# A blank before a colon parts two selectors.
_BLANKS = re.compile(r"\s*([{;,}])\s*|(:) ")
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)


@cache
def chat_script() -> str:
    """The chat as one file, for a `script` element or a copy on another server.

    The ES modules stand one after the other in one function, without imports, comments and
    indentation. Their lines stay as they are for a debugger.
    """
    body = "".join(_joined(web_file(name)) for name in _PARTS)
    return f"{_HEAD}{body}{_END}"


def _joined(module: str) -> str:
    for dropped in (_IMPORT, _COMMENT, _INDENT, _EXPORT):
        module = dropped.sub("", module)
    module = _SPACED.sub(r"\1", module)
    return _STYLE_FILE.sub(lambda style: _BLANKS.sub(r"\1\2", style[0]).replace(";}", "}"), module)


async def growing(run: AnswerRun) -> AsyncGenerator[bytes]:
    """All of an answer that a reader sees change; a refusal is an event too, `end` the last."""
    try:
        async with aclosing(run.events()) as events:
            async for each in events:
                told = None if isinstance(each, Nothing) else _told(each, run)
                yield event(told) if told else KEEP_ALIVE
        yield event({"type": "end"})
    except Refusal as refusal:
        told = {"type": "error", "status": refusal.status, "retry_after": refusal.retry_after_s}
        yield event(told | refusal.to_json())


def _told(each: AnswerEvent | AnswerChanged | CallsMade, run: AnswerRun) -> dict[str, Any] | None:
    """An event in the form of the wire; None for one that says nothing to a reader."""
    match each:
        case SourcesFound():
            found = [_source(source, run) for source in each.sources]
            notes = each.notes.in_words() if each.notes else ""
            return {"type": "sources", "sources": found, "notes": notes}
        case TextDelta():
            return {"type": "text", "text": each.text}
        case AnswerRestated():
            return {"type": "restated", "text": each.text}
        case ThinkingDelta():
            return {"type": "thinking"}
        case AnswerWaits(reason=said) | StepTaken(step=AnswerStep(said=said)):
            return {"type": "waiting", "reason": said}
        case AnswerDone():
            return {"type": "answer"} | _answer(each.message, run)
        case AnswerChanged():
            return {"type": "changed"} | _answer(each.message, run)
        case _:
            return None


def _source(source: SourceRef, run: AnswerRun) -> dict[str, Any]:
    return source_json(source, (), run.address, sees_paths=run.sees_paths)


def _answer(message: Message, run: AnswerRun) -> dict[str, Any]:
    fault = " ".join(part for part in (message.error_title, message.error_hint) if part)
    nearest = [_source(source, run) for source in message.nearest]
    told = {"answer_id": message.message_id, "fault": fault, "nearest": nearest,
            "may_rewrite": run.asked.caller.may_rewrite}  # fmt: skip
    return extension(message, run.address, sees_paths=run.sees_paths) | told


# Trusted types: the browser itself refuses markup made of text.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
_SCRIPT, _STYLE, _PAGE = "text/javascript", "text/css", "text/html"
_OF_PAGE = {"Content-Security-Policy": PAGE_POLICY}
# Pages of others load them; a browser asks again whether they have changed.
_FOR_OTHERS = {"Cross-Origin-Resource-Policy": "cross-origin", "Cache-Control": "no-cache"}
_MOST_TURNS = 200
_MOST_DOCUMENTS = 100


class Turn(Form):
    """An earlier turn of the conversation."""

    role: Literal["user", "assistant"]
    content: str


class ChatQuestion(Form):
    """A question of the chat. With `documents` only these are read."""

    is_strict = False
    question: str
    model: str = EVERYTHING
    history: list[Turn] = Field(default_factory=list[Turn], max_length=_MOST_TURNS)
    documents: list[str] | None = Field(default=None, max_length=_MOST_DOCUMENTS)


class WidgetRoutes:
    """Serves the chat and answers it. The server's thread."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def routes(self) -> list[Route]:
        """The files, the demo page, and what the chat asks for."""
        return [
            text_route("/chat.js", chat_script, _SCRIPT, _FOR_OTHERS),
            text_route("/client.js", partial(web_file, "client.js"), _SCRIPT, _FOR_OTHERS),
            text_route("/demo", partial(web_file, "demo.html"), _PAGE, _OF_PAGE),
            text_route("/demo.js", partial(web_file, "demo.js"), _SCRIPT),
            text_route("/demo.css", partial(web_file, "demo.css"), _STYLE),
            *routes_of(self._serving, operations_of(self)),
        ]

    @operation("GET /chat/models", ASK)
    def models(self, caller: Caller) -> dict[str, Any]:
        """List the names that can be asked."""
        names = self._serving.names.of(caller)
        return {"models": [{"id": each.name, "title": each.title} for each in names]}

    @operation("POST /chat/ask", ASK)
    def ask(self, caller: Caller, body: ChatQuestion) -> Response:
        """Answer a question, as it grows."""
        serving, asked = self._serving, self._asked(body, caller)
        run = AnswerRun(asked, serving.answers, serving.workers, serving.links)
        return EventResponse(growing(run))

    def _asked(self, read: ChatQuestion, caller: Caller) -> Asked:
        name = self._serving.names.find(read.model, caller)
        turns = [*read.history, Turn(role="user", content=read.question)]
        given = [GivenMessage(role=turn.role, content=turn.content) for turn in turns]
        messages = conversation(given, name.scope)
        setup = self._serving.names.set_up(name, caller)
        if read.documents is not None:
            only = replace(setup.reach, document_ids=tuple(read.documents))
            # Narrowed to what this caller may read, whatever the page asks for.
            setup = replace(setup, reach=caller.reach(only))
        return Asked(caller, read.model, messages, setup)
