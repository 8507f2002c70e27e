"""The hooks of evaluation: measuring answers and searches, on one's own questions and documents."""

from pathlib import Path
from typing import TYPE_CHECKING

from desktop_rag.registry import Verbs

if TYPE_CHECKING:
    from desktop_rag.app import Services
    from desktop_rag.core.settings import Settings
    from desktop_rag.store.contract.precious import BackupRules, Kept
    from desktop_rag.window_app import WindowApp


def verbs() -> Verbs:
    """Measuring quality."""
    return Verbs({"eval": ("cli.eval_verbs:add_evals", "Measure quality.")})


def kept() -> "Kept":
    """Sets of questions with all that belongs to them, and the figures of measurements."""
    from desktop_rag.store.contract.precious import Kept, Kind

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


def _backup_rules() -> "BackupRules":
    from desktop_rag.features.evaluation.kept import RULES

    return RULES


def follow(services: "Services", _settings: "Settings") -> None:
    """Go on with runs that were cut."""
    if services.is_running:
        from desktop_rag.features.evaluation.services import EvaluationServices

        services.wing(EvaluationServices).start()


def join_window(app: "WindowApp") -> None:
    """The page of the person's own questions."""
    from desktop_rag.features.evaluation.ui.in_window import join

    join(app)
