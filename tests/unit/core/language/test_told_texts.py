"""Finished English texts, in another language when they are shown."""

import pytest

from desktop_rag.core.language.translation import ToldTexts, told, use_language

GERMAN = {
    "The file is damaged": "Die Datei ist beschädigt",
    "It is cut short.": "Sie ist abgeschnitten.",
    "{name} can't be read.": "{name} kann nicht gelesen werden.",
    "The file cannot be opened: {why}": "Die Datei kann nicht geöffnet werden: {why}",
    "Permission denied": "Zugriff verweigert",
    "Only the first {count:,} characters were read.": "Nur {count:,} Zeichen wurden gelesen.",
    "There is no collection “{name}”.": "Eine Sammlung „{name}“ gibt es nicht.",
    "{host} was not found. Check it.": "{host} wurde nicht gefunden. Bitte prüfen.",
    "documents": "Dokumente",
    "{model} needs {size:,.1f} GB.": "{model} braucht {size:,.1f} GB.",
    "{free} are free in {folder}.": "{free} sind in {folder} frei.",
    "It needs {{name}}.": "Es braucht {{name}}.",
    "1 folder of {most:,} is watched": "1 Ordner von {most:,} wird überwacht",
    "{folder} is watched.": "{folder} wird überwacht.",
}


@pytest.fixture
def german() -> ToldTexts:
    return ToldTexts(GERMAN, lambda text: GERMAN.get(text, ""), ".", ",")


@pytest.mark.parametrize(
    ("english", "expected"),
    [
        ("The file is damaged", "Die Datei ist beschädigt"),
        # What is put beside others ends in a full stop.
        ("The file is damaged. It is cut short.",
         "Die Datei ist beschädigt. Sie ist abgeschnitten."),
        ("The file cannot be opened: Permission denied",
         "Die Datei kann nicht geöffnet werden: Zugriff verweigert"),
        ("Only the first 10,000 characters were read.", "Nur 10.000 Zeichen wurden gelesen."),
        ("12 documents", "12 Dokumente"),
        ("a.b needs 1,250.5 GB.", "a.b braucht 1.250,5 GB."),
        ("1.5 GB are free in 2.0.", "1,5 GB sind in 2.0 frei."),
        ("17.2 (Debian) can't be read.", "17.2 (Debian) kann nicht gelesen werden."),
        ("a.b was not found. Check it. It is cut short.",
         "a.b wurde nicht gefunden. Bitte prüfen. Sie ist abgeschnitten."),
        ("It needs {name}.", "Es braucht {name}."),
        # The reading that knows most words, with its stop or without.
        ("1 folder of 9 is watched.", "1 Ordner von 9 wird überwacht."),
        ("", ""),
    ],
)  # fmt: skip
def test_a_text_is_taken_apart_and_translated(
    german: ToldTexts, english: str, expected: str
) -> None:
    assert german.translated(english) == expected


def test_what_is_not_known_stays(german: ToldTexts) -> None:
    said = "Server says: go away. It is cut short. Bye; now."
    assert german.translated(said) == "Server says: go away. Sie ist abgeschnitten. Bye; now."


def test_a_name_stays_a_name(german: ToldTexts) -> None:
    assert german.translated("There is no collection “documents”.").count("„documents“") == 1
    odd = "It is cut short. {name} can't be read."
    assert german.translated(f"{odd}.pdf can't be read.").startswith(
        "Sie ist abgeschnitten. {name}"
    )


def test_a_long_text_of_others_costs_nothing(german: ToldTexts) -> None:
    for said in ("It is cut short. " * 1000, "a. " * 100):
        assert german.translated(said) == said


def test_without_a_language_it_stays_english() -> None:
    use_language(None)
    assert told("The file is damaged") == "The file is damaged"
    use_language(lambda text: GERMAN.get(text, ""), ".", GERMAN)
    try:
        assert told("The file is damaged") == "Die Datei ist beschädigt"
    finally:
        use_language(None)
