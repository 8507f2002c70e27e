"""The routes of the chat to embed: its files, which anybody may read, and what it asks for.

The server's thread.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from desktop_rag.serve.access.access_tokens import TokenScope
from desktop_rag.serve.access.callers import Caller
from desktop_rag.serve.answer_run import AnswerRun
from desktop_rag.serve.asked import Asked
from desktop_rag.serve.model_names import EVERYTHING
from desktop_rag.serve.openai_api.chat_messages import GivenMessage, conversation
from desktop_rag.serve.openai_api.parameters import checked
from desktop_rag.serve.openai_api.routes import body_of
from desktop_rag.serve.responses import EventResponse
from desktop_rag.serve.serving import Serving
from desktop_rag.serve.widget.growing_answers import growing
from desktop_rag.serve.widget.web_files import chat_script, web_file

# Trusted types: the browser itself refuses markup made of text.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
_SCRIPT, _STYLE, _PAGE = "text/javascript", "text/css", "text/html"
_OF_PAGE = {"Content-Security-Policy": _POLICY}
# Pages of others load them; a browser asks again whether they have changed.
_FOR_OTHERS = {"Cross-Origin-Resource-Policy": "cross-origin", "Cache-Control": "no-cache"}
_MOST_TURNS = 200
_MOST_DOCUMENTS = 100


class Turn(BaseModel):
    """An earlier turn of the conversation."""

    model_config = ConfigDict(extra="forbid")
    role: Literal["user", "assistant"]
    content: str


class ChatQuestion(BaseModel):
    """A question of the chat. With `documents` only these are read."""

    model_config = ConfigDict(extra="forbid")
    question: str
    model: str = EVERYTHING
    history: list[Turn] = Field(default_factory=list[Turn], max_length=_MOST_TURNS)
    documents: list[str] | None = Field(default=None, max_length=_MOST_DOCUMENTS)


class WidgetRoutes:
    """Serves the chat and answers it."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def routes(self) -> list[Route]:
        """The files, the demo page, and what the chat asks for."""
        return [
            Route("/chat.js", _file(chat_script, _SCRIPT, _FOR_OTHERS), methods=["GET"]),
            Route("/client.js", _file(_text("client.js"), _SCRIPT, _FOR_OTHERS), methods=["GET"]),
            Route("/demo", _file(_text("demo.html"), _PAGE, _OF_PAGE), methods=["GET"]),
            Route("/demo.js", _file(_text("demo.js"), _SCRIPT), methods=["GET"]),
            Route("/demo.css", _file(_text("demo.css"), _STYLE), methods=["GET"]),
            Route("/chat/models", self._models, methods=["GET"]),
            Route("/chat/ask", self._ask, methods=["POST"]),
        ]

    async def _models(self, request: Request) -> Response:
        caller = await self._serving.caller(request, TokenScope.ASK)
        names = await self._serving.workers.call(partial(self._serving.names.of, caller))
        return JSONResponse({"models": [{"id": each.name, "title": each.title} for each in names]})

    async def _ask(self, request: Request) -> Response:
        caller = await self._serving.caller(request, TokenScope.ASK)
        read = checked(await body_of(request), ChatQuestion)
        serving = self._serving
        asked = await serving.workers.call(partial(self._asked, read, caller))
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


def _text(name: str) -> Callable[[], str]:
    return partial(web_file, name)


def _file(
    read: Callable[[], str], media_type: str, headers: dict[str, str] | None = None
) -> Callable[[Request], Response]:
    def send(_request: Request) -> Response:
        return Response(read(), media_type=media_type, headers=headers)

    return send
