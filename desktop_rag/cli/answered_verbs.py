"""The verbs that a running app, with a window or as a server, answers for others. Any thread."""

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from desktop_rag.app import Services, Verb

# By the module below the folder of the verbs. Nobody waits for their modules at the start: each is
# imported when it first answers.
_ANSWERED = {
    "verbs": ("ask", "search", "status"),
    "index_verb": ("index",),
    "programs.mcp_verb": ("mcp",),
    "commands.command_verbs": ("command_list", "command_forget", "command_decide"),
    "doctor": ("doctor",),
    "collection_verbs": ("collections", "allow-hosts"),
    "endpoint_verbs": (
        "endpoints", "endpoint_add", "endpoint_test", "endpoint_use", "endpoint_remove",
    ),
    "event_verbs": ("events",),
    "privacy": ("privacy",),
    "evaluation.eval_verbs": (
        "eval_feedback_set", "eval_run", "eval_state", "eval_compare", "eval_report",
        "eval_chunks_begin", "eval_chunks_state", "eval_chunks_cancel", "eval_chunks_result",
        "eval_chunks_use", "eval_runs", "eval_keep",
    ),
    "backup_verbs": ("backup_export", "backup_import", "backup_list", "backup_restore"),
    "note_verbs": ("note_write", "note_refresh", "note_accept", "note_list"),
    "schedule_verbs": (
        "schedule_add", "schedule_list", "schedule_run", "schedule_remove", "schedule_history",
    ),
}  # fmt: skip


def answered_verbs() -> Mapping[str, "Verb"]:
    """What answers each verb."""
    return {
        name: partial(_answer, module, name)
        for module, names in _ANSWERED.items()
        for name in names
    }


def _answer(module: str, name: str, services: "Services", asked: dict[str, Any]) -> Any:  # noqa: ANN401  JSON
    verbs: Mapping[str, Verb] = import_module(f"desktop_rag.cli.{module}").running_app_verbs()
    return verbs[name](services, asked)
