"""Every text of the window is translated: found, marked, and there in each language."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PySide6.QtCore import QTranslator

from desktop_rag.core.language.translation import told, use_language
from desktop_rag.ui.foundation.window_language import choose_language
from tests.words.told_texts import LIST, table_texts, told_texts
from tests.words.untranslated import given_to_tr, untranslated

PACKAGE = Path(__file__).parents[3] / "desktop_rag"
WORDS = PACKAGE.parent / "resources" / "words"
# Those that are compiled; others are in the making, and the window does not know them.
OFFERED = sorted(path.with_suffix(".ts") for path in WORDS.glob("*.qm"))
# Rooms and modules whose texts the window shows.
SHOWN = (
    *sorted((PACKAGE / "ui").rglob("*.py")),
    PACKAGE / "window_app.py", PACKAGE / "settings_pages.py", PACKAGE / "window_start.py",
    PACKAGE / "progress_words.py",
    PACKAGE / "activity" / "event_wording.py",
)  # fmt: skip
# Samples that only measure a width, names, and what is typed into other programs.
NOT_TRANSLATED = {
    "59 min ago", "Fusion", "Pasted image.png", "a folder/of another",
    "a name of a usual length.pdf", "ollama pull llama3.2", "type:pdf after:2024",
}  # fmt: skip
# Doubled braces are text: the placeholders of prompts.
_PLACE = re.compile(r"(?<!\{)\{[^{}]*\}(?!\})")
# Failures are shown by `failure_in_words` and its neighbours, which translate them.
_RAW_FAILURE = re.compile(r"(?:\{|setText\()(?:error|exc|failed|fault)\.(?:title|hint)\b")
_TO_STANDARD_ERROR = "ui/foundation/wording.py"


@pytest.fixture(scope="module")
def texts_told() -> list[str]:
    """What the rooms outside the window tell, as the code has it now."""
    return told_texts()


@pytest.mark.slow
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
        'note = f"{forms} All are read again; until then the old ones are used, as http://a says."',
        'label.setText(f"{count:,} ×")',
        'result = counts or "nothing that needs attention"',
        'words = " and ".join(counts)',
        'button = TextButton(grouping.value, kind="chip")',
        'menu.addAction("Delete", self._on_delete)',
    ],
)
def test_a_text_outside_is_noticed(tmp_path: Path, line: str) -> None:
    (planted := tmp_path / "planted.py").write_text(line, encoding="utf-8")
    assert untranslated(planted)


@pytest.mark.needs_wings
def test_the_list_of_told_texts_is_that_of_the_code(texts_told: list[str]) -> None:
    assert json.loads(LIST.read_text(encoding="utf-8")) == texts_told, "run make words"


def test_failures_are_shown_in_the_language() -> None:
    raw = {
        name: found
        for path in (PACKAGE / "ui").rglob("*.py")
        if (name := path.relative_to(PACKAGE).as_posix()) != _TO_STANDARD_ERROR
        and (found := _RAW_FAILURE.findall(path.read_text(encoding="utf-8")))
    }
    assert raw == {}


@pytest.mark.slow
@pytest.mark.parametrize("file", OFFERED, ids=lambda path: path.stem)
def test_a_told_text_is_known_again_when_it_is_filled(file: Path, texts_told: list[str]) -> None:
    translated = translations(file)

    def filled(text: str) -> str:
        number = re.sub(r"(?<!\{)\{\w+:[^{}]+\}(?!\})", "12", text)
        named = re.sub(r"(?<!\{)\{(\w)\w*\}(?!\})", r"Q\1q", number)
        return named.replace("{{", "{").replace("}}", "}")

    choose_language(WORDS, file.stem)
    try:
        other = {t: told(filled(t)) for t in texts_told if told(filled(t)) != filled(translated[t])}
    finally:
        use_language(None)
    assert other == {}


@pytest.mark.needs_wings
@pytest.mark.slow
@pytest.mark.parametrize("file", OFFERED, ids=lambda path: path.stem)
def test_a_language_has_every_text_with_its_places(file: Path, texts_told: list[str]) -> None:
    given = (given_to_tr(path) for path in PACKAGE.rglob("*.py"))
    texts = set(texts_told).union(table_texts(), *given)
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
