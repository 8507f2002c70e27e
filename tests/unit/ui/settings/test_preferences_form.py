"""Preferences for answers: chosen, typed and reset."""

import pytest
from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from desktop_rag.core.settings import AnswerLength, PreferenceSettings
from desktop_rag.ui.settings.preferences_form import PreferencesForm
from desktop_rag.ui.widgets.form_fields import WheelGuard
from tests.unit.ui.rooms import button, field


@pytest.fixture
def form(theme: object, qtbot: QtBot) -> PreferencesForm:
    form = PreferencesForm(WheelGuard())
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
        form.show_preferences(PreferenceSettings("<b>Latin", AnswerLength.BRIEF, "like a pirate"))
    assert line(form, "Language of answers").text() == "<b>Latin"
    assert line(form, "Tone of answers").text() == "like a pirate"
    assert button(form, "Length of answers: Brief").isChecked()
    form.show_preferences(PreferenceSettings())
    assert line(form, "Language of answers").text() == "Same as the question"
