"""Opens the window, with every verb that it answers for other processes. Qt thread."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.desktop.requests import DesktopRequest

if TYPE_CHECKING:
    from desktop_rag.app import Verb


def open_window(
    home: Home,
    *,
    starts_demo: bool = False,
    is_shown: bool = True,
    first_event: DesktopRequest | None = None,
) -> int:
    """Run the app over the home until the person quits; returns the exit code."""
    # Qt: the verbs that reach a running app do without.
    from desktop_rag.ui.foundation.window_language import choose_language

    settings, _ = load_settings(home.settings)
    language = choose_language(resources_dir() / "words", settings.appearance.language)
    # Now: the constants of its modules are translated when they are imported.
    from desktop_rag.window_start import run_window

    return run_window(
        home,
        _answered,
        language,
        starts_demo=starts_demo,
        is_shown=is_shown,
        first_event=first_event,
    )


def _answered() -> Mapping[str, "Verb"]:
    """Imports what the answers need, on a thread, while the icon is shown."""
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
    from desktop_rag.cli.evaluation import eval_verbs
    from desktop_rag.cli.programs import mcp_verb

    return {
        **verbs.running_app_verbs(),
        **index_verb.running_app_verbs(),
        **mcp_verb.running_app_verbs(),
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
