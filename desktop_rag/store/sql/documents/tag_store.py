"""Tags given to files, a row per path. Any thread; writes take the lane."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from desktop_rag.core.domain import MOST_TAGS, Document, TagCount, with_changes
from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.database import Connection, Database, Entity
from desktop_rag.store.sql.scope_filters import folded
from desktop_rag.store.sql.sql_engine import fetched

# Attached files are no part of the library; gone ones are found by no search.
_FOUND = "state <> 'gone' AND source_id NOT IN (SELECT source_id FROM sources WHERE is_attached)"
_IN_USE = (
    "SELECT path, unnest(string_split(tags, chr(10))) AS tag FROM documents"
    f" WHERE tags <> '' AND {_FOUND} UNION ALL"
    " SELECT path, unnest(string_split(f.tags, chr(10))) AS tag FROM file_tags f"
    f" WHERE path IN (SELECT path FROM documents WHERE {_FOUND})"
)


class TagStore:
    """Reads and changes the tags; each change is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def given(self, paths: Sequence[Path] | None = None) -> Mapping[Path, tuple[str, ...]]:
        """The tags of each file that has any, of these paths or of all."""
        with self._database.read() as con:
            found = _tags_at(con, None if paths is None else list(map(str, paths)))
        return {Path(path): tags for path, tags in found.items()}

    def counts(self) -> list[TagCount]:
        """All tags in use with the number of their files, by name."""
        rows = fetched(
            self._database,
            f"SELECT min(tag), count(DISTINCT path) FROM ({_IN_USE})"
            f" GROUP BY {folded('tag')} ORDER BY {folded('min(tag)')}",
        )
        return [TagCount(name, files) for name, files in rows]

    def change(self, document_ids: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> int:
        """Add and remove tags of the files of these documents; returns how many changed."""
        changes: list[Entity] = []

        def work(con: Connection) -> int:
            paths = con.execute(
                "SELECT DISTINCT path FROM documents"
                " WHERE document_id IN (SELECT unnest(?::VARCHAR[]))",
                [list(document_ids)],
            ).fetchall()
            before = _tags_at(con, [path for (path,) in paths])
            now = {path: with_changes(before.get(path, ()), add, remove) for (path,) in paths}
            changed = {path: tags for path, tags in now.items() if tags != before.get(path, ())}
            _refuse_too_many(changed.values())
            changes.extend(_put(con, changed))
            return len(changed)

        return self._database.write(work, changes=changes)


def follow_moves(
    con: Connection, before: Iterable[Document], now: Mapping[str, Document]
) -> list[Entity]:
    """Take tags along to the new paths of files, inside a transaction; returns what changed."""
    moved = {
        str(row.path): str(after.path)
        for row in before
        if (after := now.get(row.document_id)) and after.path != row.path
    }
    if not moved:
        return []
    tags = _tags_at(con, [*moved, *moved.values()])
    arriving = {moved[path]: own for path, own in tags.items() if path in moved}
    if not arriving:
        return []
    # Two files may have changed places.
    left = {path: () if path in moved else own for path, own in tags.items()}
    merged = {path: with_changes(left.get(path, ()), own, ()) for path, own in arriving.items()}
    return _put(con, left | merged)


def _tags_at(con: Connection, paths: Sequence[str] | None) -> dict[str, tuple[str, ...]]:
    which = "" if paths is None else " WHERE path IN (SELECT unnest(?::VARCHAR[]))"
    rows = con.execute(
        f"SELECT path, tags FROM file_tags{which}", [] if paths is None else [list(paths)]
    ).fetchall()
    return {path: tuple(tags.split("\n")) for path, tags in rows}


def _put(con: Connection, tags: Mapping[str, tuple[str, ...]]) -> list[Entity]:
    """Replace the tags of these files, in place: a row keeps its id."""
    known = dict(
        con.execute(
            "DELETE FROM file_tags WHERE path IN (SELECT unnest(?::VARCHAR[]))"
            " RETURNING path, tagging_id",
            [list(tags)],
        ).fetchall()
    )
    changed = [known[path] for path, own in tags.items() if not own and path in known]
    for path, own in tags.items():
        if own:
            tagging_id = known.get(path) or uuid.uuid4().hex
            con.execute(
                "INSERT INTO file_tags (tagging_id, path, tags) VALUES (?, ?, ?)",
                [tagging_id, path, "\n".join(own)],
            )
            changed.append(tagging_id)
    return [Entity("tagging", tagging_id) for tagging_id in changed]


def _refuse_too_many(changed: Iterable[tuple[str, ...]]) -> None:
    if any(len(tags) > MOST_TAGS for tags in changed):
        raise AppError(
            f"A file can have {MOST_TAGS} tags at most.", "Remove some of them and try again."
        )
