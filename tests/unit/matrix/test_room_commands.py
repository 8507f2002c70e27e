"""The fixed forms of commands; everything else is a question."""

import pytest

from desktop_rag.features.matrix.room_answers import (
    Help,
    NotUnderstood,
    Question,
    Sources,
    Summarise,
    command_in,
)

NAMES = ("Hand", "Hand book")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Help()),
        ("Help?", Help()),
        ("sources", Sources()),
        ("When is the lamp lit?", Question("When is the lamp lit?")),
        ("ask Hand book: when?", Question("when?", "Hand book")),
        ("ask hand when?", Question("when?", "Hand")),
        ("ask “Hand book” when?", Question("when?", "Hand book")),
        ("ask the cook when?", Question("ask the cook when?")),
        ("summarise the contract", Question("summarise the contract")),
        ("summarise", Summarise(count=50)),
        ("Summarize last 7 messages.", Summarise(count=7)),
        ("summarise since 1970-01-02", Summarise(since=86_400.0)),
        ("summarise last 9999", Summarise(count=400)),
        ("summarise and store", Summarise(count=50, is_stored=True)),
        ("summarise last 5 and store in “Minutes”", Summarise(5, 0.0, True, "Minutes")),
    ],
)
def test_commands(text: str, expected: object) -> None:
    assert command_in(text, NAMES, is_in_thread=False) == expected


def test_in_a_thread_the_thread_is_summarised() -> None:
    found = command_in("summarise", NAMES, is_in_thread=True)
    assert isinstance(found, Summarise)
    assert found.is_of_thread


@pytest.mark.parametrize(
    "text",
    ["ask “Secrets” when?", "ask “Hand”", "summarise since 2026-13-01", "summarise this thread",
     "summarise last 0"],
)  # fmt: skip
def test_what_is_not_there_is_said(text: str) -> None:
    assert isinstance(command_in(text, NAMES, is_in_thread=False), NotUnderstood)
