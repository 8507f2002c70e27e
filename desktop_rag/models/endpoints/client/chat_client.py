"""The chat model behind an OpenAI-compatible endpoint. Runs on the calling worker thread.

The model's profile, measured or learned from refusals, decides the shape of a request.
"""

import base64
import copy
import logging
import math
import re
import time
import uuid
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from threading import Event
from typing import Any

from desktop_rag.activity.activity_event import Purpose
from desktop_rag.activity.recorder import Recorder
from desktop_rag.core.conversation import sees_no_images
from desktop_rag.core.errors import AppError, Cancelled, TooLongError
from desktop_rag.core.model_profile import (
    LEAST_RATIO,
    MOST_RATIO,
    LearnedLimit,
    ModelProfile,
    Thinking,
)
from desktop_rag.core.question import SentRequest
from desktop_rag.core.settings import ASSUMED_CONTEXT_TOKENS, EndpointSettings
from desktop_rag.core.text import rough_token_counts
from desktop_rag.core.waits import pause_s
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.endpoint_address import OWN_ADDRESS
from desktop_rag.models.endpoints.client.allowances import Allowances, ProfileBook
from desktop_rag.models.endpoints.client.chat_stream import (
    DONE,
    LAST,
    CallPart,
    HeardCalls,
    PromptProgress,
    StreamPart,
    check_ending,
    is_whole,
)
from desktop_rag.models.endpoints.client.endpoint_errors import mapping_endpoint_errors
from desktop_rag.models.endpoints.client.endpoint_faults import (
    EndpointFaultError,
    Fault,
    StreamError,
)
from desktop_rag.models.endpoints.client.endpoint_requests import EndpointRequests, pause
from desktop_rag.models.endpoints.client.streams.thinking import ThinkingSplitter
from desktop_rag.models.endpoints.providers import quirks_at
from desktop_rag.models.ports import ChatTurn, Delta, HeardAnswer, OwnServer, Schema, Tool, ToolCall

_SYSTEM_REFUSED = re.compile(
    r"(?i)system (?:role|message|prompt|instruction)s?\b.{0,40}\b(?:not|un)\s?(?:support|allow)"
    r"|(?:not|n't) (?:support|allow|accept|enable)\w*\b.{0,40}['\"` ]system['\"` ]"
    r"|developer instruction is not enabled|unexpected role ['\"`]?system"
    r"|only user(?: and|,) (?:assistant|model) roles are supported"
)
_ORDER_REFUSED = re.compile(
    r"(?i)roles? must (?:strictly )?alternat|must alternate|alternating"
    r"|(?:two|multiple|consecutive) (?:user|assistant|same[- ]role) (?:messages|turns)"
)
# Many text-only servers name the type of the unsupported part.
_IMAGES_REFUSED = re.compile(
    r"(?i)image_url|image (?:input|content|url)s?\b"
    r"|images?\b.{0,60}\b(?:not|n't|un)\s?(?:support|allow|accept|enable)"
    r"|(?:not|n't|cannot|can't|unable to)\b.{0,40}\bimages?\b"
    r"|multi-?modal|\bvision\b|\bmmproj\b"
    r"|content.{0,60}(?:must be|should be|expected)\W{0,4}(?:a |valid )*string"
)
# Ollama, llama.cpp and vLLM name what the model or the server lacks.
_TOOLS_REFUSED = re.compile(
    r"(?i)\btools?\b.{0,80}\b(?:not|n't|un)\s?(?:support|allow|accept|enable|permit|implement)"
    r"|(?:not|n't|cannot) (?:support|allow|accept|enable)\w*\b.{0,60}\b(?:tools?|functions?)\b"
    r"|tools? param requires|tool[- _]choice|function[- _]call(?:ing|s)?\b|extra.{0,40}\btools\b"
)
_SCHEMA_REFUSED = re.compile(r"(?i)response_format|json[_ ]?schema|grammar")
_PROGRESS_REFUSED = re.compile(r"return_progress")
_USAGE_REFUSED = re.compile(r"(?i)stream_options|include_usage")
# The last one is OpenAI's message to unverified organisations.
_STREAM_REFUSED = re.compile(
    r"(?i)\bstream(?:ing|ed)?\b.{0,60}\b(?:not|n't|un|isn't|cannot be)\s?"
    r"(?:yet |currently )?(?:support|allow|accept|enable|available|permit|implement)"
    r"|(?:not|n't|cannot) (?:support|allow|accept|enable|do)\w*\b.{0,40}\bstream(?:ing|ed)?\b"
    r"|\bstream\b.{0,40}\b(?:must|should|can only) be\b.{0,20}\bfalse"
    r"|set\b.{0,20}\bstream\b.{0,10}\bfalse|verified to stream"
)

