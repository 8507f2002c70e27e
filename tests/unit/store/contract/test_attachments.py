"""Attached files are found by their chat alone, and go when no chat speaks of them any more."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from desktop_rag.core.conversation import Attachment, AttachmentKind, Image, Message, Role
from desktop_rag.core.domain import Document
from desktop_rag.core.query import parse_query
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE, Scope
from tests.stored_rows import collection_id, count_orphans, document, found, indexed, put, ranking

_LATER = 1e11
BOTH = "the lamp is lit at dusk"
ATTACHED = "the lamp was sold"


def attach(engine: Engine, name: str, *texts: str) -> Document:
    home = engine.sources.default_collection("Papers")
    source = engine.sources.add_attached(Path("/docs") / name, home.collection_id)
    row = document(name, source.source_id)
    assert engine.documents.apply_changes(source.source_id, [row], {}, [])
    [stored] = engine.documents.settle([indexed(row, *texts)])
    return stored


def asked_with(engine: Engine, *attachments: Attachment) -> str:
    """The id of a conversation with one question that has these."""
    conversation_id = engine.conversations.add("Chat", "").conversation_id
    question = Message("m", conversation_id, Role.USER, "Sold?", 1.0, attachments=attachments)
    engine.conversations.add_message(question)
    return conversation_id


@pytest.mark.slow
def test_it_is_found_in_a_scope_of_its_own_only(engine: Engine) -> None:
    put(engine, "a.txt", BOTH, "the lamp oil")
    row = attach(engine, "sold.txt", BOTH, ATTACHED)
    own = Scope(attached=(row.source_id,))
    assert sorted(found(engine, "lamp")) == [BOTH, "the lamp oil"]
    assert sorted(found(engine, "lamp", own)) == [BOTH, ATTACHED]
    assert found(engine, "lamp", Scope(attached=("another",))) == []
    papers = Scope(collection_ids=(collection_id(engine, "Papers"),))
    assert sorted(found(engine, "lamp", papers)) == [BOTH, "the lamp oil"]
    named = Scope(filters=parse_query("file:sold").filters)
    assert found(engine, "lamp", named) == []
    assert engine.names.matching(["sold"], [], [], EVERYWHERE, 8) == ([], 2)
    [[named], _] = engine.names.matching(["sold"], [], [], own, 8)
    assert named.document_ids == (row.document_id,)


@pytest.mark.slow
def test_by_meaning_the_same_text_is_found_where_the_library_has_it(engine: Engine) -> None:
    put(engine, "a.txt", BOTH)
    row = attach(engine, "sold.txt", BOTH, ATTACHED)
    vectors = engine.models.vectors("model", 2)
    missing = engine.chunks.without_vectors(vectors.model_id, 10)
    assert sorted(text for _, _, text in missing) == [BOTH, ATTACHED]
    vectors.add([key for key, _, _ in missing], np.array([[0.6, 0.8]] * 2, np.float32))
    query = np.array([0.6, 0.8], np.float32)

    def near(scope: Scope) -> Sequence[str]:
        scores = dict(ranking(engine.models.search(vectors.model_id).nearest(query, 10, scope)))
        return sorted(p.text for p in engine.lexical.passages(scores))

    assert near(EVERYWHERE) == [BOTH]
    assert near(Scope(attached=(row.source_id,))) == [BOTH, ATTACHED]


def test_the_library_does_not_list_it(engine: Engine) -> None:
    put(engine, "a.txt", BOTH)
    row = attach(engine, "sold.txt", ATTACHED)
    assert [d.document_id for d in engine.documents.documents()] == ["a.txt"]
    assert [d.document_id for d in engine.documents.documents(row.source_id)] == ["sold.txt"]
    assert engine.documents.counts().total == 1
    assert row.source_id not in {source.source_id for source in engine.sources.sources()}
    assert engine.sources.attached_ids() == {row.source_id}
    assert {row[2][0] for row in engine.documents.read_files([10])} <= {"a.txt"}
    assert {d.document_id for d in engine.documents.requeue_older_than(99)} == {"a.txt"}


def test_a_collection_goes_although_files_were_attached_by_its_settings(engine: Engine) -> None:
    attach(engine, "sold.txt", ATTACHED)
    engine.sources.remove_collection(collection_id(engine, "Papers"))
    assert engine.sources.collections() == []


def test_what_is_attached_comes_back_as_it_was(engine: Engine) -> None:
    lease = Attachment("1", "lease.pdf", document_id="d", words=1204, pages=3)
    photo = Attachment("2", "photo.png", AttachmentKind.IMAGE)
    conversation_id = asked_with(engine, lease, photo)
    assert engine.conversations.messages(conversation_id)[0].attachments == (lease, photo)
    assert engine.attachments.of(conversation_id) == ()
    engine.attachments.set(conversation_id, [photo])
    assert engine.attachments.of(conversation_id) == (photo,)
    image = Image("image/png", bytes(range(256)))
    engine.attachments.put_image("2", image)
    assert engine.attachments.image("2") == image
    assert engine.attachments.image("1") is None


@pytest.mark.slow
def test_what_no_conversation_speaks_of_is_purged_and_nothing_else(engine: Engine) -> None:
    put(engine, "a.txt", BOTH)
    asked, held, left = (attach(engine, f"{n}.txt", ATTACHED) for n in range(3))
    engine.attachments.put_image(asked.source_id, Image("image/png", b"kept"))
    engine.attachments.put_image(left.source_id, Image("image/png", b"left"))
    conversation_id = asked_with(engine, Attachment(asked.source_id, "0.txt"))
    engine.attachments.set(conversation_id, [Attachment(held.source_id, "1.txt")])
    engine.attachments.purge(0.0)
    assert len(engine.sources.attached_ids()) == 3
    engine.attachments.purge(_LATER)
    assert engine.sources.attached_ids() == {asked.source_id, held.source_id}
    assert engine.documents.text("2.txt") is None
    assert engine.documents.text("0.txt") == ATTACHED
    assert engine.attachments.image(left.source_id) is None
    assert engine.attachments.image(asked.source_id) is not None
    engine.conversations.set_deleted(conversation_id, True)
    engine.conversations.purge_deleted()
    engine.attachments.purge(_LATER)
    assert engine.sources.attached_ids() == frozenset()
    assert count_orphans(engine.documents) == 0
    assert found(engine, "lamp") == [BOTH]
