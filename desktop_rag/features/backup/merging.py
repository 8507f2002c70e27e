"""Merges the entries of a backup into those of a library. Pure.

What both have is kept once. Of assistants the newer one wins; a chat that was continued on one side
is continued, one that went on differently on both is kept twice. Everything else that the library
has stays as it is. Merging the same backup again changes nothing.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from desktop_rag.core.assistant import LONGEST_NAME
from desktop_rag.core.domain import MOST_TAGS, with_changes
from desktop_rag.core.paths import Home
from desktop_rag.core.records import WrongValueError, strict_json
from desktop_rag.features.backup.manifest import Manifest
from desktop_rag.store.contract.precious import Entry, Incoming, Present, Row, backup_rules

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


def merged_chats(here: Present, new: Incoming) -> list[Entry]:
    """The chats to put, with everything that goes with them.

    A chat is one piece: its messages have an order, and an answer may have been given again. So the
    longer of two versions stands when it begins like the other; two that differ are both kept.
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
    """The part of an incoming chat to put; None when there is nothing to do."""
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
    """The conversations to put, numbered: each side keeps its order, and later changes go last."""
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


_KEPT_APART = " (imported{number})"


@dataclass(frozen=True, slots=True)
class Places:
    """The home that a backup is from, and the one that takes it in, with its folder of pages."""

    home_before: str
    home: Path
    pages: Path


@dataclass(slots=True)
class Merge:
    """The outcome of a merge: entries to put, and the sources that were left out, as paths.

    `sources` has the id here of each other source, by its id in the backup.
    """

    put: list[Entry] = field(default_factory=list[Entry])
    sources: dict[str, str] = field(default_factory=dict[str, str])
    overlapping: list[str] = field(default_factory=list[str])


def places_of(manifest: Manifest, home: Home) -> Places:
    """Where a backup is from and where it goes."""
    return Places(manifest.home, home.root.absolute(), home.pages.absolute())


def merge(present: Sequence[Entry], incoming: Sequence[Entry], places: Places) -> Merge:
    """What `incoming` adds or changes. WrongValueError for a reference to something missing."""
    if len({(entry.kind, entry.key) for entry in incoming}) < len(incoming):
        raise WrongValueError("two of one kind and id")
    here = {kind: {e.key: e for e in present if e.kind == kind} for kind in _kinds(present)}
    new = {kind: [e for e in incoming if e.kind == kind] for kind in _kinds(incoming)}
    done = Merge()
    ids = _merge_collections(here.get("collection", {}), new.get("collection", []), done)
    _merge_sources(here, new.get("source", []), ids, places, done)
    done.put += _merged_tags(here.get("tagging", {}), new.get("tagging", []), places)
    _merge_assistants(here.get("assistant", {}), new.get("assistant", []), ids, done)
    conversations = [_moved(chat, ids) for chat in new.get("conversation", [])]
    done.put += merged_chats(here, {**new, "conversation": conversations})
    for rules in backup_rules():
        done.put += rules.merged(here, new, ids)
    return done


def _kinds(entries: Iterable[Entry]) -> set[str]:
    return {entry.kind for entry in entries}


def _merge_collections(
    here: Mapping[str, Entry], new: Iterable[Entry], done: Merge
) -> Mapping[str, str]:
    """The id here of each incoming collection: one of the same name is the same one."""
    by_name = {_folded(entry.row["name"]): key for key, entry in here.items()}
    ids: dict[str, str] = {}
    for collection in new:
        name = _folded(collection.row["name"])
        if collection.key in here:
            ids[collection.key] = collection.key
        elif name in by_name:
            ids[collection.key] = by_name[name]
        else:
            ids[collection.key] = by_name[name] = collection.key
            # A backup of somebody else must open no way into the local network.
            row = {**collection.row, "intranet_hosts": ""}
            done.put.append(replace(collection, rows={"collections": [row]}))
    return ids


def _merge_sources(
    here: Present, new: Iterable[Entry], ids: Mapping[str, str], places: Places, done: Merge
) -> None:
    known = here.get("source", {})
    taken = [entry.row for entry in known.values() if not entry.row["is_attached"]]
    for source in new:
        if source.key in known:
            done.sources[source.key] = source.key
            continue
        row = dict(source.row)
        row["collection_id"] = ids.get(row["collection_id"], row["collection_id"])
        row["path"] = path_here(source, places)
        if row["links"]:
            row["refreshed_at"] = 0.0  # its pages are not here
        is_homeless = row["collection_id"] not in {*ids.values(), *here.get("collection", {})}
        if is_homeless and not row["is_attached"]:
            raise WrongValueError(f"source {source.key}, collection_id")
        if not row["is_attached"]:
            same = [other for other in taken if other["collection_id"] == row["collection_id"]]
            if twin := next((other for other in same if _is_same(row, other)), None):
                done.sources[source.key] = twin["source_id"]
                continue
            if any(_overlaps(row, other) for other in same):
                done.overlapping.append(row["path"])
                continue
            taken.append(row)
        done.sources[source.key] = source.key
        done.put.append(replace(source, rows={"sources": [row]}))


