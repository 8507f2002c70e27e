"""The settings page: changes are applied at once and can be undone."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLineEdit,
    QListWidget,
    QRadioButton,
    QScrollArea,
    QSlider,
    QSpinBox,
)
from pytestqt.qtbot import QtBot

from desktop_rag.core.paths import Home
from desktop_rag.core.settings import (
    AnswerSettings,
    AppearanceSettings,
    ColourScheme,
    EndpointSettings,
    HelperSettings,
    LaterSources,
    ModelCheck,
    Room,
    Settings,
)
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.settings.settings_page import SettingsPage
from tests.keyrings import MemoryKeyring
from tests.unit.ui.rooms import button, field, make_chat, opened_store, texts

FEW = "Read few files in full when passages don't answer"


class Applied(list[Settings]):
    """Records the applied settings."""


@pytest.fixture
def applied() -> Applied:
    return Applied()


@pytest.fixture
def settings(applied: Applied, qtbot: QtBot) -> EditedSettings:
    settings = EditedSettings(Settings())
    settings.edited.connect(applied.append)
    return settings


@pytest.fixture
def page(
    theme: Theme, bridge: Bridge, settings: EditedSettings, tmp_path: Path, qtbot: QtBot
) -> Iterator[SettingsPage]:
    with opened_store(tmp_path / "home") as database:
        chat = make_chat(database, MemoryKeyring())
        page = SettingsPage(bridge, chat, settings, Home(tmp_path / "home"))
        qtbot.addWidget(page)
        page.resize(700, 600)
        page.show()
        qtbot.waitActive(page)
        yield page


@pytest.mark.slow
def test_the_theme_changes_at_once_and_back(page: SettingsPage, applied: Applied) -> None:
    assert not button(page, "Undo").isVisible()
    button(page, "Theme: Dark").click()
    assert [settings.appearance.scheme for settings in applied] == ["dark"]
    button(page, "Undo").click()
    assert applied[-1] == Settings()
    assert button(page, "Theme: Same as system").isChecked()
    assert not button(page, "Undo").isVisible()


@pytest.mark.slow
def test_what_is_undone_is_named_and_only_while_it_is_in_view(
    page: SettingsPage, applied: Applied
) -> None:
    page.show_page(0)
    button(page, "Theme: Dark").click()
    assert "Saved. Theme: Same as system → Dark" in texts(page)
    assert "Undo: Theme: Dark → Same as system" in button(page, "Undo").toolTip()
    page.show_page(1)
    assert not button(page, "Undo").isVisible()
    button(page, FEW).click()
    assert button(page, "Undo").isVisible()
    page.hide()
    page.show()
    assert not button(page, "Undo").isVisible()
    button(page, "Suggest follow-up questions").click()
    page.findChild(QTimer).timeout.emit()  # pyright: ignore[reportOptionalMemberAccess]
    assert not button(page, "Undo").isVisible(), "after a while it is gone"
    assert applied[-1].appearance.scheme is ColourScheme.DARK


@pytest.mark.slow
def test_undo_leaves_alone_what_was_changed_elsewhere(
    page: SettingsPage, settings: EditedSettings
) -> None:
    amber = EndpointSettings("http://localhost:1/v1", "amber")
    birch = EndpointSettings("http://localhost:2/v1")
    settings.show(Settings(endpoint=amber, other_endpoints=(birch,)))
    button(page, FEW).click()
    named = settings.value.with_endpoint(birch.base_url, replace(birch, model="birch"))
    settings.change(named)
    settings.use_model(birch.base_url, "birch")
    button(page, "Undo").click()
    assert settings.value.answers.asks_few_files
    assert settings.value.endpoint == replace(birch, model="birch")
    assert settings.value.other_endpoints == (amber,)
    assert not button(page, "Undo").isVisible(), "the model was chosen elsewhere"


@pytest.mark.slow
def test_undo_changes_no_endpoint_that_is_not_shown(
    page: SettingsPage, settings: EditedSettings, qtbot: QtBot
) -> None:
    amber = EndpointSettings("http://localhost:1/v1", "amber")
    birch = EndpointSettings("http://localhost:2/v1", "birch")
    settings.show(Settings(endpoint=amber, other_endpoints=(birch,)))
    shown = field(page, QComboBox, "Endpoint")
    shown.setCurrentIndex(shown.findData(birch.base_url))
    shown.activated.emit(shown.currentIndex())
    name = field(page, QLineEdit, "Name")
    qtbot.keyClicks(name, "Oak")
    qtbot.keyClick(name, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "Saved. Name: nothing → Oak (Oak)" in texts(page))
    button(page, "Use for answers").click()
    assert any(
        text.startswith("Saved. Endpoint for answers: localhost:1 →") for text in texts(page)
    )
    button(page, "Undo").click()
    assert settings.value.endpoint == amber
    assert not button(page, "Undo").isVisible(), "the next one would change what is not in view"
    assert settings.value.other_endpoints == (replace(birch, name="Oak"),)


@pytest.mark.slow
def test_the_sources_of_follow_up_questions_are_chosen(
    page: SettingsPage, applied: Applied
) -> None:
    assert button(page, "Follow-up questions: Search again").isChecked()
    button(page, "Follow-up questions: Both").click()
    assert [s.retrieval.later_sources for s in applied] == [LaterSources.BOTH]
    button(page, "Undo").click()
    assert applied[-1] == Settings()
    assert button(page, "Follow-up questions: Search again").isChecked()


@pytest.mark.everyday
def test_options_for_answers_are_chosen(page: SettingsPage, applied: Applied) -> None:
    checks = button(page, "Check each sentence against the sources")
    by_model = button(page, "Also check with the model: Always")
    by_model.click()
    button(page, FEW).click()
    button(page, "Suggest follow-up questions").click()
    wished = AnswerSettings(
        model_check=ModelCheck.ALWAYS, asks_few_files=False, suggests_questions=False
    )
    assert applied[-1].answers == wished
    checks.click()
    assert not by_model.isEnabled(), "there is nothing to compare"
    button(page, "Undo").click()
    assert applied[-1].answers == wished
    assert by_model.isEnabled()
    assert by_model.isChecked()


@pytest.mark.slow
def test_the_embedding_model_is_a_folder_or_an_address(
    page: SettingsPage, applied: Applied, qtbot: QtBot
) -> None:
    line = field(page, QLineEdit, "Embedding model")
    qtbot.keyClicks(line, "http://localhost:11434/v1#tiny")
    assert applied == []
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert applied[-1].index.model_folder == "http://localhost:11434/v1#tiny"
    button(page, "Undo").click()
    assert applied[-1].index.model_folder == line.text() == ""


@pytest.mark.slow
def test_fine_grained_search_is_a_switch_with_its_cost(
    page: SettingsPage, applied: Applied
) -> None:
    switch = button(page, "Also search parts of long passages")
    assert switch.isChecked()
    page.reveal("Indexing")
    assert any("twice as long" in text and "disk space" in text for text in texts(page))
    switch.click()
    assert [settings.index.makes_windows for settings in applied] == [False]
    button(page, "Undo").click()
    assert applied[-1].index.makes_windows
    assert switch.isChecked()


@pytest.mark.everyday
def test_numbers_are_set(page: SettingsPage, applied: Applied) -> None:
    field(page, QRadioButton, "What a model reads: Thorough").click()
    field(page, QSpinBox, "Maximum file size").stepDown()
    field(page, QSpinBox, "Processor threads").stepUp()
    now = applied[-1]
    assert now.retrieval.room is Room.THOROUGH
    assert (now.index.max_file_mb, now.index.embedding_threads) == (150, 1)
    assert len(applied) == 3


@pytest.mark.slow
def test_the_endpoint_is_part_of_the_settings(
    page: SettingsPage, applied: Applied, qtbot: QtBot
) -> None:
    address = field(page, QLineEdit, "Address")
    qtbot.keyClicks(address, "localhost:8080/v1")
    qtbot.keyClick(address, Qt.Key.Key_Return)
    entered = "http://localhost:8080/v1"
    qtbot.waitUntil(lambda: bool(applied) and applied[-1].endpoint.base_url == entered)
    button(page, "Undo").click()
    assert address.text() == ""


@pytest.mark.slow
def test_adding_an_endpoint_leads_to_its_address_and_moves_nothing(
    page: SettingsPage, settings: EditedSettings, qtbot: QtBot
) -> None:
    settings.show(Settings(endpoint=EndpointSettings("http://localhost:1/v1", "amber")))
    page.resize(900, 900)
    address = field(page, QLineEdit, "Address")
    QApplication.processEvents()
    before = address.mapTo(page, QPoint())
    add = button(page, "Add endpoint")
    add.setFocus()
    qtbot.mouseClick(add, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert page.window().focusWidget() is address
    assert address.mapTo(page, QPoint()) == before


@pytest.mark.slow
def test_settings_changed_elsewhere_are_shown_and_not_applied(
    page: SettingsPage, settings: EditedSettings, applied: Applied
) -> None:
    light = replace(Settings(), appearance=AppearanceSettings(ColourScheme.LIGHT))
    settings.show(light)
    assert button(page, "Theme: Light").isChecked()
    assert settings.value == light
    assert applied == []


@pytest.mark.slow
@pytest.mark.parametrize("has_focus", [True, False])
def test_the_wheel_changes_only_the_focused_field(
    page: SettingsPage, applied: Applied, has_focus: bool
) -> None:
    number = field(page, QSpinBox, "Maximum file size")
    (number if has_focus else button(page, "Theme: Dark")).setFocus()
    place, down = QPointF(5, 5), QPoint(0, -120)
    buttons, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    phase = Qt.ScrollPhase.NoScrollPhase
    at = number.mapToGlobal(place)
    turn = QWheelEvent(place, at, QPoint(), down, buttons, keys, phase, False)
    QApplication.sendEvent(number, turn)
    assert (number.value() == 150) is has_focus
    assert bool(applied) is has_focus
    # Not accepted, so that the page scrolls instead.
    assert turn.isAccepted() is has_focus


@pytest.mark.slow
def test_about_shows_version_licence_and_folder(
    page: SettingsPage, tmp_path: Path, qtbot: QtBot
) -> None:
    page.reveal("About")
    assert "Apache License 2.0" in texts(page)
    assert str(tmp_path / "home") in texts(page)
    qtbot.waitUntil(lambda: any(text.startswith(("0.", "not installed")) for text in texts(page)))


@pytest.mark.slow
def test_every_button_and_field_has_a_name(page: SettingsPage) -> None:
    ours = [b for b in page.findChildren(QAbstractButton) if type(b).__module__.startswith("desk")]
    assert all(b.text() or b.accessibleName() for b in ours)
    fields = [*page.findChildren(QSpinBox), *page.findChildren(QSlider)]
    assert all(f.accessibleName() for f in fields)


@pytest.mark.slow
def test_everything_fits_into_the_smallest_window(
    page: SettingsPage, settings: EditedSettings
) -> None:
    everything = Settings(
        endpoint=EndpointSettings("http://localhost:1/v1", "m", requests_per_minute=1),
        other_endpoints=(EndpointSettings("http://localhost:2/v1", "m"),),
        helper=HelperSettings("http://localhost:2/v1", "m"),
    )
    settings.show(everything)
    # The width left by navigation and scroll bar in a window 680 pixels wide.
    page.resize(594, 600)
    bodies = [area.widget() for area in page.findChildren(QScrollArea)]
    assert all(body and body.minimumSizeHint().width() <= 594 for body in bodies)


@pytest.mark.slow
def test_a_narrow_window_lists_the_pages_above(page: SettingsPage, qtbot: QtBot) -> None:
    names = field(page, QListWidget, "Settings")
    assert not names.isVisible()
    page.resize(1000, 600)
    assert names.isVisible()
    names.setCurrentRow(names.count() - 2)
    assert "Apache License 2.0" in texts(page)
    page.resize(700, 600)
    choice = field(page, QComboBox, "Settings")
    assert (choice.isVisible(), choice.currentText()) == (True, "Data and health")
    assert not names.isVisible()
