"""Measurements of search and answers, and comparisons of set-ups: where the app meets them."""

from pathlib import Path

from desktop_rag.store.contract.precious import BackupRules, Kept, Kind


def kept() -> Kept:
    """Sets of questions with all that belongs to them, and the figures of measurements."""
    return Kept(
        nouns={
            "experiment": ("part of your question sets", "parts of your question sets"),
            "evaluation": ("evaluation", "evaluations"),
        },
        backups=_backup_rules,
        kinds={
            "experiment": Kind({"experiments": "record_id"}, ("owner_id", "experiment")),
            "evaluation": Kind({"evaluations": "evaluation_id"}),
        },
        tables=Path(__file__).with_name("schema.sql"),
    )


def _backup_rules() -> BackupRules:
    from desktop_rag.features.evaluation.kept import RULES  # noqa: PLC0415

    return RULES
