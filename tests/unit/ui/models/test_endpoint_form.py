"""The endpoint section: addresses, the test against a real server, models and keys."""

from threading import Event

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLineEdit, QMessageBox, QSpinBox
from pytestqt.qtbot import QtBot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.errors import TooLongError
from desktop_rag.core.model_profile import ExaminationChanged
from desktop_rag.core.question import EVERYTHING, Setup
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.models.ports import ChatTurn
from desktop_rag.ui.endpoints.endpoint_form import EndpointForm, privacy_note
from desktop_rag.ui.foundation.bridge import Bridge
from tests.servers.chat_server import ChatServer
from tests.servers.model_dialects import Dialect
from tests.unit.ui.rooms import button, deliver, field, texts

CANARY = "sk-canary-81c2f0"


def address(form: EndpointForm) -> QLineEdit:
    return field(form, QLineEdit, "Address")


def model_box(form: EndpointForm) -> QComboBox:
    return field(form, QComboBox, "Model")


def enter(qtbot: QtBot, edit: QLineEdit, text: str) -> None:
    edit.clear()
    qtbot.keyClicks(edit, text)
    qtbot.keyClick(edit, Qt.Key.Key_Return)


def models(form: EndpointForm) -> list[str]:
    return [model_box(form).itemText(n) for n in range(model_box(form).count())]


@pytest.mark.everyday
def test_says_that_answers_are_excerpts_without_an_endpoint(form: EndpointForm) -> None:
    assert any("answers are excerpts" in text for text in texts(form))
    assert any("only the prompt is sent" in text for text in texts(form))


@pytest.mark.slow
def test_an_address_is_normalised(form: EndpointForm, qtbot: QtBot) -> None:
    with qtbot.waitSignal(form.changed) as told:
        enter(qtbot, address(form), "Localhost:1234/v1/chat/completions")
    assert told.args == [EndpointSettings(base_url="http://localhost:1234/v1")]
    assert address(form).text() == "http://localhost:1234/v1"


@pytest.mark.slow
@pytest.mark.parametrize("typed", ["ftp://here/v1", "http://bad host", "http://me:secret@host/v1"])
def test_an_invalid_address_is_shown_in_place_and_not_applied(
    form: EndpointForm, qtbot: QtBot, typed: str
) -> None:
    told: list[EndpointSettings] = []
    form.changed.connect(told.append)
    enter(qtbot, address(form), typed)
    qtbot.waitUntil(
        lambda: any(
            ("address" in text and "Settings" in text) or "Check it" in text for text in texts(form)
        )
    )
    assert told == []
    assert address(form).property("state") == "wrong"
    button(form, "Test").click()
    assert button(form, "Test").isEnabled()
    enter(qtbot, address(form), "")
    assert address(form).property("state") == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base_url", "words"),
    [
        ("http://127.0.0.1:8080/v1", "Nothing leaves it"),
        ("https://api.example.com/v1", "are sent to api.example.com."),
        ("http://192.168.1.7:1234/v1", "are sent to 192.168.1.7:1234 without encryption."),
    ],
)
def test_privacy_note(base_url: str, words: str) -> None:
    assert words in privacy_note(base_url)


@pytest.mark.slow
def test_a_test_lists_the_models_and_selects_a_single_one(
    form: EndpointForm, server: ChatServer, qtbot: QtBot
) -> None:
    enter(qtbot, address(form), server.base_url)
    with qtbot.waitSignal(form.changed) as told:
        button(form, "Test").click()
        assert not button(form, "Testing…").isEnabled()
    assert told.args == [EndpointSettings(base_url=server.base_url, model="test-model")]
    assert models(form) == ["test-model"]
    qtbot.waitUntil(lambda: any("answered after" in text for text in texts(form)))
    form.hide()
    form.show()
    assert not any("answered after" in text for text in texts(form)), "that was before"


@pytest.mark.slow
def test_a_test_keeps_the_chosen_model(
    form: EndpointForm, server: ChatServer, qtbot: QtBot
) -> None:
    server.models = ("a-model", "test-model")
    form.show_endpoint(EndpointSettings(base_url=server.base_url, model="test-model"))
    button(form, "Test").click()
    qtbot.waitUntil(lambda: models(form) == ["a-model", "test-model"])
    assert model_box(form).currentText() == "test-model"
    with qtbot.waitSignal(form.changed) as told:
        model_box(form).setCurrentIndex(0)
        model_box(form).activated.emit(0)
    assert told.args
    assert told.args[0].model == "a-model"


