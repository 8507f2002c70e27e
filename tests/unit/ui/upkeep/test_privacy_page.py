"""The privacy page: the connections as they are now, with a way to where each is switched."""

from collections.abc import Sequence

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.models.connection_states import KINDS, Connection, Facts, Place, connections
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.upkeep.privacy_page import PrivacyPage
from desktop_rag.ui.widgets.controls import PlainLabel
from tests.unit.ui.rooms import button, texts

REMOTE = EndpointSettings("https://api.example.org/v1", "large")


class Present:
    """The settings as they are when the page asks."""

    def __init__(self) -> None:
        self.settings = Settings()

    def __call__(self) -> Sequence[Connection]:
        return connections(Facts(self.settings))


@pytest.fixture
def present() -> Present:
    return Present()


@pytest.fixture
def page(theme: Theme, bridge: Bridge, present: Present, qtbot: QtBot) -> PrivacyPage:
    page = PrivacyPage(bridge, present)
    qtbot.addWidget(page)
    page.resize(800, 600)
    page.show()
    qtbot.waitUntil(lambda: any("nothing leaves" in text for text in texts(page)))
    return page


@pytest.mark.everyday
def test_every_kind_is_listed_and_a_new_installation_is_quiet(page: PrivacyPage) -> None:
    assert [kind.name for kind in KINDS if kind.name in texts(page)] == []
    button(page, "Show every connection").click()
    shown = texts(page)
    assert [kind.name for kind in KINDS if kind.name not in shown] == []
    assert "As set now, nothing leaves this computer unless you ask for it." in shown
    assert shown.count("Never") == 3


@pytest.mark.slow
def test_the_page_follows_the_settings_when_it_is_shown_again(
    page: PrivacyPage, present: Present, qtbot: QtBot
) -> None:
    page.hide()
    present.settings = Settings(endpoint=REMOTE)
    page.show()
    summary = "As set now, these go to other computers: "
    qtbot.waitUntil(lambda: any(text.startswith(summary + "Answers") for text in texts(page)))
    qtbot.waitUntil(lambda: REMOTE.base_url in texts(page))
    assert "Leaves this computer" in texts(page)


@pytest.mark.slow
def test_each_kind_leads_to_the_place_where_it_is_switched(page: PrivacyPage, qtbot: QtBot) -> None:
    asked: list[Place] = []
    button(page, "Show every connection").click()
    page.place_requested.connect(asked.append)
    for kind in KINDS:
        if kind.place is not Place.NOWHERE:
            button(page, f"Change {kind.name}").click()
    assert asked == [kind.place for kind in KINDS if kind.place is not Place.NOWHERE]


@pytest.mark.everyday
def test_the_name_of_a_kind_tells_its_state_to_a_screen_reader(page: PrivacyPage) -> None:
    named = {label.accessibleName() for label in page.findChildren(PlainLabel)}
    assert "Answers: Off" in named
    assert "Usage reports: Never" in named
