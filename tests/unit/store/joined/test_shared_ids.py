"""Each id belongs to one of both libraries, and comes back as it went; scopes are split by side."""

from dataclasses import fields, replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.core.question import Readable
from desktop_rag.core.question_scope import ScopeItem, ScopeKind
from desktop_rag.core.shared_library import id_there, is_shared, shared_id
from desktop_rag.features.shared_library.joined.shared_connection import (
    OFFSET,
    chunks_there,
    ids_there,
    own_chunks,
    own_ids,
    scope_here,
    scope_there,
    shared_chunks,
    shared_document,
)
from desktop_rag.store.contract.search import EVERYWHERE, Scope

IDS = st.text("0123456789abcdef-", min_size=1, max_size=8)
CHUNKS = st.integers(1, 2**40)
NONE_OR = st.none


def mixed(own: list[str], other: list[str]) -> tuple[str, ...]:
    return (*own, *map(shared_id, other))


@given(st.lists(IDS), st.lists(IDS))
def test_ids_of_both_are_told_apart(own: list[str], other: list[str]) -> None:
    every = mixed(own, other)
    assert own_ids(every) == own
    assert ids_there(every) == other
    assert all(is_shared(shared_id(key)) and id_there(shared_id(key)) == key for key in other)


@given(st.lists(CHUNKS, unique=True), st.lists(CHUNKS, unique=True))
def test_numbers_of_chunks_are_told_apart(own: list[int], other: list[int]) -> None:
    every = [*own, *shared_chunks(dict.fromkeys(other, 0.5))]
    assert own_chunks(every) == own
    assert chunks_there(every) == other
    # Neighbours stay neighbours, and the last chunk here has none there.
    assert list(shared_chunks({7: 0, 8: 0})) == [OFFSET + 7, OFFSET + 8]
    assert max(own, default=0) + 1 < OFFSET


ITEMS = st.builds(
    lambda kind, key, is_there: ScopeItem(
        kind, shared_id(key) if is_there and kind is not ScopeKind.FOLDER else key, key
    ),
    st.sampled_from(ScopeKind),
    IDS,
    st.booleans(),
)
KEYS = st.builds(mixed, st.lists(IDS, max_size=3), st.lists(IDS, max_size=3))
SCOPES = st.builds(
    Scope,
    collection_ids=st.none() | KEYS,
    document_ids=st.none() | KEYS,
    chunk_ids=st.none() | st.lists(CHUNKS | CHUNKS.map(lambda n: n + OFFSET)).map(tuple),
    about=st.lists(ITEMS, max_size=3).map(tuple),
    readable=st.none() | st.builds(Readable, KEYS, KEYS),
)


@given(SCOPES)
def test_each_limit_of_a_scope_goes_to_its_side(scope: Scope) -> None:
    here, there = scope_here(scope), scope_there(scope)
    limits = [scope.collection_ids, scope.document_ids]
    for part, is_mine in ((here, lambda k: not is_shared(k)), (there, is_shared)):
        wanted = [None if keys is None else {id_there(k) for k in keys if is_mine(k)}
                  for keys in limits]  # fmt: skip
        if part is None:
            readable = scope.readable
            may_read = readable is None or any(
                map(is_mine, (*readable.collection_ids, *readable.document_ids))
            )
            is_about = not scope.about or any(
                item.kind is ScopeKind.FOLDER or is_mine(item.key) for item in scope.about
            )
            side = [n for n in scope.chunk_ids or () if (n >= OFFSET) == (part is there)]
            no_chunks = scope.chunk_ids is not None and not side
            assert set() in wanted or not may_read or not is_about or no_chunks or here is there
            continue
        assert [keys if keys is None else set(keys) for keys in
                (part.collection_ids, part.document_ids)] == wanted  # fmt: skip
        assert not any(is_shared(item.key) for item in part.about)
        assert (part.readable is None) == (scope.readable is None)
        assert part.filters == scope.filters


def test_a_scope_without_limits_is_all_of_both() -> None:
    assert scope_here(EVERYWHERE) == scope_there(EVERYWHERE) == EVERYWHERE


def test_files_attached_to_chats_are_here() -> None:
    scope = Scope(attached=("a file",))
    assert scope_here(scope) == scope
    assert scope_there(scope) is None


def test_only_the_ids_of_a_document_change() -> None:
    row = Document(
        "id", "source", Path("/there/a.txt"), "A", "text", FileStat(1, 2, 3), "hash",
        DocumentState.SEARCHABLE, parent_id="parent",
    )  # fmt: skip
    mapped = shared_document(row)
    changed = {f.name for f in fields(row) if getattr(row, f.name) != getattr(mapped, f.name)}
    assert changed == {"document_id", "source_id", "parent_id"}
    assert shared_document(replace(row, parent_id="")).parent_id == ""
