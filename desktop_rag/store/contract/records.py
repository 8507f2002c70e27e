"""Conversations, assistants, attachments and unfinished answers, which nothing else can restore.

Any thread.
"""

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.claims import Claim
from desktop_rag.core.conversation import (
    TERMINAL,
    Attachment,
    Conversation,
    Feedback,
    GivenFeedback,
    Image,
    Message,
    MessageState,
    PastAnswer,
    Role,
    SearchNotes,
    SourceRef,
)
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.store.contract.database import Connection, Database, Entity, fetched, folded
from desktop_rag.store.contract.documents import DocumentContent
from desktop_rag.store.contract.line_files import append_lines, mapping_journal_errors
from desktop_rag.store.contract.sources import delete_source

CONVERSATION = "conversation_id, title, collection_id, updated_at, is_pinned, assistant_id, kept_by"
_MESSAGE = (
    "message_id, conversation_id, role, text, created_at, state, model, is_excerpts, seconds,"
    " error_title, error_hint, thinking, is_own_knowledge, follow_ups, claims, notes, remembered,"
    " attachments, copy_of, scope"
)
# Orders the list: the time of the last change is only shown, as the clock may be set back.
_NEXT_CHANGE = "(SELECT coalesce(max(change_number), 0) + 1 FROM conversations)"
# Feedback belongs to the original of an answer, and so to all its copies.
_SAID_FIRST = "coalesce(nullif(copy_of, ''), message_id)"
_SAID_FIRST_OF = f"coalesce((SELECT {_SAID_FIRST} FROM messages WHERE message_id = $id), $id)"
_IS_OF_THE_PERSON = f"kept_by IN ('', '{TERMINAL}')"
_IS_SHOWN = "conversation_id IN (SELECT conversation_id FROM conversations WHERE NOT is_deleted)"
_CITATION = (
    "message_id, n, document_id, path, title, anchor, text, score, quote, start_offset,"
    " end_offset, is_cited, part, url, also_in, query, is_nearest"
)


