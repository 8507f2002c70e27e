import pytest

from desktop_rag.answer.sources.source_finder import inside
from desktop_rag.core.domain import Passage
from desktop_rag.core.parsed import Anchor

LEASE = "Im Hof darf nicht gegrillt werden. Ein Hund braucht die Zustimmung des Vermieters."
PARK = "Wer einen Hund halten will, zahlt Steuer. Grillen darf man am See."


def passage(document_id: str, text: str, score: float) -> Passage:
    return Passage(1, document_id, f"{document_id}.md", document_id, text, Anchor(), 0, 9, score)


def kept(question: str, *, behind: float = 1.0) -> list[str]:
    found = [passage("park", PARK, behind), passage("lease", LEASE, 0.0)]
    return [each.document_id for each in inside(question, found, {"lease"})]


@pytest.mark.parametrize("question", ["Darf ich einen Hund halten?", "Wo darf ich grillen?"])
def test_the_document_of_the_chat_is_kept(question: str) -> None:
    assert kept(question) == ["lease"]


def test_not_when_another_is_much_better() -> None:
    assert kept("Darf ich einen Hund halten?", behind=3.0) == []


@pytest.mark.parametrize("question", ["Was kostet die Steuer?", "Und was ist mit ihr?"])
def test_not_without_words_of_the_question(question: str) -> None:
    assert kept(question) == []


def test_not_when_nothing_was_found_in_it() -> None:
    assert inside("Hund", [passage("park", PARK, 1.0)], {"lease"}) == ()
    assert inside("Hund", [], {"lease"}) == ()
