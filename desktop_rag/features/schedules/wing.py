"""Scheduled questions and notes: where the app meets them."""

from pathlib import Path

from desktop_rag.store.contract.precious import BackupRules, Kept, Kind


def kept() -> Kept:
    """The questions with their state, and the answers so far."""
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


def _backup_rules() -> BackupRules:
    from desktop_rag.features.schedules.kept import RULES  # noqa: PLC0415

    return RULES
