import pytest

from desktop_rag.answer.post_answer.topics import Topic, topics
from desktop_rag.core.anchors import Anchor
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Heading, ParsedDocument
from desktop_rag.core.places import places_to_json

TEXT = (
    "# Lighthouse\n\n## 1.1 Cleaning the lens\n\nWith a soft cloth.\n\n"
    "## Lighting the lamp\n\nAt dusk by the keeper.\n\n## Installation\n\nBy two people.\n"
)


def heading(title: str, level: int) -> Heading:
    return Heading(TEXT.index(title), level, title)


PLACES = places_to_json(
    ParsedDocument(
        format="markdown",
        title="Manual",
        text=TEXT,
        headings=(
            heading("Lighthouse", 1),
            heading("1.1 Cleaning the lens", 2),
            heading("Lighting the lamp", 2),
            heading("Installation", 2),
        ),
    )
)


def source(text: str, document_id: str = "d", start: int = 0) -> SourceRef:
    return SourceRef(
        1, document_id, f"/{document_id}.md", "Keeper's manual", Anchor(), text, 1.0,
        start=start, end=start + len(text),
    )  # fmt: skip


def test_other_headings_of_the_document_are_topics_the_nearest_first() -> None:
    cited = source("At dusk by the keeper.", start=TEXT.index("At dusk"))
    found = [topic.text for topic in topics([cited], lambda _: (TEXT, PLACES))]
    assert found == ["Lighthouse – Installation", "Cleaning the lens"]


@pytest.mark.parametrize(
    "number", ["3.2 ", "IV. ", "§ 4 ", "NOTE 3. ", "Chapter 12 – ", "Item 7: "]
)
def test_the_number_of_a_heading_is_left_out(number: str) -> None:
    places = PLACES.replace("1.1 Cleaning", f"{number}Cleaning")
    cited = source("At dusk by the keeper.", start=TEXT.index("At dusk"))
    found = [topic.text for topic in topics([cited], lambda _: (TEXT, places))]
    assert "Cleaning the lens" in found


def test_phrases_that_are_names_or_said_twice_are_topics() -> None:
    text = "The keeper met Ada Lovelace. A soft cloth is best, and only a soft cloth will do."
    found = list(topics([source(text, "a"), source("Nothing.", "b")], lambda _: (text, "")))
    assert found == [Topic("soft cloth", "a"), Topic("Ada Lovelace", "a")]


def test_a_text_without_words_has_no_topics() -> None:
    assert list(topics([source("1 2 3 | 4, 5")], lambda _: (None, ""))) == []


def test_each_document_has_its_turn() -> None:
    sources = [source("With a soft", "a", TEXT.index("With")), source("With a soft", "b")]
    others = PLACES.replace("Lighting", "Buying").replace("Installation", "Repairs")
    found = [
        topic.document_id
        for topic in topics(sources, lambda d: (TEXT, PLACES if d == "a" else others))
    ]
    assert found[:4] == ["a", "b", "a", "b"]
