"""A setting is declared once, with its words: form, terminal and search have it from there."""

from dataclasses import dataclass, field, make_dataclass

import pytest
from PySide6.QtWidgets import QCheckBox, QSpinBox
from pytestqt.qtbot import QtBot

from desktop_rag import settings_changes
from desktop_rag.core.language.translation import use_language
from desktop_rag.core.setting_text import TEXT, SettingText, marked, setting
from desktop_rag.core.settings import SETTING_TEXTS, Settings
from desktop_rag.ui.settings.settings_parts import Setting, settings_in
from desktop_rag.ui.widgets.value_form import ValueForm


@dataclass(frozen=True, slots=True)
class LampSettings:
    """One number and one switch, as they would be added."""

    hours: int = setting(
        6, marked("Hours of light"), words=marked("night, dark"), empty=marked("None"), most=24
    )
    is_lit: bool = setting(default=True, name=marked("Light the lamp"), label=marked("Lamp"))


@pytest.fixture
def form(qtbot: QtBot) -> ValueForm:
    made = ValueForm("Lamp", LampSettings())
    qtbot.addWidget(made)
    made.add("hours", "is_lit")
    made.show_value(LampSettings())
    return made


def test_the_form_shows_and_changes_them(form: ValueForm, qtbot: QtBot) -> None:
    [hours], [lamp] = form.findChildren(QSpinBox), form.findChildren(QCheckBox)
    assert (hours.value(), hours.maximum(), hours.accessibleName()) == (6, 24, "Hours of light")
    assert (lamp.isChecked(), lamp.text()) == (True, "Light the lamp")
    with qtbot.waitSignal(form.changed) as changed:
        lamp.click()
    assert changed.args == [LampSettings(is_lit=False)]
    form.show_value(LampSettings(hours=0))
    assert hours.text() == "None"


def test_the_search_finds_them(form: ValueForm) -> None:
    assert settings_in(form) == (
        Setting("Hours of light", "Hours of light night, dark", "Lamp"),
        Setting("Light the lamp", "Lamp Light the lamp", "Lamp"),
    )


def test_they_are_shown_in_the_language(qtbot: QtBot, request: pytest.FixtureRequest) -> None:
    german = {"Light the lamp": "Die Lampe anzünden", "Lamp": "Lampe"}
    request.addfinalizer(lambda: use_language(None))
    use_language(lambda text: german.get(text, ""))
    form = ValueForm("Lampe", LampSettings())
    qtbot.addWidget(form)
    form.add("is_lit")
    assert form.findChildren(QCheckBox)[0].text() == "Die Lampe anzünden"


def test_the_terminal_lists_and_changes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {f"lamp.{name}": LampSettings.__dataclass_fields__[name].metadata[TEXT]
             for name in ("hours", "is_lit")}  # fmt: skip
    monkeypatch.setattr(settings_changes, "SETTING_TEXTS", texts)
    lamp = ("lamp", LampSettings, field(default=LampSettings()))
    more = make_dataclass("More", [lamp], bases=(Settings,), frozen=True)()
    assert [row["key"] for row in settings_changes.settings_listed(more, "dark")] == ["lamp.hours"]
    changed = settings_changes.with_setting(more, "lamp.is_lit", "off")
    changed = settings_changes.with_setting(changed, "lamp.hours", 8)
    assert changed.lamp == LampSettings(8, False)  # pyright: ignore[reportAttributeAccessIssue]


def test_the_choices_are_those_of_the_kind() -> None:
    for key, text in SETTING_TEXTS.items():
        section, _, name = key.partition(".")
        if text.choices:
            kind = type(getattr(getattr(Settings(), section), name))
            assert set(text.choices) == set(kind.__members__.values()), key
        assert isinstance(text, SettingText)
