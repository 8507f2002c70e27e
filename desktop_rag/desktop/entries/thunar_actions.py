"""The entry in the menu of Thunar, Xfce's file manager, beside the person's own. Any thread.

Thunar keeps all actions in one file. The person's own replaces that of the system, so that the
actions of the latter are taken over when the first is written.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

from desktop_rag.core.files.atomic_file import write_atomically
from desktop_rag.desktop.identity import APP_ID, ASK_ABOUT, SUMMARY
from desktop_rag.desktop.launching import quoted

_SYSTEM = Path("/etc/xdg/Thunar/uca.xml")
_KINDS = ("directories", "audio-files", "image-files", "other-files", "text-files", "video-files")


def actions_path() -> Path:
    """The person's file of actions."""
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "Thunar" / "uca.xml"


def add_action(command: Sequence[str], system: Path = _SYSTEM) -> bool:
    """Add the action, or renew it; False where there is no Thunar, or its file is unreadable."""
    path = actions_path()
    if not path.parent.is_dir() and not system.is_file():
        return False
    actions = _actions(path if path.is_file() else system)
    if actions is None:
        return False
    _without_ours(actions).append(_action(command))
    _write(path, actions)
    return True


def remove_action() -> bool:
    """Remove the action; False when there is none."""
    path = actions_path()
    actions = _actions(path) if path.is_file() else None
    if actions is None or not _ours(actions):
        return False
    _write(path, _without_ours(actions))
    return True


def _actions(path: Path) -> Xml.Element | None:
    if not path.is_file():
        return Xml.Element("actions")
    try:
        root = Xml.parse(path).getroot()
    except Xml.ParseError:
        return None
    return root if root.tag == "actions" else None


def _ours(actions: Xml.Element) -> list[Xml.Element]:
    return [found for found in actions if found.findtext("unique-id") == APP_ID]


def _without_ours(actions: Xml.Element) -> Xml.Element:
    for found in _ours(actions):
        actions.remove(found)
    return actions


def _action(command: Sequence[str]) -> Xml.Element:
    action = Xml.Element("action")
    for name, text in (
        ("icon", APP_ID),
        ("name", ASK_ABOUT),
        ("unique-id", APP_ID),
        ("command", f"{quoted([*command, 'quick-ask', '--about'])} %F"),
        ("description", SUMMARY),
        ("patterns", "*"),
    ):
        Xml.SubElement(action, name).text = text
    for kind in _KINDS:
        Xml.SubElement(action, kind)
    return action


def _write(path: Path, actions: Xml.Element) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Xml.indent(actions, "\t")
    text = Xml.tostring(actions, encoding="unicode")
    write_atomically(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n')
