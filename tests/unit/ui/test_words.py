"""Every text of the window is translated: found, marked, and there in each language."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PySide6.QtCore import QTranslator

from tests.untranslated import given_to_tr, untranslated

PACKAGE = Path(__file__).parents[3] / "desktop_rag"
WORDS = PACKAGE.parent / "resources" / "words"
# Those that are compiled; others are in the making, and the window does not know them.
OFFERED = sorted(path.with_suffix(".ts") for path in WORDS.glob("*.qm"))
# Rooms and modules whose texts the window shows.
SHOWN = (
    *sorted((PACKAGE / "ui").rglob("*.py")),
    PACKAGE / "window_app.py", PACKAGE / "window_start.py", PACKAGE / "progress_words.py",
    PACKAGE / "activity" / "event_wording.py",
)  # fmt: skip
# Samples that only measure a width, names, and what is typed into other programs.
NOT_TRANSLATED = {
    "59 min ago", "Fusion", "Pasted image.png", "a folder/of another",
    "a name of a usual length.pdf", "ollama pull llama3.2", "type:pdf after:2024",
}  # fmt: skip
# Doubled braces are text: the placeholders of prompts.
_PLACE = re.compile(r"(?<!\{)\{[^{}]*\}(?!\})")


def test_no_text_is_outside_of_translation() -> None:
    found = {path.relative_to(PACKAGE).as_posix(): untranslated(path) for path in SHOWN}
    left = {
        path: rest
        for path, texts in found.items()
        if (rest := [t for t in texts if t.split(": ", 1)[1] not in NOT_TRANSLATED])
    }
    assert left == {}


@pytest.mark.parametrize(
    "line",
    [
        'label.setText("Nothing was found")',
        'button = TextButton("Save")',
        'title = f"{count} files were read"',
        'words = {Kind.A: "in your documents"}',
    ],
)
def test_a_text_outside_is_noticed(tmp_path: Path, line: str) -> None:
    (planted := tmp_path / "planted.py").write_text(line, encoding="utf-8")
    assert untranslated(planted)


@pytest.mark.parametrize("file", OFFERED, ids=lambda path: path.stem)
def test_a_language_has_every_text_with_its_places(file: Path) -> None:
    texts = set[str]().union(*(given_to_tr(path) for path in PACKAGE.rglob("*.py")))
    translated = translations(file)
    assert texts - translated.keys() == set()
    assert translated.keys() - texts == set()
    assert [text for text, translation in translated.items() if not translation] == []
    wrong = [t for t, words in translated.items() if sorted(places(t)) != sorted(places(words))]
    assert wrong == []


@pytest.mark.parametrize("file", OFFERED, ids=lambda path: path.stem)
def test_the_compiled_file_is_that_of_the_texts(file: Path) -> None:
    compiled = QTranslator()
    assert compiled.load(str(file.with_suffix(".qm")))
    other = {t: w for t, w in translations(file).items() if compiled.translate("", t) != w}
    assert other == {}


def translations(file: Path) -> dict[str, str]:
    """The texts of a language file with their translations, "" where one is missing."""
    messages = ET.parse(file).getroot().iter("message")
    return {
        message.findtext("source", ""): ""
        if message.find("translation[@type='unfinished']") is not None
        else message.findtext("translation", "")
        for message in messages
    }


def places(text: str) -> list[str]:
    """What is put in when the text is shown: `{count:,}`."""
    return _PLACE.findall(text)
