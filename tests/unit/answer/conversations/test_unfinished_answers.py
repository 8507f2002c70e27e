"""Answers are kept while they are shown, and become messages after a crash; over a real store."""

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from desktop_rag.answer.conversations.unfinished_answers import (
    AnswerKeeper,
    AnswerStart,
    UnfinishedAnswers,
)
from desktop_rag.core.conversation import (
    AnswerRestated,
    Message,
    MessageState,
    Role,
    SourceRef,
    SourcesFound,
    TextDelta,
    ThinkingDelta,
)
from desktop_rag.core.parsed import Anchor
from desktop_rag.store.contract.engine import Engine

SOURCE = SourceRef(1, "d", "/docs/a.md", "A", Anchor(line=3), "The ferry leaves at noon.", 0.5)


def unfinished(engine: Engine) -> UnfinishedAnswers:
    def as_they_are(sources: Sequence[SourceRef]) -> tuple[SourceRef, ...]:
        return tuple(sources)

    return UnfinishedAnswers(engine, as_they_are, every_s=0.0)


def asked(engine: Engine) -> str:
    chat = engine.conversations.add("Ferry", "").conversation_id
    engine.conversations.add_message(Message("q", chat, Role.USER, "When?", time.time()))
    return chat


def states(engine: Engine, chat: str) -> list[tuple[str, MessageState]]:
    return [(m.text, m.state) for m in engine.conversations.messages(chat)]


def cut_off(engine: Engine, start: AnswerStart, *words: str) -> str:
    """Leave an answer as a crash does; its id."""
    keeper = AnswerKeeper(engine.unfinished, start, 0.0)
    keeper.note(SourcesFound((SOURCE,)))
    for word in words:
        keeper.note(TextDelta(word))
    keeper.finish()
    return keeper.answer_id


def size_of(folder: Path) -> int:
    return sum(f.stat().st_size for f in (folder / "unfinished").iterdir())


def test_a_long_answer_takes_the_room_of_its_words_once(engine: Engine, tmp_path: Path) -> None:
    chat = asked(engine)
    keeper = AnswerKeeper(engine.unfinished, AnswerStart(chat, "tiny", is_open=False), 0.0)
    keeper.note(SourcesFound((SOURCE,)))
    for n in range(40):
        keeper.note(TextDelta(f"{n:04d} " + "x" * 995))
        while not any(f"{n:04d}" in u.text for u in engine.unfinished.all()):
            threading.Event().wait(0.001)  # the thread that saves
    keeper.finish()
    [kept] = engine.unfinished.all()
    assert len(kept.text) == 40_000
    assert size_of(tmp_path) < 1.2 * 40_000


def test_the_thinking_is_kept_too(engine: Engine) -> None:
    keeper = AnswerKeeper(engine.unfinished, AnswerStart("c", "tiny", is_open=False), 60.0)
    keeper.note(ThinkingDelta("Let me see."))
    keeper.finish()
    assert [u.thinking for u in engine.unfinished.all()] == ["Let me see."]


def test_what_was_restated_replaces_what_was_saved(engine: Engine) -> None:
    keeper = AnswerKeeper(engine.unfinished, AnswerStart("c", "tiny", is_open=False), 0.0)
    keeper.note(TextDelta("Let me see."))
    while not engine.unfinished.all():
        threading.Event().wait(0.001)  # the thread that saves
    keeper.note(AnswerRestated("", "Let me see."))
    keeper.note(TextDelta("At noon."))
    keeper.finish()
    assert [(u.text, u.thinking) for u in engine.unfinished.all()] == [("At noon.", "Let me see.")]


def test_an_answer_without_a_word_leaves_nothing(engine: Engine) -> None:
    with unfinished(engine).keeping(AnswerStart("c", "tiny", is_open=False)) as keeper:
        keeper.note(SourcesFound((SOURCE,)))
    assert engine.unfinished.all() == []


def test_a_stored_answer_leaves_nothing(engine: Engine) -> None:
    with unfinished(engine).keeping(AnswerStart("c", "tiny", is_open=False)) as keeper:
        keeper.note(TextDelta("Because"))
        keeper.is_stored = True
    assert engine.unfinished.all() == []


