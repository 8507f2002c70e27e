"""Texts in the person's language."""

from collections.abc import Iterator

import pytest

from desktop_rag.core.language.translation import (
    decimal_in_words,
    in_english,
    number_in_words,
    tr,
    use_language,
)

GERMAN = {"{count:,} files in {folder}": "{count:,} Dateien in {folder}", "Save": "Sichern"}


@pytest.fixture
def german() -> Iterator[None]:
    use_language(lambda text: GERMAN.get(text, ""), ".")
    yield
    use_language(None)


def test_without_a_language_texts_are_as_written() -> None:
    assert tr("Save") == "Save"
    assert tr("{count:,} files in {folder}", count=1234, folder="{x}") == "1,234 files in {x}"
    assert tr("a {brace}") == "a {brace}"


@pytest.mark.usefixtures("german")
def test_a_language_has_its_texts_and_its_numbers() -> None:
    assert tr("Save") == "Sichern"
    assert tr("{count:,} files in {folder}", count=1234, folder="a,b") == "1.234 Dateien in a,b"
    assert number_in_words(1234567) == "1.234.567"


@pytest.mark.usefixtures("german")
def test_what_is_sent_to_a_terminal_is_in_english() -> None:
    with in_english():
        assert (tr("Save"), number_in_words(1234)) == ("Save", "1,234")
    assert (tr("Save"), number_in_words(1234)) == ("Sichern", "1.234")


@pytest.mark.usefixtures("german")
def test_an_unknown_text_stays_english() -> None:
    assert tr("Open {name}", name="a.pdf") == "Open a.pdf"


def test_numbers_have_the_separators_of_the_language() -> None:
    use_language(lambda text: "", ".", decimal=",")
    try:
        assert (number_in_words(1998), decimal_in_words(1998.26, 1)) == ("1.998", "1.998,3")
        assert tr("{value:.1f} TB of {all:,}", value=1.5, all=2000) == "1,5 TB of 2.000"
        assert tr("{year} v{version}", year=2026, version="1.2") == "2026 v1.2"
    finally:
        use_language(None)
