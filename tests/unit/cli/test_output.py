"""What the verbs print of an answer: one document, lines for people."""

from dataclasses import replace

from desktop_rag.cli.output import (
    answer_json,
    answer_lines,
    collection_json,
    collection_lines,
    failure_lines,
    search_json,
    search_lines,
    set_model_lines,
    status_json,
    status_lines,
)
from desktop_rag.core.claims import CheckedClaim, Claim, Verdict
from desktop_rag.core.conversation import (
    NEAREST,
    Message,
    MessageState,
    Role,
    SearchNotes,
    SearchResult,
    SourceRef,
)
from desktop_rag.core.domain import Collection, DocumentState, Passage
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.core.parsed import Anchor

SOURCE = SourceRef(1, "d", "/docs/a.pdf", "A", Anchor(page=3), "Text.", 0.5, "Text.", is_cited=True)
ANSWER = Message(
    "m", "c", Role.ASSISTANT, "So \\[it\\] is [1].", 1.0, model="tiny", seconds=0.5,
    sources=(SOURCE,),
)  # fmt: skip
REFUSED = replace(
    ANSWER, text="Nothing.", model="", sources=(), nearest=(replace(SOURCE, is_cited=False),)
)
PASSAGE = Passage(1, "d", "/docs/a.pdf", "A", "Text.", Anchor(page=3), 0, 5, 0.5)
LISTED = [" 1. A (page 3)  /docs/a.pdf", "    Text."]
WORK = Collection("c", "Work", embedder="/models/e5")
KEYS = {"answer", "citations", "claims", "follow_ups", "model", "seconds"}


def test_an_answer_has_the_same_keys_as_ever() -> None:
    assert set(answer_json(replace(ANSWER, notes=SearchNotes()))) == KEYS


def test_the_nearest_passages_are_named_so() -> None:
    document = answer_json(REFUSED)
    assert set(document) == KEYS | {"nearest"}
    assert document["citations"] == []
    assert answer_lines(document) == [
        "Nothing.", "", "0.5 s", "", f"{NEAREST}:", "[1] A, page 3  /docs/a.pdf",
    ]  # fmt: skip


def test_what_the_search_understood_is_said() -> None:
    notes = SearchNotes((("termostat", "thermostat"),), searched=1)
    document = answer_json(replace(ANSWER, notes=notes))
    assert document["notes"]["repaired"] == [["termostat", "thermostat"]]
    assert answer_lines(document) == [
        "So [it] is [1].",
        "",
        "Searched for “thermostat” instead of “termostat”.",
        "tiny, 0.5 s",
        "",
        "Sources:",
        "[1] A, page 3  /docs/a.pdf",
    ]


def test_excerpts_say_that_no_model_was_asked() -> None:
    lines = answer_lines(answer_json(replace(ANSWER, model="", is_excerpts=True)))
    assert "Excerpts from your documents, 0.5 s" in lines


def test_what_is_not_from_the_documents_is_told() -> None:
    document = answer_json(replace(ANSWER, sources=(), is_own_knowledge=True))
    assert document["is_own_knowledge"] is True
    assert "tiny, not from your documents, 0.5 s" in answer_lines(document)
    assert "is_own_knowledge" not in answer_json(ANSWER)


def test_passages_come_after_what_the_search_understood() -> None:
    notes = SearchNotes((("termostat", "thermostat"),), searched=1)
    found = search_json(SearchResult((PASSAGE,), notes, is_relevant=True))
    said = "Searched for “thermostat” instead of “termostat”."
    assert search_lines(found) == [said, *LISTED]
    assert found["notes"]["text"] == said
    assert search_json(SearchResult((PASSAGE,), None, is_relevant=True))["notes"] is None


def test_a_passage_is_shown_where_its_words_are() -> None:
    text = f"{'The tenant pays the rent. ' * 40}The notice period is three months. {'End. ' * 90}"
    result = SearchResult((replace(PASSAGE, text=text),), None, is_relevant=True)
    _, line = search_lines(search_json(result), words="notice period")
    assert line.startswith("    …")
    assert "The notice period is three months." in line
    assert line.endswith("…")
    _, line = search_lines(search_json(result), words="harbour")
    assert line.startswith("    The tenant pays the rent.")


