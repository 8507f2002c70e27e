"""The words of notes in every language, and which language a note gets."""

import tomllib

import pytest

from desktop_rag.core.paths import resources_dir
from desktop_rag.features.schedules.values.note_page import (
    EXCERPTS,
    heads_sources,
    language_of_topic,
    note_words,
    part_of,
)

QUESTIONS = resources_dir() / "questions"
LANGUAGES = list(tomllib.loads((QUESTIONS / "note_words.toml").read_text("utf-8")))


def test_every_language_with_answers_of_the_app_has_words_of_notes() -> None:
    refusals = tomllib.loads((QUESTIONS / "refusals.toml").read_text("utf-8"))
    talk = tomllib.loads((QUESTIONS / "small_talk.toml").read_text("utf-8"))
    assert set(refusals) <= set(LANGUAGES)
    assert set(talk) == set(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_all_words(language: str) -> None:
    english, known = note_words("en"), note_words(language)
    assert (language == "en") == (known is english)
    assert [*known.headings] == [*english.headings] == [*english.questions, EXCERPTS]
    assert [*known.questions] == [*english.questions]
    assert all(asked.format(topic="X").count("X") == 1 for asked in known.questions.values())
    assert all(part_of(heading) == part for part, heading in known.headings.items())
    assert heads_sources(known.sources)


def test_other_headings_are_no_parts() -> None:
    assert part_of("Mine") == ""
    assert not heads_sources("Mine")
    assert note_words("sv") is note_words("en")


@pytest.mark.parametrize(
    ("topic", "of_documents", "language"),
    [
        ("Leuchtturm", ["de", "de", "en"], "de"),
        ("lighthouse", ["en", "en", "de"], "en"),
        ("lighthouse", ["", ""], "en"),
        ("Leuchtturm", ["", "de"], "de"),
        # One word of a language is a name as likely as not: the documents decide.
        ("Die Hard", ["en", "en"], "en"),
        ("Der Leuchtturm", ["en", "en", "de"], "de"),
        # A sentence decides whatever the documents are in.
        ("Was ist über den Leuchtturm und seine Wärter bekannt", ["en", "en"], "de"),
        ("What is known about the keepers of the lighthouse", ["de", "de"], "en"),
        ("маяк", ["en"], "ru"),
        ("灯塔", ["en"], "zh"),
        ("灯台", ["ja", "ja"], "ja"),
        ("Leuchtturm", [], "en"),
    ],
)
def test_the_topic_and_its_documents_tell_the_language(
    topic: str, of_documents: list[str], language: str
) -> None:
    assert language_of_topic(topic, "", of_documents) == language


@pytest.mark.parametrize(
    ("preferred", "language"),
    [("German", "de"), (" polski ", "pl"), ("Türkçe", "tr"), ("Klingon", "en")],
)
def test_the_preferred_language_goes_first(preferred: str, language: str) -> None:
    assert language_of_topic("lighthouse", preferred, ["fr"]) == language
