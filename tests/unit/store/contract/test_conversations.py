from dataclasses import replace

import pytest

from desktop_rag.core.claims import (
    CheckedClaim,
    Claim,
    Difference,
    DifferenceKind,
    Evidence,
    Verdict,
)
from desktop_rag.core.conversation import (
    TERMINAL,
    Feedback,
    FileCounts,
    Message,
    MessageState,
    Role,
    SearchNotes,
    SourceRef,
)
from desktop_rag.core.parsed import Anchor
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.records import ConversationStore
from tests.claims import unchecked

SOURCE = SourceRef(
    1, "d", "/docs/a.pdf", "A", Anchor(page=3), "passage", 0.5, "quote", 4, 9, is_cited=True,
    part="b.txt", url="https://a.example/", also_in=("/copy/a.pdf",),
    query='SELECT "x"\nFROM t',
)  # fmt: skip
DIFFERENCES = (
    Difference(DifferenceKind.NUMBER, (4, 8), (10, 14)),
    Difference(DifferenceKind.NAME, (0, 3), None),
)
CHECKED = CheckedClaim(
    "A sentence.", Verdict.CONTRADICTED, 0.25, Evidence(1, 3, 40), DIFFERENCES, "Not “1998”."
)
CLAIM = Claim(0, 20, CHECKED, 2)
UNCHECKED = Claim(21, 30, unchecked("Another."))
NOTES = SearchNotes(
    (("termostat", "thermostat"),), "Only PDF files", 12, ("A hint.",), files=FileCounts(3, 2)
)


@pytest.fixture
def store(engine: Engine) -> ConversationStore:
    return engine.conversations


def message(conversation_id: str, name: str, at: float, role: Role = Role.ASSISTANT) -> Message:
    return Message(
        name, conversation_id, role, f"text of {name}", at, MessageState.STOPPED, "model",
        seconds=1.5, error_title="title", error_hint="hint", thinking="hm",
        sources=(SOURCE,) if role is Role.ASSISTANT else (),
        notes=NOTES if role is Role.ASSISTANT else None,
    )  # fmt: skip


def test_history_shows_what_was_shown(store: ConversationStore) -> None:
    conversation = store.add("Lamps", "c")
    asked = message(conversation.conversation_id, "q", 1.0, Role.USER)
    answered = message(conversation.conversation_id, "a", 2.0)
    others = (SOURCE, replace(SOURCE, n=2, text="漢 “x”\n"))
    answered = replace(answered, sources=others, follow_ups=("Who lights it?",), claims=(CLAIM,))
    store.add_message(asked)
    store.add_message(answered)
    assert store.messages(conversation.conversation_id) == [asked, answered]
    assert store.messages("unknown") == []


def test_what_only_came_nearest_stays_apart_from_sources(store: ConversationStore) -> None:
    conversation = store.add("Lamps", "")
    said = message(conversation.conversation_id, "a", 1.0)
    refused = replace(said, sources=(), nearest=(SOURCE, replace(SOURCE, n=2)))
    store.add_message(refused)
    assert store.messages(conversation.conversation_id) == [refused]


def test_order_is_that_of_writing_not_of_the_clock(store: ConversationStore) -> None:
    conversation = store.add("Lamps", "c")
    for name, at in (("first", 9.0), ("second", 1.0), ("third", 5.0)):
        store.add_message(message(conversation.conversation_id, name, at))
    names = [m.message_id for m in store.messages(conversation.conversation_id)]
    assert names == ["first", "second", "third"]


def test_the_conversation_last_written_to_comes_first(store: ConversationStore) -> None:
    old, new = store.add("old", ""), store.add("new", "")
    store.add_message(message(old.conversation_id, "m", 9e9))
    store.rename(new.conversation_id, "renamed")
    assert [(c.title, c.updated_at) for c in store.all()] == [
        ("old", 9e9),
        ("renamed", new.updated_at),
    ]


def test_what_was_asked_last_is_remembered(store: ConversationStore) -> None:
    conversation = store.add("Lamps", "")
    store.set_collection(conversation.conversation_id, "c")
    assert store.get(conversation.conversation_id) == replace(conversation, collection_id="c")


