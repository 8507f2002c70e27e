"""Preferences for answers: chosen, typed and reset."""

import pytest
from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from desktop_rag.core.settings import AnswerLength, IndexSettings, PreferenceSettings
from desktop_rag.ui.settings import settings_page
from desktop_rag.ui.settings.settings_page import IndexingForm, PreferencesForm
from tests.unit.ui.rooms import button, field


@pytest.fixture
def form(theme: object, qtbot: QtBot) -> PreferencesForm:
    form = PreferencesForm()
    qtbot.addWidget(form)
    form.show()
    return form


def line(form: PreferencesForm, name: str) -> QLineEdit:
    found = field(form, QComboBox, name).lineEdit()
    assert found is not None
    return found


def test_a_language_is_typed_and_reset(form: PreferencesForm, qtbot: QtBot) -> None:
    told: list[PreferenceSettings] = []
    form.changed.connect(told.append)
    for words in ("  Old   Norse ", "Old Norse", "Same as the question"):
        line(form, "Language of answers").setText(words)
        line(form, "Language of answers").editingFinished.emit()
    assert told == [PreferenceSettings(language="Old Norse"), PreferenceSettings()]


def test_a_listed_value_is_chosen(form: PreferencesForm, qtbot: QtBot) -> None:
    box = field(form, QComboBox, "Tone of answers")
    with qtbot.waitSignal(form.changed) as told:
        box.setCurrentIndex(2)
        box.activated.emit(2)
    assert told.args == [PreferenceSettings(tone="formal")]


def test_the_length_is_chosen(form: PreferencesForm, qtbot: QtBot) -> None:
    with qtbot.waitSignal(form.changed) as told:
        button(form, "Length of answers: Detailed").click()
    assert told.args == [PreferenceSettings(length=AnswerLength.DETAILED)]


def test_shown_settings_emit_nothing(form: PreferencesForm, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(form.changed):
        form.show_value(PreferenceSettings("<b>Latin", AnswerLength.BRIEF, "like a pirate"))
    assert line(form, "Language of answers").text() == "<b>Latin"
    assert line(form, "Tone of answers").text() == "like a pirate"
    assert button(form, "Length of answers: Brief").isChecked()
    form.show_value(PreferenceSettings())
    assert line(form, "Language of answers").text() == "Same as the question"


@pytest.mark.parametrize("is_installed", [False, True])
def test_text_recognition_is_ticked_only_where_it_is_installed(
    theme: object, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, *, is_installed: bool
) -> None:
    monkeypatch.setattr(settings_page, "is_ocr_installed", lambda: is_installed)
    form = IndexingForm()
    qtbot.addWidget(form)
    form.show_value(IndexSettings(reads_pictures=True))
    reads = button(form, "Read text in scanned pages and images")
    assert reads.isChecked() is reads.isEnabled() is is_installed
    told: list[IndexSettings] = []
    form.changed.connect(told.append)
    button(form, "Pause indexing on battery power").click()
    assert told[0].reads_pictures, "what is not asked stays as it was"
