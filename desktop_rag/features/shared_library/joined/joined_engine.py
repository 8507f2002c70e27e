"""One library made of the person's own and a shared one, which is only read. Any thread.

Questions see both. What is written or personal, and the reading of files, is in the own library.
A table for each store names the methods that ask both, and how two answers become one.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from hashlib import md5
from inspect import signature
from typing import Any, ClassVar, TypeVar

import numpy as np

from desktop_rag.core import domain
from desktop_rag.core.domain import Document, Source
from desktop_rag.core.library_events import DocumentCounts, LibraryFacets
from desktop_rag.core.question import Readable
from desktop_rag.core.shared_library import id_there, is_shared, shared_id
from desktop_rag.features.shared_library.joined.shared_connection import (
    OFFSET,
    SharedSide,
    begin_within,
    scope_here,
    scope_there,
    shared_chunks,
    shared_document,
    shared_passage,
)
from desktop_rag.store.contract.database import edits, plain, plain_name, squeezed, stem
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.scope import EVERYWHERE, Scope
from desktop_rag.store.contract.search import (
    NamedDocuments,
    Weights,
    WordCounts,
    Words,
    chosen_terms,
    weighted,
)
from desktop_rag.store.contract.vectors import VectorMatches

K = TypeVar("K")
# More edits than any search by name allows.
_MANY_EDITS = 8
_NOTHING: Any = object()


def _as_they_are(answer: Any) -> Any:  # noqa: ANN401
    return answer


@dataclass(frozen=True, slots=True)
class _Way:
    """How the answers of both become one.

    `merged` gets a list of the answers, the own first, and the arguments; a library that the
    question leaves out, or that is away, has none. `ids` gives the ids of the joined library to an
    answer of the shared one.
    """

    merged: Callable[..., Any]
    ids: Callable[[Any], Any] = _as_they_are


class _Joined:
    """A store of the own library, of which the methods in `ways` ask the shared one as well.

    Arguments are told by their names: `scope`, `readable`, `chunk_ids`, `scores` by chunk and
    `document_ids` are divided; with a `document_id` or a `source_id` only the library of that is
    asked.
    """

    ways: ClassVar[Mapping[str, _Way]] = {}

    def __init__(self, own: Any, there: Callable[[Engine], Any], shared: SharedSide) -> None:  # noqa: ANN401
        self._own = own
        self._there = there
        self._shared = shared

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the store has
        own = getattr(self._own, name)
        if name not in self.ways:
            return own

        def asked(*values: Any, **named: Any) -> Any:  # noqa: ANN401
            bound = signature(own).bind(*values, **named)
            bound.apply_defaults()
            answers = self.answers(name, **bound.arguments)
            return self.ways[name].merged(answers, **bound.arguments)

        return asked

    def answers(self, name: str, /, **arguments: Any) -> list[Any]:  # noqa: ANN401
        """What both say, the own first, with the ids of the joined library."""
        whole = _scope_of(arguments)
        of = arguments.get("document_id") or arguments.get("source_id") or ""
        begun = None
        if not of or is_shared(of):
            begun = begin_within(
                self._shared,
                whole,
                lambda e, part: getattr(self._there(e), name)(**_within(arguments, part, OFFSET)),
                _NOTHING,
            )
        here = None if is_shared(of) else scope_here(whole)
        found = [getattr(self._own, name)(**_within(arguments, here))] if here else []
        other = begun() if begun else _NOTHING
        ids = self.ways[name].ids if name in self.ways else _as_they_are
        return found if other is _NOTHING else [*found, ids(other)]


def _scope_of(arguments: Mapping[str, Any]) -> Scope:
    """The scope of a question with these arguments."""
    scope: Scope = arguments.get("scope", EVERYWHERE)
    if "readable" in arguments:
        scope = replace(scope, readable=arguments["readable"])
    if "document_ids" in arguments:
        scope = replace(scope, document_ids=tuple(arguments["document_ids"]))
    for name in arguments.keys() & {"chunk_ids", "scores"}:
        kept = scope.chunk_ids
        asked = (i for i in arguments[name] if kept is None or i in kept)
        scope = replace(scope, chunk_ids=tuple(asked))
    return scope


def _within(arguments: Mapping[str, Any], part: Scope, offset: int = 0) -> dict[str, Any]:
    """The arguments for one of the libraries, whose chunks have numbers moved by an offset."""
    ids = part.chunk_ids or ()
    parts = {
        "scope": part if "chunk_ids" not in arguments else replace(part, chunk_ids=None),
        "readable": part.readable,
        "document_ids": part.document_ids,
        "chunk_ids": ids,
        "scores": {i: arguments.get("scores", {}).get(i + offset) for i in ids},
    }
    parts |= {n: id_there(arguments[n]) for n in arguments.keys() & {"document_id", "source_id"}}
    return {name: parts.get(name, value) for name, value in arguments.items()}


def _first(answers: Sequence[Mapping[int, float]], limit: int) -> list[tuple[int, float]]:
    """The greatest values by chunk, those of lower ids first among equal ones."""
    values = _united(answers)
    return sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


def _united(answers: Sequence[Mapping[int, float]], **_: object) -> dict[int, float]:
    return {key: value for each in answers for key, value in each.items()}


def _listed(answers: Sequence[Sequence[Any]], **_: object) -> list[Any]:
    return [each for answer in answers for each in answer]


def _added(answers: Sequence[Mapping[K, int]]) -> dict[K, int]:
    """The sum of all for each key."""
    return {key: sum(each.get(key, 0) for each in answers) for keys in answers for key in keys}


def _by_path(answers: Sequence[Sequence[Document]], **_: object) -> list[Document]:
    if len(answers) == 1:
        return list(answers[0])
    return sorted(_listed(answers), key=lambda d: (str(d.path), d.part))


def _facets(answers: Sequence[LibraryFacets]) -> LibraryFacets:
    return LibraryFacets(
        _added([each.formats for each in answers]),
        _added([each.folders for each in answers]),
        _added([each.formats_inside for each in answers]),
        _added([each.folders_inside for each in answers]),
    )


def _documents(found: Sequence[Document]) -> list[Document]:
    return list(map(shared_document, found))


class _Documents(_Joined):
    """The documents of both, to be read; what is written is in the own library."""

    ways: ClassVar[Mapping[str, _Way]] = {
        "documents": _Way(_by_path, _documents),
        "counts": _Way(lambda found, **_: DocumentCounts(_added([e.by_state for e in found]))),
        "facets": _Way(_facets),
        "get": _Way(_listed, _documents),
        "parts": _Way(_listed, _documents),
        "chunks": _Way(_listed),
        "content": _Way(lambda found, **_: found[0] if found else (None, "")),
        "text": _Way(lambda found, **_: found[0] if found else None),
    }

    def with_sites(self, documents: Sequence[Document]) -> list[Document]:
        """Those of the own library have the addresses of its sites; the others have theirs."""
        own = self._own.with_sites([d for d in documents if not is_shared(d.document_id)])
        addressed = {d.document_id: d for d in own}
        return [addressed.get(d.document_id, d) for d in documents]


class _Sources(_Joined):
    """The collections and sources of both; only those of the own library can be changed."""

    def collections(self) -> list[domain.Collection]:
        """The own ones first."""
        return [*self._own.collections(), *self._shared.facts.collections]

    def sources(self) -> list[Source]:
        """The own ones first."""
        return [*self._own.sources(), *self._shared.facts.sources]


def _languages(found: Sequence[Mapping[str, int]], **_: object) -> dict[str, int]:
    return dict(sorted(_added(found).items(), key=lambda pair: (-pair[1], pair[0])))


def _counted(found: Sequence[WordCounts], words: Words, **_: object) -> WordCounts:
    return reduce(WordCounts.joined, found, WordCounts(0, 0, dict.fromkeys(words, 0)))


class _Words(_Joined):
    """Ranks the chunks of both by words, with the scores of one library that has all chunks."""

    ways: ClassVar[Mapping[str, _Way]] = {
        "count": _Way(_counted),
        "best": _Way(_first, lambda found: shared_chunks(dict(found))),
        "scores": _Way(_united, shared_chunks),
        "in_scope": _Way(
            lambda found, **_: frozenset[int]().union(*found),
            lambda ids: {chunk_id + OFFSET for chunk_id in ids},
        ),
        "documents_of": _Way(
            lambda found, **_: frozenset[str]().union(*found), lambda ids: set(map(shared_id, ids))
        ),
        "newest": _Way(lambda found, limit, **_: dict(_first(found, limit)), shared_chunks),
        "languages": _Way(_languages),
        "passages": _Way(
            lambda found, **_: sorted(_listed(found), key=lambda p: (-p.score, p.chunk_id)),
            lambda found: list(map(shared_passage, found)),
        ),
    }

    def weigh(self, words: Words, readable: Readable | None = None) -> Weights:
        """As in one library that has all chunks."""
        return weighted(self.count(words, readable))

    def best(
        self, words: Words | Weights, limit: int, scope: Scope = EVERYWHERE
    ) -> list[tuple[int, float]]:
        """Both rank by the weights of all chunks."""
        weights = words if isinstance(words, Weights) else self.weigh(words, scope.readable)
        return _first(
            [dict(e) for e in self.answers("best", words=weights, limit=limit, scope=scope)], limit
        )

    def scores(self, words: Words | Weights, chunk_ids: Sequence[int]) -> dict[int, float]:
        """By the weights of all chunks."""
        weights = words if isinstance(words, Weights) else self.weigh(words)
        return _united(self.answers("scores", words=weights, chunk_ids=chunk_ids))

    def nearest_term(self, term: str, errors: int, readable: Readable | None = None) -> str:
        """The nearer one of both, else that in more chunks."""
        found = self.answers("nearest_term", term=term, errors=errors, readable=readable)
        named = set(filter(None, found))
        counts = self._counts(named, readable) if len(named) > 1 else dict.fromkeys(named, 0)
        return min(
            named, key=lambda known: (edits(term, known, errors), -counts[known], known), default=""
        )

    def terms_completing(
        self, word: str, limit: int, readable: Readable | None = None
    ) -> tuple[str, ...]:
        """Those in most chunks of both."""
        found = self.answers("terms_completing", word=word, limit=limit, readable=readable)
        return chosen_terms(self._counts(set(_listed(found)), readable), word, limit)

    def _counts(self, terms: Collection[str], readable: Readable | None) -> dict[str, int]:
        """The number of chunks of both that each term occurs in."""
        counts = self.count([(term,) for term in terms], readable).counts
        return {term: counts[term,] for term in terms}


def _grouped(answers: Sequence[Sequence[NamedDocuments]], limit: int) -> list[NamedDocuments]:
    """The groups of both; those with the same parts become one."""
    groups: dict[frozenset[str], NamedDocuments] = {}
    for group in _listed(answers):
        own = groups.get(group.parts, NamedDocuments(group.parts, 0, ()))
        ids = (*own.document_ids, *group.document_ids)
        groups[group.parts] = NamedDocuments(group.parts, own.count + group.count, ids[:limit])
    return list(groups.values())


def _longest(found: Sequence[Any], limit: int, **_: object) -> list[tuple[str, str]]:
    return sorted(_listed(found), key=lambda p: (-len(stem(plain_name(p[1]))), p[1]))[:limit]


def _likest(found: Sequence[Any], name: str, limit: int, **_: object) -> list[tuple[str, str]]:
    wanted = squeezed(plain(name))

    def distance(path: str) -> int:
        return edits(squeezed(plain_name(path)), wanted, _MANY_EDITS)

    return sorted(_listed(found), key=lambda pair: (distance(pair[1]), pair[1]))[:limit]


def _paths(found: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(shared_id(document_id), path) for document_id, path in found]


class _Names(_Joined):
    """Finds the documents of both by file name; `documents` are those of both."""

    ways: ClassVar[Mapping[str, _Way]] = {
        "matching": _Way(
            lambda found, **_: found,
            lambda found: (
                [replace(g, document_ids=tuple(map(shared_id, g.document_ids))) for g in found[0]],
                found[1],
            ),
        ),
        "spelled_in": _Way(_longest, _paths),
        "spelled_like": _Way(_likest, _paths),
        "completing": _Way(_listed, lambda ids: list(map(shared_id, ids))),
        "folders": _Way(lambda found, **_: sorted(set(_listed(found)))),
    }

    def __init__(self, own: Engine, documents: _Documents, shared: SharedSide) -> None:
        super().__init__(own.names, lambda e: e.names, shared)
        self._documents = documents

    def matching(
        self,
        words: Collection[str],
        beginnings: Collection[str],
        pieces: Collection[str],
        scope: Scope,
        limit: int,
    ) -> tuple[list[NamedDocuments], int]:
        """The groups of both, and the number of documents in both."""
        parts = {"words": words, "beginnings": beginnings, "pieces": pieces}
        found = counted = self.answers("matching", **parts, scope=scope, limit=limit)
        if len(found) < 2:  # noqa: PLR2004  both libraries
            # The number of all includes a side that the scope leaves out.
            everything = Scope(readable=scope.readable)
            nothing = dict.fromkeys(parts, ())
            counted = self.answers("matching", **nothing, scope=everything, limit=0)
        return _grouped([groups for groups, _ in found], limit), sum(n for _, n in counted)

    def completing(self, text: str, limit: int) -> list[str]:
        """In the order of one library."""
        found = _listed(self.answers("completing", text=text, limit=limit))
        if not any(map(is_shared, found)):
            return found
        rows: dict[str, Document] = {row.document_id: row for row in self._documents.get(found)}
        known = [rows[document_id] for document_id in found if document_id in rows]
        if text:
            wanted = plain(text)
            names = {row.document_id: plain_name(str(row.path)) for row in known}
            known.sort(
                key=lambda row: (
                    not names[row.document_id].startswith(wanted),
                    -sum(part in names[row.document_id] for part in wanted.split()),
                    len(names[row.document_id]),
                    str(row.path),
                )
            )
        else:
            known.sort(key=lambda row: (-row.stat.mtime_ns, str(row.path)))
        return [row.document_id for row in known[:limit]]

    def fingerprint(self, scope: Scope) -> str:
        """It is empty while the shared part of the scope can't be asked."""
        found: list[str] = self.answers("fingerprint", scope=scope)
        own = found.pop(0) if scope_here(scope) else "0"
        if scope_there(scope) is None or not self._shared.facts.collections:
            return own
        return md5(f"{own} {found[0]}".encode(), usedforsecurity=False).hexdigest() if found else ""


