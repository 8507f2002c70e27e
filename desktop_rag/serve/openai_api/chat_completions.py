"""`/v1/chat/completions`: the app as a model of OpenAI's older API.

Sources come in three layers: `annotations` in a last delta before the finish reason, `desktop_rag`
in the chunk with it, and on request a list in Markdown at the end of the text.
"""

import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict

from desktop_rag.core.conversation import Message
from desktop_rag.serve.answer_run import AnswerRun, FinishedRun
from desktop_rag.serve.openai_api.chat_messages import GivenMessage
from desktop_rag.serve.openai_api.guardrails import Guardrails
from desktop_rag.serve.openai_api.usage import EstimatedUsage
from desktop_rag.serve.refusals import Refusal
from desktop_rag.serve.responses import KEEP_ALIVE, LAST_EVENT, event
from desktop_rag.serve.wire_sources import annotations, extension, nested


class StreamOptions(BaseModel):
    """Options of a stream. The tokens of `include_usage` are estimated."""

    model_config = ConfigDict(extra="forbid")
    include_usage: bool = False
    include_obfuscation: bool = False


class ChatRequest(BaseModel):
    """The parameters that are used."""

    model: str
    messages: list[GivenMessage]
    stream: bool = False
    stream_options: StreamOptions | None = None
    guardrails: Guardrails | None = None


@dataclass(frozen=True, slots=True)
class ChatCompletion:
    """The response to one request, whole or in chunks."""

    run: AnswerRun
    model: str
    ignored: list[str]
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
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return {
            "id": self.completion_id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [choice],
            "usage": self._usage(finished).of_chat(),
            "desktop_rag": self._extension(finished.message),
        }

    async def chunks(self, options: StreamOptions | None) -> AsyncGenerator[bytes]:
        """The answer as server-sent events; a failure is an event of its own, then the end."""
        yield self._chunk({"role": "assistant", "content": ""})
        try:
            async with aclosing(self.run.pieces()) as pieces:
                async for piece in pieces:
                    if isinstance(piece, FinishedRun):
                        for chunk in self._last_chunks(piece, options):
                            yield chunk
                    else:
                        yield self._chunk({"content": piece.text}) if piece.text else KEEP_ALIVE
        except Refusal as refusal:
            yield event(refusal.to_json())
        yield LAST_EVENT

    def _last_chunks(self, finished: FinishedRun, options: StreamOptions | None) -> list[bytes]:
        found = [nested(each) for each in self._annotations(finished)]
        chunks = [self._chunk({"annotations": found})] if found else []
        extra = {"desktop_rag": self._extension(finished.message)}
        chunks.append(self._chunk({}, "stop", extra))
        if options and options.include_usage:
            usage = {"usage": self._usage(finished).of_chat()}
            chunks.append(event(self._head() | {"choices": []} | usage))
        return chunks

    def _usage(self, finished: FinishedRun) -> EstimatedUsage:
        return EstimatedUsage.of([m.text for m in self.run.asked.messages], finished.text)

    def _annotations(self, finished: FinishedRun) -> list[dict[str, Any]]:
        return annotations(finished.citations, self.run.address)

    def _extension(self, message: Message) -> dict[str, Any]:
        return extension(message, self.run.address) | {"ignored": self.ignored}

    def _chunk(
        self, delta: dict[str, Any], reason: str | None = None, extra: dict[str, Any] | None = None
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return event(self._head() | {"choices": [choice]} | (extra or {}))

    def _head(self) -> dict[str, Any]:
        return {
            "id": self.completion_id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
        }
