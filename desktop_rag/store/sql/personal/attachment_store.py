"""The attachments of conversations, and attached images. Any thread; writes take the lane."""

import time
from collections.abc import Sequence

from desktop_rag.core.attachment import Attachment, Image
from desktop_rag.store.sql.documents.source_store import delete_source
from desktop_rag.store.sql.personal.conversation_store import (
    attachments_from_json,
    attachments_to_json,
)
from desktop_rag.store.sql.precious_rows import Entity
from desktop_rag.store.sql.sql_engine import Connection, Database, DocumentContent


class AttachmentStore:
    """Reads and writes attachments; each method is one transaction."""

    def __init__(self, database: Database, content: DocumentContent) -> None:
        self._database = database
        self._content = content

    def of(self, conversation_id: str) -> tuple[Attachment, ...]:
        """The attachments of the conversation."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT attachments FROM conversations WHERE conversation_id = ?",
                [conversation_id],
            ).fetchall()
        return attachments_from_json(rows[0][0]) if rows else ()

    def set(self, conversation_id: str, attachments: Sequence[Attachment]) -> None:
        """Replace the attachments of the conversation."""
        row = [attachments_to_json(attachments), conversation_id]
        sql = "UPDATE conversations SET attachments = ? WHERE conversation_id = ?"
        self._database.write_uncached(
            lambda con: con.execute(sql, row), changes=[Entity("conversation", conversation_id)]
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
        with self._database.read() as con:
            rows = con.execute(
                "SELECT mime, data FROM attached_images WHERE attachment_id = ?", [attachment_id]
            ).fetchall()
        return Image(rows[0][0], bytes(rows[0][1])) if rows else None

    def purge(self, before: float) -> None:
        """Remove older images and attached sources that no conversation refers to."""
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
