"""The page "Shared library": its state, its address, and a test in plain words. Qt thread.

The bridge reaches the server and the keyring, and a typed password goes only to these.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import decimal_in_words, number_in_words, tr
from desktop_rag.core.shared_library import (
    SharedLibraryChanged,
    SharedLibraryReport,
    SharedLibraryStatus,
    SharedState,
)
from desktop_rag.core.store_settings import Encryption, SharedLibrarySettings
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.days import clock_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import hint_of, one_line, size_in_words, title_of
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.settings.settings_parts import ADVANCED, Part, Setting
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import DropDown, SettingsSection, note, number_field
from desktop_rag.ui.widgets.layouts import horizontal
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage
from desktop_rag.ui.window.window_pages import LIBRARY

if TYPE_CHECKING:
    from desktop_rag.features.shared_library.joined.shared_connection import SharedLibrary
    from desktop_rag.features.shared_library.services import SharedLibraryAccess
    from desktop_rag.ingest.library import Library
    from desktop_rag.window_app import WindowApp


_HEADING = tr("Shared library")
_WORDS = tr("PostgreSQL, team, colleagues, database server, share documents, together")
_SETTINGS = (
    Setting(tr("Try now"), tr("connect again, online, offline"), tr("Now")),
    Setting(tr("Address"), tr("host, URL, PostgreSQL server"), _HEADING),
    Setting(tr("Database"), tr("PostgreSQL, name"), _HEADING),
    Setting(tr("Library"), tr("schema, which library"), _HEADING),
    Setting(tr("Role"), tr("user name, account, sign in"), _HEADING),
    Setting(tr("Password"), tr("secret, credentials, sign in"), _HEADING),
    Setting(tr("Encryption"), tr("TLS, SSL, secure connection"), _HEADING),
    Setting(tr("Certificate"), tr("TLS, SSL, authority"), _HEADING),
    Setting(tr("Test"), tr("connect, disconnect, try"), _HEADING),
)


def join(app: "WindowApp") -> None:
    """Add the page and the line."""
    parts = _Parts(app)
    part = Part(ADVANCED, SHARED_LIBRARY, parts.page, _SETTINGS, _WORDS)
    app.window.pages.add_settings_part(part)


class _Parts(QObject):
    def __init__(self, app: "WindowApp") -> None:
        super().__init__(app.window)
        self._app = app
        app.window.pages.built.connect(self._on_built)

    def page(self) -> QWidget:
        """The page that connects a shared library."""
        # With the database's client, so not before it is shown.
        from desktop_rag.features.shared_library.services import SharedLibraryServices  # noqa: PLC0415

        app = self._app
        shared = app.services.wing(SharedLibraryServices)
        return shared_library_page(
            app.bridge, app.window.settings, shared.access, shared.library, app.services.library
        )

    @Slot(int)
    def _on_built(self, position: int) -> None:
        if position == LIBRARY:
            app, page = self._app, self._app.window.library_page
            line = SharedLine(app.theme, app.services.in_use.beside.status, page)
            app.bridge.hear(SharedLibraryChanged, line.on_changed)
            page.below_header.addWidget(line)


_STATE_INTRO = tr(
    "Questions search your own library and the collections of the shared one together. Nothing is"
    " written there."
)


class SharedStateSection(SettingsSection):
    """Shows the state and the collections of the shared library; hidden without one."""

    def __init__(self, bridge: Bridge, shared: "SharedLibrary", library: "Library") -> None:
        super().__init__(tr("Now"), _STATE_INTRO)
        self._bridge = bridge
        self._shared = shared
        self._library = library
        self._state = PlainLabel(wrap=True, selectable=True)
        self._collections = PlainLabel(wrap=True, selectable=True)
        self._by_words = PlainLabel(wrap=True, tone="muted")
        self._try = TextButton(tr("Try now"), then=self._on_try_clicked)
        for label in (self._state, self._collections, self._by_words):
            self.add_note(label)
        self.add_row("", self._try)
        bridge.hear(SharedLibraryChanged, self._on_changed)
        self._show(shared.status)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look()

    def _on_changed(self, event: SharedLibraryChanged) -> None:
        self._show(event.status)
        self._look()

    @Slot()
    def _on_try_clicked(self) -> None:
        self._shared.try_now()

    def _show(self, status: SharedLibraryStatus) -> None:
        self.setVisible(status.state is not SharedState.NOT_SET)
        self._state.setText(state_in_words(status))
        is_offline = status.state is SharedState.OFFLINE
        self._state.set_tone("danger" if is_offline else "")
        self._try.setVisible(is_offline)
        names = ", ".join(one_line(c.name) for c in status.collections)
        self._collections.say(tr("Collections: {names}", names=names) if names else "")
        self._collections.setEnabled(not status.is_away)

    def _look(self) -> None:
        """Ask which collections are searched by words only; may load a model."""
        library = self._library
        self._bridge.run(self, library.collections.by_words_only, self._on_looked)

    def _on_looked(self, by_words: Sequence[Collection]) -> None:
        names = ", ".join(one_line(c.name) for c in by_words)
        self._by_words.setText(
            tr(
                "Searched by words only, because their model is not on this computer: {names}",
                names=names,
            )
        )
        self._by_words.setVisible(bool(names))


def state_in_words(status: SharedLibraryStatus) -> str:
    """One or two sentences about the connection."""
    match status.state:
        case SharedState.ONLINE:
            return tr("Online since {time}.", time=clock_in_words(status.since))
        case SharedState.CONNECTING:
            return tr("Connecting…")
        case SharedState.OFFLINE:
            offline = tr("Offline since {time}.", time=clock_in_words(status.since))
            return " ".join(filter(None, (offline, status.title, status.hint)))
        case SharedState.NOT_SET:
            return ""


_MOST_NAMES = 12


def report_in_words(report: SharedLibraryReport) -> str:
    """A few lines about a test: versions, size, collections, the index, slow queries."""
    lines = [
        tr(
            "All is well. PostgreSQL {server} with pgvector {vector}.",
            server=report.server_version,
            vector=report.vector_version,
        ),
        tr(
            "{passages} passages in {size}. {index}",
            passages=number_in_words(report.passages),
            size=size_in_words(report.size_bytes),
            index=_index_in_words(report),
        ),
        _collections_in_words(report),
    ]
    if not report.is_encrypted:
        lines.append(tr("The connection is not encrypted."))
    return "\n".join((*lines, *_slow_in_words(report)))


def _index_in_words(report: SharedLibraryReport) -> str:
    if report.has_vector_index:
        return tr("The index for meaning is built.")
    return tr("There is no index for meaning yet; a small library needs none.")


def _collections_in_words(report: SharedLibraryReport) -> str:
    names = [one_line(name) for name in report.collections]
    if not names:
        return tr("It has no collections that this role may see.")
    shown = ", ".join(names[:_MOST_NAMES])
    more = f" (+{len(names) - _MOST_NAMES})" if len(names) > _MOST_NAMES else ""
    return tr("Collections: {names}", names=f"{shown}{more}")


def _slow_in_words(report: SharedLibraryReport) -> list[str]:
    if report.slow is None:
        return [tr("Slow queries are not recorded: the server has no pg_stat_statements.")]
    if not report.slow:
        return []
    rows = [
        tr(
            "{ms} ms on average, {calls} times: {query}",
            ms=decimal_in_words(ms, 0),
            calls=number_in_words(n),
            query=q,
        )
        for q, ms, n in report.slow
    ]
    return [tr("Slowest queries:"), *rows]


_INTRO = tr(
    "A library on a PostgreSQL server that several people use. Whoever runs it tells you these"
    " values. Your own library stays on this computer."
)
_ENCRYPTIONS: dict[Encryption, str] = {
    Encryption.VERIFIED: tr("Encrypted, certificate checked"),
    Encryption.UNVERIFIED: tr("Encrypted, certificate not checked"),
    Encryption.NONE: tr("No encryption"),
}
_RISKS: dict[Encryption, str] = {
    Encryption.VERIFIED: tr("Without a file, the authorities that this computer trusts count."),
    Encryption.UNVERIFIED: tr(
        "Nobody can listen in, but another computer could pose as the server."
    ),
    Encryption.NONE: tr("Only for this computer or a network that you trust."),
}
_MOST_PORT = 65_535
_HAS_PASSWORD = tr("A password is saved for this address and role.")
_FOR_SESSION = tr(
    "The password is kept until you close the app, because no keyring is available on this"
    " computer."
)
_NO_PASSWORD = tr("No password is saved for this address and role.")


def shared_library_page(
    bridge: Bridge,
    settings: EditedSettings,
    access: "SharedLibraryAccess",
    shared: "SharedLibrary",
    library: "Library",
) -> ScrolledPage:
    """The page: the state now, and the form that connects."""
    page = ScrolledPage(SHARED_LIBRARY)
    page.column.addWidget(SharedStateSection(bridge, shared, library))
    page.column.addWidget(SharedLibrarySection(bridge, settings, access))
    return page


class SharedLibrarySection(SettingsSection):
    """Edits SharedLibrarySettings, and stores them once a connection succeeded."""

    def __init__(
        self, bridge: Bridge, settings: EditedSettings, access: "SharedLibraryAccess"
    ) -> None:
        super().__init__(SHARED_LIBRARY, _INTRO)
        self._bridge = bridge
        self._settings = settings
        self._access = access
        self._job: Job | None = None
        self._host, self._database, self._role = QLineEdit(), QLineEdit(), QLineEdit()
        self._port = number_field(1, _MOST_PORT, 1, "")
        self._port.setGroupSeparatorShown(False)
        self._port.setAccessibleName(tr("Port"))
        self._library, self._certificate = QLineEdit(), QLineEdit()
        self._password = QLineEdit(echoMode=QLineEdit.EchoMode.Password)
        self._kept = note()
        self._encryption = DropDown()
        for value, words in _ENCRYPTIONS.items():
            self._encryption.addItem(words, value)
        self._risk = note()
        self._test, self._connect = TextButton(tr("Test")), TextButton(tr("Connect"))
        self._disconnect = TextButton(
            tr("Disconnect"), kind="quiet", then=self._on_disconnect_clicked
        )
        self._result = PlainLabel(wrap=True, selectable=True)
        self._build()
        self._follow()
        self._show_settings()

    def _build(self) -> None:
        self._host.setPlaceholderText("library.example.org")
        self._certificate.setPlaceholderText(tr("The authority's certificate, optional"))
        self.add_row(tr("Address"), self._host, PlainLabel(tr("Port")), self._port, is_wide=True)
        self.add_row(tr("Database"), self._database, is_wide=True)
        self.add_row(tr("Library"), self._library, is_wide=True)
        self.add_note(note(tr("One database can hold several. It is usually called desktop_rag.")))
        self.add_row(tr("Role"), self._role, is_wide=True)
        self.add_row(tr("Password"), self._password, is_wide=True)
        self.add_note(self._kept)
        self.add_row(tr("Encryption"), self._encryption)
        self.add_row(tr("Certificate"), self._certificate, is_wide=True)
        self.add_note(self._risk)
        self.add_row("", self._test, self._connect, self._disconnect)
        self.add_note(self._result)
        self._result.hide()

    def _follow(self) -> None:
        for field in (self._host, self._database, self._library, self._role):
            field.textChanged.connect(self._on_edited)
        self._encryption.currentIndexChanged.connect(self._on_edited)
        self._test.clicked.connect(self._on_test_clicked)
        self._connect.clicked.connect(self._on_connect_clicked)
        self._settings.replaced.connect(self._show_settings)

    @property
    def typed(self) -> SharedLibrarySettings:
        """The settings in the fields."""
        return SharedLibrarySettings(
            self._host.text().strip(),
            self._port.value(),
            self._database.text().strip(),
            self._role.text().strip(),
            self._library.text().strip(),
            Encryption(self._encryption.currentData()),
            self._certificate.text().strip(),
        )

    @property
    def stored(self) -> SharedLibrarySettings:
        """The settings of the connected library; empty without one."""
        return self._settings.value.shared_library

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look_for_password()
        if self.stored.is_set and not self._is_busy:
            self._on_test_clicked()

    @Slot()
    def _show_settings(self) -> None:
        shared = self.stored
        self._host.setText(shared.host)
        self._port.setValue(shared.port)
        self._database.setText(shared.database)
        self._library.setText(shared.library)
        self._role.setText(shared.role)
        self._encryption.setCurrentIndex(self._encryption.findData(shared.encryption))
        self._certificate.setText(shared.certificate)
        self._on_edited()

    @Slot()
    def _on_edited(self) -> None:
        shared = self.typed
        self._risk.setText(_RISKS[shared.encryption])
        self._certificate.setEnabled(shared.encryption is Encryption.VERIFIED)
        can_test = shared.is_set and bool(shared.library) and not self._is_busy
        self._test.setEnabled(can_test)
        self._connect.setEnabled(can_test)
        self._disconnect.setVisible(self.stored.is_set)
        self._disconnect.setEnabled(not self._is_busy)

    @property
    def _is_busy(self) -> bool:
        return self._job is not None

    def _look_for_password(self) -> None:
        shared = self.typed
        if shared.is_set:
            self._bridge.run(
                self, lambda: bool(self._access.password_of(shared)), self._on_password_looked_up
            )

    def _on_password_looked_up(self, has_password: bool) -> None:
        self._kept.setText(_HAS_PASSWORD if has_password else _NO_PASSWORD)

    @Slot()
    def _on_test_clicked(self) -> None:
        shared, password = self.typed, self._password.text()
        self._begin(tr("Looking at the server…"))
        self._job = self._bridge.run(
            self, lambda: self._access.test(shared, password), self._on_tested, self._on_failed
        )
        self._on_edited()

    @Slot()
    def _on_connect_clicked(self) -> None:
        shared, password = self.typed, self._password.text()

        def show(done: tuple[SharedLibraryReport, bool]) -> None:
            report, is_kept = done
            self._password.clear()
            self._settings.edit(replace(self._settings.value, shared_library=shared))
            self._on_tested(report)
            if is_kept:
                self._look_for_password()
            else:
                self._kept.setText(_FOR_SESSION)

        self._begin(tr("Connecting…"))
        self._job = self._bridge.run(
            self, lambda: self._access.connect(shared, password), show, self._on_failed
        )
        self._on_edited()

    @Slot()
    def _on_disconnect_clicked(self) -> None:
        shared = self.stored
        self._password.clear()
        self._settings.edit(replace(self._settings.value, shared_library=SharedLibrarySettings()))
        self._show_settings()
        self._kept.setText("")
        self._result.say(tr("Disconnected. The password was deleted."), "muted")
        self._bridge.run(self, lambda: self._access.forget(shared))

    def _begin(self, text: str) -> None:
        if self._job:
            self._job.cancel()
        self._result.say(text, "muted")

    def _on_tested(self, report: SharedLibraryReport) -> None:
        self._job = None
        self._result.say(report_in_words(report), "success")
        self._on_edited()

    def _on_failed(self, error: AppError) -> None:
        self._job = None
        self._result.say(f"{title_of(error)}\n{hint_of(error)}".strip(), "danger")
        self._on_edited()


SHARED_LIBRARY = tr("Shared library")
_ICON_PX = 16


class SharedLine(QWidget):
    """The line; hidden while there is no shared library."""

    def __init__(self, theme: Theme, status: SharedLibraryStatus, parent: QWidget) -> None:
        super().__init__(parent)
        icon = QLabel(self, pixmap=theme.icon("server:muted").pixmap(_ICON_PX))
        self._words = ElidedLabel("")
        self._words.setObjectName("sharedLine")
        horizontal(icon, (self._words, 1), on=self, margins=0, spacing=8)
        self.show_status(status)

    def on_changed(self, event: SharedLibraryChanged) -> None:
        """Show a change of the shared library."""
        self.show_status(event.status)

    def show_status(self, status: SharedLibraryStatus) -> None:
        """Show this state."""
        self.setVisible(status.state is not SharedState.NOT_SET)
        self._words.set_full_text(line_in_words(status))
        self._words.setEnabled(not status.is_away)


def line_in_words(status: SharedLibraryStatus) -> str:
    """`Shared: Team, Contracts`, or since when it is offline."""
    names = ", ".join(one_line(c.name) for c in status.collections) or tr("no collections")
    match status.state:
        case SharedState.CONNECTING:
            return tr("Shared, connecting…: {names}", names=names)
        case SharedState.OFFLINE:
            since = clock_in_words(status.since)
            return tr("Shared, offline since {time}: {names}", time=since, names=names)
        case _:
            return tr("Shared: {names}", names=names)
