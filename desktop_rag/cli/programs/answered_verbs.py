"""The verbs that a running app, with a window or as a server, answers for others. Any thread."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desktop_rag.app import Verb


def answered_verbs() -> Mapping[str, "Verb"]:
    """Imports what the answers need: in the window on a thread, while the icon is shown."""
    from desktop_rag.cli import (
        backup_verbs,
        collection_verbs,
        doctor,
        endpoint_verbs,
        event_verbs,
        index_verb,
        note_verbs,
        privacy,
        schedule_verbs,
        verbs,
    )
    from desktop_rag.cli.commands import command_verbs
    from desktop_rag.cli.evaluation import eval_verbs
    from desktop_rag.cli.programs import mcp_verb

    return {
        **verbs.running_app_verbs(),
        **index_verb.running_app_verbs(),
        **mcp_verb.running_app_verbs(),
        **command_verbs.running_app_verbs(),
        **doctor.running_app_verbs(),
        **collection_verbs.running_app_verbs(),
        **endpoint_verbs.running_app_verbs(),
        **event_verbs.running_app_verbs(),
        **privacy.running_app_verbs(),
        **eval_verbs.running_app_verbs(),
        **backup_verbs.running_app_verbs(),
        **note_verbs.running_app_verbs(),
        **schedule_verbs.running_app_verbs(),
    }
