"""The body of a chat request in the shape that its model accepts. Pure.

The model's profile says which, as measured or learned from a refusal.
"""

import base64
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from desktop_rag.core.model_profile import ModelProfile
from desktop_rag.models.ports import ChatTurn

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
# Many text-only servers name the type of the unknown part.
_IMAGES_REFUSED = re.compile(
    r"(?i)image_url|image (?:input|content|url)s?\b"
    r"|images?\b.{0,60}\b(?:not|n't|un)\s?(?:support|allow|accept|enable)"
    r"|(?:not|n't|cannot|can't|unable to)\b.{0,40}\bimages?\b"
    r"|multi-?modal|\bvision\b|\bmmproj\b"
    r"|content.{0,60}(?:must be|should be|expected)\W{0,4}(?:a |valid )*string"
)
_USAGE_REFUSED = re.compile(r"(?i)stream_options|include_usage")
# The last one is what OpenAI says to organisations that it has not verified.
_STREAM_REFUSED = re.compile(
    r"(?i)\bstream(?:ing|ed)?\b.{0,60}\b(?:not|n't|un|isn't|cannot be)\s?"
    r"(?:yet |currently )?(?:support|allow|accept|enable|available|permit|implement)"
    r"|(?:not|n't|cannot) (?:support|allow|accept|enable|do)\w*\b.{0,40}\bstream(?:ing|ed)?\b"
    r"|\bstream\b.{0,40}\b(?:must|should|can only) be\b.{0,20}\bfalse"
    r"|set\b.{0,20}\bstream\b.{0,10}\bfalse|verified to stream"
)


def chat_body(model: str, turns: Sequence[ChatTurn], profile: ModelProfile) -> dict[str, Any]:
    """The body of a request for an answer, streamed unless the model is known to refuse that."""
    messages = [{"role": t.role, "content": _content(t)} for t in shaped(turns, profile)]
    is_streamed = profile.streams is not False
    body: dict[str, Any] = {"model": model, "stream": is_streamed, "messages": messages}
    if profile.counts_usage and is_streamed:
        body["stream_options"] = {"include_usage": True}
    return body


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
    facts: dict[str, bool] = {}
    if _USAGE_REFUSED.search(said) and profile.counts_usage:
        facts["counts_usage"] = False
    if _STREAM_REFUSED.search(said) and profile.streams is not False:
        facts["streams"] = False
    if _SYSTEM_REFUSED.search(said) and profile.takes_system is not False:
        facts["takes_system"] = False
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
        if joined and joined[-1].role == turn.role:
            images = (*joined[-1].images, *turn.images)
            joined[-1] = ChatTurn(turn.role, f"{joined[-1].text}\n\n{turn.text}", images)
        else:
            joined.append(turn)
    return joined
