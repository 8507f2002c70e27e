"""What a message says, and whether it is meant for the bot."""

from typing import Any

import pytest

from desktop_rag.features.matrix.heard_message import HeardMessage, heard, is_for, without_mention

BOT, ROOM = "@library:here", "!room:here"


def message(body: str = "When?", sender: str = "@ann:here", /, **content: Any) -> HeardMessage:
    event = {
        "type": "m.room.message",
        "event_id": "$1",
        "sender": sender,
        "origin_server_ts": 5_000,
        "content": {"msgtype": "m.text", "body": body} | content,
    }
    found = heard(ROOM, event)
    assert found
    return found


def is_meant(given: HeardMessage, own: frozenset[str] = frozenset()) -> bool:
    return is_for(given, BOT, "Library", own)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Library: when?", True),
        ("library, when?", True),
        ("@library:here when?", True),
        ("Library", True),
        ("Libraryan: when?", False),
        ("When does the library open?", False),
    ],
)
def test_a_name_at_the_beginning_is_a_mention(body: str, expected: bool) -> None:
    assert is_meant(message(body)) is expected


def test_the_field_of_the_standard_decides_where_there_is_one() -> None:
    assert is_meant(message("hello", **{"m.mentions": {"user_ids": [BOT]}}))
    assert not is_meant(message("Library: when?", **{"m.mentions": {}}))
    pill = '<a href="https://matrix.to/#/@library:here">Library</a> when?'
    assert is_meant(message("hello", formatted_body=pill))


def test_a_reply_is_meant_for_the_bot_but_the_fallback_of_a_thread_is_not() -> None:
    reply = {"m.in_reply_to": {"event_id": "$own"}}
    own = frozenset({"$own"})
    assert is_meant(message(**{"m.relates_to": reply}), own)
    thread = reply | {"rel_type": "m.thread", "event_id": "$root", "is_falling_back": True}
    in_thread = message(**{"m.relates_to": thread})
    assert (in_thread.thread_id, in_thread.answer_thread) == ("$root", "$root")
    assert not is_meant(in_thread, own)
    assert is_meant(message(**{"m.relates_to": thread | {"is_falling_back": False}}), own)


def test_programs_corrections_and_the_bot_itself_are_not_answered() -> None:
    mention = {"m.mentions": {"user_ids": [BOT]}}
    assert not is_meant(message(msgtype="m.notice", **mention))
    assert not is_meant(message("When?", BOT, **mention))
    replaced = {"m.relates_to": {"rel_type": "m.replace", "event_id": "$0"}}
    assert not is_meant(message(**mention, **replaced))


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": "m.room.message"},
        {"type": "m.room.message", "content": {"msgtype": "m.text", "body": 5}},
        {"type": "m.room.message", "content": {"msgtype": "m.image", "body": "x"}},
        {"type": "m.room.message", "content": []},
    ],
)
def test_events_of_other_forms_are_no_messages(event: dict[str, Any]) -> None:
    assert heard(ROOM, event) is None


def test_odd_relations_and_mentions_do_no_harm() -> None:
    odd = message(**{"m.relates_to": ["x"], "m.mentions": {"user_ids": "all"}})
    assert (odd.thread_id, odd.mentions) == ("", frozenset())


def test_the_mention_and_an_old_quotation_are_taken_off() -> None:
    assert without_mention("@Library: help", BOT, "Library") == "help"
    assert message("> <@ann:here> before\n\nAnd now?").text == "And now?"
