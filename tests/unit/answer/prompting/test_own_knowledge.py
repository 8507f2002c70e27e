"""Where an answer goes on from its sources to what the model knows itself."""

import pytest

from desktop_rag.answer.checking.answer_claims import statements
from desktop_rag.answer.prompting.prompt import OWN_KNOWLEDGE_LINE, split_own_knowledge
from desktop_rag.answer.writing.answers import AnswerDraft
from desktop_rag.core.conversation import MessageState, SourceRef
from desktop_rag.core.parsed import Anchor

SOURCE = SourceRef(
    1, "d", "/a.md", "A", Anchor(line=1), "The lamp of the lighthouse is lit at dusk.", 1.0, end=42
)
SOURCED = "The lamp is lit at dusk [1]."
OWN = "Most lighthouses were lit at dusk [1]. The lamp of the lighthouse is lit at dusk."
UNCITED = "Most lighthouses were lit at dusk. The lamp of the lighthouse is lit at dusk."
HEADING = "**Not from your documents**:"


@pytest.mark.parametrize(
    "line",
    [
        OWN_KNOWLEDGE_LINE,
        "**Not from your documents:**",
        "**Not from your documents**:",
        "## Not from your documents:",
        "> not from YOUR documents:",
    ],
)
def test_the_line_is_found_however_it_is_decorated(line: str) -> None:
    sourced, own = split_own_knowledge(f"{SOURCED}\n\n{line}\n{OWN}")
    assert sourced.strip() == SOURCED
    assert own == f"{HEADING}\n\n{UNCITED}"


def test_a_line_with_nothing_below_it_goes() -> None:
    assert split_own_knowledge(f"{SOURCED}\n\n{OWN_KNOWLEDGE_LINE}\n") == (f"{SOURCED}\n\n", "")


@pytest.mark.parametrize(
    "text",
    [SOURCED, "This is not from your documents: it is said in passing.", "Not from your documents"],
)
def test_elsewhere_the_words_are_words(text: str) -> None:
    assert split_own_knowledge(text) == (text, "")


def test_below_the_line_nothing_is_cited_and_nothing_gets_a_citation() -> None:
    text = f"{SOURCED}\n\n{OWN_KNOWLEDGE_LINE}\n{OWN}"
    draft = AnswerDraft("c", text=text, sources=(SOURCE,), is_open=True)
    message = draft.message(MessageState.DONE)
    assert message.text == f"{SOURCED}\n\n{HEADING}\n\n{UNCITED}"
    assert [source.is_cited for source in message.sources] == [True]
    assert all("Not from" not in statement.text for statement in statements(message.text))


def test_a_strict_answer_is_checked_whole_whatever_it_says() -> None:
    text = f"{SOURCED}\n\n{OWN_KNOWLEDGE_LINE}\n{OWN}"
    message = AnswerDraft("c", text=text, sources=(SOURCE,)).message(MessageState.DONE)
    assert message.text.count("[1]") == 3
