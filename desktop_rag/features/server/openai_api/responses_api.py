"""The Responses API: what is asked, the responses of the last hour, and a response as it grows."""

import threading
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import count
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from desktop_rag.core.text import rough_token_counts
from desktop_rag.features.server.answer_run import AnswerRun, FinishedRun
from desktop_rag.features.server.openai_api.chat_messages import (
    GivenMessage,
    GivenTool,
    Neutral,
    Parameters,
    ToolChoice,
    text_of,
)
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.responses import KEEP_ALIVE, event
from desktop_rag.features.server.wire_sources import annotations, extension


def estimated_tokens(run: AnswerRun, answer: str) -> tuple[int, int]:
    """The tokens of what the caller sent and got.

    The endpoint's own count covers the app's prompt and sources, at times of several requests.
    """
    given = [message.text for message in run.asked.messages]
    return sum(rough_token_counts(given)), sum(rough_token_counts([answer]))


class GivenItem(GivenMessage):
    """A message of the input, whose `type` may be left out; calls of tools are messages here."""

    type: str = "message"

    @model_validator(mode="before")
    @classmethod
    def _as_message(cls, given: object) -> object:
        item = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        match item.get("type", "message"):
            case "message":
                return given
            case "reasoning":
                # An earlier output given back, of which a model is told the rest.
                return {"role": "assistant"}
            case "function_call":
                call = {"id": item.get("call_id"), "function": item}
                return {"role": "assistant", "tool_calls": [call]}
            case "function_call_output":
                said = {"content": item.get("output"), "tool_call_id": item.get("call_id")}
                return {"role": "tool"} | said
            case kind:
                said = f"Input of the type “{kind}” is not supported."
                raise Refusal(400, said, param="input", code="unsupported_content")


class TextFormat(BaseModel):
    """The format of an answer without documents."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)
    type: Literal["text", "json_object", "json_schema"] = "text"
    of: Annotated[dict[str, Any], Field(alias="schema")] = {"type": "object"}

    @property
    def schema_of_answer(self) -> dict[str, Any] | None:
        """The JSON Schema, None for text."""
        return None if self.type == "text" else self.of


class ResponseText(BaseModel):
    """How the answer is written."""

    model_config = ConfigDict(extra="forbid")
    format: TextFormat = TextFormat()


class ResponseRequest(Parameters):
    """The parameters of `/v1/responses` that are used.

    Nothing is stored: a response is continued by its id for an hour, or until the server ends.
    """

    neutral: ClassVar[Neutral] = {
        "background": (False,),
        "conversation": (),
        "include": ([],),
        "max_tool_calls": (),
        "parallel_tool_calls": (True, False),
        "prompt": (),
        "stream_options": ({}, {"include_obfuscation": False}),
        "top_logprobs": (0,),
    }
    model: str
    input: str | list[GivenItem]
    instructions: str | None = None
    previous_response_id: str | None = None
    store: bool | None = None
    stream: bool = False
    text: ResponseText | None = None
    tools: list[GivenTool] | None = None
    tool_choice: ToolChoice | None = None

    def messages(self) -> list[GivenMessage]:
        """The input as messages, the instructions first."""
        given: list[GivenMessage] = []
        if self.instructions:
            given.append(GivenMessage(role="system", content=self.instructions))
        if isinstance(self.input, str):
            return [*given, GivenMessage(role="user", content=self.input)]
        for item in self.input:
            if item.tool_calls and given and given[-1].role == "assistant":
                # One message has the text and all calls of a turn.
                calls = [*(given[-1].tool_calls or ()), *item.tool_calls]
                given[-1] = given[-1].model_copy(update={"tool_calls": calls})
            elif item.content or item.is_about_tools:
                given.append(item)
        return given


_KEPT_S = 3_600.0
_KEPT_CHARS = 20_000_000


class RecentResponses:
    """The conversations up to recent responses, in memory and without images. Any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str], tuple[float, list[GivenMessage]]] = {}
        self._chars = 0

    def keep(self, keeper: str, response_id: str, said: Sequence[GivenMessage]) -> None:
        """Keep what was said up to a response, the answer last, for whoever got it."""
        texts = [m.model_copy(update={"content": text_of(m)}) for m in said if m.role in _SPEAKERS]
        with self._lock:
            self._kept[keeper, response_id] = self._clock() + _KEPT_S, texts
            self._chars += _chars(texts)
            for key, (until, kept) in list(self._kept.items()):
                if until > self._clock() and self._chars <= _KEPT_CHARS:
                    break
                del self._kept[key]
                self._chars -= _chars(kept)

    def before(self, keeper: str, response_id: str) -> list[GivenMessage]:
        """What was said up to a response; refuses one that is not known (any more)."""
        until, said = self._kept.get((keeper, response_id), (0.0, []))
        if until <= self._clock():
            message = "There is no response of this “previous_response_id”: send the conversation."
            param, code = "previous_response_id", "previous_response_not_found"
            raise Refusal(400, message, param=param, code=code)
        return said


_SPEAKERS = ("user", "assistant", "tool")


def _chars(said: Sequence[GivenMessage]) -> int:
    return sum(len(text_of(message)) for message in said)


