"""A person asks for formulas: they are drawn while the answer is written, and none is doubted."""

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.ui.messages.segment_view import SegmentView
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

DRAWN = "\ufffc"
ANSWER = (
    "The light of the lamp reaches $d = \\sqrt{2 r h}$ miles and costs $5 or $6 a night.\n\n"
    "\\[\nd = \\frac{a}{b}\n+ \\sum_{i=1}^n x_i\n\\]\n\nThe lamp is lit at dusk [1]."
)


@pytest.fixture
def server(home: Home) -> ChatServer:
    return ChatServer(ANSWER)


def test_formulas_are_drawn_while_the_answer_is_written(
    home: Home, server: ChatServer, request: pytest.FixtureRequest, qtbot: QtBot
) -> None:
    with server:
        server.pause_s = 0.01
        home.create()
        endpoint = EndpointSettings(base_url=server.base_url, model="test-model")
        save_settings(home.settings, Settings(endpoint=endpoint))
        person: Person = request.getfixturevalue("person")
        person.drops(request.getfixturevalue("papers"))
        person.sees("2 searchable")
        person.presses("Ctrl+1")
        seen: list[str] = []

        def is_complete() -> bool:
            seen.append(answer_on(person))
            return "lit at dusk" in seen[-1]

        person.asks("How far does the light of the lamp reach?")
        person.waits_until(is_complete)
        assert f"reaches {DRAWN} miles and costs $5 or $6 a night" in seen[-1]
        assert not [text for text in seen if "\\" in text or "frac" in text or "sqrt" in text]
        person.sees("test-model")
        person.waits_until(lambda: "checking" not in person.screen())
        person.clicks("Copy answer")
        assert "\\frac{a}{b}" in QGuiApplication.clipboard().text()
        assert "not in sources" not in behind_formula(person)


def answer_on(person: Person) -> str:
    views = person.window.findChildren(SegmentView)
    return "\n".join(view.toPlainText() for view in views if view.isVisible())


def behind_formula(person: Person) -> str:
    """What stands behind the formula on lines of its own, up to the next sentence."""
    return answer_on(person).rpartition(DRAWN)[2].partition("The lamp")[0]