class _Models(_Joined):
    """The models of the own library, which gets new vectors; searches cover both.

    A model is the same where its name and its dimensions are.
    """

    def search(self, model_id: int) -> Any:  # noqa: ANN401  a `VectorSearch`
        """The search over the vectors of one model in both."""
        own = self._own.search(model_id)
        [row] = [row for row in self._own.stored() if row.model_id == model_id]
        if (row.name, row.dimensions) not in self._shared.facts.models:
            return own

        def there(engine: Engine) -> object:
            vectors = engine.models.vectors(row.name, row.dimensions)
            return engine.models.search(vectors.model_id)

        return _Vectors(own, there, self._shared)


def _nearest(found: Sequence[VectorMatches], limit: int, **arguments: Any) -> VectorMatches:  # noqa: ANN401
    whole = _together(found, **arguments)
    order = np.lexsort((np.array(whole.chunk_ids, np.int64), -whole.similarities))[:limit]
    return VectorMatches(
        [whole.chunk_ids[n] for n in order],
        whole.similarities[order],
        whole.vectors[order],
        whole.window_similarities[order],
    )


def _together(found: Sequence[VectorMatches], query: Sequence[float], **_: object) -> VectorMatches:
    none = np.empty(0, np.float32)
    nothing = VectorMatches([], none, np.empty((0, len(query)), np.float32), np.empty(0))
    filled = [each for each in found if each.chunk_ids] or [nothing]
    return VectorMatches(
        _listed([each.chunk_ids for each in filled]),
        np.concatenate([each.similarities for each in filled]),
        np.concatenate([each.vectors for each in filled]),
        np.concatenate([each.window_similarities for each in filled]),
    )


def _moved(found: VectorMatches) -> VectorMatches:
    return replace(found, chunk_ids=[chunk_id + OFFSET for chunk_id in found.chunk_ids])


class _Vectors(_Joined):
    """Finds the chunks of both by the vectors of one model."""

    ways: ClassVar[Mapping[str, _Way]] = {
        "nearest": _Way(_nearest, _moved),
        "compare": _Way(_together, _moved),
    }


def joined_engine(own: Engine, shared: SharedSide) -> Engine:
    """The stores of both as one engine; closing it closes the own library."""
    documents = _Documents(own.documents, lambda e: e.documents, shared)
    stores: Mapping[str, Any] = {
        "documents": documents,
        "sources": _Sources(own.sources, lambda e: e.sources, shared),
        "lexical": _Words(own.lexical, lambda e: e.lexical, shared),
        "names": _Names(own, documents, shared),
        "models": _Models(own.models, lambda e: e.models, shared),
    }
    return replace(own, **stores)
