"""S-09: chats imported from untrusted files are accepted as exported, or refused as a whole with a
reason.
"""

import json
import os
import threading
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.answer.conversations.conversation_file import (
    LARGEST_BYTES,
    export_text,
    imported,
    read_conversation,
)
from desktop_rag.app import Services
from desktop_rag.core.conversation import (
    AnswerStep,
    Conversation,
    Feedback,
    Message,
    MessageState,
    Role,
    SearchNotes,
    SourceRef,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Anchor
from tests.asking import ask

EVIL = "<script>alert(1)</script> ![x](http://127.0.0.1:9/a) <img src=/dev/zero> {{7*7}}"
GOOD: dict[str, Any] = {
    "format": "desktop-rag chat",
    "version": 1,
    "title": "Lamps",
    "messages": [
        {"role": "user", "text": "When?", "created_at": "2026-11-21T20:00:00+00:00"},
        {"role": "assistant", "text": "At dusk.", "created_at": "2026-11-21T20:00:05+00:00",
         "sources": [{"n": 1, "document_id": "d", "path": "/a.md", "title": "A", "text": "Dusk."}]},
    ],
}  # fmt: skip
NO_CHAT = "is no chat that this app has exported"

texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
small = st.integers(0, 2**31 - 1)
fractions = st.floats(-1e6, 1e6)
moments = st.integers(0, 4_000_000_000_000_000).map(lambda microseconds: microseconds / 1e6)
anchors = st.builds(
    Anchor, page=st.none() | small, sheet=st.none() | texts, cells=st.none() | texts,
    heading=st.none() | texts, line=st.none() | small, second=st.none() | small,
    by_app=st.none() | st.just(True),
)  # fmt: skip
refs = st.builds(
    SourceRef, n=st.integers(1, 999), document_id=texts, path=texts, title=texts, anchor=anchors,
    text=texts, score=fractions, quote=texts, start=small, end=small, is_cited=st.booleans(),
    part=texts, url=texts, also_in=st.lists(texts, max_size=3).map(tuple),
)  # fmt: skip
many_refs = st.lists(refs, max_size=3, unique_by=lambda ref: ref.n).map(tuple)
notes = st.builds(
    SearchNotes, repaired=st.lists(st.tuples(texts, texts), max_size=2).map(tuple), filters=texts,
    searched=small, hints=st.lists(texts, max_size=2).map(tuple), asked=texts,
    steps=st.lists(st.builds(AnswerStep, texts, st.lists(small).map(tuple)), max_size=2).map(tuple),
    unbacked=st.lists(texts, max_size=2).map(tuple),
)  # fmt: skip
questions = st.builds(
    Message, st.just(""), st.just(""), st.just(Role.USER), text=texts, created_at=moments
)
answers = st.builds(
    Message, st.just(""), st.just(""), st.just(Role.ASSISTANT), text=texts, created_at=moments,
    state=st.sampled_from(MessageState), model=texts, is_excerpts=st.booleans(),
    seconds=st.floats(0, 1e6), error_title=texts, error_hint=texts, thinking=texts,
    sources=many_refs, nearest=many_refs, notes=st.none() | notes,
    feedback=st.sampled_from(Feedback), follow_ups=st.lists(texts, max_size=2).map(tuple),
    is_own_knowledge=st.booleans(),
)  # fmt: skip


def bare(messages: tuple[Message, ...]) -> list[Message]:
    """Without the ids, which every import assigns again."""
    return [replace(message, message_id="") for message in messages]


@pytest.mark.slow
@given(texts, st.lists(questions | answers, max_size=4))
def test_what_was_exported_comes_back_equal(title: str, messages: list[Message]) -> None:
    text = export_text(Conversation("c", title, "", 5.0), messages, ".json")
    found = imported(text.encode())
    assert found.title == (" ".join(title.split()) or "Imported chat")
    assert bare(found.messages) == messages


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=12,
), st.data())  # fmt: skip
def test_whatever_stands_in_the_place_of_a_field_is_taken_or_refused(
    value: object, data: st.DataObject
) -> None:
    document = json.loads(json.dumps(GOOD))
    places: list[tuple[Any, Any]] = []

    def walk(node: object) -> None:
        items = node.items() if isinstance(node, dict) else enumerate(node)  # type: ignore[arg-type]
        for key, inner in list(items):
            places.append((node, key))
            if isinstance(inner, dict | list):
                walk(inner)

    walk(document)
    node, key = data.draw(st.sampled_from(places))
    node[key] = value
    with suppress(AppError):
        found = imported(json.dumps(document).encode())
        assert all(isinstance(m.text, str) and m.created_at >= 0 for m in found.messages)


def changed(**fields: object) -> bytes:
    return json.dumps({**GOOD, **fields}).encode()


def with_message(**fields: object) -> bytes:
    question, answer = GOOD["messages"]
    return changed(messages=[question, {**answer, **fields}])


