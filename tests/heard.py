"""What screen readers get of a window: roles, names, descriptions, in their order."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget

Role = QAccessible.Role
# What a person acts on or reads; all else only holds these.
_NEED_A_NAME = {
    Role.Button, Role.ButtonMenu, Role.CheckBox, Role.RadioButton, Role.ComboBox, Role.EditableText,
    Role.List, Role.Table, Role.Tree, Role.Slider, Role.SpinBox, Role.ProgressBar, Role.Dialog,
    Role.PageTab, Role.Link, Role.Graphic,
}  # fmt: skip
# An area that scrolls has no role of its own in Qt; its name says what it is.
_HOLDERS = {Role.Window, Role.NoRole, Role.Splitter, Role.Grip}
_MARKUP = re.compile(r"</?(?:qt|html|body|p|b|i|br|span|a|div)\b[^>]*>|&(?:lt|gt|amp|quot|nbsp);")


@dataclass(frozen=True)
class Heard:
    """One part of a window. `path` names what it lies in."""

    role: QAccessible.Role
    name: str
    description: str
    is_focusable: bool
    kind: str
    path: str

    def faults(self) -> Iterator[str]:
        """What a person who hears it would miss."""
        said = f"{self.kind} {self.role.name} “{self.name or self.description}” in {self.path}"
        if (self.role in _NEED_A_NAME or self.is_focusable) and not self.name.strip():
            yield f"no name: {said}"
        if _MARKUP.search(self.name) or _MARKUP.search(self.description):
            yield f"markup: {said}"
        if self.is_focusable and self.role in _HOLDERS:
            yield f"no role: {said}"


def heard(widget: QWidget) -> list[Heard]:
    """The visible parts of a window, each before those inside it."""
    return list(_walk(QAccessible.queryAccessibleInterface(widget), ""))


def _walk(part: object, path: str) -> Iterator[Heard]:
    if part is None or part.state().invisible:  # type: ignore[attr-defined]
        return
    shown = part.object()  # type: ignore[attr-defined]
    kind = type(shown).__name__ if shown is not None else "part"
    is_widget = isinstance(shown, QWidget)
    if is_widget and not shown.isVisible():
        return
    heard_part = Heard(
        part.role(),  # type: ignore[attr-defined]
        part.text(QAccessible.Text.Name),  # type: ignore[attr-defined]
        part.text(QAccessible.Text.Description),  # type: ignore[attr-defined]
        is_widget and bool(shown.focusPolicy() & Qt.FocusPolicy.TabFocus),
        kind,
        path,
    )
    yield heard_part
    # Rows of long tables are alike.
    for number in range(min(part.childCount(), 60)):  # type: ignore[attr-defined]
        yield from _walk(part.child(number), f"{path}/{kind}"[-90:])  # type: ignore[attr-defined]
