"""What is shown of an answer while it grows: its citations in one form, and nothing half done."""

import itertools

import pytest

from desktop_rag.answer.writing.answers import AnswerDraft, GrowingAnswer
from desktop_rag.core.conversation import (
    AnswerEvent,
    AnswerRestated,
    AnswerWaits,
    SourceRef,
    TextDelta,
    ThinkingDelta,
)
from desktop_rag.core.parsed import Anchor
from desktop_rag.models.ports import Delta

SOURCES = tuple(
    SourceRef(n, f"d{n}", f"/{n}.md", f"{n}.md", Anchor(), "The lamp is lit at dusk.", 1.0)
    for n in (1, 2)
)


def shown_after(pieces: list[str]) -> list[str]:
    """The text on the screen after each event."""
    growing = GrowingAnswer(AnswerDraft("c", sources=SOURCES))
    deltas = (growing.add(Delta(piece)) for piece in pieces)
    events = [*itertools.chain.from_iterable(deltas), *growing.finish()]
    screens = [""]
    for event in events:
        assert isinstance(event, TextDelta | AnswerRestated)
        screens.append(screens[-1] + event.text if isinstance(event, TextDelta) else event.text)
    return screens


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It is lit at dusk [1].", "It is lit at dusk [1]."),
        ("Lit at dusk 【1†source】. It burns oil [^2].", "Lit at dusk [1]. It burns oil [2]."),
        ("Lit <sup>1</sup> at dusk (source 2).", "Lit [1] at dusk [2]."),
        ("Lit at dusk [9]. So.", "Lit at dusk. So."),
        ("values[2] of it\n", "values[2] of it\n"),
        ("```markdown\n# Lamps\n\nLit [1].\n```", "# Lamps\n\nLit [1].\n"),
        ("```md\nLit.\n```python\nx[1]\n```\nSo.\n```\n", "Lit.\n```python\nx[1]\n```\nSo.\n"),
        ("```python\nx = y[1]\n```\nSo [1].", "```python\nx = y[1]\n```\nSo [1]."),
        ("(which is lit) and [a link](http://x.example)", None),
    ],
)
def test_it_ends_as_it_should_in_every_cut(written: str, shown: str | None) -> None:
    for at in range(len(written) + 1):
        assert shown_after([written[:at], written[at:]])[-1] == (shown or written)
    assert shown_after(list(written))[-1] == (shown or written)


@pytest.mark.parametrize("sign", ["【", "†", "^", "sup>", "source", "[9", "```m"])
def test_no_raw_marker_is_ever_seen(sign: str) -> None:
    written = "```markdown\nLit 【1†source】 so[^2] and<sup>1</sup> (source 2) or [9]. End.\n```"
    assert not any(sign in screen for screen in shown_after(list(written)))


def test_words_are_shown_at_once() -> None:
    growing = GrowingAnswer(AnswerDraft("c", sources=SOURCES))
    assert list(growing.add(Delta("The"))) == [TextDelta("The")]
    assert list(growing.add(Delta(" lamp (which"))) == [TextDelta(" lamp")]
    assert list(growing.add(Delta(" is"))) == [TextDelta(" (which is")]


def test_what_was_thinking_leaves_the_text() -> None:
    draft = AnswerDraft("c", sources=SOURCES, text="Before. ")
    growing = GrowingAnswer(draft)
    deltas = [Delta("Hm."), Delta("", was_thinking=True), Delta("So."), Delta("", status="Wait.")]
    events: list[AnswerEvent] = [event for delta in deltas for event in growing.add(delta)]
    events += growing.add(Delta("x", is_thinking=True))
    assert events == [
        TextDelta("Hm."),
        AnswerRestated("Before. ", "Hm."),
        TextDelta("So."),
        AnswerWaits("Wait."),
        ThinkingDelta("x"),
    ]
    assert (draft.text, draft.thinking) == ("Before. So.", "Hm.x")


@pytest.mark.slow
def test_a_long_line_is_not_gone_through_again_and_again() -> None:
    line = "The lamp is lit [1]. " * 2000
    assert shown_after([line[at : at + 40] for at in range(0, len(line), 40)])[-1] == line
