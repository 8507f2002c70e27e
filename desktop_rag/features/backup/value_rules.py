"""Chooses what goes into a backup, and checks values from one that may come from anybody. Pure.

A check takes a value and the place it is at, and raises WrongValueError unless the app could have
written the value there.
"""

import base64
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Annotated, Any, cast

from desktop_rag.core.records import FILLED, Within, WrongValueError, checked, strict_json
from desktop_rag.store.contract.precious import Entry, Json, kinds, kinds_of_features

# Takes a value and its place; WrongValueError unless the app could have written the value there.
Check = Callable[[object, str], None]

LONGEST_TEXT = 32 * 1024 * 1024


def text(most: int = LONGEST_TEXT, *, is_needed: bool = False) -> Check:
    """Text of up to so many characters, with nothing that the store refuses."""
    within = Within(0, most)
    return record(Annotated[str, within, FILLED] if is_needed else Annotated[str, within])


def fields(known: Mapping[str, Check], needed: Collection[str] | None = None) -> Check:
    """An object with these fields only; all of them are `needed` unless named."""
    must = frozenset(known if needed is None else needed)

    def check(value: object, place: str) -> None:
        if not isinstance(value, dict):
            raise WrongValueError(place)
        found = cast("dict[str, object]", value)
        if not must <= found.keys() or not found.keys() <= known.keys():
            raise WrongValueError(place)
        for name, each in found.items():
            known[name](each, f"{place}, {name}")

    return check


def record(kind: Any) -> Check:  # noqa: ANN401  any type of a field
    """A value of this type."""

    def check(value: object, place: str) -> None:
        checked(kind, value, place)

    return check


def column(kind: Any) -> Check:  # noqa: ANN401  a type, a Json or a Check
    """The check of a column."""
    if not isinstance(kind, Json):
        return kind if isinstance(kind, FunctionType) else record(kind)

    def check(value: object, place: str) -> None:
        if kind.may_be_empty and value == "":
            return
        text()(value, place)
        try:
            decoded = strict_json(cast("str", value), takes_nan=kind.takes_nan)
        except ValueError:
            raise WrongValueError(place) from None
        checked(kind.kind, decoded, place, is_open=kind.is_open)

    return check


@dataclass(frozen=True, slots=True)
class Base64:
    """Bytes, in JSON as an object with one field."""

    content: bytes

    def __len__(self) -> int:
        return len(self.content)

    def to_json(self) -> dict[str, str]:
        """The bytes in base64."""
        return {"base64": base64.b64encode(self.content).decode()}

    @classmethod
    def from_json(cls, value: dict[str, str]) -> "Base64":
        """The inverse of `to_json`; ValueError or TypeError for anything else."""
        if value.keys() != {"base64"}:
            raise ValueError("no bytes")
        return cls(base64.b64decode(value["base64"], validate=True))


@dataclass(frozen=True, slots=True)
class Selection:
    """The entries for a backup, and the ids of the images that go with them."""

    entries: tuple[Entry, ...]
    image_ids: frozenset[str]

    @property
    def message_ids(self) -> frozenset[str]:
        """The ids of its messages."""
        return frozenset(entry.key for entry in self.entries if entry.kind == "message")


def selected(entries: Sequence[Entry], collection_id: str = "") -> Selection:
    """What is not deleted; with a collection, only that, its sources and its chats.

    Chats about all documents, and what features keep, are only in a backup of everything.
    """
    by_kind: dict[str, list[Entry]] = {}
    for entry in entries:
        by_kind.setdefault(entry.kind, []).append(entry)
    shown = [e for e in by_kind.get("conversation", []) if not e.row["is_deleted"]]
    chats = [e for e in shown if collection_id in {"", e.row["collection_id"]}]
    chat_ids = {chat.key for chat in chats}
    messages = by_kind.get("message", [])
    own = [m for m in messages if m.conversation_id in chat_ids]
    answers = [a for a in by_kind.get("answer", []) if a.row["conversation_id"] in chat_ids]
    attached = attachment_ids([*chats, *own])
    sources = list(_sources(by_kind.get("source", []), collection_id, attached))
    kept = [
        *(c for c in by_kind.get("collection", []) if collection_id in {"", c.key}),
        *sources,
        *_taggings(by_kind.get("tagging", []), sources if collection_id else None),
        *_assistants(by_kind.get("assistant", []), collection_id, chats),
        *chats, *own,
        *_feedback(by_kind.get("feedback", []), messages, chat_ids, collection_id),
        *answers,
        *(() if collection_id else _of_features(by_kind)),
    ]  # fmt: skip
    return Selection(tuple(kept), attached)


