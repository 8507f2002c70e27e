"""Tokens in words, and the dialogs that make and revoke them. Qt thread."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from desktop_rag.core.language.translation import count_of, number_in_words, tr
from desktop_rag.features.server.services import TokenFacts
from desktop_rag.features.server.values.access_values import TokenWish
from desktop_rag.ui.foundation.days import day_and_time
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, set_tip
from desktop_rag.ui.widgets.forms import FormDialog
from desktop_rag.ui.widgets.layouts import Stretch, vertical
from desktop_rag.ui.widgets.value_form import ValueForm

ALLOWED = {
    "ask": tr("ask questions"),
    "read": tr("search and read documents"),
    "write": tr("change documents"),
    "admin": tr("everything, the admin page included"),
}
_SEPARATOR = " · "


def limits_in_words(facts: TokenFacts) -> str:
    """What a token may do, where, and how often."""
    token = facts.token
    parts = [", ".join(words for scope, words in ALLOWED.items() if scope in token.scopes)]
    if facts.collections:
        parts.append(tr("only in {collections}", collections=_listed(facts.collections)))
    if token.models:
        parts.append(count_of(len(token.models), tr("model"), tr("models")))
    if token.origins:
        parts.append(tr("from pages of {origins}", origins=_listed(token.origins)))
    if token.requests_per_minute:
        parts.append(tr("{count} a minute", count=number_in_words(token.requests_per_minute)))
    if token.lists_sources:
        parts.append(tr("with a list of sources"))
    if token.passes_markup:
        parts.append(tr("with images and HTML"))
    return _SEPARATOR.join(parts)


def times_in_words(facts: TokenFacts, now: float) -> str:
    """When it was used last, and when it ends."""
    used, ends_at = tr("Never used"), facts.token.expires_at
    if facts.used_at:
        used = tr("Last used {time}", time=day_and_time(facts.used_at))
    if not ends_at:
        return used
    if facts.token.is_expired(now):
        return _SEPARATOR.join((used, tr("expired")))
    return _SEPARATOR.join((used, tr("ends {time}", time=day_and_time(ends_at))))


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(one_line(name) for name in names)


_LONGEST = 44


class TickedList(QWidget):
    """A choice of several by key, with a box for each. Long names are cut; their tips are not."""

    def __init__(self, name: str, choices: Mapping[str, str], ticked: Iterable[str] = ()) -> None:
        super().__init__()
        self.setAccessibleName(name)
        column = vertical(on=self, margins=0, spacing=6)
        chosen = frozenset(ticked)
        self._boxes: dict[str, QCheckBox] = {}
        for key, words in choices.items():
            whole = one_line(words)
            shown = whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]}…"
            # Ampersands of foreign names are no shortcuts.
            box = QCheckBox(shown.replace("&", "&&"))
            box.setAccessibleName(whole)
            if shown != whole:
                set_tip(box, whole)
            box.setChecked(key in chosen)
            column.addWidget(box, 0, Qt.AlignmentFlag.AlignLeft)
            self._boxes[key] = box

    @property
    def ticked(self) -> tuple[str, ...]:
        """The keys of those that are ticked, in their order."""
        return tuple(key for key, box in self._boxes.items() if box.isChecked())


_WIDTH_PX = 480
_LONGEST_NAME = 80
_ONLY = tr("Only in these collections (none ticked: all of them):")
_ONCE = tr(
    "Enter it in the program as the key. It is shown this once and kept nowhere in this app: if it"
    " is lost, revoke it and make another."
)


class NewTokenDialog(FormDialog):
    """Asks for a TokenWish, then shows the secret of the token."""

    def __init__(self, collections: Mapping[str, str], parent: QWidget) -> None:
        """`collections` has their names by id. To ask questions is chosen."""
        self._name = QLineEdit()
        self._name.setMaxLength(_LONGEST_NAME)
        self._name.setPlaceholderText(tr("The program that will use it"))
        self._name.setAccessibleName(tr("Program"))
        self._allowed = {each: QCheckBox(words) for each, words in ALLOWED.items()}
        next(iter(self._allowed.values())).setChecked(True)
        self._more = TextButton(tr("More limits"), kind="quiet")
        self._collections = TickedList(tr("Only in these collections"), collections)
        self._limits = ValueForm(tr("Limits"), TokenWish("", ()), _ONLY)
        self._limits.add_note(self._collections)
        self._limits.add("origins", "requests_per_minute", "days", "lists_sources", "passes_markup")
        self._limits.show_value(self._limits.value)
        self._limits.hide()
        super().__init__(tr("New token"), self._form(), _WIDTH_PX, parent, send=tr("Make token"))
        self._secret = QLineEdit(readOnly=True)
        self._secret.setAccessibleName(tr("Token"))
        self._once = PlainLabel(_ONCE, tone="muted", wrap=True)
        self._copy = TextButton(tr("Copy"), kind="primary", then=self._on_copy_clicked)
        for place, widget in enumerate((self._secret, self._once), 2):
            self.column.insertWidget(place, widget)
        self.buttons.addWidget(self._copy)
        for widget in (self._secret, self._once, self._copy):
            widget.hide()
        self._name.textChanged.connect(self._show_makeable)
        for box in self._allowed.values():
            box.toggled.connect(self._show_makeable)
        self._more.clicked.connect(self._on_more_clicked)
        self._show_makeable()
        self._name.setFocus()

    def _form(self) -> QWidget:
        inside = QWidget()
        vertical(
            self._name,
            PlainLabel(tr("It may:"), tone="muted"),
            *self._allowed.values(),
            (self._more, 0, Qt.AlignmentFlag.AlignLeft),
            self._limits,
            Stretch(),
            on=inside,
            margins=0,
            spacing=8,
        )
        return inside

    def value(self) -> TokenWish:
        """The wish as entered."""
        return replace(
            self._limits.read(),
            name=self._name.text().strip(),
            allows=tuple(each for each, box in self._allowed.items() if box.isChecked()),
            collection_ids=self._collections.ticked,
        )

    def show_secret(self, secret: str) -> None:
        """Show the secret of the token that was made, in place of the question."""
        for widget in (self._scroll, self._error, self._send):
            widget.hide()
        self._secret.setText(secret)
        for widget in (self._secret, self._once, self._copy):
            widget.show()
        self._leave.setText(tr("Close"))
        self._copy.setFocus()
        self.adjustSize()

    @Slot()
    def _show_makeable(self) -> None:
        is_chosen = any(box.isChecked() for box in self._allowed.values())
        self._send.setEnabled(bool(self._name.text().strip()) and is_chosen)

    @Slot()
    def _on_more_clicked(self) -> None:
        self._more.hide()
        self._limits.show()
        self._limits.setFocus()
        self._scroll.make_room()

    @Slot()
    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self._secret.text())
