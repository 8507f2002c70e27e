"""Global hotkeys on Wayland, through the portal org.freedesktop.portal.GlobalShortcuts.

The desktop asks the person, who may choose other keys. The sequence is the one its specification
gives: CreateSession, ListShortcuts, BindShortcuts once in a session, then Activated. GNOME 48 and
later answer only programs that have a desktop file with the app's id.
"""

import contextlib
import logging
import os
import queue
from collections.abc import Mapping
from typing import Any, cast

from jeepney import DBusErrorResponse, MatchRule

from desktop_rag.desktop.hotkeys.hotkey import (
    DESCRIPTIONS,
    Action,
    Binding,
    Bound,
    Hotkey,
    Hotkeys,
    OnPressed,
)
from desktop_rag.desktop.launching import APP_ID
from desktop_rag.desktop.session_bus import FAULTS, REPLY_S, SessionBus

log = logging.getLogger(__name__)

_BUS = "org.freedesktop.portal.Desktop"
_PATH = "/org/freedesktop/portal/desktop"
_SHORTCUTS = (_PATH, _BUS, "org.freedesktop.portal.GlobalShortcuts")
_REGISTRY = (_PATH, _BUS, "org.freedesktop.host.portal.Registry")
_REQUEST = "org.freedesktop.portal.Request"
# The person reads a question of the desktop meanwhile.
_DIALOG_S = 120.0
_REFUSED = {1: "It was refused in the desktop's question.", 2: "The desktop ended the request."}
_TRIGGERS = {"Ctrl": "CTRL", "Alt": "ALT", "Shift": "SHIFT", "Meta": "LOGO"}
_KEYS = {"Space": "space", "PgUp": "Page_Up", "PgDown": "Page_Down"}
Options = dict[str, tuple[str, object]]


class PortalRefusedError(Exception):
    """The portal refused; the message is for people."""


class PortalHotkeys:
    """`on_pressed` is called on a thread of its own."""

    def __init__(self, on_pressed: OnPressed) -> None:
        """OSError without a session bus or without this portal."""
        self._on_pressed = on_pressed
        self._counter = 0
        self._session = ""
        try:
            self._bus = SessionBus()
        except FAULTS as exc:
            raise OSError("there is no session bus") from exc
        try:
            self._bus.hear(_SHORTCUTS[2], "Activated", self._on_activated, "hotkeys")
            self._register()
        except FAULTS as exc:
            self._bus.close()
            raise OSError("the session bus refused the app") from exc

    def bind(self, hotkeys: Hotkeys) -> dict[Action, Bound]:
        """Bind these in a session of their own; waits while the desktop asks the person."""
        try:
            self._begin_session()
            known = self._listed()
            missing = [action for action in hotkeys if action not in known]
            if missing:
                known = self._bound({action: hotkeys[action] for action in hotkeys})
        except PortalRefusedError as refused:
            return dict.fromkeys(hotkeys, Bound(Binding.FAILED, str(refused)))
        except FAULTS as exc:
            log.info("the portal failed: %r", exc)
            words = "This desktop's portal for hotkeys did not answer as it should."
            return dict.fromkeys(hotkeys, Bound(Binding.FAILED, words))
        return {action: _outcome(known.get(action)) for action in hotkeys}

    def close(self) -> None:
        """Release all keys. Idempotent."""
        if self._bus.is_open:
            with contextlib.suppress(*FAULTS):
                self._end_session()
            self._bus.close()

    # --- the sequence ------------------------------------------------------------------------

    def _register(self) -> None:
        """Tell the portal the app's id; older portals take it from the desktop file."""
        try:
            self._bus.call(_REGISTRY, "Register", "sa{sv}", (APP_ID, {}))
        except DBusErrorResponse as exc:
            log.info("the portal keeps no registry: %s", exc.name)

    def _begin_session(self) -> None:
        if self._session:
            self._end_session()
        token = self._token()
        results = self._request(
            "CreateSession", "a{sv}", (), {"session_handle_token": ("s", token)}, REPLY_S
        )
        self._session = str(results["session_handle"])

    def _end_session(self) -> None:
        session, self._session = self._session, ""
        if session:
            self._bus.call((session, _BUS, "org.freedesktop.portal.Session"), "Close")

    def _listed(self) -> dict[str, str]:
        results = self._request("ListShortcuts", "oa{sv}", (self._session,), {}, REPLY_S)
        return _triggers(results)

    def _bound(self, hotkeys: Mapping[Action, Hotkey]) -> dict[str, str]:
        wanted = [
            (str(action), {"description": ("s", DESCRIPTIONS[action]),
                           "preferred_trigger": ("s", _trigger(hotkey))})
            for action, hotkey in hotkeys.items()
        ]  # fmt: skip
        arguments = (self._session, wanted, "")
        return _triggers(
            self._request("BindShortcuts", "oa(sa{sv})sa{sv}", arguments, {}, _DIALOG_S)
        )

    def _request(
        self, method: str, signature: str, arguments: tuple[object, ...], options: Options,
        limit_s: float,
    ) -> dict[str, Any]:  # fmt: skip
        """Call a method that answers by a signal; its results, or PortalRefusedError."""
        token = self._token()
        sender = self._bus.own_name.lstrip(":").replace(".", "_")
        path = f"{_PATH}/request/{sender}/{token}"
        rule = MatchRule(type="signal", interface=_REQUEST, member="Response", path=path)
        given = (*arguments, {**options, "handle_token": ("s", token)})
        try:
            answer = self._bus.ask(_SHORTCUTS, method, signature, given, rule, limit_s)
        except queue.Empty:
            raise PortalRefusedError("The desktop did not answer in time.") from None
        except DBusErrorResponse as exc:
            raise PortalRefusedError(_said(exc)) from exc
        code, results = cast("tuple[int, dict[str, tuple[str, Any]]]", answer)
        if code:
            raise PortalRefusedError(_REFUSED.get(code, "The desktop refused it."))
        return {key: value for key, (_signature, value) in results.items()}

    def _token(self) -> str:
        self._counter += 1
        return f"desktop_rag_{os.getpid()}_{self._counter}"

    # --- keys --------------------------------------------------------------------------------

    def _on_activated(self, session: str, shortcut: str, *_more: object) -> None:
        if session == self._session and shortcut in list(Action):
            self._on_pressed(Action(shortcut))


def _trigger(hotkey: Hotkey) -> str:
    """A hotkey as the specification of shortcuts writes it: `CTRL+ALT+space`."""
    names = [_TRIGGERS[name] for name in _TRIGGERS if name in hotkey.modifiers]
    key = _KEYS.get(hotkey.key) or (hotkey.key.lower() if len(hotkey.key) == 1 else hotkey.key)
    return "+".join([*names, key])


def _triggers(results: Mapping[str, Any]) -> dict[str, str]:
    """The keys that the desktop bound, in its own words, by action."""
    shortcuts = cast("list[tuple[str, dict[str, tuple[str, Any]]]]", results.get("shortcuts", []))
    return {name: str(told.get("trigger_description", ("s", ""))[1]) for name, told in shortcuts}


def _outcome(trigger: str | None) -> Bound:
    if trigger is None:
        return Bound(Binding.FAILED, "The desktop did not bind it. Its settings may offer it.")
    return Bound(Binding.BOUND, trigger)


def _said(error: DBusErrorResponse) -> str:
    if error.name.endswith(("UnknownMethod", "UnknownInterface", "NotSupported", "ServiceUnknown")):
        return "This desktop offers no hotkeys to programs."
    return "This desktop refused a hotkey. It may want the app installed with its desktop file."
