"""The page of all connections the app can make, with their present state. Qt thread."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.models.connection_states import Connection, ConnectionState, Place, Reach
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.wording import value_in_words
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton, set_property
from desktop_rag.ui.widgets.flow_row import FlowRow
from desktop_rag.ui.widgets.layouts import horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

_INTROS = {
    Reach.NETWORK: tr(
        "Connections to other computers. An endpoint on your own computer is marked as such."
    ),
    Reach.COMPUTER: tr(
        "Connections between programs on your computer. Nothing leaves it by these."
    ),
    Reach.NEVER: tr("Connections that other programs often make, and this app does not."),
}
_ALL_QUIET = tr("As set now, nothing leaves this computer unless you ask for it.")
_TONES = {ConnectionState.ON: "accent", ConnectionState.ON_REQUEST: "muted"}


class PrivacyPage(ScrolledPage):
    """Shows what leaves the computer now, what is kept, and on request every kind of connection.

    `place_requested` carries where one is switched.
    """

    place_requested = Signal(object)

    def __init__(
        self,
        bridge: Bridge,
        find_connections: Callable[[], Sequence[Connection]],
        forms: Sequence[QWidget] = (),
    ) -> None:
        """`find_connections` runs on a worker thread; `forms` set what is kept."""
        super().__init__(tr("Privacy"))
        self._bridge = bridge
        self._find_connections = find_connections
        self._job = Job()
        self._shown: tuple[Connection, ...] = ()
        self._places: dict[TextButton, Place] = {}
        self._summary = Card(self, kind="notice")
        self._summary_text = PlainLabel(wrap=True, selectable=True)
        vertical(self._summary_text, on=self._summary, margins=(12, 8, 12, 8))
        self._summary.hide()
        self._on = vertical(spacing=14)
        self._every = QWidget()
        self._cards = vertical(on=self._every, margins=0, spacing=14)
        self._every.hide()
        self._unfold = TextButton(tr("Show every connection"), kind="quiet", then=self._on_unfold)
        self.column.addWidget(self._summary)
        self.column.addLayout(self._on)
        for form in forms:
            self.column.addWidget(form)
        self.column.addWidget(self._unfold, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self._every)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Read the present state and show it."""
        self._job.cancel()
        self._job = self._bridge.run(self, self._find_connections, self._show)

    @Slot()
    def _on_unfold(self) -> None:
        is_open = self._every.isHidden()
        self._every.setVisible(is_open)
        folds, unfolds = tr("Hide the connections"), tr("Show every connection")
        self._unfold.setText(folds if is_open else unfolds)

    def _show(self, found: Sequence[Connection]) -> None:
        leaving = [connection for connection in found if connection.leaves_this_computer]
        self._show_summary(leaving)
        if tuple(found) == self._shown:
            return  # Keeps the focus and the place.
        self._shown = tuple(found)
        self._places.clear()
        for column in (self._on, self._cards):
            while item := column.takeAt(0):
                if card := item.widget():
                    card.deleteLater()
        if leaving:
            self._on.addWidget(self._card_of(tr("Leaves this computer"), "", leaving))
        for reach in Reach:
            of_reach = [connection for connection in found if connection.kind.reach is reach]
            title = value_in_words(reach, begins=True)
            self._cards.addWidget(self._card_of(title, _INTROS[reach], of_reach))

    def _show_summary(self, leaving: Sequence[Connection]) -> None:
        tone = "warning" if leaving else "success"
        text = _ALL_QUIET
        if leaving:
            names = ", ".join(connection.kind.name for connection in leaving)
            text = tr("As set now, these go to other computers: {names}.", names=names)
        set_property(self._summary, "tone", tone)
        set_property(self._summary_text, "on", tone)
        self._summary_text.setText(text)
        self._summary.setAccessibleName(text)
        self._summary.show()

    def _card_of(self, title: str, intro: str, connections: Sequence[Connection]) -> Card:
        """A card with these connections; without an intro only what each sends is told."""
        card = Card(self)
        card.setAccessibleName(title)
        column = vertical(
            PlainLabel(title, scale="heading"), on=card, margins=(18, 16, 18, 18), spacing=14
        )
        if intro:
            column.addWidget(PlainLabel(intro, tone="muted", wrap=True))
        for connection in connections:
            sent = connection.kind.sent
            column.addLayout(self._rows_of(connection, _details(connection) if intro else sent))
        return card

    def _rows_of(self, connection: Connection, details: str) -> QVBoxLayout:
        kind, state = connection.kind, connection.state
        name = PlainLabel(kind.name)
        name.setObjectName("connectionName")
        said = FlowRow(spacing=10)
        said.addWidget(name)
        said.addWidget(PlainLabel(_state_words(connection), tone=_TONES.get(state, "muted")))
        head = horizontal((said, 1), spacing=10)
        if kind.place is not Place.NOWHERE:
            # No higher than the line of the name, which begins at the top.
            head.addWidget(self._change_button(connection), 0, Qt.AlignmentFlag.AlignTop)
        rows = vertical(head, spacing=3)
        if connection.addresses:
            text = "\n".join(connection.addresses)
            rows.addWidget(PlainLabel(text, wrap=True, selectable=True))
        rows.addWidget(PlainLabel(details, tone="muted", scale="small", wrap=True))
        name.setAccessibleName(f"{kind.name}: {_state_words(connection)}")
        return rows

    def _change_button(self, connection: Connection) -> TextButton:
        kind = connection.kind
        button = TextButton(tr("Change…"), kind="action", then=self._on_change_clicked)
        button.setAccessibleName(tr("Change {name}", name=kind.name))
        button.setAccessibleDescription(
            tr("{switch} Opens {value}.", switch=kind.switch, value=kind.place.value)
        )
        self._places[button] = kind.place
        return button

    @Slot()
    def _on_change_clicked(self) -> None:
        button = self.sender()
        assert isinstance(button, TextButton)
        self.place_requested.emit(self._places[button])


def _state_words(connection: Connection) -> str:
    """`On`, `On, this computer only`, and so on."""
    words = value_in_words(connection.state, begins=True)
    is_local = connection.addresses and not connection.leaves_this_computer
    if is_local and connection.state is ConnectionState.ON:
        return tr("{words}, this computer only", words=words)
    return words


def _details(connection: Connection) -> str:
    kind = connection.kind
    if kind.reach is Reach.NEVER:
        return kind.sent
    return tr(
        "To: {recipient}\nSent: {sent}\nWhen: {occasion}\nSwitch: {switch}",
        recipient=kind.recipient,
        sent=kind.sent,
        occasion=kind.occasion,
        switch=kind.switch,
    )
