"""Global hotkeys on an X server of the test's own, pressed by xdotool."""

import queue
import sys
from collections.abc import Iterator

import pytest

from desktop_rag.desktop.hotkeys.hotkey import Action, Binding, Hotkey
from tests.displays import press, x_server

if sys.platform != "linux":
    pytest.skip("X11 is on Linux", allow_module_level=True)
from desktop_rag.desktop.hotkeys.x11_hotkeys import X11Hotkeys, XConnection

_SOON_S = 10.0


def key(text: str) -> Hotkey:
    hotkey = Hotkey.parse(text)
    assert hotkey
    return hotkey


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    with x_server() as name:
        yield name


@pytest.fixture
def pressed() -> "queue.Queue[Action]":
    return queue.Queue()


@pytest.fixture
def hotkeys(display: str, pressed: "queue.Queue[Action]") -> Iterator[X11Hotkeys]:
    opened = X11Hotkeys(pressed.put, display)
    yield opened
    opened.close()


@pytest.mark.everyday
def test_each_key_does_its_own(
    hotkeys: X11Hotkeys, display: str, pressed: "queue.Queue[Action]"
) -> None:
    outcome = hotkeys.bind(
        {Action.ASK: key("Ctrl+Alt+Space"), Action.ASK_ABOUT_SELECTION: key("Meta+F7")}
    )
    assert {bound.outcome for bound in outcome.values()} == {Binding.BOUND}
    press(display, "ctrl+alt+space")
    assert pressed.get(timeout=_SOON_S) is Action.ASK
    press(display, "super+F7")
    assert pressed.get(timeout=_SOON_S) is Action.ASK_ABOUT_SELECTION


def test_num_lock_changes_nothing(
    hotkeys: X11Hotkeys, display: str, pressed: "queue.Queue[Action]"
) -> None:
    hotkeys.bind({Action.ASK: key("Ctrl+Alt+Space")})
    press(display, "Num_Lock")
    press(display, "ctrl+alt+space")
    assert pressed.get(timeout=_SOON_S) is Action.ASK
    press(display, "Num_Lock")


def test_a_key_that_another_program_has_is_told(hotkeys: X11Hotkeys, display: str) -> None:
    wanted = {Action.ASK: key("Ctrl+Alt+K")}
    other = X11Hotkeys(lambda _action: None, display)
    other.bind(wanted)
    bound = hotkeys.bind(wanted)[Action.ASK]
    assert bound.outcome is Binding.TAKEN
    assert "Another program" in bound.words
    other.close()
    assert hotkeys.bind(wanted)[Action.ASK].outcome is Binding.BOUND


def test_a_key_that_is_given_back_is_free(hotkeys: X11Hotkeys, display: str) -> None:
    hotkeys.bind({Action.ASK: key("Ctrl+Alt+J")})
    hotkeys.bind({Action.ASK: key("Ctrl+Alt+L")})
    other = X11Hotkeys(lambda _action: None, display)
    assert other.bind({Action.ASK: key("Ctrl+Alt+J")})[Action.ASK].outcome is Binding.BOUND
    other.close()


def test_a_symbol_that_no_key_types_has_no_key(display: str) -> None:
    server = XConnection(display)
    assert server.keycodes(ord("a")) != []
    assert server.keycodes(0x0FFF_FFF0) == []
    server.close()


def test_without_a_server_there_are_none() -> None:
    with pytest.raises(OSError, match="no X server"):
        X11Hotkeys(lambda _action: None, ":9999")
