"""What a model reads: passages first, then what the best of them stand in."""

from desktop_rag.answer.sources.evidence import chosen_evidence, in_turn, spans_around
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.domain import Passage
from desktop_rag.core.parsed import Anchor, Mark, ParsedDocument
from desktop_rag.core.places import places_to_json
from desktop_rag.core.text import rough_token_counts

PAGE = "\n".join(f"Line {n} of this page tells of the harbour and its lamps." for n in range(20))
SHORT = "The lamp is lit at dusk.\n\nThe oil comes by boat.\n"


def passage(document_id: str, text: str, part: str, rank: int) -> Passage:
    start = text.index(part)
    end = start + len(part)
    return Passage(
        rank, document_id, f"/{document_id}", document_id, part, Anchor(), start, end, -float(rank)
    )


def pages(count: int) -> tuple[str, str]:
    """A text of so many pages, and its places."""
    texts = [PAGE.replace("Line", f"Page {n}, line") for n in range(1, count + 1)]
    marks: list[Mark] = []
    offset = 0
    for number, text in enumerate(texts, start=1):
        marks.append(Mark(offset, Anchor(page=number)))
        offset += len(text) + 1
    whole = "\n".join(texts)
    return whole, places_to_json(ParsedDocument("pdf", "t", whole, tuple(marks)))


def chosen(
    contents: dict[str, tuple[str, str]], found: list[Passage], most: int
) -> tuple[SourceRef, ...]:
    return chosen_evidence(found, contents.__getitem__, rough_token_counts, most)


def test_a_short_file_is_sent_whole_for_one_of_its_sentences() -> None:
    found = [passage("a", SHORT, "The lamp is lit at dusk.", 0)]
    [source] = chosen({"a": (SHORT, "")}, found, 2_400)
    assert source.text == SHORT
    assert (source.n, source.start, source.end) == (1, 0, len(SHORT))


def test_of_a_long_file_the_page_is_sent_at_its_place() -> None:
    text, places = pages(30)
    part = "Page 7, line 3 of this page tells of the harbour and its lamps."
    sources = chosen({"a": (text, places)}, [passage("a", text, part, 0)], 4_000)
    assert [source.anchor.page for source in sources] == [7]
    assert sources[0].text.startswith("Page 7, line 0")
    for source in sources:
        assert text[source.start : source.end] == source.text


def test_the_surroundings_of_the_best_leave_room_for_more_passages() -> None:
    text, places = pages(60)
    found = [
        passage("a", text, f"Page {n}, line 5 of this page tells of the harbour", n)
        for n in range(1, 60)
    ]
    sources = chosen({"a": (text, places)}, found, 4_000)
    shown = {source.anchor.page or source.text.split()[1].strip(",") for source in sources}
    assert len(shown) > 50


def test_every_passage_comes_before_the_surroundings_of_any() -> None:
    text, places = pages(30)
    found = [
        passage("a", text, f"Page {n}, line 5 of this page tells of the harbour", n)
        for n in range(1, 25)
    ]
    sources = chosen({"a": (text, places)}, found, 3_000)
    shown = {source.anchor.page or source.text.split()[1].strip(",") for source in sources}
    assert len(shown) >= 15
    assert sum(rough_token_counts([source.text for source in sources])) <= 3_000


def test_near_copies_are_sent_once() -> None:
    contents = {"a": (SHORT, ""), "b": (SHORT, "")}
    found = [passage(i, SHORT, "The lamp is lit at dusk.", n) for n, i in enumerate(contents)]
    assert len(chosen(contents, found, 2_400)) == 1


def test_the_best_passage_is_sent_however_small_the_room() -> None:
    found = [passage("a", SHORT, "The lamp is lit at dusk.", 0)]
    assert [source.text for source in chosen({"a": (SHORT, "")}, found, 1)] == [found[0].text]


def test_a_document_that_changed_meanwhile_keeps_its_passage() -> None:
    found = [passage("a", SHORT, "The lamp is lit at dusk.", 0)]
    [source] = chosen({"a": ("Something else entirely.", "")}, found, 2_400)
    assert source.text == "The lamp is lit at dusk."


def test_reading_around_a_place_takes_the_neighbouring_pages() -> None:
    text, places = pages(9)
    start = text.index("Page 5, line 5")
    spans = spans_around((text, places), start, start + 10, rough_token_counts, 1_100)
    read = "".join(text[a:b] for a, b in spans)
    assert "Page 4, line 19" in read
    assert "Page 6, line 0" in read
    assert "Page 1, line" not in read


def test_lists_are_taken_in_turn() -> None:
    a, b, c = (passage("a", SHORT, "The oil comes by boat.", n) for n in range(3))
    assert in_turn([[a, b], [c, a]]) == [a, c, b]