def test_passages_that_are_not_about_the_query_are_listed_on_request() -> None:
    found = search_json(SearchResult((PASSAGE,), None, is_relevant=False))
    nothing = "Nothing in your documents seems to be about this."
    assert search_lines(found) == [nothing, "Use --nearest to list the nearest passages."]
    assert search_lines(found, shows_nearest=True) == [nothing, "", f"{NEAREST}:", *LISTED]


def test_where_nothing_was_found_nothing_is_near() -> None:
    found = search_json(SearchResult((), None, is_relevant=False))
    assert search_lines(found) == search_lines(found, shows_nearest=True) == ["Nothing found."]


def test_a_collection_tells_its_model_and_the_one_that_answers() -> None:
    counts = [
        DocumentCounts({DocumentState.SEARCHABLE: 3}),
        DocumentCounts({DocumentState.SEARCHABLE: 1, DocumentState.FAILED: 1}),
    ]
    row = collection_json(WORK, "all-MiniLM-L6-v2", counts)
    assert (row["sources"], row["documents"]) == (2, {"searchable": 4, "failed": 1})
    assert collection_lines([row, collection_json(Collection("d", "New"), "", [])]) == [
        "Work: 4 searchable, 1 failed",
        "    model /models/e5; answered by all-MiniLM-L6-v2",
        "New: no documents yet",
        "    the model of the settings; no answers yet",
    ]


def test_what_is_left_to_embed_is_said_after_a_change() -> None:
    counts = [DocumentCounts({DocumentState.SEARCHABLE_BY_WORDS: 2})]
    report = collection_json(WORK, "old", counts) | {"embedded_chunks": 5, "seconds": 1.5}
    assert set_model_lines(report)[2:] == [
        "5 passages embedded after 1.5 s.",
        "2 documents are found by words only so far. The next run continues with the rest.",
    ]


def test_the_status_names_models_that_were_chosen() -> None:
    status = status_json([], [Collection("d", "New"), WORK], None)
    assert status["collections"] == [
        {"name": "New", "model": ""},
        {"name": "Work", "model": "/models/e5"},
    ]
    lines = status_lines(status | {"sources": [{"path": "/docs", "state": "x", "documents": {}}]})
    assert lines == ["/docs (x): no files yet", "Collection Work: model /models/e5"]


def test_an_answer_that_did_not_come_to_its_end_says_so() -> None:
    assert answer_json(replace(ANSWER, state=MessageState.CUT))["state"] == "cut"
    assert "state" not in answer_json(ANSWER)


def test_an_answer_that_broke_off_is_printed_with_how_it_ended() -> None:
    broken = replace(
        ANSWER, state=MessageState.FAILED, error_title="It was cut off.", error_hint="Press Retry."
    )
    document = answer_json(broken)
    assert document["state"] == "failed"
    assert document["error"] == {"title": "It was cut off.", "hint": "Press Retry."}
    assert answer_lines(document)[0] == "So [it] is [1]."
    assert failure_lines(document) == ["It was cut off.", "Press Retry."]
    assert failure_lines(answer_json(ANSWER)) == []
    stopped = answer_json(replace(ANSWER, state=MessageState.STOPPED))
    assert failure_lines(stopped) == ["The answer was stopped."]


def test_the_check_is_told_and_the_sentences_to_be_careful_with() -> None:
    verdicts = {"It is lit.": Verdict.SUPPORTED, "It burns\noil.": Verdict.NOT_IN_SOURCES}
    claims = tuple(
        Claim(0, 4, CheckedClaim(text, verdict, 0.5, None, (), ""))
        for text, verdict in verdicts.items()
    )
    lines = answer_lines(answer_json(replace(ANSWER, claims=claims)))
    assert lines[-2:] == [
        "Checked: 1 of 2 sentences is backed by sources.",
        "? Not found in the sources: It burns oil.",
    ]
    assert not any("Checked" in line for line in answer_lines(answer_json(ANSWER)))


def test_sentences_that_could_not_be_checked_count_as_sentences() -> None:
    claims = tuple(
        Claim(0, 4, CheckedClaim("It is lit.", verdict, 0.5, None, (), ""))
        for verdict in (Verdict.SUPPORTED, Verdict.NOT_CHECKED, Verdict.NOT_CHECKED)
    )
    lines = answer_lines(answer_json(replace(ANSWER, claims=claims)))
    assert "Checked: 1 of 3 sentences is backed by sources; 2 could not be checked." in lines