@pytest.mark.slow
def test_what_a_test_said_goes_once_a_model_is_chosen(
    form: EndpointForm, server: ChatServer, qtbot: QtBot
) -> None:
    server.models = ("a-model", "test-model")
    form.show_endpoint(EndpointSettings(base_url=server.base_url))
    button(form, "Test").click()
    qtbot.waitUntil(lambda: "The endpoint answers. Choose a model." in texts(form))
    model_box(form).setCurrentIndex(0)
    model_box(form).activated.emit(0)
    assert "The endpoint answers. Choose a model." not in texts(form)


@pytest.mark.slow
def test_a_failed_test_has_a_title_and_a_hint(
    form: EndpointForm, server: ChatServer, qtbot: QtBot
) -> None:
    server.mode = "status"
    server.status = 401
    form.show_endpoint(server.endpoint())
    button(form, "Test").click()
    qtbot.waitUntil(lambda: "The endpoint requires a key." in texts(form))
    assert any("Enter your key" in text for text in texts(form))
    assert button(form, "Test").isEnabled()


@pytest.mark.slow
def test_another_address_cancels_a_running_test(
    form: EndpointForm, server: ChatServer, qtbot: QtBot
) -> None:
    server.mode = "silence"
    form.show_endpoint(server.endpoint(timeout_s=1.0))
    button(form, "Test").click()
    enter(qtbot, address(form), "http://localhost:9/v1")
    assert button(form, "Test").isEnabled()
    assert models(form) == []


@pytest.mark.slow
def test_a_service_fills_in_its_address(form: EndpointForm, qtbot: QtBot) -> None:
    services = field(form, QComboBox, "Online service")
    assert not button(form, "Get a key…").isEnabled()
    with qtbot.waitSignal(form.changed) as told:
        _choose(services, "Groq")
    assert told.args == [EndpointSettings(base_url="https://api.groq.com/openai/v1")]
    assert field(form, QLineEdit, "API key").hasFocus()

    button(form, "Get a key…").click()
    box = form.findChildren(QMessageBox)[0]
    assert "https://console.groq.com/keys" in box.text()
    box.reject()

    enter(qtbot, address(form), "http://localhost:1/v1")
    assert services.currentIndex() == 0
    assert not button(form, "Get a key…").isEnabled()


@pytest.mark.slow
def test_an_address_with_a_blank_is_completed_first(form: EndpointForm, qtbot: QtBot) -> None:
    changed: list[EndpointSettings] = []
    form.changed.connect(changed.append)
    _choose(field(form, QComboBox, "Online service"), "Azure OpenAI")
    assert any("name of your deployment" in text for text in texts(form))
    assert changed == []
    assert address(form).selectedText() == "YOUR-RESOURCE"
    qtbot.keyClicks(address(form), "mine")
    qtbot.keyClick(address(form), Qt.Key.Key_Return)
    assert [e.base_url for e in changed] == ["https://mine.openai.azure.com/openai/v1"]


def _choose(box: QComboBox, name: str) -> None:
    box.setCurrentText(name)
    box.activated.emit(box.currentIndex())


@pytest.mark.slow
def test_numbers_are_applied_when_complete(form: EndpointForm, qtbot: QtBot) -> None:
    told: list[EndpointSettings] = []
    form.changed.connect(told.append)
    context = field(form, QSpinBox, "Context size")
    context.selectAll()
    qtbot.keyClicks(context, "32768")
    assert told == []
    qtbot.keyClick(context, Qt.Key.Key_Return)
    field(form, QSpinBox, "Timeout").stepUp()
    assert [(e.context_tokens, e.timeout_s) for e in told] == [(32768, 30.0), (32768, 35.0)]


@pytest.mark.slow
def test_a_typed_key_is_used_by_the_test_and_not_stored_in_settings(
    form: EndpointForm, server: ChatServer, chat: Chat, qtbot: QtBot
) -> None:
    server.wanted_key = CANARY
    told: list[EndpointSettings] = []
    form.changed.connect(told.append)
    form.show_endpoint(server.endpoint())
    key = field(form, QLineEdit, "API key")
    qtbot.keyClicks(key, CANARY)
    button(form, "Test").click()
    qtbot.waitUntil(lambda: any("answered after" in text for text in texts(form)))
    qtbot.keyClick(key, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "Saved in this computer's keyring." in texts(form))
    assert chat.models.has_key(server.base_url)
    assert CANARY not in repr(told) + " ".join(texts(form)) + key.text()


