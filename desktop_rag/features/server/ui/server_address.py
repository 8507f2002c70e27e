"""How the local server is reached. Qt thread."""

import re
from dataclasses import replace

from PySide6.QtCore import Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import ServerSettings, Settings
from desktop_rag.features.server.services import ServerSwitch
from desktop_rag.features.server.values.access_values import CertificateFacts
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.days import day_of, written_day
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import DropDown, SettingsSection, note, number_field
from desktop_rag.ui.widgets.forms import choose_file

_INTRO = tr(
    "A change of all but the names restarts the server: answers that are under way are cut."
)
_HERE, _EVERYWHERE = "127.0.0.1", "0.0.0.0"
_LOOPBACK = (_HERE, "::1", "localhost")
_ONLY_HERE = tr("Only programs on this computer reach it, and only with a token.")
_OTHERS = tr(
    "Every computer in the networks of this one reaches it then. Whoever has a token can ask your"
    " documents and read them."
)
_READABLE = tr("Without a certificate, everyone on the way can read tokens, questions and answers.")
_ENCRYPTED = tr("With the certificate, nobody on the way can read them.")
_NAMES = tr(
    "By which other computers ask it: the name of this computer in your network, or its address,"
    " separated by commas."
)
_PEM = tr(
    "For https, as PEM files. Only their paths are kept; the server reads them when it starts."
)
_MOST_PORT = 65_535
_BETWEEN_NAMES = re.compile(r"[\s,;]+")


