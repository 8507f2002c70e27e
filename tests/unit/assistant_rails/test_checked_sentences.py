"""An answer in pieces: finished sentences, each from the first word, nothing after a refusal."""

from dataclasses import replace

import pytest

from desktop_rag.core.conversation import AnswerRestated, SourcesFound, TextDelta
from desktop_rag.features.rails.actions.built_in_actions import mask_personal_data
from desktop_rag.features.rails.assistants.railed_answers import CheckedSentences


def _shown(pieces: CheckedSentences, text: str) -> list[str]:
    events = [TextDelta(letter) for letter in text]
    shown = [piece for event in events for piece in pieces.add(event)]
    return [piece.text for piece in shown if isinstance(piece, TextDelta)]


def test_only_finished_sentences_are_checked_each_from_the_first_word() -> None:
    seen: list[str] = []

    def passes(beginning: str, _: object) -> str:
        seen.append(beginning)
        return beginning

    shown = _shown(CheckedSentences(passes), "One is here. Two is there. Three is")
    assert shown == ["One is here.", " Two is there."]
    assert seen == ["One is here.", "One is here. Two is there."]


def test_nothing_is_shown_after_what_did_not_pass() -> None:
    def passes(beginning: str, _: object) -> str | None:
        return None if "Two" in beginning else beginning

    assert _shown(CheckedSentences(passes), "One is here. Two is there. Three. Four. ") == [
        "One is here."
    ]


def test_a_beginning_that_tells_nothing_yet_waits_for_the_first_statement() -> None:
    def passes(beginning: str, _: object) -> str:
        return beginning if "lamp" in beginning else ""

    shown = _shown(CheckedSentences(passes), "Here it is. The lamp is lit. It burns. And so on.")
    assert shown == ["Here it is. The lamp is lit.", " It burns."]


def test_the_sources_come_with_the_first_words_that_passed() -> None:
    def passes(beginning: str, _: object) -> str:
        return beginning if "Two" in beginning else ""

    found = SourcesFound((), is_own_knowledge=True)
    pieces = CheckedSentences(passes, lambda found: replace(found, is_own_knowledge=False))
    assert not list(pieces.add(found))
    assert not list(pieces.add(TextDelta("One is here. And")))
    shown = list(pieces.add(TextDelta(" Two. Three. Four")))
    assert shown == [SourcesFound(()), TextDelta("One is here. And Two. Three.")]
    assert list(pieces.add(TextDelta(". Five"))) == [TextDelta(" Four.")]


def test_a_number_is_not_cut_at_a_full_stop_in_it() -> None:
    text = "Call +49 30 1234. 5678 90 now. Then wait. So it goes on here and further."
    shown = "".join(_shown(CheckedSentences(lambda b, _: mask_personal_data(b)), text))
    assert "1234" not in shown.replace("[telephone number]", "")


@pytest.mark.slow
def test_the_cost_of_a_long_answer_stays_near_its_length() -> None:
    checked = 0

    def passes(beginning: str, _: object) -> str:
        nonlocal checked
        checked += len(beginning)
        return beginning

    text = "A sentence of some words stands here. " * 500
    pieces = CheckedSentences(passes)
    shown = "".join(_shown(pieces, text))
    assert text.startswith(shown)
    assert checked < 12 * len(text)


def test_an_answer_that_is_restated_goes_on_only_where_it_says_the_same() -> None:
    pieces = CheckedSentences(lambda beginning, _: beginning)
    assert _shown(pieces, "One is here. Two ") == ["One is here."]
    assert not list(pieces.add(AnswerRestated("Other words. ", "")))
    assert not _shown(pieces, "More of it is there. And again. And")