class ConversationStore:
    """Conversations with their messages and the sources shown with each answer.

    Each method is one transaction. What is stored comes back equal, even when the documents it
    refers to are gone. An unknown id is a bug of the caller.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, title: str, collection_id: str, assistant_id: str = "", conversation_id: str = ""
    ) -> Conversation:
        """A new, empty conversation; "" means all documents, no assistant, and an id of its own."""
        now = time.time()
        made = conversation_id or uuid.uuid4().hex
        row = [made, title, collection_id, now, now, False, assistant_id]
        self._database.write_uncached(
            lambda con: con.execute(
                "INSERT INTO conversations (conversation_id, title, collection_id, created_at,"
                " updated_at, is_deleted, assistant_id, change_number)"
                f" SELECT ?, ?, ?, ?, ?, ?, ?, {_NEXT_CHANGE}",
                row,
            ),
            changes=[conversation_entity(made)],
        )
        return Conversation(made, title, collection_id, now, assistant_id=assistant_id)

    def get(self, conversation_id: str) -> Conversation:
        """The conversation, hidden or not; an unknown id is a bug (KeyError)."""
        sql = f"SELECT {CONVERSATION} FROM conversations WHERE conversation_id = ?"
        rows = fetched(self._database, sql, [conversation_id])
        if not rows:
            raise KeyError(conversation_id)
        return Conversation(*rows[0])

    def all(self) -> list[Conversation]:
        """The person's that are not hidden: pinned ones, the last changed, and the terminal's.

        The order does not depend on the clock, which may be set back.
        """
        rows = fetched(
            self._database,
            f"SELECT {CONVERSATION} FROM conversations WHERE NOT is_deleted AND {_IS_OF_THE_PERSON}"
            " ORDER BY is_pinned DESC, kept_by, change_number DESC",
        )
        return [Conversation(*row) for row in rows]

    def containing(self, text: str) -> frozenset[str]:
        """The ids of those among `all` with this text in a title or message; case is ignored."""
        wanted = folded("$text")
        rows = fetched(
            self._database,
            "SELECT conversation_id FROM conversations WHERE NOT is_deleted"
            f" AND {_IS_OF_THE_PERSON} AND (contains({folded('title')}, {wanted})"
            f" OR conversation_id IN (SELECT conversation_id FROM messages"
            f" WHERE contains({folded('text')}, {wanted})))",
            {"text": text},
        )
        return frozenset(row[0] for row in rows)

    def rename(self, conversation_id: str, title: str) -> None:
        """Change the title; the position in the list stays."""
        self._set(conversation_id, "title", title)

    def set_collection(self, conversation_id: str, collection_id: str) -> None:
        """Set the collection that was last searched; "" means all."""
        self._set(conversation_id, "collection_id", collection_id)

    def set_assistant(self, conversation_id: str, assistant_id: str) -> None:
        """Set the assistant that answered last; "" means none."""
        self._set(conversation_id, "assistant_id", assistant_id)

    def set_pinned(self, conversation_id: str, is_pinned: bool) -> None:
        """Pin the conversation to the top of the list, or unpin it."""
        self._set(conversation_id, "is_pinned", is_pinned)

    def set_deleted(self, conversation_id: str, is_deleted: bool) -> None:
        """Hide the conversation, or undo that."""
        self._set(conversation_id, "is_deleted", is_deleted)

    def purge_deleted(self) -> None:
        """Remove hidden conversations permanently, with their messages and interactions."""
        changes: list[Entity] = []

        def work(con: Connection) -> None:
            gone = "(SELECT conversation_id FROM conversations WHERE is_deleted)"
            changes.extend(_entities_of(con, gone))
            messages = f"FROM messages WHERE conversation_id IN {gone}"
            left = f"FROM messages WHERE conversation_id NOT IN {gone}"
            con.execute(f"DELETE FROM citations WHERE message_id IN (SELECT message_id {messages})")
            con.execute(
                f"DELETE FROM feedback WHERE message_id IN (SELECT {_SAID_FIRST} {messages})"
                f" AND message_id NOT IN (SELECT {_SAID_FIRST} {left})"
            )
            for table in ("messages", "interactions"):
                con.execute(f"DELETE FROM {table} WHERE conversation_id IN {gone}")
            con.execute("DELETE FROM conversations WHERE is_deleted")

        self._database.write_uncached(work, changes=changes)

    def add_message(self, message: Message) -> None:
        """Append the message with its sources; its conversation is the last changed."""
        self._database.write_uncached(
            lambda con: _insert_message(con, message), changes=_changes_of(message)
        )

    def replace_message(self, old_message_id: str, message: Message) -> None:
        """Replace an earlier message, as when an answer is generated again."""

        def work(con: Connection) -> None:
            [place] = con.execute(
                "DELETE FROM messages WHERE message_id = ? RETURNING position", [old_message_id]
            ).fetchall()
            con.execute("DELETE FROM citations WHERE message_id = ?", [old_message_id])
            _insert_message(con, message, *place)

        old = Entity("message", old_message_id, message.conversation_id)
        self._database.write_uncached(work, changes=[old, *_changes_of(message)])

    def remove_message(self, message_id: str) -> int:
        """Remove a message with its sources; returns its position among the others."""
        changes: list[Entity] = []

        def work(con: Connection) -> int:
            [(position, conversation_id)] = con.execute(
                "DELETE FROM messages WHERE message_id = ? RETURNING position, conversation_id",
                [message_id],
            ).fetchall()
            con.execute("DELETE FROM citations WHERE message_id = ?", [message_id])
            changes.append(Entity("message", message_id, conversation_id))
            return position

        return self._database.write_uncached(work, changes=changes)

    def insert_message(self, message: Message, position: int) -> bool:
        """Put a removed message back; False, without effect, when its position is taken."""

        def work(con: Connection) -> bool:
            taken = con.execute(
                "SELECT 1 FROM messages WHERE conversation_id = ? AND position = ?",
                [message.conversation_id, position],
            ).fetchall()
            if not taken:
                _insert_message(con, message, position)
            return not taken

        return self._database.write_uncached(work, changes=_changes_of(message))

    def set_post_answer(self, message: Message) -> None:
        """Store the text of an answer, what it cites, its follow-ups and its claims."""
        sql = "UPDATE messages SET text = ?, follow_ups = ?, claims = ? WHERE message_id = ?"
        place = "is_cited = ?, quote = ?, start_offset = ?, end_offset = ?"
        cited = f"UPDATE citations SET {place} WHERE message_id = ? AND n = ? AND NOT is_nearest"
        of = message.message_id

        def work(con: Connection) -> None:
            con.execute(sql, [message.text, *_after(message), of])
            for s in message.sources:
                con.execute(cited, [s.is_cited, s.quote, s.start, s.end, of, s.n])

        self._database.write_uncached(work, changes=_changes_of(message)[:1])

    def messages(self, conversation_id: str) -> list[Message]:
        """The messages in order, with their sources as shown and the latest feedback on each."""
        with self._database.read() as con:
            rows = con.execute(
                f"SELECT {_MESSAGE} FROM messages WHERE conversation_id = ? ORDER BY position",
                [conversation_id],
            ).fetchall()
            cited = con.execute(
                f"SELECT {_CITATION} FROM citations WHERE message_id IN"
                " (SELECT message_id FROM messages WHERE conversation_id = ?) ORDER BY n",
                [conversation_id],
            ).fetchall()
            last = con.execute(
                "SELECT m.message_id, arg_max(value, number) FROM"
                f" (SELECT message_id, {_SAID_FIRST} AS said_first FROM messages"
                " WHERE conversation_id = ?) m"
                " JOIN feedback f ON f.message_id = said_first GROUP BY m.message_id",
                [conversation_id],
            ).fetchall()
        feedback = {message_id: Feedback(value) for message_id, value in last}
        sources: dict[tuple[str, bool], list[SourceRef]] = {}
        for message_id, *fields, is_nearest in cited:
            sources.setdefault((message_id, is_nearest), []).append(_source_from(fields))
        messages = [
            _message_from(row, sources.get((row[0], False), ()), sources.get((row[0], True), ()))
            for row in rows
        ]
        return [replace(m, feedback=feedback.get(m.message_id, m.feedback)) for m in messages]

    def add_feedback(self, message_id: str, feedback: Feedback) -> None:
        """Append feedback on an answer to its log; it also holds for copies of the answer."""
        changes: list[Entity] = []

        def work(con: Connection) -> None:
            [(original,)] = con.execute(
                "INSERT INTO feedback (number, message_id, value, noted_at)"
                " SELECT coalesce(max(number), 0) + 1,"
                f" {_SAID_FIRST_OF}, $value, $at FROM feedback RETURNING message_id",
                {"id": message_id, "value": feedback.value, "at": time.time()},
            ).fetchall()
            changes.append(Entity("feedback", original))

        self._database.write_uncached(work, changes=changes)

    def feedback_log(self, message_id: str) -> list[tuple[float, Feedback]]:
        """All feedback on an answer with its time, the oldest first."""
        rows = fetched(
            self._database,
            f"SELECT noted_at, value FROM feedback WHERE message_id = {_SAID_FIRST_OF}"
            " ORDER BY number",
            {"id": message_id},
        )
        return [(noted_at, Feedback(value)) for noted_at, value in rows]

    def all_feedback(self) -> list[GivenFeedback]:
        """All feedback in conversations that are not hidden, the last given first.

        Includes feedback on replaced answers while these are remembered.
        """
        rows = fetched(
            self._database,
            "WITH answers AS ("
            f" SELECT {_SAID_FIRST} AS id, conversation_id, model, (copy_of <> '')::INT AS rank"
            " FROM messages UNION ALL"
            " SELECT interaction_id, conversation_id, model, 2 FROM interactions)"
            " SELECT noted_at, value, arg_min(conversation_id, rank), arg_min(model, rank)"
            " FROM feedback f JOIN answers a ON a.id = f.message_id"
            f" WHERE a.{_IS_SHOWN} GROUP BY number, noted_at, value ORDER BY number DESC",
        )
        return [GivenFeedback(at, Feedback(value), *place) for at, value, *place in rows]

    def places_of(self, id_starts: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Conversation and model of the messages whose ids begin like this, unless hidden."""
        rows = fetched(
            self._database,
            "SELECT start, conversation_id, model FROM unnest(?::VARCHAR[]) s(start)"
            f" JOIN messages ON starts_with(message_id, start) WHERE start <> '' AND {_IS_SHOWN}",
            [list(id_starts)],
        )
        return {start: (conversation_id, model) for start, conversation_id, model in rows}

    def keep(self, conversation_id: str, keeper: str) -> None:
        """Keep it from now on for the program with this id, TERMINAL, or the person, ""."""
        self._set(conversation_id, "kept_by", keeper)

    def kept(self, keeper: str = "") -> list[Conversation]:
        """Those kept for a program, or for any, that are not hidden; the last changed first."""
        rows = fetched(
            self._database,
            f"SELECT {CONVERSATION} FROM conversations WHERE NOT is_deleted"
            f" AND NOT {_IS_OF_THE_PERSON} AND ($keeper = '' OR kept_by = $keeper)"
            " ORDER BY change_number DESC",
            {"keeper": keeper},
        )
        return [Conversation(*row) for row in rows]

    def _set(self, conversation_id: str, column: str, value: str | bool) -> None:
        sql = f"UPDATE conversations SET {column} = ? WHERE conversation_id = ?"
        self._database.write_uncached(
            lambda con: con.execute(sql, [value, conversation_id]),
            changes=[conversation_entity(conversation_id)],
        )


