"""Eight pages of settings; whatever can be set is found by its name and by what people call it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QListView

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.settings import SETTING_TEXTS
from desktop_rag.ui.settings.settings_parts import Found, Part, search, settings_in
from tests.stories.conftest import Person

PAGES = [
    "Models", "Answers", "Documents", "App", "Privacy", "Assistants", "Data and health",
    "Advanced",
]  # fmt: skip
# The pages that there were before.
FORMER = (
    "Models", "Answers", "Search", "Rails", "Commands", "My questions", "Indexing",
    "Transcription", "Shared library", "Desktop", "Appearance", "Other programs", "Health",
    "Privacy", "Backup", "Activity", "About",
)  # fmt: skip
# Not set in the settings, or only in their file.
_ELSEWHERE = {
    "index.long_pictures",
    "retrieval.lexical_weight",
    "server.login_client",
    "server.login_issuer",
    "server.login_secret_file",
    "server.origins",
    "server.public_address",
    "transcription.timeout_s",
}


@pytest.fixture
def person(one_window: Person) -> Person:
    """A person in front of the settings."""
    one_window.begins_a_chat()
    one_window.presses("Ctrl+4")
    return one_window


def looks_for(person: Person, words: str) -> list[str]:
    """The names of what is found."""
    person.presses("Ctrl+F")
    person.clears("Search the settings")
    person.types("Search the settings", words)
    return [cells[0] for cells in person.rows("Settings found")]


def opens_first(person: Person, words: str) -> str:
    """Look for words and press Enter; what the field that then has the focus is called."""
    assert looks_for(person, words)
    QTest.keyClick(person.field("Search the settings"), Qt.Key.Key_Return)
    focused = QApplication.focusWidget()
    assert focused is not None
    assert not focused.visibleRegion().isEmpty()
    text = focused.text() if isinstance(focused, QAbstractButton) else ""
    return focused.accessibleName() or text


def parts(person: Person) -> list[Part]:
    return person.window.settings_page.parts


def found(person: Person, words: str) -> list[Found]:
    return search(person.window.settings_page.every, words)


@pytest.mark.timeout(120)
def test_eight_pages_have_all_parts(person: Person) -> None:
    assert [cells[0] for cells in person.rows("Settings")] == PAGES
    for name in PAGES:
        person.opens_settings(name)
        person.sees(name)
    for part in parts(person):
        if part.name != part.page:
            person.opens_settings(part.name)
        shown = person.window.settings_page.show_part(part)
        assert shown.isVisible()
        declared = {setting.name for setting in part.settings}
        built = {setting.name for setting in settings_in(shown)}
        assert built <= declared, f"the search does not know all of {part.name}"


def test_assistants_have_a_page_once_there_is_one(person: Person) -> None:
    names, row = person.view("Settings"), PAGES.index("Assistants")
    assert isinstance(names, QListView)
    person.waits_until(lambda: names.isRowHidden(row))
    assistants = person.app.services.chat.assistants
    keeper = assistants.add(Assistant("", "Keeper"))
    person.presses("Ctrl+1")
    person.presses("Ctrl+4")
    person.waits_until(lambda: not names.isRowHidden(row))
    assistants.delete(keeper.assistant_id)


def test_every_setting_is_found_by_its_name(person: Person) -> None:
    for key, text in SETTING_TEXTS.items():
        if key not in _ELSEWHERE:
            name = text.name
            names = [each.folded_words for each in found(person, name)]
            assert any(name.casefold() in words for words in names), key


def test_every_setting_is_found_by_each_of_its_plain_words(person: Person) -> None:
    for part in parts(person):
        for setting in part.settings:
            assert setting.words, f"{part.name}: {setting.name}"
            for words in (setting.name, *setting.words.split(", ")):
                assert Found(part, setting) in found(person, words), f"{setting.name}: {words}"
        for words in filter(None, part.words.split(", ")):
            assert Found(part) in found(person, words), f"{part.name}: {words}"


def test_the_former_pages_are_found(person: Person) -> None:
    for name in FORMER:
        assert any(name.casefold() in each.folded_words for each in found(person, name)), name


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("dark mode", "Theme: Same as system"),
        ("stop indexing on battery", "Pause indexing on battery power"),
        ("bigger letters", "Text size"),
        ("autostart", "Start at login, in the background"),
        ("cores", "Processor threads"),
        ("HALLUCINATION", "Check each sentence against the sources"),
        ("speech language", "Spoken language"),
        ("api switch", "Let other programs ask"),
        ("big files", "Maximum file size"),
        ("test everything", "Check now"),
        ("guardrails rules", "New rails…"),
    ],
)
def test_plain_words_lead_to_the_field(person: Person, words: str, name: str) -> None:
    assert opens_first(person, words) == name


PLAIN = {
    "shorter": "Length",
    "longer": "Length",
    "friendly": "Tone",
    "answer in german": "Language",
    "language": "Language",
    "dark": "Theme",
    "font bigger": "Text size",
    "battery": "Pause indexing on battery power",
    "scans": "Read text in scanned pages and images",
    "ocr": "Read text in scanned pages and images",
    "large files": "Maximum file size",
    "exclude": "Leave out files",
    "ignore folder": "Leave out files",
    "remember": "Store new chats",
    "history": "Store new chats",
    "chats": "Store new chats",
    "incognito": "Store new chats",
    "private": "Store new chats",
    "forget what it learned": "Delete all…",
    "sent": "Privacy",
    "internet": "Privacy",
    "telemetry": "Privacy",
    "tracking": "Record what the app does",
    "event log": "Record what the app does",
    "backup": "Backup",
    "another computer": "Everything",
    "restore": "Last snapshot",
    "autostart": "Start at login, in the background",
    "notifications": "Show notifications",
    "shortcut": "Quick ask",
    "close the window": "Closing the window",
    "ollama": "On this computer",
    "chatgpt": "Model",
    "password": "API key",
    "download a model": "In this app",
    "costs": "Daily budget",
    "slow": "Timeout",
    "wrong answers": "Check each sentence against the sources",
    "check": "Check each sentence against the sources",
    "follow-up": "Suggest follow-up questions",
    "recordings": "Transcription",
    "version": "Version",
    "where is my data": "Data folder",
    "cpu": "Processor threads",
    "templates": "Prompts",
}


def test_what_a_newcomer_types_leads_to_the_setting(person: Person) -> None:
    shown = {words: [each.name for each in found(person, words)[:4]] for words in PLAIN}
    assert len(PLAIN) >= 40
    assert {w: names for w, names in shown.items() if PLAIN[w] not in names} == {}


def test_whole_sentences_lead_on(person: Person) -> None:
    assert "Everything" in looks_for(person, "get my chats onto another computer")
    assert "Activity" in looks_for(person, "what was sent to the model?")
    person.clears("Search the settings")
    person.types("Search the settings", "xyzzy")
    person.sees("No setting has these words.")
    QTest.keyClick(person.field("Search the settings"), Qt.Key.Key_Escape)
    person.sees_no_longer("No setting has these words.")


def test_a_limit_that_is_folded_away_is_unfolded(person: Person) -> None:
    assert opens_first(person, "daily budget cap") == "Daily budget"
