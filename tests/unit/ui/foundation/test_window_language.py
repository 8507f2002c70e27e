"""Which language the window speaks, and what Qt's tools compile."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QDate, QLocale

from desktop_rag.core.language.translation import tr, use_language
from desktop_rag.ui.foundation.window_language import (
    choose_language,
    language_name,
    languages,
    locale_of,
)

LRELEASE = Path(sys.executable).with_name("pyside6-lrelease")
TS = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS><TS version="2.1" language="de"><context><name></name><message>
<source>Save {name}</source><translation>{name} sichern</translation></message></context></TS>"""


@pytest.fixture
def words(tmp_path: Path) -> Iterator[Path]:
    """A folder with one language, compiled as `make words` does it."""
    (tmp_path / "de.ts").write_text(TS, encoding="utf-8")
    subprocess.run([str(LRELEASE), "-silent", tmp_path / "de.ts"], check=True)
    yield tmp_path
    use_language(None)


def test_a_chosen_language_is_used(words: Path) -> None:
    assert languages(words) == ["en", "de"]
    assert choose_language(words, "de") == "de"
    assert tr("Save {name}", name="a") == "a sichern"
    assert choose_language(words, "en") == "en"
    assert tr("Save {name}", name="a") == "Save a"


def test_an_unknown_language_is_english(words: Path) -> None:
    assert choose_language(words, "xx") == "en"


def test_without_a_choice_it_is_the_language_of_the_system(
    words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    austrian = QLocale("de_AT")
    monkeypatch.setattr(QLocale, "system", lambda: austrian)
    assert choose_language(words, "") == "de"


@pytest.mark.parametrize(
    ("code", "system", "day"),
    [
        ("de", "en_GB", "Donnerstag"),
        ("de", "de_AT", "Donnerstag"),
        ("en", "de_DE", "Thursday"),
        ("en", "en_GB", "Thursday"),
    ],
)
def test_days_are_named_in_the_language_of_the_window(code: str, system: str, day: str) -> None:
    locale = locale_of(code, QLocale(system))
    said = locale.toString(QDate(2026, 11, 26), QLocale.FormatType.LongFormat)
    assert said.startswith(day)


def test_a_language_is_named_in_itself() -> None:
    assert [language_name(code) for code in ("de", "en")] == ["Deutsch", "English"]
    assert [language_name(code, "de") for code in ("en", "zh")] == ["Englisch", "Chinesisch"]
