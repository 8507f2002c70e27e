"""Texts in the person's language."""

from collections.abc import Iterator

import pytest

from desktop_rag.core.language.translation import number_in_words, tr, use_language

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
def test_an_unknown_text_stays_english() -> None:
    assert tr("Open {name}", name="a.pdf") == "Open a.pdf"