# By the field of a profile that such words reveal: what a model may be asked for as long as nothing
# else is known, and what only those are asked for that are known to take it.
_REFUSED = {
    "calls_tools": _TOOLS_REFUSED, "streams": _STREAM_REFUSED, "takes_system": _SYSTEM_REFUSED,
}  # fmt: skip
_REFUSED_IF_SENT = {
    "counts_usage": _USAGE_REFUSED, "tells_progress": _PROGRESS_REFUSED,
    "takes_schema": _SCHEMA_REFUSED,
}  # fmt: skip


def chat_body(
    model: str,
    turns: Sequence[ChatTurn],
    profile: ModelProfile,
    tools: Sequence[Tool] = (),
    schema: Schema | None = None,
) -> dict[str, Any]:
    """The body of a chat request, streamed unless the model is known to refuse that."""
    messages = [_message(turn) for turn in shaped(turns, profile)]
    is_streamed = profile.streams is not False
    body: dict[str, Any] = {"model": model, "stream": is_streamed, "messages": messages}
    if profile.counts_usage and is_streamed:
        body["stream_options"] = {"include_usage": True}
    if tools and profile.calls_tools is not False:
        body["tools"] = [tool_json(tool) for tool in tools]
        body |= _tool_choice([tool.name for tool in tools if tool.is_needed])
    if schema and profile.takes_schema:
        body["response_format"] = schema_json(schema)
    if profile.tells_progress and is_streamed:
        body["return_progress"] = True
    return body


def schema_json(schema: Schema) -> dict[str, Any]:
    """A schema for the answer in OpenAI's form."""
    named = {"name": "answer", "strict": True, "schema": schema}
    return {"type": "json_schema", "json_schema": named}


