"""OpenAI's APIs: chat completions, responses, embeddings, models and rails. The server's thread."""

import base64
import time
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Message
from desktop_rag.core.errors import AppError
from desktop_rag.core.question import Setup
from desktop_rag.features.rails.assistants.rail_names import BUILT_IN, folder_of, is_built_in
from desktop_rag.features.server.access.callers import Asked, Caller, PassedOn, with_instructions
from desktop_rag.features.server.answer_run import AnswerRun, FinishedRun
from desktop_rag.features.server.model_names import ModelName, free_name, slug_of
from desktop_rag.features.server.openai_api.chat_messages import (
    GivenMessage,
    GivenTool,
    Neutral,
    Parameters,
    ToolChoice,
    conversation,
    has_earlier_images,
    images_of_question,
    instructions_in,
    passed_on,
)
from desktop_rag.features.server.openai_api.responses_api import (
    RecentResponses,
    ResponseMaker,
    ResponseRequest,
    TextFormat,
    estimated_tokens,
)
from desktop_rag.features.server.operations import ASK, operation
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.responses import KEEP_ALIVE, LAST_EVENT, event
from desktop_rag.features.server.serving import Serving
from desktop_rag.features.server.wire_sources import annotations, extension, nested
from desktop_rag.models.ports import Embedder


class Guardrails(BaseModel):
    """The rails that a request asks for: a set of the app, or the folder of an assistant."""

    model_config = ConfigDict(extra="forbid")
    config_id: str


def named_rails(assistants: Sequence[Assistant]) -> dict[str, str]:
    """The rails that a request may name: the app's sets, then the folders of these assistants."""
    named = {known.name: known.name for known in BUILT_IN}
    folders = dict.fromkeys(a.rails for a in assistants if a.rails and not is_built_in(a.rails))
    for rails in folders:
        try:
            name = free_name(slug_of(folder_of(rails).name), {*named})
        except AppError:
            continue
        named[name] = rails
    return named


def guarded(setup: Setup, wanted: Guardrails, assistants: Sequence[Assistant]) -> Setup:
    """The setup with the rails of the request; refuses unknown ones, and to replace others."""
    rails = named_rails(assistants).get(wanted.config_id)
    if rails is None:
        said = f"There are no rails “{wanted.config_id}”. /v1/rails/configs has those there are."
        raise Refusal(404, said, param="guardrails.config_id", code="config_not_found")
    assistant = setup.assistant or Assistant("", "", uses_memory=False)
    if assistant.rails not in ("", rails):
        said = "This model has rails of its own, which a request can't replace."
        raise Refusal(422, said, param="guardrails.config_id")
    return replace(setup, assistant=replace(assistant, rails=rails))


_MOST_TEXTS = 2_048
_BATCH = 16


class EmbeddingRequest(Parameters):
    """The parameters of `/v1/embeddings` that are used."""

    without_effect = frozenset({"user"})
    model: str
    input: str | list[str] | list[int] | list[list[int]]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None


def model_name(embedder: Embedder) -> str:
    """The name of the model without the mark of its weights."""
    return embedder.name.partition("@")[0].partition("#")[0]