@dataclass(frozen=True, slots=True)
class ResponseMaker:
    """The response to one request, whole or as events; `keep` gets its id and what was said."""

    run: AnswerRun
    ignored: list[str]
    request: ResponseRequest
    keep: Callable[[str, FinishedRun], None]
    response_id: str = field(default_factory=lambda: f"resp_{uuid.uuid4().hex}")
    item_id: str = field(default_factory=lambda: f"msg_{uuid.uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    async def whole(self) -> dict[str, Any]:
        """The answer in one piece; refuses when it failed."""
        finished = await self.run.finished()
        return self._completed(finished)

    async def events(self) -> AsyncGenerator[bytes]:
        """The answer as the events of this API, numbered in order."""
        numbers, steps = count(), list[str]()

        def numbered(name: str, fields: dict[str, Any]) -> bytes:
            return event({"type": name, "sequence_number": next(numbers)} | fields, name)

        for name, fields in self._opening():
            yield numbered(name, fields)
        try:
            async with aclosing(self.run.pieces()) as pieces:
                async for piece in pieces:
                    if isinstance(piece, FinishedRun):
                        for name, fields in self._closing(piece, steps):
                            yield numbered(name, fields)
                    elif piece.step:
                        for name, fields in self._step(piece.step, len(steps)):
                            yield numbered(name, fields)
                        steps.append(piece.step)
                    elif piece.text:
                        delta = self._place() | {"delta": piece.text, "logprobs": []}
                        yield numbered("response.output_text.delta", delta)
                    else:
                        yield KEEP_ALIVE
        except Refusal as refusal:
            failed = self._response("failed", []) | {
                "error": {"code": "server_error", "message": refusal.message}
            }
            yield numbered("response.failed", {"response": failed})

    def _opening(self) -> Iterator[tuple[str, dict[str, Any]]]:
        begun = {"response": self._response("in_progress", [])}
        yield "response.created", begun
        yield "response.in_progress", begun
        item = self._item("in_progress", [])
        yield "response.output_item.added", {"output_index": 0, "item": item}
        yield "response.content_part.added", self._place() | {"part": _part("", [])}

    def _step(self, said: str, n: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """A step of a search, as a part of the summary of a reasoning item."""
        item, part = self._reasoning([]), {"type": "summary_text", "text": said}
        if not n:
            yield "response.output_item.added", {"output_index": 1, "item": item}
        place = {"item_id": item["id"], "output_index": 1, "summary_index": n}
        for name, fields in (
            ("part.added", {"part": part | {"text": ""}}), ("text.delta", {"delta": said}),
            ("text.done", {"text": said}), ("part.done", {"part": part}),
        ):  # fmt: skip
            yield f"response.reasoning_summary_{name}", place | fields

    def _reasoning(self, steps: Sequence[str]) -> dict[str, Any]:
        summary = [{"type": "summary_text", "text": said} for said in steps]
        return {"id": f"rs_{self.item_id}", "type": "reasoning", "summary": summary}

    def _closing(
        self, finished: FinishedRun, steps: Sequence[str]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        found = annotations(finished.citations, self.run.address)
        for index, annotation in enumerate(found):
            fields = self._place() | {"annotation_index": index, "annotation": annotation}
            yield "response.output_text.annotation.added", fields
        text = {"text": finished.text, "logprobs": []}
        yield "response.output_text.done", self._place() | text
        part = _part(finished.text, found)
        yield "response.content_part.done", self._place() | {"part": part}
        item = self._item("completed", [part])
        yield "response.output_item.done", {"output_index": 0, "item": item}
        thought = [self._reasoning(steps)] if steps else []
        for item in thought:
            yield "response.output_item.done", {"output_index": 1, "item": item}
        for index, item in enumerate(_called(finished), 1 + len(thought)):
            place = {"output_index": index, "item_id": item["id"]}
            said, added = {"arguments": item["arguments"]}, item | {"arguments": ""}
            yield "response.output_item.added", {"output_index": index, "item": added}
            delta = {"delta": item["arguments"]}
            yield "response.function_call_arguments.delta", place | delta
            done = place | said | {"name": item["name"]}
            yield "response.function_call_arguments.done", done
            yield "response.output_item.done", {"output_index": index, "item": item}
        yield "response.completed", {"response": self._completed(finished, thought)}

    def _completed(self, finished: FinishedRun, thought: Sequence[Any] = ()) -> dict[str, Any]:
        found = annotations(finished.citations, self.run.address)
        part = _part(finished.text, found)
        told = extension(finished.message, self.run.address, sees_paths=self.run.sees_paths)
        extra = told | {"ignored": self.ignored}
        self.keep(self.response_id, finished)
        output = [self._item("completed", [part]), *thought, *_called(finished)]
        response = self._response("completed", output)
        given, answered = estimated_tokens(self.run, finished.text)
        usage = {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": answered,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": given + answered,
        }
        return response | {"usage": usage, "desktop_rag": extra}

    def _place(self) -> dict[str, Any]:
        return {"item_id": self.item_id, "output_index": 0, "content_index": 0}

    def _item(self, status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
        said = {"type": "message", "role": "assistant", "content": content}
        return said | {"id": self.item_id, "status": status}

    def _response(self, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.response_id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "model": self.run.asked.model,
            "output": output,
            "instructions": self.request.instructions,
            "previous_response_id": self.request.previous_response_id,
            "error": None,
            "incomplete_details": None,
            "metadata": {},
            "parallel_tool_calls": False,
            "temperature": None,
            "tool_choice": "auto",
            "tools": [
                {"type": "function", "strict": False} | tool.function.model_dump()
                for tool in self.request.tools or ()
            ],
            "top_p": None,
            "store": False,
            "usage": None,
        }


def _called(finished: FinishedRun) -> list[dict[str, Any]]:
    return [
        {
            "id": f"fc_{call.call_id}",
            "type": "function_call",
            "status": "completed",
            "call_id": call.call_id,
            "name": call.name,
            "arguments": call.arguments,
        }
        for call in finished.calls
    ]


def _part(text: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": found, "logprobs": []}
