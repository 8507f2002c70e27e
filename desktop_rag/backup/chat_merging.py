"""Merges chats with their messages, feedback and remembered answers. Pure.

A chat is one piece: its messages have an order, and an answer may have been given again. So the
longer of two versions stands when it begins like the other, and two that differ are both kept.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from desktop_rag.backup.value_rules import WrongValueError
from desktop_rag.store.contract.precious import Entry, Row

Kept = Mapping[str, Mapping[str, Entry]]
_ID_CHARS = 32
_MOST_TITLE_CHARS = 9_000
_KEPT_TWICE = " (imported)"


@dataclass(frozen=True, slots=True)
class _Chat:
    """A conversation with its messages in order, and the answers remembered of it."""

    conversation: Entry
    messages: tuple[Entry, ...]
    answers: tuple[Entry, ...] = ()

    @property
    def message_ids(self) -> list[str]:
        return [message.key for message in self.messages]

    @property
    def updated_at(self) -> float:
        return float(self.conversation.row["updated_at"])


def merged_chats(here: Kept, new: Mapping[str, Sequence[Entry]]) -> list[Entry]:
    """The chats to put, with everything that goes with them.

    WrongValueError for a message or an answer of no chat.
    """
    present = _chats(
        *(list(here.get(kind, {}).values()) for kind in ("conversation", "message", "answer"))
    )
    incoming = _chats(
        *(new.get(kind, []) for kind in ("conversation", "message", "answer")), is_strict=True
    )
    owners = {message.key: key for key, chat in present.items() for message in chat.messages}
    put: list[Entry] = []
    added: list[_Chat] = []
    for chat in incoming.values():
        taken = _taken(chat, present, owners)
        if taken is None:
            continue
        put += [*taken.messages, *_new_answers(taken.answers, here.get("answer", {}))]
        added.append(taken)
    put += _ordered(present, added)
    return [*put, *_feedback(here.get("feedback", {}), new.get("feedback", []))]


def _chats(
    conversations: Iterable[Entry],
    messages: Iterable[Entry],
    answers: Iterable[Entry],
    *,
    is_strict: bool = False,
) -> dict[str, _Chat]:
    ordered = sorted(messages, key=lambda message: message.row["position"])
    by_chat: dict[str, list[Entry]] = {}
    for message in ordered:
        by_chat.setdefault(message.conversation_id, []).append(message)
    remembered: dict[str, list[Entry]] = {}
    for answer in answers:
        remembered.setdefault(answer.row["conversation_id"], []).append(answer)
    found = {
        entry.key: _Chat(
            entry, tuple(by_chat.pop(entry.key, ())), tuple(remembered.pop(entry.key, ()))
        )
        for entry in conversations
    }
    if is_strict and (left := [*by_chat.values(), *remembered.values()]):
        raise WrongValueError(f"{left[0][0].kind} {left[0][0].key}, its chat")
    return found


def _taken(chat: _Chat, present: Mapping[str, _Chat], owners: Mapping[str, str]) -> _Chat | None:
    """The part of an incoming chat that is to be put; None when there is nothing to do."""
    own = present.get(chat.conversation.key)
    if own is None:
        is_elsewhere = any(message_id in owners for message_id in chat.message_ids)
        return _taken_apart(chat, present) if is_elsewhere else chat
    theirs, ours = chat.message_ids, own.message_ids
    if theirs == ours[: len(theirs)]:
        if own.conversation.row["is_deleted"]:
            row = {**own.conversation.row, "is_deleted": False}
            shown = replace(own.conversation, rows={"conversations": [row]})
            return _Chat(shown, ())
        is_newer = len(theirs) == len(ours) and chat.updated_at > own.updated_at
        return chat if is_newer else None
    if ours == theirs[: len(ours)]:
        if any(owners.get(message_id, own.conversation.key) != own.conversation.key
               for message_id in theirs):  # fmt: skip
            return _taken_apart(chat, present)
        return replace(chat, messages=chat.messages[len(ours) :])
    return _taken_apart(chat, present)


def _taken_apart(chat: _Chat, present: Mapping[str, _Chat]) -> _Chat | None:
    """The chat under ids of its own, which are always the same; None when it is there already.

    Its messages are copies of the originals, so feedback on these holds for them too.
    """
    key = _derived(chat.conversation.key, *chat.message_ids)
    if key in present:
        return None
    title = str(chat.conversation.row["title"])[:_MOST_TITLE_CHARS] + _KEPT_TWICE
    row = {**chat.conversation.row, "conversation_id": key, "title": title}
    ids = {message_id: _derived(key, message_id) for message_id in chat.message_ids}
    return _Chat(
        Entry("conversation", key, {"conversations": [row]}),
        tuple(_copied(message, key, ids[message.key]) for message in chat.messages),
    )


def _copied(message: Entry, conversation_id: str, message_id: str) -> Entry:
    row = {
        **message.row,
        "message_id": message_id,
        "conversation_id": conversation_id,
        "copy_of": message.row["copy_of"] or message.key,
    }
    cited = [{**citation, "message_id": message_id} for citation in message.rows["citations"]]
    return Entry("message", message_id, {"messages": [row], "citations": cited}, conversation_id)


def _ordered(present: Mapping[str, _Chat], added: Sequence[_Chat]) -> list[Entry]:
    """The conversations to put, numbered so that each side keeps its order.

    Of two from different sides the one that changed later comes later.
    """
    fresh = {chat.conversation.key: chat for chat in added}
    ours = _by_number([c for key, c in present.items() if key not in fresh])
    theirs = _by_number(added)
    numbered: list[_Chat] = []
    while ours or theirs:
        takes_ours = not theirs or (ours and ours[0].updated_at <= theirs[0].updated_at)
        numbered.append((ours if takes_ours else theirs).pop(0))
    return [
        replace(chat.conversation, rows={"conversations": [{**row, "change_number": number}]})
        for number, chat in enumerate(numbered, start=1)
        if (row := chat.conversation.row)["change_number"] != number
        or chat.conversation.key in fresh
    ] if added else []  # fmt: skip


def _by_number(chats: Iterable[_Chat]) -> list[_Chat]:
    return sorted(chats, key=lambda chat: chat.conversation.row["change_number"])


def _new_answers(answers: Iterable[Entry], here: Mapping[str, Entry]) -> list[Entry]:
    """Remembered answers that are missing, after those here."""
    last = max((entry.row["number"] for entry in here.values()), default=0)
    missing = [answer for answer in answers if answer.key not in here]
    return [
        replace(answer, rows={"interactions": [{**answer.row, "number": last + _number(answer)}]})
        for answer in missing
    ]


def _number(entry: Entry) -> int:
    return int(entry.row["number"])


def _feedback(here: Mapping[str, Entry], new: Iterable[Entry]) -> list[Entry]:
    """The logs of both sides joined; the last that was said counts."""
    last = max((row["number"] for e in here.values() for row in e.rows["feedback"]), default=0)
    put: list[Entry] = []
    for log in new:
        present = here[log.key].rows["feedback"] if log.key in here else ()
        known = {_said(row) for row in present}
        missing = [row for row in log.rows["feedback"] if _said(row) not in known]
        if not missing:
            continue
        ours = sorted(present, key=itemgetter("number"))
        theirs = sorted(missing, key=itemgetter("number"))
        rows = sorted([*ours, *theirs], key=itemgetter("noted_at"))
        numbered = [{**row, "number": last + n} for n, row in enumerate(rows, start=1)]
        last += len(numbered)
        put.append(replace(log, rows={"feedback": numbered}))
    return put


def _said(row: Row) -> tuple[str, float]:
    return str(row["value"]), float(row["noted_at"])


def _derived(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_ID_CHARS]