def embeddings(request: EmbeddingRequest, embedder: Embedder) -> dict[str, Any]:
    """The vectors of all texts in their order. Refuses what the model can't do.

    Fewer `dimensions` are the first ones, as OpenAI's models have them, again of length 1.
    """
    given = [request.input] if isinstance(request.input, str) else request.input
    texts = [text for text in given if isinstance(text, str)]
    if len(texts) < len(given):
        said = (
            "Token ids are those of another model: send texts (check_embedding_ctx_length=False)."
        )
        raise Refusal(400, said, param="input", code="unsupported_content")
    if request.model not in (model_name(embedder), embedder.name):
        said = f"There is no embedding model “{request.model}”; this is {model_name(embedder)}."
        raise Refusal(404, said, param="model", code="model_not_found")
    dimensions = embedder.dimensions if request.dimensions is None else request.dimensions
    if not 1 <= dimensions <= embedder.dimensions:
        said = f"The vectors have 1 to {embedder.dimensions} numbers."
        raise Refusal(400, said, param="dimensions", code="unsupported_parameter")
    if not texts or len(texts) > _MOST_TEXTS or not all(texts):
        raise Refusal(400, f"1 to {_MOST_TEXTS} texts, none empty.", param="input")
    vectors = np.concatenate(
        [embedder.embed_passages(texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH)]
    )
    if dimensions < embedder.dimensions:
        vectors = vectors[:, :dimensions]
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    tokens = sum(embedder.count_tokens(texts))
    return {
        "object": "list",
        "model": request.model,
        "data": [
            {"object": "embedding", "index": index, "embedding": _encoded(vector, request)}
            for index, vector in enumerate(vectors.astype("<f4"))
        ],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _encoded(vector: Any, request: EmbeddingRequest) -> Any:  # noqa: ANN401  one row of an array
    if request.encoding_format == "base64":
        return base64.b64encode(vector.tobytes()).decode()
    return vector.tolist()


class StreamOptions(BaseModel):
    """Options of a stream. The tokens of `include_usage` are estimated."""

    model_config = ConfigDict(extra="forbid")
    include_usage: bool = False
    include_obfuscation: bool = False


class ResponseFormat(BaseModel):
    """The format of an answer without documents, its schema in a field of its own."""

    model_config = ConfigDict(extra="forbid")
    type: Literal["text", "json_object", "json_schema"]
    json_schema: TextFormat = TextFormat()

    @property
    def schema_of_answer(self) -> dict[str, Any] | None:
        """The JSON Schema, None for text."""
        return None if self.type == "text" else self.json_schema.of


class ChatRequest(Parameters):
    """The parameters of `/v1/chat/completions` that are used."""

    neutral: ClassVar[Neutral] = {
        "audio": (),
        "function_call": ("none", "auto"),
        "functions": ([],),
        "logit_bias": ({},),
        "logprobs": (False,),
        "modalities": (["text"],),
        "n": (1,),
        "parallel_tool_calls": (True, False),
        "prediction": (),
        "store": (False,),
        "top_logprobs": (0,),
        "web_search_options": ({},),
    }
    model: str
    messages: list[GivenMessage]
    stream: bool = False
    stream_options: StreamOptions | None = None
    guardrails: Guardrails | None = None
    response_format: ResponseFormat | None = None
    tools: list[GivenTool] | None = None
    tool_choice: ToolChoice | None = None


@dataclass(frozen=True, slots=True)
class ChatCompletion:
    """The response to one request, whole or in chunks.

    The last chunk has the sources as `desktop_rag`, a delta before it as `annotations`.
    """

    kind: ClassVar[str] = "chat.completion"
    kind_of_chunk: ClassVar[str] = "chat.completion.chunk"
    run: AnswerRun
    ignored: list[str]
    options: StreamOptions | None = None
    completion_id: str = field(default_factory=lambda: f"chatcmpl-{uuid.uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    async def whole(self) -> dict[str, Any]:
        """The answer in one piece; refuses when it failed."""
        finished = await self.run.finished()
        message = {
            "role": "assistant",
            "content": finished.text,
            "refusal": None,
            "annotations": [nested(each) for each in self._annotations(finished)],
        }
        if finished.calls:
            message |= {"content": finished.text or None, "tool_calls": _called(finished)}
        return self._head() | {
            "object": self.kind,
            "choices": [self._choice("message", message, _reason(finished))],
            "usage": self._usage(finished),
            "desktop_rag": self._extension(finished.message),
        }

    async def events(self) -> AsyncGenerator[bytes]:
        """The answer as server-sent events; a failure is an event of its own, then the end."""
        yield self._chunk({"role": "assistant", "content": ""})
        try:
            async with aclosing(self.run.pieces()) as pieces:
                async for piece in pieces:
                    if isinstance(piece, FinishedRun):
                        for chunk in self._last_chunks(piece):
                            yield chunk
                    elif piece.step:
                        yield self._chunk({"reasoning_content": f"{piece.step}\n"})
                    else:
                        yield self._chunk({"content": piece.text}) if piece.text else KEEP_ALIVE
        except Refusal as refusal:
            yield event(refusal.to_json())
        yield LAST_EVENT

    def _last_chunks(self, finished: FinishedRun) -> list[bytes]:
        found = [nested(each) for each in self._annotations(finished)]
        chunks = [self._chunk({"annotations": found})] if found else []
        calls = [{"index": n} | call for n, call in enumerate(_called(finished))]
        chunks += [self._chunk({"tool_calls": calls})] if calls else []
        extra = {"desktop_rag": self._extension(finished.message)}
        chunks.append(self._chunk({}, _reason(finished), extra))
        if self.options and self.options.include_usage:
            usage = {"usage": self._usage(finished)}
            chunks.append(event(self._head() | {"choices": []} | usage))
        return chunks

    def _usage(self, finished: FinishedRun) -> dict[str, int]:
        given, answered = estimated_tokens(self.run, finished.text)
        whole = given + answered
        return {"prompt_tokens": given, "completion_tokens": answered, "total_tokens": whole}

    def _annotations(self, finished: FinishedRun) -> list[dict[str, Any]]:
        return annotations(finished.citations, self.run.address)

    def _extension(self, message: Message) -> dict[str, Any]:
        told = extension(message, self.run.address, sees_paths=self.run.sees_paths)
        return told | {"ignored": self.ignored}

    def _chunk(
        self, delta: dict[str, Any], reason: str | None = None, extra: dict[str, Any] | None = None
    ) -> bytes:
        choices = {"choices": [self._choice("delta", delta, reason)]}
        return event(self._head() | choices | (extra or {}))

    def _choice(self, name: str, said: dict[str, Any], reason: str | None) -> dict[str, Any]:
        return {"index": 0, name: said, "finish_reason": reason, "logprobs": None}

    def _head(self) -> dict[str, Any]:
        return {
            "id": self.completion_id,
            "object": self.kind_of_chunk,
            "created": self.created,
            "model": self.run.asked.model,
        }


def _reason(finished: FinishedRun) -> str:
    return "tool_calls" if finished.calls else "stop"


def _called(finished: FinishedRun) -> list[dict[str, Any]]:
    return [
        {
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in finished.calls
    ]


class CompletionRequest(Parameters):
    """The parameters of `/v1/completions` that are used."""

    neutral: ClassVar[Neutral] = {
        "best_of": (1,),
        "echo": (False,),
        "logit_bias": ({},),
        "logprobs": (),
        "n": (1,),
        "suffix": ("",),
    }
    model: str
    prompt: str | list[str]
    stream: bool = False
    stream_options: StreamOptions | None = None

    def messages(self) -> list[GivenMessage]:
        """The prompt as a question; refuses several."""
        prompts = [self.prompt] if isinstance(self.prompt, str) else self.prompt
        if len(prompts) != 1:
            raise Refusal(400, "One prompt is answered.", param="prompt", code="invalid_field")
        return [GivenMessage(role="user", content=prompts[0])]


class TextCompletion(ChatCompletion):
    """The response to a request of the API before chat completions, with the text alone."""

    kind = kind_of_chunk = "text_completion"

    def _choice(self, name: str, said: dict[str, Any], reason: str | None) -> dict[str, Any]:
        text = said.get("content", "")
        return {"index": 0, "text": text, "finish_reason": reason, "logprobs": None}


# With `list` the cited sources end the text, for clients that show nothing else; with `none` they
# don't, whatever the token says.
SOURCES_HEADER = "x-desktop-rag-sources"


class OpenAICalls:
    """Answers requests of OpenAI's APIs."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._recent = RecentResponses()

    @operation("GET /v1/models", ASK)
    def models(self, caller: Caller) -> dict[str, Any]:
        """List the names that can be asked, and the embedding model."""
        embedder = self._serving.embedder
        listed = [_model_json(name.name, name.title) for name in self._serving.names.of(caller)]
        if embedder and not caller.token.collection_ids:
            listed.append(_model_json(model_name(embedder), "Embeddings"))
        return {"object": "list", "data": listed}

    @operation("GET /v1/models/{name:path}", ASK)
    def model(self, caller: Caller, name: str) -> dict[str, Any]:
        """Show a name that can be asked."""
        found = self._serving.names.find(name, caller)
        return _model_json(found.name, found.title)

    @operation("POST /v1/chat/completions", ASK)
    def chat(self, caller: Caller, body: ChatRequest) -> ChatCompletion:
        """Answer the last message of a chat."""
        wanted = body.response_format
        schema = wanted.schema_of_answer if wanted else None
        passed = passed_on(body.messages, body.tools or (), body.tool_choice)
        asked = self._asked(body.model, body.messages, caller, body.guardrails, schema, passed)
        run = self._run(asked, is_streamed=body.stream)
        return ChatCompletion(run, body.ignored + _unsent(body.messages), body.stream_options)

    @operation("POST /v1/completions", ASK)
    def completions(self, caller: Caller, body: CompletionRequest) -> TextCompletion:
        """Answer a prompt."""
        asked = self._asked(body.model, body.messages(), caller)
        run = self._run(asked, is_streamed=body.stream)
        return TextCompletion(run, body.ignored, body.stream_options)

    @operation("GET /v1/rails/configs", ASK)
    def rails(self, caller: Caller) -> list[dict[str, str]]:
        """List the rails that a request may name."""
        return [{"id": name} for name in named_rails(self._assistants(caller))]

    @operation("POST /v1/responses", ASK)
    def responses(self, caller: Caller, body: ResponseRequest) -> ResponseMaker:
        """Answer the last message of the input."""
        recent, given = self._recent, body.messages()
        if body.previous_response_id:
            given = [*recent.before(caller.keeper, body.previous_response_id), *given]
        schema = body.text.format.schema_of_answer if body.text else None
        passed = passed_on(given, body.tools or (), body.tool_choice)
        asked = self._asked(body.model, given, caller, schema=schema, passed=passed)
        run = self._run(asked, is_streamed=body.stream)

        def keep(response_id: str, said: FinishedRun) -> None:
            if body.store is not False:
                answer = {"role": "assistant", "content": said.text, "tool_calls": _called(said)}
                answered = GivenMessage.model_validate(answer)
                recent.keep(caller.keeper, response_id, [*given, answered])

        ignored = [*body.ignored, *(["store"] if body.store else []), *_unsent(given)]
        return ResponseMaker(run, ignored, body, keep)

    @operation("POST /v1/embeddings", ASK)
    def embeddings(self, _caller: Caller, body: EmbeddingRequest) -> dict[str, Any]:
        """Give the vectors of texts."""
        if self._serving.embedder is None:
            raise Refusal(503, "There is no embedding model.")
        return embeddings(body, self._serving.embedder)

    def _asked(
        self,
        model: str,
        given: list[GivenMessage],
        caller: Caller,
        guardrails: Guardrails | None = None,
        schema: dict[str, Any] | None = None,
        passed: PassedOn | None = None,
    ) -> Asked:
        name = self._serving.names.find(model, caller)
        if schema is not None:
            self._check_taken(name, "response_format")
        if passed:
            self._check_taken(name, "tools")
            # What the log and filters see: the last question.
            asked = [n for n, each in enumerate(given, 1) if each.role == "user"]
            given = [each for each in given[: asked[-1] if asked else 0] if not each.is_about_tools]
        messages = conversation(given, name.scope)
        setup = replace(self._serving.names.set_up(name, caller), schema=schema)
        if guardrails:
            setup = guarded(setup, guardrails, self._assistants(caller))
        instructed = with_instructions(setup, instructions_in(given))
        return Asked(caller, model, messages, instructed, images_of_question(given), passed)

    def _check_taken(self, name: ModelName, param: str) -> None:
        """Refuses a format or tools for answers from documents, and for a model without them."""
        said = "Answers from documents are text; only models of endpoints take that."
        if name.endpoint:
            models = self._serving.chat.models
            profile = models.profile(name.endpoint)
            if param == "response_format" and profile.takes_schema is None:
                # A schema is sent only to models that were found to take one.
                profile = models.examine(name.endpoint)
            if profile.calls_tools is not False if param == "tools" else profile.takes_schema:
                return
            can = "call tools" if param == "tools" else "write JSON by a schema"
            said = f"“{name.name}” was not found to {can}."
        raise Refusal(400, said, param=param, code="unsupported_parameter")

    def _assistants(self, caller: Caller) -> list[Assistant]:
        ids = {name.assistant_id for name in self._serving.names.of(caller)}
        every = self._serving.chat.assistants.all()
        return [assistant for assistant in every if assistant.assistant_id in ids]

    def _run(self, asked: Asked, *, is_streamed: bool) -> AnswerRun:
        serving = self._serving
        said = asked.caller.exchange.header(SOURCES_HEADER).lower()
        appends = said == "list" or (asked.caller.token.lists_sources and said != "none")
        return AnswerRun(
            asked, serving.answers, serving.workers, serving.links,
            appends_sources=appends, is_streamed=is_streamed,
        )  # fmt: skip


def _unsent(messages: list[GivenMessage]) -> list[str]:
    return ["images of earlier messages"] if has_earlier_images(messages) else []


def _model_json(name: str, title: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "desktop-rag", "name": title}