def coherent(entries: Sequence[Entry]) -> list[Entry]:
    """Without what belongs to nothing, such as the messages of a chat that is not among them."""
    keys = {(entry.kind, entry.key) for entry in entries}
    kept = [entry for entry in entries if _belongs(entry, keys)]
    return kept if len(kept) == len(entries) else coherent(kept)


def _belongs(entry: Entry, keys: Container[tuple[str, str]]) -> bool:
    owner = kinds()[entry.kind].owner
    if owner is None:
        return True
    column, kind = owner
    key = entry.row[column]
    return (kind, key) in keys or (not key and kind == entry.kind)


def attachment_ids(entries: Iterable[Entry]) -> frozenset[str]:
    """The ids of what is attached to these conversations and messages."""
    lists: list[Any] = [strict_json(entry.row["attachments"]) for entry in entries]
    return frozenset(attached["attachment_id"] for each in lists for attached in each)


def original_id(message: Entry) -> str:
    """The id under which feedback on a message, and on its copies, is kept."""
    return str(message.row["copy_of"] or message.key)


def _sources(
    sources: Iterable[Entry], collection_id: str, attached: frozenset[str]
) -> Iterable[Entry]:
    for source in sources:
        row = source.row
        if row["is_attached"] and source.key in attached:
            # It is in the collection that new chats were about, whatever this chat is about.
            own = {"sources": [{**row, "collection_id": collection_id or row["collection_id"]}]}
            yield replace(source, rows=own)
        elif not row["is_attached"] and collection_id in {"", row["collection_id"]}:
            yield source


def _taggings(taggings: Iterable[Entry], sources: Sequence[Entry] | None) -> Iterable[Entry]:
    """The tags of files in these sources; None means all, also of files that are gone."""
    if sources is None:
        return taggings
    places = [source.row["path"] for source in sources]
    return [tagging for tagging in taggings if _lies_in(tagging.row["path"], places)]


def _lies_in(path: str, places: Sequence[str]) -> bool:
    return any(path == place or path.startswith((f"{place}/", f"{place}\\")) for place in places)


def _assistants(
    assistants: Iterable[Entry], collection_id: str, chats: Sequence[Entry]
) -> Iterable[Entry]:
    used = {chat.row["assistant_id"] for chat in chats}
    for assistant in assistants:
        if assistant.row["is_deleted"]:
            continue
        asks = strict_json(assistant.row["made_of"])["collection_ids"]
        if not collection_id or assistant.key in used or collection_id in asks:
            yield assistant


def _of_features(by_kind: Mapping[str, Sequence[Entry]]) -> Iterable[Entry]:
    """What features keep, without what is deleted and what belonged to it."""
    found = [entry for kind in kinds_of_features() for entry in by_kind.get(kind, ())]
    return coherent([entry for entry in found if not entry.row.get("is_deleted")])


def _feedback(
    feedback: Iterable[Entry], messages: Sequence[Entry], chat_ids: set[str], collection_id: str
) -> Iterable[Entry]:
    """Feedback on the chosen answers; with everything also on answers since replaced."""
    here = {original_id(m) for m in messages if m.conversation_id in chat_ids}
    elsewhere = {original_id(m) for m in messages} - here
    for log in feedback:
        if log.key in here or (not collection_id and log.key not in elsewhere):
            yield log
