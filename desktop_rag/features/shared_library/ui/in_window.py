"""The shared library in the window: its page, and a line on the page of the library. Qt thread."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from desktop_rag.core.language.translation import tr
from desktop_rag.core.shared_library import SharedLibraryChanged
from desktop_rag.ui.settings.settings_parts import ADVANCED, Part, Setting
from desktop_rag.ui.window.window_pages import LIBRARY

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

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
    """Add the page, which is imported when first shown, and the line."""
    from desktop_rag.features.shared_library.ui.shared_library_page import SHARED_LIBRARY

    parts = _Parts(app)
    part = Part(ADVANCED, SHARED_LIBRARY, parts.page, _SETTINGS, _WORDS)
    app.window.pages.add_settings_part(part)


class _Parts(QObject):
    def __init__(self, app: "WindowApp") -> None:
        super().__init__(app.window)
        self._app = app
        app.window.pages.built.connect(self._on_built)

    def page(self) -> "QWidget":
        """The page that connects a shared library."""
        from desktop_rag.features.shared_library.services import SharedLibraryServices
        from desktop_rag.features.shared_library.ui.shared_library_page import shared_library_page

        app = self._app
        shared = app.services.wing(SharedLibraryServices)
        return shared_library_page(
            app.bridge, app.window.settings, shared.access, shared.library, app.services.library
        )

    @Slot(int)
    def _on_built(self, position: int) -> None:
        if position == LIBRARY:
            from desktop_rag.features.shared_library.ui.shared_library_page import SharedLine

            app, page = self._app, self._app.window.library_page
            line = SharedLine(app.theme, app.services.in_use.beside.status, page)
            app.bridge.hear(SharedLibraryChanged, line.on_changed)
            page.below_header.addWidget(line)
