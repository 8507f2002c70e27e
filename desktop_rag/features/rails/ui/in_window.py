"""Rails and commands in the window: their pages, and what they add to the chat. Qt thread."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from desktop_rag.core.language.translation import tr
from desktop_rag.features.rails.assistants.rail_names import BUILT_IN
from desktop_rag.ui.settings.settings_parts import ASSISTANTS, Part, Setting
from desktop_rag.ui.window.window_pages import CHAT

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from desktop_rag.features.rails.services import RailServices
    from desktop_rag.features.rails.ui.rails_field import RailsField
    from desktop_rag.window_app import WindowApp

_RAIL_WORDS = tr("guardrails, topics, forbidden, refuse, small talk, flows, Colang, limits")
_RAILS = (
    Setting(tr("New rails…"), tr("guardrails, make rules for an assistant")),
    Setting(tr("Open a folder…"), tr("guardrails, Colang files")),
)
_COMMAND_WORDS = tr("programs, scripts, run, execute, actions, tools, consent")
_COMMANDS = (
    Setting(
        tr("Register a program…"), tr("script, run a program, allow, tools"), tr("Programs")
    ),
    Setting(tr("Forget all…"), tr("clear history of programs, erase"), tr("History")),
)  # fmt: skip


def join(app: "WindowApp") -> None:
    """Add the pages, the card of commands, teaching, and the field of the assistant form."""
    parts = _Parts(app)
    add = app.window.pages.add_settings_part
    add(Part(ASSISTANTS, tr("Rails"), parts.rails_page, _RAILS, _RAIL_WORDS))
    add(Part(ASSISTANTS, tr("Commands"), parts.commands_page, _COMMANDS, _COMMAND_WORDS))


class _Parts(QObject):
    def __init__(self, app: "WindowApp") -> None:
        super().__init__(app.window)
        self._app = app
        app.window.pages.built.connect(self._on_built)

    @property
    def _services(self) -> "RailServices":
        from desktop_rag.features.rails.services import RailServices

        return self._app.services.wing(RailServices)

    def rails_page(self) -> "QWidget":
        """The rails that the person writes."""
        from desktop_rag.features.rails.ui.rails_page import RailsPage

        app, assistants = self._app, self._app.services.chat.assistants
        own = lambda: self._services.assistants.own  # noqa: E731
        return RailsPage(app.bridge, own, assistants.all, app.theme)

    def commands_page(self) -> "QWidget":
        """The commands that assistants proposed."""
        from desktop_rag.features.rails.ui.commands_page import CommandsPage

        return CommandsPage(self._app.bridge, self._services.commands)

    @Slot(int)
    def _on_built(self, position: int) -> None:
        if position != CHAT:
            return
        from desktop_rag.features.rails.ui.command_card import CommandActions
        from desktop_rag.features.rails.ui.rails_field import Teaching

        app, page = self._app, self._app.window.chat_page
        CommandActions(app.bridge, lambda: self._services.commands, page)
        teaching = Teaching(app.bridge, lambda: self._services.assistants, page)
        page.assistants.choice.chosen.connect(teaching.choose)
        page.messages.asked.teach_requested.connect(teaching.show_menu)
        teaching.follow(page.sessions.current.model)
        page.sessions.shown.connect(lambda session: teaching.follow(session.model))
        titles = {known.name: known.title for known in BUILT_IN}
        page.assistants.rails_title = lambda rails: titles.get(rails) or Path(rails).name
        page.assistants.make_rails_field = self._rails_field

    def _rails_field(self, rails: str) -> "RailsField":
        from desktop_rag.features.rails.ui.rails_field import RailsField

        field, bridge, known = RailsField(rails), self._app.bridge, self._services.assistants
        field.try_requested.connect(
            lambda chosen, text: bridge.run(
                field,
                lambda: known.answers.try_sentence(chosen, text).in_words(),
                field.show_tried,
                field.show_error,
            )
        )
        bridge.run(field, lambda: known.own.folders(()), field.offer, field.show_error)
        return field