def conversation_entity(conversation_id: str) -> Entity:
    """The entity of a conversation."""
    return Entity("conversation", conversation_id)


def _changes_of(message: Message) -> list[Entity]:
    """The message, and its conversation, which it moves to the top."""
    own = Entity("message", message.message_id, message.conversation_id)
    return [own, conversation_entity(message.conversation_id)]


def _entities_of(con: Connection, conversations: str) -> list[Entity]:
    """All that goes with these conversations, given as a subquery."""
    messages = con.execute(
        f"SELECT message_id, conversation_id, {_SAID_FIRST} FROM messages"
        f" WHERE conversation_id IN {conversations}"
    ).fetchall()
    answers = con.execute(
        f"SELECT interaction_id FROM interactions WHERE conversation_id IN {conversations}"
    ).fetchall()
    ids = con.execute(f"SELECT conversation_id FROM {conversations}").fetchall()
    return [
        *(Entity("message", message_id, of) for message_id, of, _ in messages),
        *(Entity("feedback", original) for *_, original in messages),
        *(Entity("answer", answer_id) for (answer_id,) in answers),
        *(conversation_entity(conversation_id) for (conversation_id,) in ids),
    ]


def _insert_message(con: Connection, message: Message, position: int | None = None) -> None:
    """At this position, else after all others."""
    con.execute(
        f"INSERT INTO messages (position, {_MESSAGE})"
        f" SELECT coalesce(?, max(position) + 1, 1), {', '.join('?' * 20)}"
        " FROM messages WHERE conversation_id = ?",
        [
            position,
            message.message_id, message.conversation_id, message.role.value, message.text,
            message.created_at, message.state.value, message.model, message.is_excerpts,
            message.seconds, message.error_title, message.error_hint, message.thinking,
            message.is_own_knowledge,
            *_after(message),
            json.dumps(message.notes.to_json()) if message.notes else "",
            json.dumps([[past.interaction_id, past.question] for past in message.remembered]),
            attachments_to_json(message.attachments),
            message.copy_of,
            json.dumps(message.scope.to_json()),
            message.conversation_id,
        ],
    )  # fmt: skip
    _insert_sources(con, message.message_id, message.sources, is_nearest=False)
    _insert_sources(con, message.message_id, message.nearest, is_nearest=True)
    con.execute(
        f"UPDATE conversations SET updated_at = ?, change_number = {_NEXT_CHANGE}"
        " WHERE conversation_id = ?",
        [message.created_at, message.conversation_id],
    )