def tool_json(tool: Tool) -> dict[str, Any]:
    """A tool in OpenAI's form."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _tool_choice(needed: Sequence[str]) -> dict[str, Any]:
    match needed:
        case []:
            return {}
        case [name]:
            return {"tool_choice": {"type": "function", "function": {"name": name}}}
        case _:
            return {"tool_choice": "required"}


def _message(turn: ChatTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": turn.role, "content": _content(turn)}
    if turn.calls:
        message["content"] = turn.text or None
        message["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in turn.calls
        ]
    return message | ({"tool_call_id": turn.call_id} if turn.call_id else {})


def refuses_images(said: str) -> bool:
    """True when a refusal with this message is about the images of the request."""
    return _IMAGES_REFUSED.search(said) is not None


def shaped(turns: Sequence[ChatTurn], profile: ModelProfile) -> list[ChatTurn]:
    """The turns in the form that the model accepts, without loss of content.

    An unsupported system turn is put before the first question, and adjacent turns of the same role
    become one.
    """
    shaped = list(turns)
    if profile.takes_system is False:
        shaped = _folded(shaped)
    return _alternating(shaped) if profile.must_alternate else shaped


def learned_from(said: str, profile: ModelProfile) -> dict[str, bool]:
    """The fields of a profile that a refusal with this message reveals; empty if none is new."""
    facts = {
        name: False
        for name, words in _REFUSED.items()
        if words.search(said) and getattr(profile, name) is not False
    }
    facts |= {
        name: False
        for name, words in _REFUSED_IF_SENT.items()
        if words.search(said) and getattr(profile, name)
    }
    if _ORDER_REFUSED.search(said):
        if not profile.must_alternate:
            facts["must_alternate"] = True
        elif profile.takes_system is not False:
            # Some say this about a system turn before the first question.
            facts["takes_system"] = False
    return facts


def _folded(turns: list[ChatTurn]) -> list[ChatTurn]:
    instructions = [turn.text for turn in turns if turn.role == "system"]
    others = [turn for turn in turns if turn.role != "system"]
    if not instructions:
        return others
    first = next((n for n, turn in enumerate(others) if turn.role == "user"), None)
    text = "\n\n".join(instructions)
    if first is None:
        return [ChatTurn("user", text), *others]
    others[first] = replace(others[first], text=f"{text}\n\n{others[first].text}")
    return others


def _content(turn: ChatTurn) -> str | list[dict[str, Any]]:
    """The text alone, which every server accepts, or with its images as data URLs."""
    if not turn.images:
        return turn.text
    parts: list[dict[str, Any]] = [{"type": "text", "text": turn.text}]
    for image in turn.images:
        url = f"data:{image.mime};base64,{base64.b64encode(image.data).decode()}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def _alternating(turns: list[ChatTurn]) -> list[ChatTurn]:
    joined: list[ChatTurn] = []
    for turn in turns:
        if joined and joined[-1].role == turn.role and turn.role != "tool":
            images = (*joined[-1].images, *turn.images)
            joined[-1] = ChatTurn(turn.role, f"{joined[-1].text}\n\n{turn.text}", images)
        else:
            joined.append(turn)
    return joined


log = logging.getLogger(__name__)

# Pauses before automatic retries; when a server asks for a longer one, the error is reported.
_PAUSES_S = (0.5, 2.0)
_LONGEST_PAUSE_S = 60.0
# A server that is loading its model answers at once, so it is asked often and for long.
_LOADING_PAUSES_S = (1.0, 2.0, 3.0)
_LOADING_PAUSE_S = 5.0
_LONGEST_LOADING_S = 300.0
# After these faults background work backs off at once; only a person's question is retried.
_OFTEN_PASSING = frozenset({Fault.REFUSED, Fault.UNREACHABLE})
# Request timeout, conflict, too early.
_PASSING_STATUSES = frozenset({408, 409, 425, *range(500, 600)})


class Retries:
    """The retries of one question, after passing faults such as 429. For one thread."""

    def __init__(self) -> None:
        self._pauses_s = iter(_PAUSES_S)
        self._loading_pauses_s = iter(_LOADING_PAUSES_S)
        self._loading_s = 0.0

    def pause_after(self, error: EndpointFaultError) -> float | None:
        """Seconds to wait before the next try, as the server asks; None when the error is final."""
        if error.fault is Fault.LOADING:
            return self._loading_pause(error)
        wait_s = pause_s(next(self._pauses_s, None), error.wait_s, _LONGEST_PAUSE_S)
        return wait_s if _may_pass(error) else None

    def _loading_pause(self, error: EndpointFaultError) -> float | None:
        """The pause while a model is loaded: no longer than ours, however long the server asks."""
        wait_s = next(self._loading_pauses_s, _LOADING_PAUSE_S)
        wait_s = wait_s if error.wait_s is None else min(wait_s, error.wait_s)
        self._loading_s += max(wait_s, _LOADING_PAUSES_S[0])
        return wait_s if self._loading_s <= _LONGEST_LOADING_S else None


def _may_pass(error: EndpointFaultError) -> bool:
    is_theirs = error.fault is Fault.FAILED and error.status in _PASSING_STATUSES
    return error.is_passing or error.fault in _OFTEN_PASSING or is_theirs


# The share of a refused request that is sent next, where the server doesn't state its limit.
_SHORTER = 0.5
SHORTEST_CONTEXT_TOKENS = 512
# A stated limit above this many times what was sent is not what the request exceeded.
_MOST_OVER = 4.0
# A request below this share of what was read whole was not refused for its length.
_SURE_SHARE = 0.5
# After these faults a shorter request may be accepted.
_SHORTEN = frozenset({Fault.TOO_LONG, Fault.TOO_LARGE, Fault.OVER_RATE})


def fitting_tokens(
    error: EndpointFaultError, turns: Sequence[ChatTurn], context_tokens: int
) -> int:
    """The context for which the next request may be short enough; 0 when none would be.

    Too many bytes are due to pictures: leaving out text would not help.
    """
    if error.fault not in _SHORTEN:
        return 0
    if error.fault is Fault.TOO_LARGE and any(turn.images for turn in turns):
        return 0
    limit, sent = error.limit_tokens, _sent(turns)
    # What we count as less than the limit has more tokens for the server.
    if 0 < limit < sent and _is_credible(limit, turns):
        return min(limit, context_tokens)
    return max(SHORTEST_CONTEXT_TOKENS, min(int(sent * _SHORTER), context_tokens))


def learned_limit(
    error: EndpointFaultError, turns: Sequence[ChatTurn], profile: ModelProfile, now: float
) -> LearnedLimit | None:
    """The limit to remember after a refusal, `now` as Unix time; None when it implies none.

    The refusal may be passing, or about bytes or tokens a minute: a limit must fit what was sent
    and measured, and is tried again later.
    """
    if error.fault is not Fault.TOO_LONG:
        return None
    if error.limit_tokens and _is_credible(error.limit_tokens, turns):
        return LearnedLimit(error.limit_tokens, now, is_stated=True)
    if _sent(turns) < _SURE_SHARE * profile.context_tokens:
        return None
    guess = max(SHORTEST_CONTEXT_TOKENS, int(_sent(turns) * _SHORTER))
    return LearnedLimit(guess, now, is_stated=False)


def is_disproved(limit: LearnedLimit | None, turns: Sequence[ChatTurn]) -> bool:
    """True when a request with these turns, which was answered, is longer than the limit."""
    return limit is not None and _sent(turns) > limit.tokens


def _sent(turns: Sequence[ChatTurn]) -> int:
    return sum(rough_token_counts([turn.text for turn in turns]))


def _is_credible(limit: int, turns: Sequence[ChatTurn]) -> bool:
    return limit <= max(_MOST_OVER * _sent(turns), SHORTEST_CONTEXT_TOKENS)


LONGEST_ANSWER_CHARS = 400_000
# Shorter requests consist mostly of the markers around turns.
_TELLING_TOKENS = 400
_NOT_STREAMED = "This endpoint does not stream: the answer appears once it is complete."
_MOVED = 0.05
# Shorter prompts tell more of the server than of the model.
_TELLING_PROMPT_TOKENS = 1_000
_TELLING_S = 0.2
_SURELY_READ_SHARE = 0.8
_RERANKER = re.compile(r"(?i)re-?rank")
# Somebody waits for the order.
_RANKING_S = 8.0


class ChatClient:
    """A `ChatModel`. One per endpoint setting, for any thread, closed at the end."""

    def __init__(
        self,
        endpoint: EndpointSettings,
        key: str = "",
        profiles: ProfileBook | None = None,
        priority: AnswerPriority | None = None,
        allowances: Allowances | None = None,
        recorder: Recorder | None = None,
        *,
        own_server: OwnServer | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._key = key
        self._quirks = quirks_at(endpoint.base_url)
        self._profiles = profiles or ProfileBook()
        self._priority = priority or AnswerPriority()
        self._requests = EndpointRequests(
            endpoint, key, allowances, recorder, own_server=own_server
        )
        self.purpose = Purpose.ANSWER
        self.sent: list[SentRequest] | None = None

    def __repr__(self) -> str:
        return f"ChatClient({self.name!r})"

    def serving(self, purpose: Purpose, sent: list[SentRequest] | None = None) -> "ChatClient":
        """The same client over the same connections, its requests recorded with this purpose, and
        added to `sent`.
        """
        client = copy.copy(self)
        client.purpose, client.sent = purpose, sent
        return client

    @property
    def name(self) -> str:
        """The model's name as the endpoint knows it."""
        return self._endpoint.model

    @property
    def context_tokens(self) -> int:
        """The context length: as measured, but no more than the setting or a recent refusal."""
        limit = self._profile.learned_limit
        learned = limit.tokens if limit and limit.is_valid(time.time()) else 0
        known = (self._endpoint.context_tokens, self._profile.context_tokens, learned)
        return min((tokens for tokens in known if tokens), default=ASSUMED_CONTEXT_TOKENS)

    @property
    def read_tokens_per_s(self) -> float:
        """As measured in the examination, or as the server has told since; 0 if unknown."""
        return self._profile.read_tokens_per_s

    @property
    def calls_tools(self) -> bool | None:
        """As found out in the examination, or by a refusal since."""
        return self._profile.calls_tools

    @property
    def is_weak(self) -> bool:
        """As found out in the examination; until then true of a model that the app itself runs,
        since many of them are small.
        """
        profile = self._profile
        is_unknown = self._endpoint.base_url == OWN_ADDRESS and not profile.is_examined
        return is_unknown or profile.is_weak

    @property
    def judging(self) -> float | None:
        """As measured by `note_judging`."""
        return self._profile.judging

    def note_judging(self, share: float) -> None:
        """Keep it with what else is known of the model."""
        self._learn(judging=round(share, 2))

    @property
    def _profile(self) -> ModelProfile:
        known = self._profiles.get(self._endpoint.base_url, self._endpoint.model)
        return known.filled(self._quirks)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Estimated counts, scaled by what the server counted for earlier requests."""
        ratio = self._profile.tokens_ratio or 1.0
        return [math.ceil(ratio * tokens) for tokens in rough_token_counts(texts)]

    def ranked(self, question: str, texts: Sequence[str], cancel: Event) -> Sequence[int]:
        """As the endpoint's reranker ranks them, if it lists one that has been quick and whole."""
        offer = self._profiles.offer(self._endpoint.base_url)
        model = next((m.name for m in offer if _RERANKER.search(m.name)), "")
        if not (model and texts) or self._requests.ranks_in_vain:
            return ()
        try:
            with self._priority.answering():
                return self._requests.ranks(model, question, texts, cancel, limit_s=_RANKING_S)
        except AppError as error:
            log.info("nothing is reranked any more: %s", error.title)
            self._requests.ranks_in_vain = True
        except Cancelled:
            pass
        return ()

    def warm_up(self) -> None:
        """Import the library, which takes more than a second, and create the client."""
        self._requests.open()

    def close(self) -> None:
        """Close the connections; answers still streaming end with an error."""
        self._requests.close()

    def stream(
        self,
        turns: Sequence[ChatTurn],
        cancel: Event,
        tools: Sequence[Tool] = (),
        schema: Schema | None = None,
    ) -> Generator[Delta]:
        """Pieces of the answer as they arrive; ends early, connection closed, once `cancel` is set.

        The request is retried only before any part of the answer has arrived: in another shape if
        the server rejects this one, or after a pause of a few seconds, reported in a status, if the
        server asks to wait, fails or can't be reached. AppError for any fault of the endpoint or
        the network, also in mid-stream.
        """
        with self._priority.answering():
            yield from self._stream(turns, cancel, tools, schema)

    def _stream(
        self, turns: Sequence[ChatTurn], cancel: Event, tools: Sequence[Tool], schema: Schema | None
    ) -> Generator[Delta]:
        retries = Retries()
        while not cancel.is_set():
            has_begun = False
            try:
                with (
                    mapping_endpoint_errors(self._endpoint, self._key),
                    closing(self._answer(turns, cancel, tools, schema)) as answer,
                ):
                    for delta in answer:
                        has_begun = has_begun or not delta.status
                        yield delta
                        if cancel.is_set():
                            break
                if is_disproved(self._profile.learned_limit, turns):
                    self._learn(learned_limit=None)
                return
            except Cancelled:
                return
            except EndpointFaultError as exc:
                self._check_images(exc, turns, has_begun)
                if self._has_learned(exc, turns, has_begun) and not has_begun:
                    continue
                wait_s = None if has_begun else retries.pause_after(exc)
                if wait_s is None:
                    self._raise_if_too_long(exc, turns, has_begun)
                    raise
                log.info("Endpoint: %s Asking again in %.1f s.", exc.title, wait_s)
                status = f"{exc.title} It is asked again in {math.ceil(wait_s)} s."
            yield Delta("", status=status)
            pause(wait_s, cancel)

    def _check_images(
        self, exc: EndpointFaultError, turns: Sequence[ChatTurn], has_begun: bool
    ) -> None:
        """Raise an error with a hint if the images were refused, and record that."""
        has_images = any(turn.images for turn in turns)
        if has_images and not has_begun and refuses_images(exc.said):
            log.info("learned of the model: it takes no images")
            self._learn(takes_images=False)
            raise sees_no_images(self.name) from exc

    def _has_learned(
        self, exc: EndpointFaultError, turns: Sequence[ChatTurn], has_begun: bool
    ) -> bool:
        """True when a refusal tells how to send the same request in another shape."""
        profile = self._profile
        facts: dict[str, object] = {**learned_from(exc.said, profile)}
        can_ask_again = bool(facts)
        limit = None if has_begun else learned_limit(exc, turns, profile, time.time())
        if limit:
            facts["learned_limit"] = limit
        if facts:
            log.info("learned of the model: %s", ", ".join(facts))
            self._learn(**facts)
        return can_ask_again

    def _raise_if_too_long(
        self, exc: EndpointFaultError, turns: Sequence[ChatTurn], has_begun: bool
    ) -> None:
        """Raise an error with the length for the next request, if a shorter one may help."""
        fits = 0 if has_begun else fitting_tokens(exc, turns, self.context_tokens)
        if fits:
            raise TooLongError(exc.title, exc.hint, fits) from exc

    def _learn_from(self, piece: StreamPart, turns: Sequence[ChatTurn]) -> None:
        if piece.progress:
            self._learn_speed(piece.progress)
        # Images are counted differently.
        if piece.usage and not any(turn.images for turn in turns):
            self._learn_ratio(turns, piece.usage.asked)

    def _learn_ratio(self, turns: Sequence[ChatTurn], counted: int) -> None:
        """Update the ratio of counted to estimated tokens from a request that is long enough.

        A lower ratio is believed only if the request surely was not truncated.
        """
        estimated = sum(rough_token_counts([turn.text for turn in turns]))
        if estimated < _TELLING_TOKENS or not LEAST_RATIO <= counted / estimated <= MOST_RATIO:
            return
        ratio, known = counted / estimated, self._profile.tokens_ratio or 1.0
        is_whole = counted < _SURELY_READ_SHARE * self._profile.context_tokens
        if abs(ratio - known) > _MOVED * known and (ratio > known or is_whole):
            # Too low is worse than too high: up at once, down by halves.
            self._learn(tokens_ratio=round(max(ratio, (ratio + known) / 2), 3))

    def _learn_speed(self, progress: PromptProgress) -> None:
        """Update the speed of reading from what the server tells of a prompt, once it is read.

        The wait for the first word says little: a model is loaded, another request comes first, or
        the model thinks unseen.
        """
        read = progress.read - progress.cached
        if progress.share < 1 or read < _TELLING_PROMPT_TOKENS or progress.seconds < _TELLING_S:
            return
        speed = read / progress.seconds
        if abs(speed - self._profile.read_tokens_per_s) > _MOVED * speed:
            self._learn(read_tokens_per_s=round(speed, 1))

    def _learn(self, **facts: object) -> None:
        self._profiles.learn(self._endpoint.base_url, self._endpoint.model, **facts)

    def _answer(
        self, turns: Sequence[ChatTurn], cancel: Event, tools: Sequence[Tool], schema: Schema | None
    ) -> Generator[Delta]:
        """One request and its answer, with thinking separated; complete, or an error."""
        profile = self._profile
        splitter = ThinkingSplitter(
            may_begin_inside=profile.thinking is Thinking.END_TAG, may_be_json=schema is not None
        )
        heard, called = HeardAnswer(), HeardCalls()
        reason = ""
        left_chars = LONGEST_ANSWER_CHARS
        body = chat_body(self._endpoint.model, turns, profile, tools, schema)
        if not body["stream"]:
            yield Delta("", status=_NOT_STREAMED)
        with closing(self._requests.pieces(body, cancel, self.purpose, self.sent)) as pieces:
            for piece in pieces:
                if piece.status:
                    yield Delta("", status=piece.status)
                self._learn_from(piece, turns)
                called.add(piece.calls)
                reason = piece.finish_reason if piece.finish_reason not in ("", DONE) else reason
                reason = reason or piece.finish_reason
                for delta in _taken_apart(piece, splitter, reason):
                    heard.add(delta)
                    yield replace(delta, text=delta.text[:left_chars])
                    left_chars -= len(delta.text)
                    if left_chars < 0:
                        raise StreamError(Fault.ENDLESS)
                if splitter.is_over:
                    reason = DONE
                    break
        if splitter.has_stray_end:
            self._learn(thinking=Thinking.END_TAG)
        calls = called.calls() if tools else ()
        check_ending(reason, has_answer=bool(heard.text.strip()), has_calls=bool(calls))
        if calls:
            yield Delta("", calls=tuple(map(_tool_call, calls)))


def _tool_call(part: CallPart) -> ToolCall:
    # Unlike those of the turns before, where the server gives none.
    return ToolCall(part.call_id or f"call_{uuid.uuid4().hex}", part.name, part.arguments)


def _taken_apart(piece: StreamPart, splitter: ThinkingSplitter, reason: str) -> list[Delta]:
    if piece is LAST:
        return splitter.finish(is_whole=is_whole(reason))
    if not piece.thinking:
        return splitter.feed(piece.text)
    splitter.note_thinking()
    return [Delta(piece.thinking, is_thinking=True), *splitter.feed(piece.text)]
