"""The dialects of servers and models for the scripted server, apart from plain answers."""

import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Literal

from desktop_rag.core.paths import resources_dir


@dataclass
class Dialect:
    """By default everything is accepted and counted; a word is a token."""

    refuses_system: str = ""  # the error message
    ignores_system: bool = False
    refuses_order: str = ""  # when two consecutive turns have the same role
    refuses_usage: bool = False  # rejects stream_options
    refuses_streams: str = ""  # the error message
    counts_usage: bool = True
    length_field: str = "max_tokens"
    has_json: bool = True
    sees_images: bool = True
    embeds: bool = False
    is_weak: bool = False  # answers the short questions of the examination wrongly
    is_deaf: bool = False  # answers those questions like any other
    tells_progress: bool | None = False  # None refuses to be asked for it
    context_tokens: int = 0  # 0 means no limit
    when_too_long: Literal["says", "refuses", "cuts"] = "says"

    def refusal(self, body: dict[str, Any]) -> str:
        """The server's objection to the request; empty when it accepts it."""
        roles = [turn["role"] for turn in body.get("messages", [])]
        others = {"max_tokens", "max_completion_tokens"} - {self.length_field}
        tokens = self.tokens(body)
        if self.refuses_system and "system" in roles:
            return self.refuses_system
        if self.refuses_order and any(a == b for a, b in pairwise(roles)):
            return self.refuses_order
        if said := self._objection_to_stream(body):
            return said
        if others & set(body):
            return f"Unsupported parameter. Use '{self.length_field}' instead."
        if not self.has_json and "response_format" in body:
            return "'response_format.type' is not supported"
        if not self.sees_images and "image_url" in str(body):
            return "image input is not supported - hint: you may need to provide the mmproj"
        if 0 < self.context_tokens < tokens and self.when_too_long != "cuts":
            said = f"the request exceeds the available context size ({self.context_tokens} tokens)"
            return said if self.when_too_long == "says" else "Bad request"
        return ""

    def _objection_to_stream(self, body: dict[str, Any]) -> str:
        if self.refuses_usage and "stream_options" in body:
            return "Unrecognized request argument supplied: stream_options"
        if self.tells_progress is None and "return_progress" in body:
            return "Extra inputs are not permitted: return_progress"
        return self.refuses_streams if body.get("stream") else ""

    def tokens(self, body: dict[str, Any]) -> int:
        """The words of the turns within the context."""
        turns = body.get("messages", [])
        read = [t for t in turns if not (self.ignores_system and t["role"] == "system")]
        return sum(len(str(turn["content"]).split()) for turn in read)

    def vectors(self, texts: list[str]) -> dict[str, Any]:
        """The body of an embeddings response."""
        if self.embeds:
            return {"data": [{"embedding": [0.6, 0.8]} for _ in texts]}
        return {"error": {"message": f"No vectors here for {len(texts)} texts."}}

    def progress_events(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """How much of the prompt was read, as llama.cpp tells it before the answer."""
        if not (self.tells_progress and body.get("return_progress")):
            return []
        total = 4 * self.tokens(body)
        steps = [(total // 4, 0.0), (total // 2, 2_000.0), (total, 6_000.0)]
        return [
            {
                "choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}],
                "prompt_progress": {
                    "total": total, "cache": total // 4, "processed": read, "time_ms": ms,
                },
            }
            for read, ms in steps
        ]  # fmt: skip

    def usage_events(self, body: dict[str, Any], answer: str) -> list[dict[str, Any]]:
        """The usage event at the end of the stream, if requested and supported."""
        if not self.counts_usage or "stream_options" not in body:
            return []
        asked, answered = self.tokens(body), len(answer.split())
        if self.context_tokens and self.when_too_long == "cuts":
            asked = min(asked, self.context_tokens)
        usage = {"prompt_tokens": asked, "completion_tokens": answered}
        return [{"choices": [], "usage": usage}]

    def answer(self, body: dict[str, Any], answer: str) -> str:
        """The model's answer to this request."""
        if "response_format" in body:
            return '{"ok": true}'
        asked = str([turn["content"] for turn in body["messages"][-1:]])
        samples = () if self.is_deaf else _sample_answers()
        for n, (question, right) in enumerate(samples):
            if f"Question: {question}" in asked:
                return samples[n - 1][1] if self.is_weak else right
        return "Red." if "image_url" in str(body) else answer


@cache
def _sample_answers() -> tuple[tuple[str, str], ...]:
    """The short questions that models are examined with, and a right answer to each."""
    path = resources_dir() / "endpoints" / "sample_questions.toml"
    samples = tomllib.loads(path.read_text(encoding="utf-8"))["questions"]
    return tuple((sample["question"], sample["says"][0]) for sample in samples)