def attachments_to_json(attachments: Sequence[Attachment]) -> str:
    """Attachments as JSON."""
    return json.dumps([attachment.to_json() for attachment in attachments])


def attachments_from_json(stored: str) -> tuple[Attachment, ...]:
    """The inverse of `attachments_to_json`."""
    return tuple(Attachment.from_json(fields) for fields in json.loads(stored))


def _after(message: Message) -> tuple[str, str]:
    claims = [claim.to_json() for claim in message.claims]
    return json.dumps(message.follow_ups), json.dumps(claims)


def _insert_sources(
    con: Connection, message_id: str, sources: Sequence[SourceRef], *, is_nearest: bool
) -> None:
    for s in sources:
        con.execute(
            f"INSERT INTO citations ({_CITATION}) VALUES ({', '.join('?' * 17)})",
            [
                message_id, s.n, s.document_id, s.path, s.title, json.dumps(s.anchor.to_json()),
                s.text, s.score, s.quote, s.start, s.end, s.is_cited, s.part, s.url,
                json.dumps(s.also_in), s.query, is_nearest,
            ],
        )  # fmt: skip


def _source_from(fields: list[object]) -> SourceRef:
    n, document_id, path, title, anchor, *rest, also_in, query = fields
    place = Anchor.from_json(json.loads(str(anchor)))
    elsewhere = tuple(json.loads(str(also_in)))
    return SourceRef(n, document_id, path, title, place, *rest, elsewhere, query)  # type: ignore[arg-type]


