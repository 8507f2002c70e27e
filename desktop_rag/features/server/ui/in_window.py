"""The local server in the window: the page of other programs. Qt thread."""

from typing import TYPE_CHECKING

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.settings.page_list import APP

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from desktop_rag.window_app import WindowApp


def join(app: "WindowApp") -> None:
    """Add the page, which is imported when it is first shown."""

    def page() -> "QWidget":
        from desktop_rag.features.server.mcp_programs.program_setup import ProgramSetup
        from desktop_rag.features.server.services import ServerServices
        from desktop_rag.features.server.ui.mcp_section import MCPSection
        from desktop_rag.features.server.ui.programs_page import ProgramsPage

        switch = app.services.wing(ServerServices).switch
        made = ProgramsPage(app.bridge, switch, app.window.settings, app.theme)
        made.column.addWidget(MCPSection(app.bridge, ProgramSetup()))
        return made

    app.window.pages.add_settings_page(tr("Other programs"), page, APP)
