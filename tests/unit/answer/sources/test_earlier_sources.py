import time
from dataclasses import replace

from desktop_rag.answer.sources.source_merging import sources_before, with_earlier
from desktop_rag.core.conversation import Message, Role, SourceRef
from desktop_rag.core.parsed import Anchor

TEXTS = {"lamp": "Of lamps. The lamp is lit at dusk. It is red.", "ferry": "The ferry leaves."}


def content(document_id: str) -> tuple[str | None, str]:
    return TEXTS.get(document_id), ""


def source(document_id: str, n: int = 1, start: int = 0, score: float = 1.0) -> SourceRef:
    text = TEXTS.get(document_id, "gone")[start:]
    return SourceRef(
        n, document_id, f"/{document_id}.md", document_id, Anchor(), text, score,
        start=start, end=start + len(text),
    )  # fmt: skip


def cited(of: SourceRef, quote: str) -> SourceRef:
    start = of.start + of.text.index(quote)
    return replace(of, quote=quote, is_cited=True, start=start, end=start + len(quote))


def answer(*sources: SourceRef) -> Message:
    return Message("m", "c", Role.ASSISTANT, "…", time.time(), sources=sources)


def test_the_cited_sources_of_the_last_answer_are_whole_again() -> None:
    lamp = source("lamp", n=3, start=10)
    history = [answer(source("ferry")), answer(cited(lamp, "It is red."), source("ferry", n=4))]
    assert sources_before(history, content) == (replace(lamp, n=1),)


def test_of_an_answer_that_cites_nothing_all_sources_stay() -> None:
    history = [answer(source("lamp"), source("ferry", n=2)), answer()]
    assert [s.document_id for s in sources_before(history, content)] == ["lamp", "ferry"]


def test_what_a_document_no_longer_says_is_no_source() -> None:
    changed = replace(source("lamp"), text="Of lamps. The lamp is blue.")
    assert sources_before([answer(changed, source("gone", n=2))], content) == ()
    assert sources_before([], content) == ()


def test_earlier_sources_follow_what_was_found_and_are_weaker() -> None:
    found, earlier = [source("ferry", score=0.5)], [source("lamp", score=9.0)]
    both = with_earlier(found, earlier)
    assert [(s.n, s.document_id) for s in both] == [(1, "ferry"), (2, "lamp")]
    assert both[1].score < both[0].score


def test_the_same_place_is_there_once() -> None:
    again = source("lamp", start=10)
    assert with_earlier([source("lamp")], [again]) == (source("lamp"),)


def test_a_quote_that_stands_twice_in_its_passage_is_told_apart() -> None:
    text = "He says: The door is red. Nobody knows why. The door is red."
    passage = replace(source("lamp"), document_id="doors", text=text, end=len(text))
    start = text.rindex("The door")
    shown = replace(passage, quote="The door is red.", start=start, end=len(text), is_cited=True)

    def doors(_: str) -> tuple[str | None, str]:
        return text, ""

    assert sources_before([answer(shown)], doors) == (passage,)
