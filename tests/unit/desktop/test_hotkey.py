import pytest

from desktop_rag.desktop.hotkeys.hotkey import Hotkey
from desktop_rag.desktop.hotkeys.macos_hotkeys import key_code
from desktop_rag.desktop.hotkeys.windows_hotkeys import virtual_key


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


@pytest.mark.parametrize(
    ("key", "on_windows", "on_a_mac"),
    [("A", 0x41, 0x00), ("M", 0x4D, 0x2E), ("0", 0x30, 0x1D), ("Space", 0x20, 0x31),
     ("F5", 0x74, 0x60), ("PgDown", 0x22, 0x79)],
)  # fmt: skip
def test_keys_have_the_codes_of_their_systems(key: str, on_windows: int, on_a_mac: int) -> None:
    assert virtual_key(key) == on_windows
    assert key_code(key) == on_a_mac
