"""The local server in the window: the page of other programs. Qt thread."""

from typing import TYPE_CHECKING

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.settings.settings_parts import ADVANCED, Part, Setting

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from desktop_rag.window_app import WindowApp

_WORDS = tr("server, API, MCP, REST, OpenAI-compatible, connect an editor, share, host, hosts, LAN")
_SERVER = tr("Local server")
_REACHED = tr("How the server is reached")
_TOKENS = tr("Tokens")
_MCP = tr("Programs that speak MCP")
_SETTINGS = (
    Setting(
        tr("Let other programs ask"), tr("turn on the server, API, switch, start, stop"), _SERVER
    ),
    Setting(tr("Address"), tr("URL of the server, localhost, endpoint"), _SERVER),
    Setting(tr("Expose the models of the endpoints"), tr("proxy, pass through, share"), _SERVER),
    Setting(
        tr("Administration"), tr("admin page, dashboard, statistics, permissions, rights"), _SERVER
    ),
    Setting(tr("Reached by"), tr("network, LAN, other computers, phone, hosts, 0.0.0.0"), _REACHED),
    Setting(tr("Names"), tr("host names, domain, DNS"), _REACHED),
    Setting(tr("Port"), tr("number, 8642, in use"), _REACHED),
    Setting(tr("Certificate"), tr("HTTPS, TLS, SSL, encryption"), _REACHED),
    Setting(tr("Its key"), tr("HTTPS, TLS, SSL, private key"), _REACHED),
    Setting(tr("Use these"), tr("apply, certificate, restart the server"), _REACHED),
    Setting(tr("New token…"), tr("API key, password, access, allow a program"), _TOKENS),
    Setting(
        tr("Keep questions and answers in the log"),
        tr("record, logging, history, privacy"),
        _SERVER,
    ),
    Setting(tr("Show the requests…"), tr("log, who asked, history"), _SERVER),
    Setting(tr("Filters of your own"), tr("functions, plugins, pipelines, code"), _SERVER),
    Setting(_MCP, tr("Claude Desktop, Cursor, VS Code, editor, tools"), _MCP),
)


def join(app: "WindowApp") -> None:
    """Add the page, which is imported when it is first shown."""

    def page() -> "QWidget":
        from desktop_rag.features.server.mcp_programs.program_setup import ProgramFiles
        from desktop_rag.features.server.services import ServerSwitch
        from desktop_rag.features.server.ui.programs_page import MCPSection, ProgramsPage

        switch = app.services.wing(ServerSwitch)
        made = ProgramsPage(app.bridge, switch, app.window.settings, app.theme)
        made.column.addWidget(MCPSection(app.bridge, ProgramFiles()))
        return made

    part = Part(ADVANCED, tr("Other programs"), page, _SETTINGS, _WORDS)
    app.window.pages.add_settings_part(part)
