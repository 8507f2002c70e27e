"""The routes of OpenAI's APIs. The server's thread."""

import json
from functools import partial
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from desktop_rag.core.assistant import Assistant
from desktop_rag.serve.access.access_tokens import TokenScope
from desktop_rag.serve.access.callers import Caller
from desktop_rag.serve.answer_run import AnswerRun
from desktop_rag.serve.asked import Asked, with_instructions
from desktop_rag.serve.openai_api.chat_completions import ChatCompletion, ChatRequest
from desktop_rag.serve.openai_api.chat_messages import (
    GivenMessage,
    conversation,
    has_earlier_images,
    images_of_question,
    instructions_in,
)
from desktop_rag.serve.openai_api.embeddings import EmbeddingRequest, embeddings, model_name
from desktop_rag.serve.openai_api.guardrails import Guardrails, guarded, named_rails
from desktop_rag.serve.openai_api.parameters import CHAT, EMBEDDINGS, RESPONSES
from desktop_rag.serve.openai_api.responses_api import ResponseMaker, ResponseRequest
from desktop_rag.serve.refusals import Refusal
from desktop_rag.serve.responses import EventResponse
from desktop_rag.serve.serving import Serving
from desktop_rag.serve.waiting_for_end import ended_with_client

# With `list` the cited sources end the text, for clients that show nothing else; with `none` they
# don't, whatever the token says.
SOURCES_HEADER = "x-desktop-rag-sources"
# Nobody reads the answer to a client that has left.
_CLIENT_LEFT = 499


class OpenAIRoutes:
    """Answers requests of OpenAI's APIs."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def routes(self) -> list[Route]:
        """All routes below `/v1`."""
        return [
            Route("/v1/models", self._models, methods=["GET"]),
            Route("/v1/models/{name:path}", self._model, methods=["GET"]),
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1/rails/configs", self._rails, methods=["GET"]),
            Route("/v1/responses", self._responses, methods=["POST"]),
            Route("/v1/embeddings", self._embeddings, methods=["POST"]),
        ]

    async def _models(self, request: Request) -> Response:
        caller = await self._serving.caller(request, TokenScope.ASK)
        names = await self._serving.workers.call(partial(self._serving.names.of, caller))
        embedder = self._serving.embedder
        listed = [_model_json(name.name, name.title) for name in names]
        if embedder and not caller.token.collection_ids:
            listed.append(_model_json(model_name(embedder), "Embeddings"))
        return JSONResponse({"object": "list", "data": listed})

    async def _model(self, request: Request) -> Response:
        caller = await self._serving.caller(request, TokenScope.ASK)
        wanted = request.path_params["name"]
        find = partial(self._serving.names.find, wanted, caller)
        found = await self._serving.workers.call(find)
        return JSONResponse(_model_json(found.name, found.title))

    async def _rails(self, request: Request) -> Response:
        caller = await self._serving.caller(request, TokenScope.ASK)
        assistants = await self._serving.workers.call(partial(self._assistants, caller))
        return JSONResponse([{"id": name} for name in named_rails(assistants)])

    async def _chat(self, request: Request) -> Response:
        caller = await self._serving.caller(request, TokenScope.ASK)
        read, ignored = CHAT.read(await body_of(request), ChatRequest)
        make = partial(self._asked, read.model, read.messages, caller, read.guardrails)
        run = self._run(await self._serving.workers.call(make), request, is_streamed=read.stream)
        completion = ChatCompletion(run, read.model, ignored + _unsent(read.messages))
        if read.stream:
            return EventResponse(completion.chunks(read.stream_options))
        whole = await ended_with_client(completion.whole(), request.receive)
        return JSONResponse(whole) if whole else Response(status_code=_CLIENT_LEFT)

    async def _responses(self, request: Request) -> Response:
        caller = await self._serving.caller(request, TokenScope.ASK)
        read, ignored = RESPONSES.read(await body_of(request), ResponseRequest)
        make = partial(self._asked, read.model, read.messages(), caller)
        run = self._run(await self._serving.workers.call(make), request, is_streamed=read.stream)
        ignored += _unsent(read.messages())
        maker = ResponseMaker(run, read.model, ignored, read.instructions)
        if read.stream:
            return EventResponse(maker.events())
        whole = await ended_with_client(maker.whole(), request.receive)
        return JSONResponse(whole) if whole else Response(status_code=_CLIENT_LEFT)

    async def _embeddings(self, request: Request) -> Response:
        await self._serving.caller(request, TokenScope.ASK)
        read, _ = EMBEDDINGS.read(await body_of(request), EmbeddingRequest)
        embedder = self._serving.embedder
        if embedder is None:
            raise Refusal(503, "There is no embedding model.")
        return JSONResponse(await self._serving.workers.call(partial(embeddings, read, embedder)))

    def _asked(
        self,
        model: str,
        given: list[GivenMessage],
        caller: Caller,
        guardrails: Guardrails | None = None,
    ) -> Asked:
        name = self._serving.names.find(model, caller)
        messages = conversation(given, name.scope)
        setup = self._serving.names.set_up(name, caller)
        if guardrails:
            setup = guarded(setup, guardrails, self._assistants(caller))
        instructed = with_instructions(setup, instructions_in(given))
        return Asked(caller, model, messages, instructed, images_of_question(given))

    def _assistants(self, caller: Caller) -> list[Assistant]:
        """Those that the caller may ask."""
        ids = {name.assistant_id for name in self._serving.names.of(caller)}
        every = self._serving.chat.assistants.all()
        return [assistant for assistant in every if assistant.assistant_id in ids]

    def _run(self, asked: Asked, request: Request, *, is_streamed: bool) -> AnswerRun:
        serving = self._serving
        said = request.headers.get(SOURCES_HEADER, "").lower()
        appends = said == "list" or (asked.caller.token.lists_sources and said != "none")
        return AnswerRun(
            asked, serving.answers, serving.workers, serving.links,
            appends_sources=appends, is_streamed=is_streamed,
        )  # fmt: skip


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object in the body; refuses anything else."""
    try:
        content = json.loads(await request.body())
    except (ValueError, RecursionError) as exc:
        raise Refusal(400, "The body is not valid JSON.") from exc
    if not isinstance(content, dict):
        raise Refusal(400, "The body is not a JSON object.")
    return cast("dict[str, Any]", content)


def _unsent(messages: list[GivenMessage]) -> list[str]:
    return ["images of earlier messages"] if has_earlier_images(messages) else []


def _model_json(name: str, title: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "desktop-rag", "name": title}
