"""Finds documents of two libraries by the names of their files. Any thread."""

from collections.abc import Callable, Collection
from hashlib import md5

from desktop_rag.core.shared_library import shared_id
from desktop_rag.features.shared_library.joined.shared_ids import (
    SharedSide,
    begin_within,
    scope_here,
    scope_there,
)
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.search import EVERYWHERE, NamedDocuments, NameStore, Scope
from desktop_rag.store.sql.edit_distance import edits
from desktop_rag.store.sql.file_names import plain, plain_name, squeezed, stem

# More edits than any search by name allows.
_MANY_EDITS = 8


class JoinedNameStore:
    """The names of the documents of both."""

    def __init__(self, own: NameStore, documents: DocumentStore, shared: SharedSide) -> None:
        """`documents` are those of both."""
        self._own = own
        self._documents = documents
        self._shared = shared

    def matching(
        self,
        words: Collection[str],
        beginnings: Collection[str],
        pieces: Collection[str],
        scope: Scope,
        limit: int,
    ) -> tuple[list[NamedDocuments], int]:
        """Documents by the parts that their file names contain; and the number of all of both."""
        nothing: tuple[list[NamedDocuments], int] = ([], 0)
        begun = begin_within(
            self._shared,
            scope,
            lambda e, part: e.names.matching(words, beginnings, pieces, part, limit),
            nothing,
        )
        here = scope_here(scope)
        found, count = (
            self._own.matching(words, beginnings, pieces, here, limit) if here else nothing
        )
        others, count_there = begun()
        # A side that the scope leaves out counts for the number of all.
        every = Scope(readable=scope.readable)
        if here is None and (all_here := scope_here(every)):
            _, count = self._own.matching((), (), (), all_here, 0)
        if not count_there:
            _, count_there = begin_within(
                self._shared, every, lambda e, part: e.names.matching((), (), (), part, 0), nothing
            )()
        return _grouped(found, others, limit), count + count_there

    def spelled_in(self, text: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        """Id and path of documents whose file name is spelled in a text, the longest first."""
        found = self._paths(scope, lambda names, part: names.spelled_in(text, part, limit))
        return sorted(found, key=lambda pair: (-len(stem(plain_name(pair[1]))), pair[1]))[:limit]

    def spelled_like(self, name: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        """Id and path of documents whose file name differs by a slip, the nearest first."""
        wanted = squeezed(plain(name))

        def distance(path: str) -> int:
            return edits(squeezed(plain_name(path)), wanted, _MANY_EDITS)

        found = self._paths(scope, lambda names, part: names.spelled_like(name, part, limit))
        return sorted(found, key=lambda pair: (distance(pair[1]), pair[1]))[:limit]

    def completing(self, text: str, limit: int) -> list[str]:
        """Ids of documents with this text in their file name, title or address."""
        begun = begin_within(
            self._shared, EVERYWHERE, lambda e, _: e.names.completing(text, limit), list[str]()
        )
        own = self._own.completing(text, limit)
        others = begun()
        if not others:
            return own
        found = [*own, *map(shared_id, others)]
        rows = {row.document_id: row for row in self._documents.get(found)}
        known = [rows[document_id] for document_id in found if document_id in rows]
        if text:
            wanted = plain(text)
            names = {row.document_id: plain_name(str(row.path)) for row in known}
            known.sort(
                key=lambda row: (
                    not names[row.document_id].startswith(wanted),
                    len(names[row.document_id]),
                    str(row.path),
                )
            )
        else:
            known.sort(key=lambda row: (-row.stat.mtime_ns, str(row.path)))
        return [row.document_id for row in known[:limit]]

    def folders(self, scope: Scope) -> list[str]:
        """The folders that directly hold documents of either."""
        begun = begin_within(self._shared, scope, lambda e, part: e.names.folders(part), [])
        here = scope_here(scope)
        return sorted({*(self._own.folders(here) if here else ()), *begun()})

    def fingerprint(self, scope: Scope) -> str:
        """A text of both; "" while a part of the scope is in a library that is away."""
        begun = begin_within(self._shared, scope, lambda e, part: e.names.fingerprint(part), "")
        here = scope_here(scope)
        own = self._own.fingerprint(here) if here else "0"
        other = begun()
        if scope_there(scope) is None or not self._shared.facts.collections:
            return own
        if not other:
            return ""
        return md5(f"{own} {other}".encode(), usedforsecurity=False).hexdigest()

    def _paths(self, scope: Scope, find: "_Find") -> list[tuple[str, str]]:
        begun = begin_within(self._shared, scope, lambda e, part: find(e.names, part), [])
        here = scope_here(scope)
        own = find(self._own, here) if here else []
        return [*own, *((shared_id(document_id), path) for document_id, path in begun())]


_Find = Callable[[NameStore, Scope], list[tuple[str, str]]]


def _grouped(
    found: list[NamedDocuments], others: list[NamedDocuments], limit: int
) -> list[NamedDocuments]:
    """The groups of both, those with the same parts as one."""
    groups = {group.parts: group for group in found}
    for group in others:
        own = groups.get(group.parts, NamedDocuments(group.parts, 0, ()))
        ids = (*own.document_ids, *map(shared_id, group.document_ids))
        groups[group.parts] = NamedDocuments(group.parts, own.count + group.count, ids[:limit])
    return list(groups.values())
