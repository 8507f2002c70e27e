"""Opens the window, with every verb that it answers for other processes. Qt thread."""

from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.desktop.requests import DesktopRequest
from desktop_rag.cli.answered_verbs import answered_verbs


def open_window(
    home: Home,
    *,
    starts_demo: bool = False,
    is_shown: bool = True,
    first_event: DesktopRequest | None = None,
) -> int:
    """Run the app over the home until the person quits; returns the exit code."""
    # Qt: the verbs that reach a running app do without.
    from desktop_rag.ui.foundation.module_sources import leave_sources_unread

    leave_sources_unread()
    from desktop_rag.ui.foundation.window_language import choose_language

    settings, _ = load_settings(home.settings)
    language = choose_language(resources_dir() / "words", settings.appearance.language)
    # Now: the constants of its modules are translated when they are imported.
    from desktop_rag.window_start import run_window

    return run_window(
        home,
        answered_verbs,
        language,
        starts_demo=starts_demo,
        is_shown=is_shown,
        first_event=first_event,
    )