@pytest.mark.slow
def test_measuring_shows_its_result(
    form: EndpointForm, server: ChatServer, chat: Chat, qtbot: QtBot
) -> None:
    server.wanted_key = CANARY
    server.dialect = Dialect(context_tokens=5000, refuses_system="System role not supported")
    assert not button(form, "Measure").isEnabled()
    form.show_endpoint(server.endpoint())
    qtbot.keyClicks(field(form, QLineEdit, "API key"), CANARY)
    button(form, "Measure").click()
    assert any("Measuring" in text for text in texts(form))
    assert not button(form, "Measuring…").isEnabled()
    qtbot.waitUntil(lambda: any("Reads 5,000 tokens." in text for text in texts(form)))
    assert any("Takes no system message" in text for text in texts(form))
    assert button(form, "Measure again").isEnabled()
    form.show_endpoint(server.endpoint(model="another"))
    assert any("Not measured yet" in text for text in texts(form))
    form.show_endpoint(server.endpoint())
    qtbot.waitUntil(lambda: any("Reads 5,000 tokens." in text for text in texts(form)))


@pytest.mark.slow
def test_a_limit_learned_from_a_refusal_is_shown(
    form: EndpointForm, server: ChatServer, chat: Chat, qtbot: QtBot
) -> None:
    server.mode, server.status = "status", 400
    server.error = {"error": {"message": "maximum context length is 900 tokens"}}
    model = chat.models.main(Setup(Settings(endpoint=server.endpoint()), EVERYTHING))
    assert model
    with pytest.raises(TooLongError):
        list(model.stream([ChatTurn("user", "The lamp is lit at dusk. " * 200)], Event()))
    chat.models.close()
    form.show_endpoint(server.endpoint())
    qtbot.waitUntil(lambda: any("900 tokens are sent at most" in text for text in texts(form)))


@pytest.mark.everyday
def test_a_failed_measurement_shows_the_error(
    form: EndpointForm, server: ChatServer, qtbot: QtBot
) -> None:
    server.mode, server.status = "status", 401
    form.show_endpoint(server.endpoint())
    button(form, "Measure").click()
    qtbot.waitUntil(lambda: any("The endpoint requires a key." in text for text in texts(form)))
    assert button(form, "Measure").isEnabled()


@pytest.mark.slow
def test_a_measurement_in_the_background_is_shown(
    form: EndpointForm, bridge: Bridge, server: ChatServer, chat: Chat, qtbot: QtBot
) -> None:
    form.show_endpoint(server.endpoint())
    deliver(bridge, ExaminationChanged(server.base_url, "another", True))
    assert any("Not measured yet" in text for text in texts(form))
    deliver(bridge, ExaminationChanged(server.base_url, "test-model", True))
    assert any("Measuring" in text for text in texts(form))
    chat.models.examine(server.endpoint())
    deliver(bridge, ExaminationChanged(server.base_url, "test-model", False))
    qtbot.waitUntil(lambda: any("Reads 32,768 tokens" in text for text in texts(form)))


@pytest.mark.slow
def test_limits_are_hidden_until_requested(
    form: EndpointForm, server: ChatServer, qtbot: QtBot
) -> None:
    told: list[EndpointSettings] = []
    form.changed.connect(told.append)
    form.show_endpoint(server.endpoint())
    requests = field(form, QSpinBox, "Requests per minute")
    assert not requests.isVisible()
    button(form, "Set limits and prices").click()
    assert requests.isVisible()
    assert requests.text() == "No request limit"
    requests.setValue(20)
    field(form, QDoubleSpinBox, "Price per million input tokens").setValue(2.5)
    field(form, QDoubleSpinBox, "Daily budget").setValue(1.0)
    field(form, QDoubleSpinBox, "Ask before a run above").setValue(0.25)
    expected = (20, 0, 2.5, 0.0, 1.0, 0.25)
    now = told[-1]
    assert expected == (
        now.requests_per_minute, now.tokens_per_minute, now.price_in, now.price_out,
        now.spend_per_day, now.ask_above,
    )  # fmt: skip
    qtbot.waitUntil(lambda: "Spent today: 0.00" in texts(form))
    form.show_endpoint(EndpointSettings())
    assert not requests.isVisible()
    form.show_endpoint(now)
    assert requests.isVisible()
    assert requests.value() == 20
