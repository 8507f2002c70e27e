"""Messages of rooms as the bot understands them, and whether one is meant for it. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

_MS = 1_000.0
_TEXT_KINDS = ("m.text", "m.emote")
_PILL = re.compile(r"""<a\s+href=["']https://matrix\.to/#/([^"'/?]+)[^>]*>""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HeardMessage:
    """A text that somebody wrote. It is data: nothing in it is markup or an instruction to us.

    `thread_id` is the first message of its thread, `replies_to` the message that it really answers;
    both may be "". `mentions` are the people it names by the standard's own field, None where the
    sender's program has none. `is_verified` is true for one from a verified device only.
    """

    room_id: str
    event_id: str
    sender: str
    sent_at: float
    text: str
    formatted: str = ""
    thread_id: str = ""
    replies_to: str = ""
    replaces: str = ""
    mentions: frozenset[str] | None = None
    is_encrypted: bool = False
    is_verified: bool = False
    is_notice: bool = False
    device_id: str = ""

    @property
    def answer_thread(self) -> str:
        """The thread that an answer belongs into: its own, or a new one below it."""
        return self.thread_id or self.event_id


def heard(
    room_id: str, event: Mapping[str, Any], *, is_encrypted: bool = False, is_verified: bool = False
) -> HeardMessage | None:
    """The message in an event; None for one without a text, or of another form."""
    content = _object(event.get("content"))
    kind, body = content.get("msgtype"), content.get("body")
    is_notice = kind == "m.notice"
    if event.get("type") != "m.room.message" or not isinstance(body, str):
        return None
    if kind not in _TEXT_KINDS and not is_notice:
        return None
    relation = _object(content.get("m.relates_to"))
    kind_of_relation, related = relation.get("rel_type"), str(relation.get("event_id") or "")
    formatted = content.get("formatted_body")
    return HeardMessage(
        room_id,
        str(event.get("event_id") or ""),
        str(event.get("sender") or ""),
        _seconds(event.get("origin_server_ts")),
        _without_quotation(body),
        formatted if isinstance(formatted, str) else "",
        related if kind_of_relation == "m.thread" else "",
        _replied_to(relation),
        related if kind_of_relation == "m.replace" else "",
        _mentions(content),
        is_encrypted,
        is_verified,
        is_notice,
    )


def is_for(message: HeardMessage, user_id: str, display_name: str, own_ids: frozenset[str]) -> bool:
    """True for a message that mentions a user, or replies to one of their messages.

    Notices are written by programs, and corrections of messages were answered already.
    """
    if message.sender == user_id or message.is_notice or message.replaces:
        return False
    if message.replies_to in own_ids and message.replies_to:
        return True
    if message.mentions is not None:
        return user_id in message.mentions
    if user_id in (_unquoted(each) for each in _PILL.findall(message.formatted)):
        return True
    return _begins_with_name(message.text, user_id, display_name) is not None


def without_mention(text: str, user_id: str, display_name: str) -> str:
    """The text without the name at its beginning."""
    end = _begins_with_name(text, user_id, display_name)
    return (text[end:] if end is not None else text).strip()


def _begins_with_name(text: str, user_id: str, display_name: str) -> int | None:
    """Where the text goes on after a name at its beginning; None without one."""
    local = user_id[1:].partition(":")[0]
    names = sorted({user_id, display_name, local} - {""}, key=len, reverse=True)
    for name in names:
        pattern = rf"\s*@?{re.escape(name)}(?:\s*[:,]\s*|\s+|\s*$)"
        if found := re.match(pattern, text, re.IGNORECASE):
            return found.end()
    return None


def _mentions(content: Mapping[str, Any]) -> frozenset[str] | None:
    given = content.get("m.mentions")
    if not isinstance(given, dict):
        return None
    users = _object(given).get("user_ids")
    listed = cast("list[object]", users) if isinstance(users, list) else []
    return frozenset(each for each in listed if isinstance(each, str))


def _replied_to(relation: Mapping[str, Any]) -> str:
    """The message that was replied to; in a thread programs name the last one as a fallback."""
    if relation.get("rel_type") == "m.thread" and relation.get("is_falling_back", False):
        return ""
    return str(_object(relation.get("m.in_reply_to")).get("event_id") or "")


def _without_quotation(body: str) -> str:
    """A reply without the quotation that older programs put before it."""
    if not body.startswith("> "):
        return body
    lines = body.split("\n")
    rest = next((n for n, line in enumerate(lines) if not line.startswith(">")), len(lines))
    return "\n".join(lines[rest:]).strip() or body


def _unquoted(address: str) -> str:
    return address.replace("%40", "@").replace("%3A", ":").replace("%3a", ":")


def _seconds(stamp: object) -> float:
    return float(stamp) / _MS if isinstance(stamp, int | float) else 0.0


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Reaction:
    """A reaction of somebody to a message."""

    room_id: str
    reacts_to: str
    sender: str
    key: str


@dataclass(slots=True)
class Heard:
    """What came since the last time, and the mark to go on from."""

    mark: str
    messages: list[HeardMessage] = field(default_factory=list[HeardMessage])
    reactions: list[Reaction] = field(default_factory=list[Reaction])
    invited_to: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class KnownDevice:
    """A device of somebody, by its fingerprint."""

    user_id: str
    device_id: str
    fingerprint: str
    name: str
