"""Global hotkeys through the portal of a Wayland desktop, on a bus of the test's own."""

import queue
import sys
from collections.abc import Iterator

import pytest

from desktop_rag.desktop.hotkeys.hotkey import Action, Binding, Hotkey
from tests.displays import session_bus
from tests.servers.portal import Portal

if sys.platform != "linux":
    pytest.skip("portals are on Linux", allow_module_level=True)
from desktop_rag.desktop.hotkeys.portal_hotkeys import PortalHotkeys

KEY = Hotkey.parse("Ctrl+Alt+Space")
assert KEY
WANTED = {Action.ASK: KEY}
_SOON_S = 10.0


@pytest.fixture
def pressed() -> "queue.Queue[Action]":
    return queue.Queue()


@pytest.fixture(autouse=True)
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with session_bus(monkeypatch) as address:
        yield address


@pytest.mark.everyday
def test_a_key_the_person_allowed_is_heard(pressed: "queue.Queue[Action]") -> None:
    with Portal() as portal:
        hotkeys = PortalHotkeys(pressed.put)
        outcome = hotkeys.bind(WANTED)
        assert outcome[Action.ASK].outcome is Binding.BOUND
        assert outcome[Action.ASK].words == "Ctrl+Alt+Space"
        assert portal.methods == ["Register", "CreateSession", "ListShortcuts", "BindShortcuts"]
        portal.press("quick-ask", session="/somebody/else")
        portal.press("unknown")
        portal.press("quick-ask")
        assert pressed.get(timeout=_SOON_S) is Action.ASK
        assert pressed.empty()
        hotkeys.close()
        assert portal.methods[-1] == "Close"


def test_a_key_allowed_earlier_is_not_asked_about_again(pressed: "queue.Queue[Action]") -> None:
    with Portal(known=("quick-ask",)) as portal:
        hotkeys = PortalHotkeys(pressed.put)
        assert hotkeys.bind(WANTED)[Action.ASK].outcome is Binding.BOUND
        assert "BindShortcuts" not in portal.methods
        hotkeys.close()


def test_another_key_gets_a_session_of_its_own(pressed: "queue.Queue[Action]") -> None:
    with Portal() as portal:
        hotkeys = PortalHotkeys(pressed.put)
        hotkeys.bind(WANTED)
        first = portal.session
        hotkeys.bind(WANTED)
        assert portal.session != first
        assert portal.methods.count("BindShortcuts") == portal.methods.count("CreateSession")
        hotkeys.close()


@pytest.mark.parametrize(
    ("portal", "words"),
    [(Portal(response=1), "refused"), (Portal(response=2), "ended"),
     (Portal(binds=False), "did not bind")],
)  # fmt: skip
def test_what_the_desktop_refuses_is_said(
    portal: Portal, words: str, pressed: "queue.Queue[Action]"
) -> None:
    with portal:
        hotkeys = PortalHotkeys(pressed.put)
        bound = hotkeys.bind(WANTED)[Action.ASK]
        assert bound.outcome is Binding.FAILED
        assert words in bound.words
        hotkeys.close()


def test_a_desktop_without_the_portal_is_said(pressed: "queue.Queue[Action]") -> None:
    hotkeys = PortalHotkeys(pressed.put)
    bound = hotkeys.bind(WANTED)[Action.ASK]
    assert bound.outcome is Binding.FAILED
    assert "offers no hotkeys" in bound.words
    hotkeys.close()
    hotkeys.close()


def test_without_a_bus_there_are_none(
    pressed: "queue.Queue[Action]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")
    with pytest.raises(OSError, match="no session bus"):
        PortalHotkeys(pressed.put)
