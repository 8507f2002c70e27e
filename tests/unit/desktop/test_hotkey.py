import pytest

from desktop_rag.desktop.hotkeys.hotkey import Hotkey


@pytest.mark.parametrize("text", ["Ctrl+Alt+Space", "Meta+K", "F9", "Ctrl+Shift+F1", "Alt+7"])
def test_a_hotkey_is_written_as_it_was_read(text: str) -> None:
    assert str(Hotkey.parse(text)) == text


def test_modifiers_have_one_order() -> None:
    assert str(Hotkey.parse("Shift+Alt+Ctrl+q")) == "Ctrl+Alt+Shift+Q"


@pytest.mark.parametrize(
    "text", ["", "A", "Shift+A", "Space", "Shift+Space", "Ctrl+", "Hyper+A", "Ctrl+ß", "Ctrl+AB"]
)
def test_a_key_that_people_type_is_no_hotkey(text: str) -> None:
    assert Hotkey.parse(text) is None
