"""The hooks of rails: flows that conversations keep to, and commands with consent."""

from typing import TYPE_CHECKING

from desktop_rag.registry import Verbs

if TYPE_CHECKING:
    from desktop_rag.answer.answer_service import AnswerWrap
    from desktop_rag.app import Services
    from desktop_rag.core.settings import Settings
    from desktop_rag.store.contract.precious import BackupRules, Kept
    from desktop_rag.window_app import WindowApp


def verbs() -> Verbs:
    """Rails and the commands that they proposed."""
    commands = "List what assistants did for you after you agreed, and forget it."
    rails = "Check, test and try rails: flows that conversations keep to."
    return Verbs(
        {
            "command": ("cli.command_verbs:add_commands", commands),
            "rails": ("cli.rails_verbs:add_rails", rails),
        },
        after_ask="cli.command_verbs",
    )


def wrap_answer(services: "Services") -> "AnswerWrap":
    """Rails around the answers of assistants that have some."""
    from desktop_rag.features.rails.services import RailServices

    return services.wing(RailServices).assistants


def kept() -> "Kept":
    """The history of commands, in a file of its own."""
    from desktop_rag.store.contract.precious import Kept

    return Kept(nouns={"command": ("command", "commands")}, backups=_backup_rules)


def _backup_rules() -> "BackupRules":
    from desktop_rag.features.rails.commands.commands_done import RULES

    return RULES


def follow(services: "Services", _settings: "Settings") -> None:
    """Forget the commands of chats that are gone."""
    if services.is_running and services.home.commands.exists():
        from desktop_rag.features.rails.services import RailServices

        services.wing(RailServices).forget_gone_chats()


def join_window(app: "WindowApp") -> None:
    """The pages of rails and commands, and what they add to the chat."""
    from desktop_rag.features.rails.ui.in_window import join

    join(app)