def _message_from(
    row: tuple[object, ...], sources: Sequence[SourceRef], nearest: Sequence[SourceRef]
) -> Message:
    message_id, conversation_id, role, text, created_at, state, *rest, is_own = row[:13]
    follow_ups, claims, notes, remembered, attachments, copy_of, scope = row[13:]
    search_notes = SearchNotes.from_json(json.loads(str(notes))) if notes else None
    return Message(
        message_id, conversation_id, Role(role), text, created_at, MessageState(state),  # type: ignore[arg-type]
        *rest, tuple(sources), tuple(nearest), search_notes,  # type: ignore[arg-type]
        follow_ups=tuple(json.loads(str(follow_ups))),
        claims=tuple(Claim.from_json(fields) for fields in json.loads(str(claims))),
        is_own_knowledge=bool(is_own),
        remembered=tuple(PastAnswer(*past) for past in json.loads(str(remembered))),
        attachments=attachments_from_json(str(attachments)),
        copy_of=str(copy_of),
        scope=QuestionScope.from_json(json.loads(str(scope))),
    )  # fmt: skip


class AttachmentStore:
    """The attachments of conversations, and attached images.

    An attached file is a source (`SourceStore.add_attached`) with the id of the attachment.
    """

    def __init__(self, database: Database, content: DocumentContent) -> None:
        self._database = database
        self._content = content

    def of(self, conversation_id: str) -> tuple[Attachment, ...]:
        """The attachments of the conversation; empty for an unknown one."""
        sql = "SELECT attachments FROM conversations WHERE conversation_id = ?"
        rows = fetched(self._database, sql, [conversation_id])
        return attachments_from_json(rows[0][0]) if rows else ()

    def set(self, conversation_id: str, attachments: Sequence[Attachment]) -> None:
        """Replace the attachments of the conversation."""
        row = [attachments_to_json(attachments), conversation_id]
        sql = "UPDATE conversations SET attachments = ? WHERE conversation_id = ?"
        self._database.write_uncached(
            lambda con: con.execute(sql, row), changes=[conversation_entity(conversation_id)]
        )

    def put_image(self, attachment_id: str, image: Image) -> None:
        """Store the image of an attachment."""
        row = [attachment_id, image.mime, image.data, time.time()]
        sql = "INSERT INTO attached_images (attachment_id, mime, data, kept_at) VALUES (?, ?, ?, ?)"
        self._database.write_uncached(
            lambda con: con.execute(sql, row), changes=[Entity("image", attachment_id)]
        )

    def image(self, attachment_id: str) -> Image | None:
        """The image of an attachment; None when it has none."""
        sql = "SELECT mime, data FROM attached_images WHERE attachment_id = ?"
        rows = fetched(self._database, sql, [attachment_id])
        return Image(rows[0][0], bytes(rows[0][1])) if rows else None

    def purge(self, before: float) -> None:
        """Remove images, and attached sources with documents, that no conversation refers to.

        Only those attached before the given time: a newer one may be part of a question to come.
        """
        changes: list[Entity] = []
        self._database.write(
            lambda con: changes.extend(_purge(con, before, self._content)), changes=changes
        )


def _purge(con: Connection, before: float, content: DocumentContent) -> list[Entity]:
    lists = con.execute(
        "SELECT attachments FROM conversations WHERE attachments <> '[]'"
        " UNION SELECT attachments FROM messages WHERE attachments <> '[]'"
    ).fetchall()
    used = {a.attachment_id for (stored,) in lists for a in attachments_from_json(stored)}
    unused = "NOT IN (SELECT unnest(?::VARCHAR[]))"
    sources = con.execute(
        f"SELECT source_id FROM sources WHERE is_attached AND added_at < ? AND source_id {unused}",
        [before, list(used)],
    ).fetchall()
    for (source_id,) in sources:
        delete_source(con, source_id, content)
    images = con.execute(
        f"DELETE FROM attached_images WHERE kept_at < ? AND attachment_id {unused}"
        " RETURNING attachment_id",
        [before, list(used)],
    ).fetchall()
    return [
        *(Entity("source", source_id) for (source_id,) in sources),
        *(Entity("image", attachment_id) for (attachment_id,) in images),
    ]


