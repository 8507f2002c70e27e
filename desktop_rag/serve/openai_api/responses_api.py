"""`/v1/responses`: the app as a model of OpenAI's newer API.

Nothing is stored, so a response can't be continued by its id: the whole conversation comes with
each request.
"""

import time
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict

from desktop_rag.serve.answer_run import AnswerRun, FinishedRun, TextPiece
from desktop_rag.serve.openai_api.chat_messages import GivenMessage
from desktop_rag.serve.openai_api.usage import EstimatedUsage
from desktop_rag.serve.refusals import Refusal
from desktop_rag.serve.responses import KEEP_ALIVE, event
from desktop_rag.serve.wire_sources import annotations, extension


class GivenItem(GivenMessage):
    """A message of the input. Its `type` may be left out."""

    model_config = ConfigDict(extra="allow")
    type: str = "message"


class ResponseRequest(BaseModel):
    """The parameters that are used."""

    model: str
    input: str | list[GivenItem]
    instructions: str | None = None
    stream: bool = False

    def messages(self) -> list[GivenMessage]:
        """The input as messages, the instructions first; refuses items that are none."""
        given: list[GivenMessage] = []
        if self.instructions:
            given.append(GivenMessage(role="system", content=self.instructions))
        if isinstance(self.input, str):
            return [*given, GivenMessage(role="user", content=self.input)]
        for item in self.input:
            if item.type != "message":
                said = f"Input of the type “{item.type}” is not supported."
                raise Refusal(400, said, param="input", code="unsupported_content")
        return [*given, *self.input]


@dataclass(frozen=True, slots=True)
class ResponseMaker:
    """The response to one request, whole or as events."""

    run: AnswerRun
    model: str
    ignored: list[str]
    instructions: str | None = None
    response_id: str = field(default_factory=lambda: f"resp_{uuid.uuid4().hex}")
    item_id: str = field(default_factory=lambda: f"msg_{uuid.uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    async def whole(self) -> dict[str, Any]:
        """The answer in one piece; refuses when it failed."""
        finished = await self.run.finished()
        return self._completed(finished)

    async def events(self) -> AsyncGenerator[bytes]:
        """The answer as the events of this API, numbered in order."""
        counter = _Counter()
        for name, fields in self._opening():
            yield counter.event(name, fields)
        try:
            async with aclosing(self.run.pieces()) as pieces:
                async for piece in pieces:
                    if isinstance(piece, FinishedRun):
                        for name, fields in self._closing(piece):
                            yield counter.event(name, fields)
                    elif piece.text:
                        yield counter.event("response.output_text.delta", self._delta(piece))
                    else:
                        yield KEEP_ALIVE
        except Refusal as refusal:
            failed = self._response("failed", []) | {
                "error": {"code": "server_error", "message": refusal.message}
            }
            yield counter.event("response.failed", {"response": failed})

    def _opening(self) -> Iterator[tuple[str, dict[str, Any]]]:
        begun = {"response": self._response("in_progress", [])}
        yield "response.created", begun
        yield "response.in_progress", begun
        item = self._item("in_progress", [])
        yield "response.output_item.added", {"output_index": 0, "item": item}
        yield "response.content_part.added", self._place() | {"part": _part("", [])}

    def _closing(self, finished: FinishedRun) -> Iterator[tuple[str, dict[str, Any]]]:
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
        yield "response.completed", {"response": self._completed(finished)}

    def _completed(self, finished: FinishedRun) -> dict[str, Any]:
        found = annotations(finished.citations, self.run.address)
        part = _part(finished.text, found)
        extra = extension(finished.message, self.run.address) | {"ignored": self.ignored}
        response = self._response("completed", [self._item("completed", [part])])
        usage = EstimatedUsage.of([m.text for m in self.run.asked.messages], finished.text)
        return response | {"usage": usage.of_response(), "desktop_rag": extra}

    def _delta(self, piece: TextPiece) -> dict[str, Any]:
        return self._place() | {"delta": piece.text, "logprobs": []}

    def _place(self) -> dict[str, Any]:
        return {"item_id": self.item_id, "output_index": 0, "content_index": 0}

    def _item(self, status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.item_id,
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": content,
        }

    def _response(self, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.response_id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "model": self.model,
            "output": output,
            "instructions": self.instructions,
            "error": None,
            "incomplete_details": None,
            "metadata": {},
            "parallel_tool_calls": False,
            "temperature": None,
            "tool_choice": "none",
            "tools": [],
            "top_p": None,
            "store": False,
            "usage": None,
        }


class _Counter:
    """Numbers the events of a stream."""

    def __init__(self) -> None:
        self._next = 0

    def event(self, name: str, fields: dict[str, Any]) -> bytes:
        numbered = {"type": name, "sequence_number": self._next} | fields
        self._next += 1
        return event(numbered, name)


def _part(text: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": found, "logprobs": []}