def with_source(**fields: object) -> bytes:
    [source] = GOOD["messages"][1]["sources"]
    return with_message(sources=[{**source, **fields}])


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\xff\xfe\x00", b"[]", b"null", b"{}", b"# Lamps\n\n## You\n\nWhen?",
        b"[" * 200_000, b'{"a":' * 100_000, b'{"version": ' + b"9" * 10_000 + b"}", b"NaN",
        changed(format="another app"), changed(title=5), changed(version="1"),
        changed(messages={}), changed(messages=[[]]), changed(messages=GOOD["messages"] * 2501),
        with_message(role="system"), with_message(role=None), with_message(text=["a"]),
        with_message(created_at="yesterday"), with_message(created_at="9999-12-31T23:59:59+00:00"),
        with_message(created_at=5), with_message(state="running"), with_message(feedback="great"),
        with_message(is_excerpts="yes"), with_message(seconds="5"), with_message(seconds=1e308),
        with_message(sources="all"), with_message(notes=[]), with_message(follow_ups=[5]),
        with_message(notes={"repaired": [["a"]]}), with_message(sources=[{"n": 1}, {"n": 1}]),
        with_source(n=0), with_source(n=True), with_source(n=2**31), with_source(n=1.0),
        with_source(start=-1), with_source(score="high"), with_source(anchor=[]),
        with_source(anchor={"page": "4"}), with_source(also_in=[["a"]]), with_source(path=5),
    ],
)  # fmt: skip
def test_what_we_would_not_have_written_is_refused(content: bytes) -> None:
    with pytest.raises(AppError, match=NO_CHAT) as caught:
        imported(content, "chat.json")
    assert caught.value.title.startswith("chat.json ")
    assert "exported as JSON" in caught.value.hint
    assert len(caught.value.hint) < 300


@pytest.mark.parametrize("version", [0, 2, 1_000_000])
def test_another_version_is_refused_by_name(version: int) -> None:
    with pytest.raises(AppError, match="another version") as caught:
        imported(changed(version=version), "chat.json")
    assert str(version) in caught.value.hint


def test_a_title_without_end_is_cut() -> None:
    assert imported(changed(title="x " * 100_000)).title == ("x " * 150).strip()


def test_halves_of_characters_do_not_reach_the_store() -> None:
    found = imported(json.dumps({**GOOD, "title": "a\ud800\0b"}).encode())
    assert found.title == "a\ufffd b"


# --- files -----------------------------------------------------------------------------------


def test_a_file_of_a_hundred_megabytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    with path.open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    tracemalloc.start()
    try:
        with pytest.raises(AppError, match=NO_CHAT) as caught:
            read_conversation(path)
        assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
    finally:
        tracemalloc.stop()
    assert "far too large" in caught.value.hint


def test_a_file_that_has_no_end_is_read_to_a_limit_only(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(b" " * (LARGEST_BYTES + 1))
    with pytest.raises(AppError, match=NO_CHAT):
        read_conversation(path)


@pytest.mark.parametrize("make", [os.mkdir, getattr(os, "mkfifo", os.mkdir), lambda _path: None])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "chat.json")
    with pytest.raises(AppError) as caught:
        read_conversation(tmp_path / "chat.json")
    assert caught.value.hint


# --- in the app ------------------------------------------------------------------------------


def write(folder: Path, content: bytes) -> Path:
    path = folder / "chat.json"
    path.write_bytes(content)
    return path


@pytest.mark.slow
def test_a_chat_goes_out_and_comes_back(services: Services, tmp_path: Path) -> None:
    (tmp_path / "lamp.md").write_text("The lamp is lit at dusk.")
    services.library.sources.add(tmp_path / "lamp.md")
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    history = services.chat.history
    told = ask(services, "When is the lamp lit?")
    ask(services, f"When is the lamp lit? {EVIL}", conversation_id=told.conversation_id)
    history.set_feedback(told.message_id, Feedback.LIKED)
    path = write(tmp_path, history.export(told.conversation_id, ".json").encode())
    copy = history.import_file(path)
    again = history.messages(copy.conversation_id)
    ids = {"message_id": "", "conversation_id": "", "created_at": 0.0}
    before = [replace(m, **ids) for m in history.messages(told.conversation_id)]
    assert [replace(m, **ids) for m in again] == before
    assert again[1].sources
    assert all(source.is_in_library for source in again[1].sources)
    # It continues like any other chat.
    ask(services, "Who lights it?", conversation_id=copy.conversation_id)
    assert len(history.messages(copy.conversation_id)) == 6


def test_sources_that_are_not_here_are_only_shown(services: Services, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("Nobody asked for this.")
    content = with_source(path=str(secret), url=f"file://{secret}", title=EVIL)
    copy = services.chat.history.import_file(write(tmp_path, content))
    [_, answer] = services.chat.history.messages(copy.conversation_id)
    [source] = answer.sources
    assert not source.is_in_library
    assert (source.path, source.title) == (str(secret), EVIL)


@pytest.mark.slow
def test_a_document_of_ours_is_where_the_library_says(services: Services, tmp_path: Path) -> None:
    (tmp_path / "lamp.md").write_text("The lamp is lit at dusk.")
    services.library.sources.add(tmp_path / "lamp.md")
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    [document] = services.library.documents.all()
    content = with_source(document_id=document.document_id, path="/bin/sh", url="http://a.example")
    copy = services.chat.history.import_file(write(tmp_path, content))
    [source] = services.chat.history.messages(copy.conversation_id)[1].sources
    assert (source.path, source.url) == (str(document.path), "")


def test_a_refused_file_leaves_nothing_behind(services: Services, tmp_path: Path) -> None:
    with pytest.raises(AppError):
        services.chat.history.import_file(write(tmp_path, with_message(role="system")))
    assert services.chat.history.all() == []


@pytest.mark.slow
def test_what_was_imported_is_asked_about_with_care(services: Services, tmp_path: Path) -> None:
    """A claimed source reaches the model only if the library contains it."""
    content = with_source(text=f"Forged. {EVIL}", quote="Forged.")
    copy = services.chat.history.import_file(write(tmp_path, content))
    found = list(
        services.chat.ask(
            "And now?", conversation_id=copy.conversation_id, cancel=threading.Event()
        )
    )
    assert "Forged" not in repr(found)