def path_here(source: Entry, places: Places) -> str:
    """The path of a source on this computer: pages and rewrites are below the app's home."""
    if source.row["links"]:
        return str(places.pages / source.key)
    if source.row.get("program"):
        return str(places.home / "sent" / source.key)
    return _in_this_home(str(source.row["path"]), places)


def _in_this_home(path: str, places: Places) -> str:
    kind = PureWindowsPath if PureWindowsPath(places.home_before).drive else PurePosixPath
    before = kind(places.home_before)
    if places.home_before and kind(path).is_relative_to(before):
        return str(places.home.joinpath(*kind(path).relative_to(before).parts))
    return path


def _is_same(row: Row, other: Row) -> bool:
    if row["links"] or other["links"]:
        return row["links"] == other["links"]
    return row["path"] == other["path"]


def _overlaps(row: Row, other: Row) -> bool:
    # Only folders and files of the person's can lie in each other.
    if any(each["links"] or each.get("program") for each in (row, other)):
        return False
    path, present = Path(row["path"]), Path(other["path"])
    return path.is_relative_to(present) or present.is_relative_to(path)


def _merged_tags(here: Mapping[str, Entry], new: Iterable[Entry], places: Places) -> list[Entry]:
    """Files get the tags that they lack here; one that was moved here is the same file."""
    by_path = {entry.row["path"]: entry for entry in here.values()}
    put: dict[str, Entry] = {}
    for tagging in new:
        path = _in_this_home(tagging.row["path"], places)
        known = here.get(tagging.key) or by_path.get(path)
        kept = put.get(known.key, known) if known else None
        row = kept.row if kept else {**tagging.row, "path": path, "tags": ""}
        lines = (row["tags"].split("\n"), tagging.row["tags"].split("\n"))
        tags = "\n".join(with_changes(*lines, ())[:MOST_TAGS])
        if tags != row["tags"]:
            changed = replace(kept or tagging, rows={"file_tags": [{**row, "tags": tags}]})
            put[changed.key] = by_path[changed.row["path"]] = changed
    return list(put.values())


def _merge_assistants(
    here: Mapping[str, Entry], new: Iterable[Entry], ids: Mapping[str, str], done: Merge
) -> None:
    names = {_folded(_made_of(e)["name"]): key for key, e in here.items() if _is_shown(e)}
    for assistant in new:
        made_of = _made_of(assistant)
        made_of["collection_ids"] = [ids.get(i, i) for i in made_of["collection_ids"]]
        own = made_of.get("own_collection_id", "")
        made_of["own_collection_id"] = ids.get(own, own)
        present = here.get(assistant.key)
        if present and _is_shown(present) and _changed_at(assistant) <= _changed_at(present):
            continue
        made_of["name"] = _free_name(made_of["name"], assistant.key, names)
        names[_folded(made_of["name"])] = assistant.key
        row = {**assistant.row, "made_of": json.dumps(made_of, ensure_ascii=False)}
        done.put.append(replace(assistant, rows={"assistants": [row]}))


def _made_of(assistant: Entry) -> dict[str, Any]:
    return strict_json(assistant.row["made_of"])


def _changed_at(assistant: Entry) -> float:
    # Those stored before this was noted have none.
    return float(_made_of(assistant).get("changed_at", 0.0))


def _is_shown(assistant: Entry) -> bool:
    return not assistant.row["is_deleted"]


def _free_name(name: str, key: str, names: Mapping[str, str]) -> str:
    """The name, with an ending when another assistant has it."""
    candidate, number = name, 1
    while names.get(_folded(candidate), key) != key:
        ending = _KEPT_APART.format(number=f" {number}" if number > 1 else "")
        candidate = name[: LONGEST_NAME - len(ending)].rstrip() + ending
        number += 1
    return candidate


def _moved(chat: Entry, ids: Mapping[str, str]) -> Entry:
    """The conversation with the id that its collection has here."""
    row = chat.row
    own = {**row, "collection_id": ids.get(row["collection_id"], row["collection_id"])}
    return replace(chat, rows={"conversations": [own]})


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()
