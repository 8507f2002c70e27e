"""The hooks of schedules: questions that are asked regularly, and notes from the library."""

from pathlib import Path
from typing import TYPE_CHECKING

from desktop_rag.registry import Verbs

if TYPE_CHECKING:
    from desktop_rag.app import Services
    from desktop_rag.core.settings import Settings
    from desktop_rag.store.contract.precious import BackupRules, Kept
    from desktop_rag.window_app import WindowApp


def verbs() -> Verbs:
    """Schedules and notes."""
    notes = "Write notes from the library into files of yours, and refresh them."
    schedules = "Have questions asked regularly, and see what changed."
    return Verbs(
        {
            "note": ("cli.note_verbs:add_notes", notes),
            "schedule": ("cli.schedule_verbs:add_schedules", schedules),
        }
    )


def kept() -> "Kept":
    """The questions with their state, and the answers so far."""
    from desktop_rag.store.contract.precious import Kept, Kind

    return Kept(
        nouns={
            "standing": ("scheduled question", "scheduled questions"),
            "standing_run": ("answer to a scheduled question", "answers to scheduled questions"),
        },
        backups=_backup_rules,
        kinds={
            "standing": Kind({"standing_questions": "question_id"}),
            "standing_run": Kind({"standing_runs": "run_id"}, ("question_id", "standing")),
        },
        tables=Path(__file__).with_name("schema.sql"),
    )


def _backup_rules() -> "BackupRules":
    from desktop_rag.features.schedules.kept import RULES

    return RULES


def follow(services: "Services", _settings: "Settings") -> None:
    """Begin to ask what is due."""
    if services.is_running:
        from desktop_rag.features.schedules.services import ScheduleServices

        services.wing(ScheduleServices).start()


def join_window(app: "WindowApp") -> None:
    """The pages of schedules and notes, and “Ask this regularly” below an answer."""
    from desktop_rag.features.schedules.ui.in_window import join

    join(app)
