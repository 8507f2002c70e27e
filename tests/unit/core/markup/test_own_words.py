"""The app's own words are told from a person's."""

import pytest

from desktop_rag.core.markup.own_words import hash_of, is_exported, without_doubted, written_by_app

FRONT = '---\ntopic: "Lamp"\nwritten: {{"": "{opening}", "Costs": "{costs}"}}\n---\n\n'
OPENING, COSTS = "# Lamp\n\nIt is lit at dusk.", "It cost 8 pounds.\n\n```\n## not a heading\n```"


def note(opening: str = OPENING, costs: str = COSTS) -> str:
    front = FRONT.format(opening=hash_of(OPENING), costs=hash_of(COSTS))
    return f"{front}{opening}\n\n## Costs\n\n{costs}\n\n## Mine\n\nI paid it.\n"


def own(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in written_by_app(text)]


def test_sections_are_the_apps_until_they_are_changed() -> None:
    assert own(note()) == [OPENING, COSTS]
    assert own(note(costs=COSTS.replace("8", "9"))) == [OPENING]
    assert own(note(opening=f"{OPENING} Or later.")) == [COSTS]
    assert len(own(note(costs=COSTS.replace("pounds.", "pounds.  ")))) == 2


@pytest.mark.parametrize("written", ["{", "[]", "3", '{"Costs": 3}'])
def test_other_front_matter_marks_nothing(written: str) -> None:
    assert own(f"---\nwritten: {written}\n---\n\n## Costs\n\n8 pounds.\n") == []


def test_a_doubted_sentence_is_blanked_and_nothing_moves() -> None:
    text = "It is lit. It cost 8 pounds (? Not found in the sources). It is red."
    found = without_doubted(text)
    assert len(found) == len(text)
    assert found.split() == ["It", "is", "lit.", "It", "is", "red."]


@pytest.mark.parametrize("flag", ["(≈ teilweise belegt)", "(? Nicht in den Quellen gefunden)"])
def test_a_flag_behind_the_stop_belongs_to_the_sentence_before(flag: str) -> None:
    assert without_doubted(f"Es ist rot. Es kostet 8 Pfund. {flag}").split() == [
        "Es",
        "ist",
        "rot.",
    ]


def test_brackets_of_a_person_are_no_flags() -> None:
    text = "It cost 8 pounds (? maybe). Who knows (why)? It is red (✓ checked)."
    assert without_doubted(text).count("8 pounds") == 0
    assert "Who knows (why)?" in without_doubted(text)


def test_a_file_about_the_app_is_no_export() -> None:
    assert is_exported('{\n  "format": "desktop-rag chat",\n')
    assert is_exported("---\ngenerator: desktop-rag chat\n---\n")
    assert is_exported("generator,run,question\r\ndesktop-rag report,First,Who?\r\n")
    assert not is_exported("The format is called desktop-rag chat.")
    assert not is_exported("The generator, a desktop-rag report and a desktop-rag summary.")


def test_what_is_crossed_out_is_no_evidence() -> None:
    text = "The fee is ~~EUR 900~~ EUR 750, ~ 3 ~~ years."
    assert without_doubted(text) == "The fee is             EUR 750, ~ 3 ~~ years."
