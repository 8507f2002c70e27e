"""Tray and hotkeys, on a private session bus."""

import ctypes
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, cast

import pytest

from desktop_rag.features.diagnosis import diagnosis
from desktop_rag.features.diagnosis.finding import Finding, State
from tests.displays import x_server

if TYPE_CHECKING:
    from desktop_rag.features.diagnosis.finding import Subject

if sys.platform != "linux" or not shutil.which("dbus-daemon"):
    pytest.skip("dbus-daemon is not installed", allow_module_level=True)

from jeepney import HeaderFields, MessageType, message_bus, new_error, new_method_return
from jeepney.io.blocking import open_dbus_connection

NOTHING = cast("Subject", None)


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a bus of the test's own."""
    address = f"unix:path={tmp_path}/bus"
    command = ["dbus-daemon", "--session", "--nofork", "--print-address", f"--address={address}"]
    daemon = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert daemon.stdout
    daemon.stdout.readline()  # it listens now
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    yield address
    daemon.terminate()
    daemon.wait()
    daemon.stdout.close()


def serve(name: str, version: int | None) -> Callable[[], None]:
    """Own a name on the bus and answer every request for a property; returns how to end that."""
    connection = open_dbus_connection("SESSION")
    connection.send_and_get_reply(message_bus.RequestName(name))

    def work() -> None:
        while True:
            message = connection.receive()
            if message.header.message_type is not MessageType.method_call:
                continue
            if message.header.fields[HeaderFields.member] == "Stop":
                return
            answer = (
                new_error(message, "org.freedesktop.DBus.Error.UnknownInterface")
                if version is None
                else new_method_return(message, "v", (("u", version),))
            )
            connection.send(answer)

    thread = threading.Thread(target=work)
    thread.start()

    def end() -> None:
        from jeepney import DBusAddress, new_method_call

        with open_dbus_connection("SESSION") as other:
            other.send(new_method_call(DBusAddress("/", name, name), "Stop"))
            thread.join()
        connection.close()

    return end


def tray() -> Finding:
    [found] = diagnosis.check_tray(NOTHING, Event())
    return found


def hotkeys() -> Finding:
    [found] = diagnosis.check_hotkeys(NOTHING, Event())
    return found


def test_a_tray_is_seen_on_the_bus(bus: str) -> None:
    assert "no system tray" in tray().title
    end = serve("org.kde.StatusNotifierWatcher", None)
    assert tray().title == "This desktop offers a system tray."
    end()


def test_a_tray_of_the_older_kind_is_seen_on_x11(bus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with x_server() as display, panel_on(display) as becomes_a_tray:
        monkeypatch.setenv("DISPLAY", display)
        assert "no system tray" in tray().title
        becomes_a_tray()
        assert tray().title == "This desktop offers a system tray."
        monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
        assert "no system tray" in tray().title


class Screens(ctypes.Structure):
    _fields_ = (("first", ctypes.c_void_p), ("rem", ctypes.c_int), ("index", ctypes.c_int))


@contextmanager
def panel_on(display: str) -> Generator[Callable[[], None]]:
    """A program on the display that can take the selection of a tray, as a panel does.

    It stays connected: the server begins anew when the last program leaves.
    """
    xcb = ctypes.CDLL("libxcb.so.1")
    for function in (xcb.xcb_connect, xcb.xcb_get_setup, xcb.xcb_intern_atom_reply):
        function.restype = ctypes.c_void_p
    xcb.xcb_setup_roots_iterator.restype = Screens
    connection = ctypes.c_void_p(xcb.xcb_connect(display.encode(), None))
    name = b"_NET_SYSTEM_TRAY_S0"

    def atom() -> int:
        asked = xcb.xcb_intern_atom(connection, 0, len(name), name)
        reply = xcb.xcb_intern_atom_reply(connection, asked, None)
        return ctypes.c_uint32.from_address(reply + 8).value

    def become_a_tray() -> None:
        setup = ctypes.c_void_p(xcb.xcb_get_setup(connection))
        root = ctypes.c_uint32.from_address(xcb.xcb_setup_roots_iterator(setup).first).value
        window = xcb.xcb_generate_id(connection)
        xcb.xcb_create_window(connection, 0, window, root, 0, 0, 1, 1, 0, 2, 0, 0, None)
        xcb.xcb_set_selection_owner(connection, window, atom(), 0)
        atom()  # its answer comes after what was asked before

    yield become_a_tray
    xcb.xcb_disconnect(connection)


def test_the_version_of_the_portal_for_hotkeys_is_read(bus: str) -> None:
    assert "no app register" in hotkeys().title
    for version, told in ((None, "no app register"), (2, "portal version 2")):
        end = serve("org.freedesktop.portal.Desktop", version)
        assert told in hotkeys().title
        end()


def test_x11_is_seen_by_its_socket_and_hidden_below_wayland(
    bus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis, "_DISPLAYS", tmp_path)
    monkeypatch.setenv("DISPLAY", ":7.0")
    assert "no app" in hotkeys().title
    (tmp_path / "X7").touch()
    assert hotkeys().title.startswith("X11")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert "no app" in hotkeys().title


@pytest.mark.parametrize("address", ["", "unix:path=/nowhere/bus", "tcp:host=localhost,port=1"])
def test_without_a_session_nothing_is_known(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    assert (tray().state, hotkeys().state) == (State.NOT_CHECKED, State.NOT_CHECKED)