def test_the_assistant_that_was_asked_last_is_remembered(store: ConversationStore) -> None:
    conversation = store.add("Lamps", "c", "someone")
    assert store.get(conversation.conversation_id) == conversation
    assert conversation.assistant_id == "someone"
    store.set_assistant(conversation.conversation_id, "")
    assert store.all() == [replace(conversation, assistant_id="")]


def test_what_is_the_models_own_stays_so(store: ConversationStore) -> None:
    conversation = store.add("Lamps", "")
    said = message(conversation.conversation_id, "a", 1.0)
    own = replace(said, sources=(), is_own_knowledge=True)
    store.add_message(own)
    assert store.messages(conversation.conversation_id) == [own]


def test_an_answer_tried_again_takes_the_place_of_the_first(store: ConversationStore) -> None:
    conversation = store.add("Lamps", "")
    store.add_message(message(conversation.conversation_id, "q", 1.0, Role.USER))
    store.add_message(message(conversation.conversation_id, "bad", 2.0))
    store.add_message(message(conversation.conversation_id, "later", 3.0))
    good = message(conversation.conversation_id, "good", 4.0)
    store.replace_message("bad", good)
    stored = store.messages(conversation.conversation_id)
    assert [m.message_id for m in stored] == ["q", "good", "later"]
    assert stored[1] == good


@pytest.mark.slow
def test_a_removed_message_goes_back_to_its_place(store: ConversationStore) -> None:
    conversation = store.add("Lamps", "")
    for n, name in enumerate(("q", "first", "second", "later")):
        store.add_message(message(conversation.conversation_id, name, float(n)))
    _, _, second, _ = store.messages(conversation.conversation_id)
    place = store.remove_message("second")
    assert [m.message_id for m in store.messages(conversation.conversation_id)] == [
        "q", "first", "later",
    ]  # fmt: skip
    assert store.insert_message(second, place)
    assert store.messages(conversation.conversation_id)[2] == second
    place = store.remove_message("later")
    store.add_message(message(conversation.conversation_id, "new", 9.0))
    assert not store.insert_message(second, place)


def test_pinned_conversations_come_first(store: ConversationStore) -> None:
    old, new = store.add("old", ""), store.add("new", "")
    store.add_message(message(new.conversation_id, "m", 9e9))
    store.set_pinned(old.conversation_id, True)
    assert [(c.title, c.is_pinned) for c in store.all()] == [("old", True), ("new", False)]
    assert store.get(old.conversation_id).is_pinned
    store.set_pinned(old.conversation_id, False)
    assert [c.title for c in store.all()] == ["new", "old"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lamps", {"Lamps"}),
        ("TEXT OF A", {"Lamps"}),
        ("text of", {"Lamps", "Größe 100%"}),
        ("GRÖSSE", {"Größe 100%"}),
        ("100%", {"Größe 100%"}),
        ("%", {"Größe 100%"}),
        ("nowhere", set[str]()),
    ],
)
def test_conversations_are_found_by_what_was_said(
    store: ConversationStore, text: str, expected: set[str]
) -> None:
    lamps, size, gone = store.add("Lamps", ""), store.add("Größe 100%", ""), store.add("Lamps", "")
    store.add_message(message(lamps.conversation_id, "a", 1.0))
    store.add_message(message(size.conversation_id, "b", 2.0))
    store.add_message(message(gone.conversation_id, "a", 3.0))
    store.set_deleted(gone.conversation_id, True)
    titles = {store.get(i).title for i in store.containing(text)}
    assert titles == expected
    assert gone.conversation_id not in store.containing(text)


def test_rename_delete_restore_and_purge(store: ConversationStore) -> None:
    kept, gone = store.add("kept", ""), store.add("gone", "")
    store.rename(kept.conversation_id, "renamed")
    for conversation in (kept, gone):
        store.add_message(message(conversation.conversation_id, conversation.title, 1.0))
        store.set_deleted(conversation.conversation_id, True)
    assert store.all() == []
    assert store.get(gone.conversation_id).title == "gone"
    store.set_deleted(kept.conversation_id, False)
    assert [c.title for c in store.all()] == ["renamed"]
    store.purge_deleted()
    with pytest.raises(KeyError):
        store.get(gone.conversation_id)
    assert store.messages(gone.conversation_id) == []
    assert len(store.messages(kept.conversation_id)[0].sources) == 1


