"""The body of a chat request in the shape that its model takes. Pure.

Which shape that is stands in the model's profile, measured or learned from a refusal.
"""

import re
from collections.abc import Sequence
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
_USAGE_REFUSED = re.compile(r"(?i)stream_options|include_usage")


def chat_body(model: str, turns: Sequence[ChatTurn], profile: ModelProfile) -> dict[str, Any]:
    """A streamed request for an answer to these turns."""
    messages = [{"role": t.role, "content": t.text} for t in shaped(turns, profile)]
    body: dict[str, Any] = {"model": model, "stream": True, "messages": messages}
    if profile.counts_usage:
        body["stream_options"] = {"include_usage": True}
    return body


def shaped(turns: Sequence[ChatTurn], profile: ModelProfile) -> list[ChatTurn]:
    """The turns as the model takes them; nothing of what they say is lost.

    A system turn it doesn't take stands before the first question, and neighbours in the same
    role become one.
    """
    shaped = list(turns)
    if profile.takes_system is False:
        shaped = _folded(shaped)
    return _alternating(shaped) if profile.must_alternate else shaped


def learned_from(said: str, profile: ModelProfile) -> dict[str, bool]:
    """The facts of a profile that a refusal in these words teaches; empty if none is new."""
    facts: dict[str, bool] = {}
    if _USAGE_REFUSED.search(said) and profile.counts_usage:
        facts["counts_usage"] = False
    if _SYSTEM_REFUSED.search(said) and profile.takes_system is not False:
        facts["takes_system"] = False
    if _ORDER_REFUSED.search(said):
        if not profile.must_alternate:
            facts["must_alternate"] = True
        elif profile.takes_system is not False:
            # Some say this of a system turn that stands before the first question.
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
    others[first] = ChatTurn("user", f"{text}\n\n{others[first].text}")
    return others


def _alternating(turns: list[ChatTurn]) -> list[ChatTurn]:
    joined: list[ChatTurn] = []
    for turn in turns:
        if joined and joined[-1].role == turn.role:
            joined[-1] = ChatTurn(turn.role, f"{joined[-1].text}\n\n{turn.text}")
        else:
            joined.append(turn)
    return joined