def test_an_answer_that_is_given_up_is_kept_to_its_last_word(engine: Engine) -> None:
    chat = asked(engine)

    def shown() -> Iterator[None]:
        with unfinished(engine).keeping(AnswerStart(chat, "tiny", is_open=False)) as keeper:
            keeper.note(SourcesFound((SOURCE,)))
            keeper.note(TextDelta("At noon [1]."))
            yield

    events = shown()
    next(events)
    del events
    unfinished(engine).store_cut_ones()
    assert states(engine, chat)[1:] == [("At noon [1].", MessageState.CUT)]


@pytest.mark.slow
def test_a_cut_answer_is_stored_once(engine: Engine) -> None:
    chat = asked(engine)
    answer_id = cut_off(engine, AnswerStart(chat, "tiny", is_open=False), "At ", "noon [1][9].")
    [left] = engine.unfinished.all()
    unfinished(engine).store_cut_ones()
    [_, cut] = engine.conversations.messages(chat)
    assert (cut.message_id, cut.model, cut.text) == (answer_id, "tiny", "At noon [1].")
    assert [s.quote for s in cut.sources] == ["The ferry leaves at noon."]
    # As when the app is killed again before the file is removed.
    engine.unfinished.append(answer_id, about=left.about, text=left.text, thinking="")
    unfinished(engine).store_cut_ones()
    assert len(engine.conversations.messages(chat)) == 2
    assert engine.unfinished.all() == []


@pytest.mark.slow
@pytest.mark.parametrize("state", [MessageState.STOPPED, MessageState.FAILED, MessageState.CUT])
def test_a_cut_answer_replaces_one_that_was_not_whole(engine: Engine, state: MessageState) -> None:
    chat = asked(engine)
    engine.conversations.add_message(Message("a", chat, Role.ASSISTANT, "At", 1.0, state=state))
    cut_off(engine, AnswerStart(chat, "tiny", is_open=False, replaces="a"), "At noon")
    unfinished(engine).store_cut_ones()
    assert states(engine, chat)[1:] == [("At noon", MessageState.CUT)]


def test_a_whole_answer_is_not_replaced_by_a_cut_one(engine: Engine) -> None:
    chat = asked(engine)
    engine.conversations.add_message(Message("a", chat, Role.ASSISTANT, "At noon.", 1.0))
    cut_off(engine, AnswerStart(chat, "tiny", is_open=False, replaces="a"), "At")
    unfinished(engine).store_cut_ones()
    assert [s for _, s in states(engine, chat)[1:]] == [MessageState.DONE, MessageState.CUT]


def test_an_answer_of_a_removed_chat_is_forgotten(engine: Engine) -> None:
    cut_off(engine, AnswerStart("gone", "tiny", is_open=False), "At noon")
    unfinished(engine).store_cut_ones()
    assert engine.unfinished.all() == []
    assert engine.conversations.all() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage", [b"", b"\0\0\0", b'{"text": "At', b"[1]", b'{"about": {"message": 7}, "text": "x"}']
)
def test_damaged_files_are_passed_over(engine: Engine, tmp_path: Path, damage: bytes) -> None:
    chat = asked(engine)
    cut_off(engine, AnswerStart(chat, "tiny", is_open=False), "At noon")
    (tmp_path / "unfinished" / "0.jsonl").write_bytes(damage)
    unfinished(engine).store_cut_ones()
    assert states(engine, chat)[1:] == [("At noon", MessageState.CUT)]


def test_a_line_that_a_crash_has_cut_costs_only_itself(engine: Engine, tmp_path: Path) -> None:
    chat = asked(engine)
    answer_id = cut_off(engine, AnswerStart(chat, "tiny", is_open=False), "At noon")
    with (tmp_path / "unfinished" / f"{answer_id}.jsonl").open("ab") as file:
        file.write(b'{"text": " or')
    engine.unfinished.append(answer_id, about=None, text=" or later", thinking="")
    unfinished(engine).store_cut_ones()
    assert states(engine, chat)[1:] == [("At noon or later", MessageState.CUT)]