def test_the_last_opinion_stands_and_every_change_of_mind_is_kept(store: ConversationStore) -> None:
    conversation = store.add("Lamps", "")
    for name in ("a", "b"):
        store.add_message(message(conversation.conversation_id, name, 1.0))
    changes = [Feedback.LIKED, Feedback.NONE, Feedback.DISLIKED]
    for feedback in changes:
        store.add_feedback("a", feedback)
    store.add_feedback("b", Feedback.LIKED)
    stored = store.messages(conversation.conversation_id)
    assert [m.feedback for m in stored] == [Feedback.DISLIKED, Feedback.LIKED]
    log = store.feedback_log("a")
    assert [feedback for _, feedback in log] == changes
    assert [at for at, _ in log] == sorted(at for at, _ in log)
    assert log[0][0] > 1e9


def test_feedback_goes_with_its_conversation(store: ConversationStore) -> None:
    conversation = store.add("Lamps", "")
    store.add_message(message(conversation.conversation_id, "a", 1.0))
    store.add_feedback("a", Feedback.LIKED)
    store.set_deleted(conversation.conversation_id, True)
    store.purge_deleted()
    assert store.feedback_log("a") == []


@pytest.mark.slow
def test_feedback_is_about_an_answer_and_its_copies_as_long_as_one_is_there(
    store: ConversationStore,
) -> None:
    original, copy = (store.add(title, "").conversation_id for title in ("Lamps", "Copy"))
    store.add_message(message(original, "a", 1.0))
    store.add_message(replace(message(copy, "b", 1.0), copy_of="a"))
    store.add_feedback("b", Feedback.LIKED)
    assert [m.feedback for one in (original, copy) for m in store.messages(one)] == (
        [Feedback.LIKED] * 2
    )
    assert [f for _, f in store.feedback_log("a")] == [Feedback.LIKED]
    store.set_deleted(original, True)
    store.purge_deleted()
    [left] = store.messages(copy)
    assert (left.feedback, left.copy_of) == (Feedback.LIKED, "a")
    store.set_deleted(copy, True)
    store.purge_deleted()
    assert store.feedback_log("a") == []


def test_what_is_found_about_an_answer_stays_with_its_answer(store: ConversationStore) -> None:
    conversation = store.add("Lamps", "")
    for name in ("a", "b"):
        store.add_message(message(conversation.conversation_id, name, 1.0))
    first, second = store.messages(conversation.conversation_id)
    first = replace(first, follow_ups=("Who lights it?", "Why “at dusk”?"), claims=(CLAIM,))
    store.set_post_answer(first)
    store.set_post_answer(replace(second, follow_ups=("Where?",)))
    second = replace(second, follow_ups=("When?",), claims=(UNCHECKED, CLAIM))
    store.set_post_answer(second)
    assert store.messages(conversation.conversation_id) == [first, second]
    source = replace(second.sources[0], is_cited=not second.sources[0].is_cited, quote="at dusk")
    second = replace(second, text="Lit at dusk [2].", sources=(source, *second.sources[1:]))
    store.set_post_answer(second)
    assert store.messages(conversation.conversation_id) == [first, second]


def test_those_of_the_terminal_are_listed_last_and_those_of_programs_not(
    store: ConversationStore,
) -> None:
    names = ("here", "pinned", "there", "program")
    here, pinned, there, program = (store.add(name, "").conversation_id for name in names)
    store.set_pinned(pinned, True)
    store.keep(there, TERMINAL)
    store.keep(program, "token")
    assert [each.conversation_id for each in store.all()] == [pinned, here, there]
    assert store.containing("there") == {there}
    assert [each.conversation_id for each in store.kept()] == [program]
    store.keep(there, "")
    assert [each.conversation_id for each in store.all()] == [pinned, there, here]