class AddressSection(SettingsSection):
    """The port, names and certificate of the server; stored once the server can work with them."""

    def __init__(self, bridge: Bridge, access: ServerSwitch, settings: EditedSettings) -> None:
        super().__init__(tr("How the server is reached"), _INTRO)
        self._bridge = bridge
        self._access = access
        self._settings = settings
        self._job: Job | None = None
        self._facts: CertificateFacts | None = None
        self._is_restarting = False
        self._shown = ServerSettings()
        self._reach, self._names = DropDown(), QLineEdit()
        self._port = number_field(1, _MOST_PORT, 1, "")
        self._port.setGroupSeparatorShown(False)
        self._certificate, self._key = QLineEdit(), QLineEdit()
        self._choose, self._choose_key = TextButton(tr("Choose…")), TextButton(tr("Choose…"))
        self._use, self._discard = TextButton(tr("Use these")), TextButton(tr("Discard"))
        self._exposes, self._port_said, self._names_said = note(), note(), note(_NAMES)
        self._certificate_said = PlainLabel(tone="muted", scale="small", wrap=True)
        self._said = PlainLabel(wrap=True, selectable=True)
        self._build()
        self._connect()
        self._show_stored(settings.value)

    def _build(self) -> None:
        self._key.setPlaceholderText(tr("If it is in another file"))
        self._choose.setAccessibleName(tr("Choose the certificate"))
        self._choose_key.setAccessibleName(tr("Choose the key"))
        self.add_row(tr("Reached by"), self._reach)
        self.add_note(self._exposes)
        self._names_label = self.add_row(tr("Names"), self._names, is_wide=True)
        self.add_note(self._names_said)
        self.add_row(tr("Port"), self._port)
        self.add_note(self._port_said)
        self.add_row(tr("Certificate"), self._certificate, self._choose, is_wide=True)
        self.add_row(tr("Its key"), self._key, self._choose_key, is_wide=True)
        self.add_note(note(_PEM))
        self.add_note(self._certificate_said)
        self.add_row("", self._use, self._discard)
        self.add_note(self._said)
        self._said.hide()

    def _connect(self) -> None:
        self._reach.activated.connect(self._on_reach_chosen)
        self._port.valueChanged.connect(self._on_edited)
        for field in (self._names, self._certificate, self._key):
            field.textChanged.connect(self._on_edited)
        for field in (self._certificate, self._key):
            field.editingFinished.connect(self._look_at_certificate)
        self._choose.clicked.connect(lambda: self._choose_file(self._certificate))
        self._choose_key.clicked.connect(lambda: self._choose_file(self._key))
        self._use.clicked.connect(self._on_use_clicked)
        self._discard.clicked.connect(lambda: self._show_fields(self._stored))
        self._settings.replaced.connect(self._show_stored)

    # --- what is shown -----------------------------------------------------------------------

    @property
    def typed(self) -> ServerSettings:
        """The settings as entered."""
        host = str(self._reach.currentData())
        names = tuple(filter(None, _BETWEEN_NAMES.split(self._names.text())))
        return replace(
            self._stored,
            host=host,
            # They are not shown where only this computer asks.
            host_names=self._stored.host_names if host in _LOOPBACK else names,
            port=self._port.value() if self._is_port_edited else self._stored.port,
            certificate=self._certificate.text().strip(),
            certificate_key=self._key.text().strip(),
        )

    @property
    def _stored(self) -> ServerSettings:
        return self._settings.value.server

    @property
    def _is_port_edited(self) -> bool:
        # 0 stands for any port, and the field has no such number.
        return self._port.value() != max(1, self._stored.port)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look_at_certificate()

    @Slot(object)
    def _show_stored(self, settings: Settings) -> None:
        """Show what was changed elsewhere; what is being typed stays while nothing was."""
        if not _is_alike(settings.server, self._shown) or not self._reach.count():
            self._show_fields(settings.server)

    def _show_fields(self, server: ServerSettings) -> None:
        self._shown = server
        self._reach.clear()
        self._reach.addItem(tr("Only this computer"), _HERE)
        self._reach.addItem(tr("Other computers too"), _EVERYWHERE)
        if self._reach.findData(server.host) < 0:
            self._reach.addItem(tr("Whoever reaches {host}", host=server.host), server.host)
        self._reach.setCurrentIndex(self._reach.findData(server.host))
        self._names.setText(", ".join(server.host_names))
        self._port.setValue(max(1, server.port))
        self._certificate.setText(server.certificate)
        self._key.setText(server.certificate_key)
        self._on_edited()
        self._look_at_certificate()

    @Slot()
    def _on_edited(self) -> None:
        typed = self.typed
        is_here = typed.host in _LOOPBACK
        for widget in (self._names_label, self._names, self._names_said):
            widget.setVisible(not is_here)
        protection = _ENCRYPTED if typed.certificate else _READABLE
        self._exposes.setText(_ONLY_HERE if is_here else f"{_OTHERS} {protection}")
        is_edited = not _is_alike(typed, self._stored)
        for button in (self._use, self._discard):
            button.setEnabled(is_edited and self._job is None)
        if is_edited and not self._is_restarting:
            self._said.hide()

    def show_state(self) -> None:
        """Show what became of the server."""
        port, fault = self._access.port, self._access.fault
        is_other = port not in (0, self._stored.port) and self._stored.port
        taken = tr("Another program has this port: the server uses {port}.", port=port)
        self._port_said.say(taken if is_other else "")
        if self._is_restarting and fault:
            self._said.say(failure_in_words(fault), "danger")
        elif self._is_restarting and self._access.address:
            address = f"{self._access.address}/v1"
            said = tr("The server was restarted. It is asked at {address}", address=address)
            self._said.say(said, "muted")
        self._is_restarting = False

    # --- the certificate ---------------------------------------------------------------------

    def _choose_file(self, field: QLineEdit) -> None:
        def take(name: str) -> None:
            field.setText(name)
            self._look_at_certificate()

        filters = ["PEM (*.pem *.crt *.cer *.key)", tr("All files") + " (*)"]
        choose_file(self.window(), tr("Certificate or key"), take, filters=filters)

    @Slot()
    def _look_at_certificate(self) -> None:
        typed = self.typed
        self._bridge.run(
            self,
            lambda: self._access.certificate(typed),
            lambda facts: self._show_facts(typed, facts),
            lambda error: self._say_of_certificate(typed, failure_in_words(error), "danger"),
        )

    def _show_facts(self, server: ServerSettings, facts: CertificateFacts | None) -> None:
        if facts is None:
            self._say_of_certificate(server, "", "muted")
            return
        names, day = one_line(", ".join(facts.names)), written_day(day_of(facts.ends_at))
        said = tr("It is for {names}, and valid until {day}.", names=names, day=day)
        others = () if server.host in _LOOPBACK else server.host_names
        if left_out := facts.left_out(others):
            missing = one_line(", ".join(left_out))
            said += " " + tr("Programs that ask {names} will refuse it.", names=missing)
        self._say_of_certificate(server, said, "warning" if left_out else "muted")

    def _say_of_certificate(self, server: ServerSettings, said: str, tone: str) -> None:
        if server != self.typed:
            return
        self._certificate_said.say(said, tone)

    # --- use ---------------------------------------------------------------------------------

    @Slot(int)
    def _on_reach_chosen(self, _row: int) -> None:
        def suggest(names: list[str]) -> None:
            if not self._names.text().strip():
                self._names.setText(", ".join(names))

        if self._reach.currentData() == _EVERYWHERE and not self._names.text().strip():
            self._bridge.run(self, self._access.own_names, suggest)
        self._on_edited()

    @Slot()
    def _on_use_clicked(self) -> None:
        typed = self.typed
        if typed.host not in _LOOPBACK and not typed.host_names:
            self._said.say(tr("Other computers need a name or an address to ask it by."), "danger")
            return
        self._said.say(tr("Checking…"), "muted")
        self._job = self._bridge.run(
            self,
            lambda: self._access.check(typed),
            lambda _nothing: self._use_checked(typed),
            self._on_refused,
        )
        self._on_edited()

    def _use_checked(self, typed: ServerSettings) -> None:
        self._job = None
        value = self._settings.value
        needs_restart = replace(typed, host_names=()) != replace(value.server, host_names=())
        self._is_restarting = typed.is_on and needs_restart
        self._shown = typed
        self._settings.edit(replace(value, server=typed))
        self._on_edited()
        said = tr("The server restarts…") if self._is_restarting else tr("Saved.")
        self._said.say(said, "muted")

    def _on_refused(self, error: AppError) -> None:
        self._job = None
        self._on_edited()
        self._said.say(failure_in_words(error), "danger")


def _is_alike(one: ServerSettings, other: ServerSettings) -> bool:
    names = ("host", "host_names", "port", "certificate", "certificate_key")
    return all(getattr(one, name) == getattr(other, name) for name in names)