class AssistantStore:
    """Assistants by their id. Each method is one transaction; what is stored comes back equal."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Assistant]:
        """Assistants that are not hidden, by name in lower case, then by id."""
        rows = fetched(self._database, "SELECT made_of FROM assistants WHERE NOT is_deleted")
        found = [Assistant.from_json(json.loads(made_of)) for (made_of,) in rows]
        return sorted(found, key=lambda a: (a.name.casefold(), a.assistant_id))

    def put(self, assistant: Assistant) -> None:
        """Store the assistant in place of one with the same id."""
        made_of = json.dumps(assistant.to_json(), ensure_ascii=False)

        def work(con: Connection) -> None:
            con.execute("DELETE FROM assistants WHERE assistant_id = ?", [assistant.assistant_id])
            con.execute(
                "INSERT INTO assistants (assistant_id, made_of) VALUES (?, ?)",
                [assistant.assistant_id, made_of],
            )

        self._database.write_uncached(work, changes=[Entity("assistant", assistant.assistant_id)])

    def set_deleted(self, assistant_id: str, is_deleted: bool) -> None:
        """Hide the assistant, or undo that."""
        sql = "UPDATE assistants SET is_deleted = ? WHERE assistant_id = ?"
        self._database.write_uncached(
            lambda con: con.execute(sql, [is_deleted, assistant_id]),
            changes=[Entity("assistant", assistant_id)],
        )

    def purge_deleted(self) -> None:
        """Remove hidden assistants permanently; conversations may still refer to them."""
        changes: list[Entity] = []

        def work(con: Connection) -> None:
            gone = con.execute(
                "DELETE FROM assistants WHERE is_deleted RETURNING assistant_id"
            ).fetchall()
            changes.extend(Entity("assistant", assistant_id) for (assistant_id,) in gone)

        self._database.write_uncached(work, changes=changes)


@dataclass(frozen=True, slots=True)
class UnfinishedAnswer:
    """What was shown of an answer whose process ended before it."""

    answer_id: str
    about: dict[str, Any]  # JSON values from the writer, empty when they were lost
    text: str
    thinking: str


_SUFFIX = ".jsonl"


class UnfinishedAnswerStore:
    """What was shown of answers in progress, for the next start after a crash.

    A change is on disk when its method returns. AppError when the disk refuses.
    """

    def __init__(self, folder: Path) -> None:
        """The folder is created with the first answer."""
        self._folder = folder

    def append(
        self,
        answer_id: str,
        *,
        about: Mapping[str, Any] | None,
        text: str,
        thinking: str,
        is_restated: bool = False,
    ) -> None:
        """Add what was shown since; `about` replaces the one before, if restated the texts, too."""
        line = {"about": about, "text": text, "thinking": thinking, "is_restated": is_restated}
        content = json.dumps({name: value for name, value in line.items() if value})
        with mapping_journal_errors():
            append_lines(self._file(answer_id), content.encode() + b"\n")

    def all(self) -> list[UnfinishedAnswer]:
        """The answers that were not removed, in no order."""
        with mapping_journal_errors():
            files = sorted(self._folder.glob(f"*{_SUFFIX}"))
            return [_read(file) for file in files]

    def remove(self, answer_id: str) -> None:
        """Forget an answer, because it is stored as a message or gone."""
        with mapping_journal_errors():
            self._file(answer_id).unlink(missing_ok=True)

    def _file(self, answer_id: str) -> Path:
        return self._folder / f"{answer_id}{_SUFFIX}"


def _read(file: Path) -> UnfinishedAnswer:
    about: dict[str, Any] = {}
    parts: dict[str, list[str]] = {"text": [], "thinking": []}
    for content in file.read_bytes().split(b"\n"):
        line = _object(content)
        about = cast("dict[str, Any]", line.get("about")) or about
        for name, pieces in parts.items():
            if line.get("is_restated"):
                pieces.clear()
            pieces.append(str(line.get(name, "")))
    return UnfinishedAnswer(file.stem, about, "".join(parts["text"]), "".join(parts["thinking"]))


def _object(content: bytes) -> dict[str, Any]:
    """The object of a line; an empty one for a line that was cut off or damaged."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
